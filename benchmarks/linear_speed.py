"""One private linear regression from a formula, table included, against statsmodels' ols from the same frame.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/linear_speed.py | tee benchmarks/results/linear_speed.txt

The design and what is measured are in against_statsmodels.py.
"""

import io

import pandas as pd
from against_statsmodels import FORMULA, LEVELS, NAMES, Study, main


def by_dpstats(data: pd.DataFrame) -> None:
    import dpstats as dps

    numbers = {name: dps.bounded(-1, 1) for name in NAMES}
    schema = dps.Schema(y=dps.bounded(-8, 8), grade=dps.levels(*LEVELS), **numbers)
    fit = dps.ols(FORMULA, data, schema).fit(dps.approx(1, 1e-6))
    print(fit.summary(), file=io.StringIO())


def by_statsmodels(data: pd.DataFrame) -> None:
    from statsmodels.formula import api

    api.ols(FORMULA, data).fit()


OLS = Study(
    response=lambda predictor, rng: predictor + rng.normal(scale=0.5, size=len(predictor)),
    ours=by_dpstats,
    theirs=by_statsmodels,
    goal=0.5,
    aspired={"cat": 0.25, "str": 0.15},
)

if __name__ == "__main__":
    main({"ols": OLS}, __doc__)
