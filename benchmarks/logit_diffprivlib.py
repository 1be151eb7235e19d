"""Private logistic regression at epsilon = 1 against diffprivlib, on the same rows in one run.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/logit_diffprivlib.py --peer-python PYTHON \\
        | tee benchmarks/results/logit_diffprivlib.txt

Design: ten covariates uniform on [-1, 1], log odds .5 + Xb, b evenly spaced from
-1 to 1. The error of a fit is the L2 distance of all coefficients, with the intercept, to maximum likelihood
on the same rows. diffprivlib gets a ready matrix and the greatest norm of a row; ours reads a formula and a
table. See against_diffprivlib.py for its environment.
"""

import numpy as np
from against_diffprivlib import DELTA, EPSILON, NAMES, Array, D, Fit, Study, by_dpstats, main

PENALTY = 1.0  # diffprivlib's default C
CLAIM = """diffprivlib says epsilon = 1; it takes
the greatest norm of a row where the square belongs, and does not penalise the intercept: with rows of norm
sqrt(11) its noise proves 1.83, if anything. Its fit is penalised (C = 1), ours is not"""


def sample(n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(n)
    exog = rng.uniform(-1, 1, size=(n, D))
    return exog, (rng.random(n) < _odds(0.5 + exog @ np.linspace(-1, 1, D))).astype(float)


def maximum_likelihood(exog: Array, endog: Array) -> tuple[Array, float]:
    design = np.column_stack([np.ones(len(exog)), exog])
    params = np.zeros(D + 1)
    for _ in range(25):
        share = _odds(design @ params)
        information = (design * (share * (1 - share))[:, None]).T @ design
        params = params + np.linalg.solve(information, design.T @ (endog - share))
    return params, float(np.sqrt(np.trace(np.linalg.inv(information))))


def _odds(predictor: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-predictor)))


def by_diffprivlib(exog: Array, endog: Array) -> Fit:
    from diffprivlib.models import LogisticRegression  # the environment of diffprivlib has no dpstats

    def fit(seed: int | None) -> Array:
        model = LogisticRegression(epsilon=EPSILON, data_norm=np.sqrt(D), C=PENALTY, random_state=seed)
        model.fit(exog, endog)
        return np.array([*model.intercept_, *model.coef_[0]])

    return fit


def ours(exog: Array, endog: Array) -> Fit:
    import dpstats as dps

    schema = dps.Schema(y=dps.flag(), **{name: dps.bounded(-1, 1) for name in NAMES})
    budget = dps.approx(EPSILON, DELTA)
    return by_dpstats(lambda formula, data: dps.logit(formula, data, schema), budget, exog, endog)


OURS = "dps.logit, approx(1, 1e-6)"
STUDY = Study(
    script=__file__,
    sample=sample,
    exact=maximum_likelihood,
    peer=by_diffprivlib,
    ours={OURS: ours},
    peer_label="diffprivlib LogisticRegression, epsilon = 1",
    claim=CLAIM,
    goals={OURS: 1.0},
)

if __name__ == "__main__":
    main(STUDY, __doc__)
