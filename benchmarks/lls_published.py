"""The algorithm of the location-scale paper as printed. NOT PRIVATE: it scales by the data's extremes."""

import math

import numpy as np

Array = np.ndarray
CURVATURE = {"sev": 1.0, "logistic": 0.5}


def by_published(
    exog: Array, endog: Array, family: str, epsilon: float, rng: np.random.Generator, scaled: bool
) -> tuple[Array, bool]:
    """Algorithms 1 and 2: noise on every weight, and the stationary point of the noisy quadratic.

    Parameters
    ----------
    exog : array, shape (n, d)
        Without the column of the intercept.
    endog : array, shape (n,)
    family : {"sev", "logistic"}
    epsilon : float
    rng : Generator
    scaled : bool
        Whether covariates are moved to [0, 1 / sqrt d] by their extremes, as the text says; else they are
        taken as they are, and so is the sensitivity.

    Returns
    -------
    params : array, shape (d + 1,)
        Intercept and slopes for the user's response.
    bounded : bool
        Whether the noisy quadratic had a maximum.
    """
    n, d = exog.shape
    low, width = np.zeros(d), np.ones(d)
    if scaled:
        low, width = exog.min(axis=0), (exog.max(axis=0) - exog.min(axis=0)) * math.sqrt(d)
    middle, half = (endog.max() + endog.min()) / 2, (endog.max() - endog.min()) / 2
    u, v, c = np.column_stack([np.ones(n), (exog - low) / width]), (endog - middle) / half, CURVATURE[family]
    scale = c * (4 + 4 * math.sqrt(d) + d) / epsilon
    # the weights of p_j p_h of both orders get noise of their own, and add up in the quadratic
    noise = rng.laplace(scale=scale, size=(d + 1, d + 1))
    of_pp = -c / 2 * (u.T @ u) + (noise + noise.T) / 2
    of_pq = c * (u.T @ v) + rng.laplace(scale=scale, size=d + 1)
    of_qq = -(n + c * (v @ v)) / 2 + rng.laplace(scale=scale)
    of_q = 2 * n + rng.laplace(scale=scale)
    hessian = np.block([[2 * of_pp, of_pq[:, None]], [of_pq[None, :], np.array([[2 * of_qq]])]])
    solution = np.linalg.solve(hessian, np.append(np.zeros(d + 1), -of_q))
    params = half * solution[:-1] / solution[-1]
    params[1:] /= width
    params[0] += middle - params[1:] @ low
    return params, bool(np.linalg.eigvalsh(hessian)[-1] < 0)
