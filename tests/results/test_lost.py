"""Of a fit of which nothing is estimable nothing is known that follows from it, whatever its numbers are."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpstats.families import DISTS
from dpstats.results import Fit
from dpstats.results.intervals import Estimate
from tests.results.every import EVERY
from tests.results.fits import STRESS, USE, capacitor
from tests.results.test_kinds import OF_RECORD, OF_TERMS, arguments

# what is made of other releases than the coefficients, and draws that a user asks for
OTHERS = (
    "at_alpha",
    "ridge_path",
    "moments",
    "rsquared",
    "rsquared_adj",
    "dispersion",
    "compare_dists",
    "proportional_test",
)
LIMITS = (("conf_low", "conf_high"), ("mean_ci_lower", "mean_ci_upper"), ("pred_low", "pred_high"))
WHOLE = {-np.inf, -1.0, 0.0}, {1.0, np.inf}  # of numbers, chances and what is between two chances


def lost(fit: Fit, params: np.ndarray) -> Fit:
    """The fit with other coefficients, of which none is estimable."""
    cov = np.diag(np.full(len(params), np.inf))
    return Fit._of(replace(fit.record, params=params, cov=cov, cov_privacy=cov))


def derived(fit: Fit, at: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What follows from the coefficients, by the name of the method or attribute that gives it."""
    for name in dir(fit):
        if name.startswith(("_", "plot")) or name in (*OF_RECORD, *OF_TERMS, *OTHERS, "simulate"):
            continue
        if name == "sigma" and not fit.record.is_survival:  # a release of its own, of linear fits
            continue
        found = getattr(fit, name)
        given = arguments(fit, at, found) if callable(found) else {}
        if given is not None:
            given |= (
                {"stress": STRESS} if name.startswith("acceleration") else {}
            )  # of a point by itself it is 1
            yield name, found(**given) if callable(found) else found


def told(found: Any) -> Iterator[tuple[float, float, float]]:
    """Each estimate with its limits, of what is laid out with limits, predictions and single numbers."""
    if isinstance(found, Estimate):
        yield found.estimate, found.conf_low, found.conf_high
    frame = found.summary_frame() if hasattr(found, "summary_frame") else getattr(found, "frame", found)
    if isinstance(frame, pd.DataFrame):
        for low, high in LIMITS:
            if low in frame:
                first = (
                    "estimate" if "estimate" in frame else next(c for c in frame if frame[c].dtype == float)
                )
                yield from frame[[first, low, high]].itertuples(index=False, name=None)


@pytest.mark.parametrize("size", [-1e5, -1000.0, 1.0, 1000.0, 1e5])
@pytest.mark.parametrize("model", EVERY)
def test_limits_of_all_that_follows_from_a_lost_fit_are_the_whole_range(model: str, size: float) -> None:
    fit, at = EVERY[model]
    signs = np.resize([1.0, -1.0], len(fit.params)) * np.sign(size)
    signs[-1] = np.sign(size)  # a log sigma, of fits that have one
    fit, asked = lost(fit, signs * abs(size)), []
    response = fit.schema.get(fit.formula.split(" ~ ")[0])
    lowest, highest = (
        ends | {end} for ends, end in zip(WHOLE, getattr(response, "bounds", (0.0, 1.0)), strict=True)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, found in derived(fit, at):
            for estimate, low, high in told(found):
                asked.append(name)
                nothing = np.isnan(low) and np.isnan(high) and np.isnan(estimate)
                assert nothing or (low in lowest and high in highest), (name, estimate, low, high)
    assert {"conf_int", "get_prediction"} & {*asked}, asked


@pytest.mark.parametrize("log_sigma", [-1000.0, 1000.0])
@pytest.mark.parametrize("dist", DISTS)
def test_what_rests_on_a_lost_sigma_is_lost_beside_a_line_that_is_known(dist: str, log_sigma: float) -> None:
    fit = capacitor(dist=dist)
    params, cov = np.append(fit.record.params[:-1], log_sigma), np.array(fit.cov_params())
    cov[-1], cov[:, -1] = 0.0, 0.0
    cov[-1, -1] = np.inf
    fit = Fit._of(replace(fit.record, params=params, cov=cov, cov_privacy=0.3 * cov))
    for found in (
        fit.reliability(USE, 100),
        fit.conditional_reliability(USE, 100, 100),
        fit.hazard(USE, 100),
    ):
        assert found.frame["estimate"].isna().all() and "not estimable" in repr(found)
