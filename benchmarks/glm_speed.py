"""One private logistic or Poisson regression from a formula, table included, against statsmodels'.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/glm_speed.py | tee benchmarks/results/glm_speed.txt

The design and what is measured are in against_statsmodels.py.
"""

import io
from functools import partial

import numpy as np
import pandas as pd
from against_statsmodels import FORMULA, LEVELS, NAMES, Study, main
from scipy.special import expit


def by_dpstats(family: str, data: pd.DataFrame, pure: bool = False) -> None:
    import dpstats as dps

    numbers = {name: dps.bounded(-1, 1) for name in NAMES}
    response = dps.flag() if family == "binomial" else dps.count(50)
    schema = dps.Schema(y=response, grade=dps.levels(*LEVELS), **numbers)
    budget = dps.pure(1) if pure else dps.approx(1, 1e-6)
    fit = dps.glm(FORMULA, data, schema, family=family).fit(budget)
    print(fit.summary(), file=io.StringIO())


def logit_by_statsmodels(data: pd.DataFrame) -> None:
    from statsmodels.formula import api

    api.logit(FORMULA, data).fit(disp=False)


def poisson_by_statsmodels(data: pd.DataFrame) -> None:
    import statsmodels.api as sm
    from statsmodels.formula import api

    api.glm(FORMULA, data, family=sm.families.Poisson()).fit()


def ones(predictor: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(len(predictor)) < expit(predictor)).astype(float)


STUDIES = {
    "logit": Study(
        response=ones,
        ours=partial(by_dpstats, "binomial"),
        theirs=logit_by_statsmodels,
        goal=1.0,
        aspired={"cat": 0.5, "str": 0.3},
    ),
    "logit-pure": Study(
        response=ones,
        ours=partial(by_dpstats, "binomial", pure=True),
        theirs=logit_by_statsmodels,
        goal=1.0,
        aspired={"cat": 1.0, "str": 1.0},
    ),
    "poisson": Study(
        response=lambda predictor, rng: rng.poisson(np.exp(predictor)),
        ours=partial(by_dpstats, "poisson"),
        theirs=poisson_by_statsmodels,
        goal=1.0,
        aspired={"cat": 0.3, "str": 0.3},
    ),
}

if __name__ == "__main__":
    main(STUDIES, __doc__)
