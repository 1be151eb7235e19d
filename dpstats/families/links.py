"""Inverse links: from the linear predictor eta to the mean, each with its first two derivatives.

These are for predictions, whose limits may be anywhere: they overflow to infinity and underflow to 0, while
`GlmFamily.mean`, made for iterations, stays finite.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

Function = Callable[[np.ndarray], np.ndarray]

_MOST = np.finfo(float).max


@dataclass(frozen=True, slots=True)
class Link:
    """A strictly increasing map of the linear predictor, and the range it maps into.

    Attributes
    ----------
    name : str
        Of the link, that is of the inverse of the map: ``"log"`` for exp.
    inverse, slope, bend : callable
        The map, its derivative and its second derivative.
    bounds : tuple of float
        Of the range.
    """

    name: str
    inverse: Function
    slope: Function
    bend: Function
    bounds: tuple[float, float]


def _exp(eta: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.exp(eta)


def softplus(z: np.ndarray) -> np.ndarray:
    """log(1 + e^z), in a sixth of the time that np.logaddexp takes."""
    return np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z)))


def logistic_slope(eta: np.ndarray) -> np.ndarray:
    """p (1 - p) of p = expit(eta), in a quarter of the time that both take as special.expit."""
    return np.asarray(0.25 / np.square(np.cosh(np.clip(eta, -700, 700) / 2)))  # e^700 is a number


def _logistic_bend(eta: np.ndarray) -> np.ndarray:
    return -logistic_slope(eta) * np.tanh(np.asarray(eta) / 2)


def _normal_density(eta: np.ndarray) -> np.ndarray:
    return np.exp(-np.square(eta) / 2) / math.sqrt(2 * math.pi)


def _normal_bend(eta: np.ndarray) -> np.ndarray:
    return -np.asarray(eta) * _normal_density(eta)


def _cloglog(eta: np.ndarray) -> np.ndarray:
    return -np.expm1(-_exp(eta))


def _cloglog_slope(eta: np.ndarray) -> np.ndarray:
    return np.exp(eta - _exp(eta))


def _cloglog_bend(eta: np.ndarray) -> np.ndarray:
    slope = _cloglog_slope(eta)
    return np.where(slope > 0, slope * (1 - np.minimum(_exp(eta), _MOST)), 0.0)


LOGIT = Link("logit", special.expit, logistic_slope, _logistic_bend, (0.0, 1.0))
LOG = Link("log", _exp, _exp, _exp, (0.0, np.inf))
IDENTITY = Link("identity", np.array, np.ones_like, np.zeros_like, (-np.inf, np.inf))

PROBIT = Link("probit", special.ndtr, _normal_density, _normal_bend, (0.0, 1.0))
CLOGLOG = Link("cloglog", _cloglog, _cloglog_slope, _cloglog_bend, (0.0, 1.0))

LINKS = {link.name: link for link in (LOGIT, LOG, IDENTITY, PROBIT, CLOGLOG)}
