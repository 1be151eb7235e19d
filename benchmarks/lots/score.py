"""One design, fitted and scored."""

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import dpstats as dps
from dpstats.budget import Budget
from dpstats.errors import SpecificationError
from dpstats.testing import SeededNoise, noise
from lots.designs import Design, draw_design
from lots.exact import LINKS, glm, least_squares, survival
from lots.rows import Curves, Sample, curves, sample

Array = np.ndarray
Z95 = 1.959964


def lot(seed: int, draw: Callable[[int], Design] = draw_design) -> dict[str, Any]:
    """The record of a design: its dimensions, and for each interval how far off the truth is."""
    design, began = draw(seed), time.process_time()
    found = scored_or_not(lambda: (_curves if design.model == "kaplan_meier" else _regression)(design))
    return design.described() | found | {"seconds": round(time.process_time() - began, 2)}


def scored_or_not(score: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A score, or that the fit was refused, or failed or warned, which it never should."""
    try:
        return score()
    except SpecificationError as refusal:
        return {"refused": str(refusal)}
    except (ArithmeticError, LookupError, TypeError, ValueError, RuntimeWarning) as fault:
        return {"fault": repr(fault)}


def model_of(design: Design, drawn: Sample) -> Any:
    """As a user writes it."""
    data = drawn.rows.iloc[: design.n]
    weights = {"weights": "w"} if design.extra == "weights" else {}
    if design.model == "survreg":
        known = {"scale": design.level} if design.known_scale else {}
        return dps.survreg(drawn.formula, data, drawn.schema, dist=design.dist, **known)
    if design.model == "ols":
        return dps.ols(drawn.formula, data, drawn.schema, **weights)
    if design.model == "logit":
        return dps.logit(drawn.formula, data, drawn.schema)
    named = {"family": design.model}
    if design.model in LINKS:
        named = {"family": "binomial", "link": design.model}
    return dps.glm(drawn.formula, data, drawn.schema, **named, **weights)


def _regression(design: Design) -> dict[str, Any]:
    drawn = sample(design)
    own, cov = exact(design.reference, design.dist, drawn, slice(0, design.n))
    truth, doubt = own if design.own else drawn.truth, np.zeros(len(cov))
    if truth is None:
        truth, spread = exact(design.reference, design.dist, drawn, slice(design.n, None))
        doubt = np.sqrt(np.maximum(np.diag(spread), 0.0))
    model = model_of(design, drawn)
    return fitted(model, design.budget, design.seed, truth, doubt, cov) | {"formula": drawn.formula}


def fitted(model: Any, budget: Budget, seed: int, truth: Array, doubt: Array, cov: Array) -> dict[str, Any]:
    """What is kept of a regression; `cov` is that without privacy."""
    with noise(SeededNoise(seed)), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        fit = model.fit(budget)
        low, high = fit.conf_int().to_numpy().T
    with np.errstate(all="ignore"):
        exact_se = np.sqrt(np.diag(cov))
    return scored(fit.params.to_numpy(), low, high, truth, doubt, exact_se) | {
        "flags": [code for code, _ in fit.flags],
        "names": list(fit.params.index),
    }


def exact(model: str, dist: str, drawn: Sample, rows: slice) -> tuple[Array, Array]:
    """Parameters and their covariance without privacy; NaN where rows do not determine them."""
    fields = {
        key: value[rows] if isinstance(value, np.ndarray) else value for key, value in drawn.fields.items()
    }
    exog = drawn.exog[rows]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if model == "survreg":
                return survival(exog, fields["log_time"], fields["event"], dist)
            if model == "ols":
                return least_squares(exog, fields["y"], fields["weights"])
            return glm(exog, fields["y"], model, fields["offset"], fields["weights"])
    except (np.linalg.LinAlgError, ValueError):
        k = exog.shape[1] + (model == "survreg")
        return np.full(k, np.nan), np.full((k, k), np.nan)


def scored(
    params: Array, low: Array, high: Array, truth: Array, doubt: Array, exact_se: Array
) -> dict[str, Any]:
    """Errors in half-lengths and in standard errors without privacy; None for what was not estimable.

    What is uncertain of a truth that is itself an estimate counts as part of the interval.
    """
    half = np.hypot(np.where(truth > params, high - params, params - low), Z95 * doubt)
    with np.errstate(all="ignore"):
        halves, errors, widths = (params - truth) / half, (params - truth) / exact_se, half / (Z95 * exact_se)
    known = np.isfinite(half) & np.isfinite(truth)
    return {
        "lost": int(np.sum(~np.isfinite(half))),
        "halves": _plain(halves, known),
        "errors": _plain(errors, known),
        "widths": _plain(widths, known),
    }


def _plain(values: Array, known: Array) -> list[float | None]:
    pairs = zip(values, known, strict=True)
    return [round(float(value), 4) if ok and math.isfinite(value) else None for value, ok in pairs]


def _curves(design: Design) -> dict[str, Any]:
    drawn: Curves = curves(design)
    with noise(SeededNoise(design.seed)):
        fit = dps.kaplan_meier(drawn.formula, drawn.rows, drawn.schema, drawn.times).fit(design.budget)
    truth = np.concatenate([drawn.truth[name] for name in fit.groups])
    kept = np.isfinite(fit.frame["survival"].to_numpy()) & (truth > 1e-4)
    frame, truth = fit.frame[kept], truth[kept]
    estimate, low, high = (frame[name].to_numpy() for name in ("survival", "conf_low", "conf_high"))
    sampling = frame["std_error"].to_numpy() * np.sqrt(1 - frame["privacy_share"].to_numpy())
    return scored(estimate, low, high, truth, np.zeros(len(truth)), sampling) | {
        "flags": [],
        "names": [f"{g} {t:g}" for g, t in zip(frame["group"], frame["time"], strict=True)],
        "formula": drawn.formula,
    }
