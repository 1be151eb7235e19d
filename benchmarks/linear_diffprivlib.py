"""Private linear regression at epsilon = 1 against diffprivlib, on the same rows in one run.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/linear_diffprivlib.py --peer-python PYTHON \\
        | tee benchmarks/results/linear_diffprivlib.txt

Design: ten covariates uniform on [-1, 1], y = .5 + Xb + N(0, .5^2), |y| <= 8
declared, b evenly spaced from -1 to 1. The error of a fit is the L2 distance of all coefficients, with the
intercept, to least squares without privacy on the same rows. diffprivlib gets a ready matrix and all bounds;
ours reads a formula and a table. See against_diffprivlib.py for its environment.
"""

from functools import partial
from typing import Any

import numpy as np
from against_diffprivlib import DELTA, EPSILON, NAMES, Array, D, Fit, Study, by_dpstats, main

Y_BOUND = 8.0
CLAIM = """diffprivlib says epsilon = 1; it spends
1/11 on the means of X, 1/11 on the mean of y and 10/11 on the rest, which is 1.09"""


def sample(n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(n)
    exog = rng.uniform(-1, 1, size=(n, D))
    return exog, 0.5 + exog @ np.linspace(-1, 1, D) + rng.normal(scale=0.5, size=n)


def least_squares(exog: Array, endog: Array) -> tuple[Array, float]:
    design = np.column_stack([np.ones(len(exog)), exog])
    gram = design.T @ design
    params = np.linalg.solve(gram, design.T @ endog)
    variance = np.sum((endog - design @ params) ** 2) / (len(design) - D - 1)
    return params, float(np.sqrt(variance * np.trace(np.linalg.inv(gram))))


def by_diffprivlib(exog: Array, endog: Array) -> Fit:
    from diffprivlib.models import LinearRegression  # the environment of diffprivlib has no dpstats

    def fit(seed: int | None) -> Array:
        bounds: dict[str, Any] = {"bounds_X": (-1.0, 1.0), "bounds_y": (-Y_BOUND, Y_BOUND)}
        model = LinearRegression(epsilon=EPSILON, random_state=seed, **bounds).fit(exog, endog)
        return np.array([model.intercept_, *model.coef_])

    return fit


def ours(kind: str, exog: Array, endog: Array) -> Fit:
    import dpstats as dps

    schema = dps.Schema(y=dps.bounded(-Y_BOUND, Y_BOUND), **{name: dps.bounded(-1, 1) for name in NAMES})
    budget = dps.pure(EPSILON) if kind == "pure" else dps.approx(EPSILON, DELTA)
    return by_dpstats(lambda formula, data: dps.ols(formula, data, schema), budget, exog, endog)


PURE, APPROX = "dps.ols, pure(1)", "dps.ols, approx(1, 1e-6)"
STUDY = Study(
    script=__file__,
    sample=sample,
    exact=least_squares,
    peer=by_diffprivlib,
    ours={PURE: partial(ours, "pure"), APPROX: partial(ours, "approx")},
    peer_label="diffprivlib LinearRegression, epsilon = 1",
    claim=CLAIM,
    goals={PURE: 0.5, APPROX: 0.1},
)

if __name__ == "__main__":
    main(STUDY, __doc__)
