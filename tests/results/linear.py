"""Linear fits made by hand: moments of sixty rows, exact or with a fixed perturbation for noise."""

from typing import Any

import numpy as np

import dpstats as dps
from dpstats.moments import LinearMoments
from dpstats.results import Fit
from dpstats.results.linear import fields_of

NAMES = ("Intercept", "alcohol", "sulphates", "acidity")
AT = {"alcohol": 12, "sulphates": 0.5, "acidity": 7}
BUDGET = dps.approx(1, 1e-6)
SCHEMA = dps.Schema(
    quality=dps.bounded(0, 10, unit="points"),
    alcohol=dps.bounded(8, 15, unit="% vol"),
    sulphates=dps.bounded(0, 2, unit="g/l"),
    acidity=dps.bounded(3, 16),
    unused=dps.bounded(0, 1),
)


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Design and response, as regular as rows can be and still have a residual."""
    k = np.arange(60)
    alcohol = 11.5 + 2 * np.sin(1.7 * k)
    sulphates = 0.6 + 0.2 * np.sin(1.7 * k + 1) + 0.1 * np.cos(2.9 * k)
    acidity = 7 + 2 * np.cos(0.9 * k)
    x = np.column_stack([np.ones(60), alcohol, sulphates, acidity])
    return x, x @ np.array([1.5, 0.35, 0.8, -0.05]) + 0.6 * np.sin(5.3 * k + 0.4)


def moments(noise: float = 0.0, **changes: Any) -> LinearMoments:
    """Of those rows, nearly white, about a pilot; `noise` is the sd of a diagonal entry."""
    x, y = rows()
    n, d = x.shape
    whitening = np.linalg.inv(np.linalg.cholesky(x.T @ x / n)).T * 1.1
    origin, scale = np.array([5.0, 0, 0, 0]), 0.8
    z = np.column_stack([x @ whitening, (y - x @ origin) / scale])
    pattern = np.sin(np.arange(25).reshape(5, 5) + 1)
    m = z.T @ z / n + noise * (pattern + pattern.T) / 2
    fields: dict[str, Any] = {
        "n": n,
        "gram": m[:d, :d],
        "cross": m[:d, d],
        "square": m[d, d],
        "noise_gram": noise,
        "noise_cross": noise,
        "noise_square": noise,
        "origin": origin,
        "map": scale * whitening,
        "scale": scale,
        "penalised": [0, 1, 1, 1],
        "constant": np.linalg.solve(whitening, np.eye(d)[0]),
    }
    return LinearMoments.of({**fields, **changes})


def linear(alpha: float = 0.0, noise: float = 0.002, **changes: Any) -> Fit:
    """A fit from them; `changes` replace fields of the record."""
    fields: dict[str, Any] = {
        "model": "ridge" if alpha else "ols",
        "dist": "gaussian",
        "formula": "quality ~ alcohol + sulphates + acidity",
        "schema": SCHEMA,
        "names": NAMES,
        "nobs": 60,
        "budget": BUDGET,
        "method": "noisy moments (Gaussian)",
        "released": ("moments", "second moments"),
        "settings": {"R": 2.5, "residual": 4.0},
        "ledger": "1.00 of 3.00 spent on 'wine'",
        "linear": moments(noise),
        "alpha": alpha,
        **fields_of(moments(noise).solve(alpha), NAMES),
    }
    return Fit(**{**fields, **changes})
