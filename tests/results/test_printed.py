"""Everything that prints: never wider than a page, the same each time, and whole, whatever it is given."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.families import DISTS
from dpstats.results import Fit
from tests.results.every import EVERY
from tests.results.fits import STRESS, USE, capacitor, wide
from tests.results.glms import wide as wide_glm

MAKER = "01 manufacturer of hard disk drives in Northern Ruritania"
AT = {"maker": MAKER, "temp": 30, "load": "low", "age": 1, "runs": 5}
PLACE = {"place": "02 district of the Upper Upper Valley of the Winds", "age": 40, "hours": 38, "sex": "M"}


def outputs(fit: Fit, at: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """All that prints as a table, by name."""
    name, last = fit.names[1], fit.names[-1]
    found: dict[str, Callable[[], Any]] = {
        "print": lambda: fit,
        "summary": fit.summary,
        "compare": lambda: dps.compare(fit, fit, fit),
        "t_test": lambda: fit.t_test([f"{name} = 0", f"1000 * {last} = 0.5"]),
        "wald_test": lambda: fit.wald_test(f"{name} = 0"),
    }
    if fit.record.is_survival:
        for method in ("life", "mttf"):
            found[method] = lambda method=method: getattr(fit, method)([at, at])
        for method in ("reliability", "hazard"):
            found[method] = lambda method=method: getattr(fit, method)(at, times=[1e-3, 10, 123456.789, 1e9])
        found["conditional"] = lambda: fit.conditional_reliability(at, age=5, times=[1, 1e6])
        found["parameters"] = fit.parameters
        if DISTS[fit.record.dist].log:
            found |= {"time_ratios": fit.time_ratios, "eta": lambda: fit.eta(at)}
            found["acceleration"] = lambda: fit.acceleration(at, at)
    elif fit.record.model not in ("svm", "coxph"):
        found["effects"] = lambda: fit.marginal_effects([at, at])
    return found


FITS = {**EVERY, "wide": (wide(), AT), "wide-logit": (wide_glm(), PLACE)}
CASES = [(model, name) for model, (fit, at) in FITS.items() for name in outputs(fit, at)]


@pytest.mark.parametrize(("model", "name"), CASES)
def test_a_page_is_at_most_100_columns_wide_and_always_the_same(model: str, name: str) -> None:
    fit, at = FITS[model]
    text = repr(outputs(fit, at)[name]())
    assert text and max(map(len, text.splitlines())) <= 100 or name in ("wald_test", "acceleration")
    again = Fit.from_dict(fit.to_dict())
    assert repr(outputs(again, at)[name]()) == text
    assert "nan" not in text


def test_thirty_coefficients_with_long_names_stay_readable() -> None:
    """Each name is there, whole, and its numbers follow it on the same line or the next."""
    lines = str(wide().summary()).splitlines()
    for term, value, se in zip(wide().names, wide().params, wide().bse, strict=True):
        name = term.replace("maker[T.", "  [T.") if ":" not in term else term  # below the name of the factor
        head = name[:60].split(" in ")[0]
        at = next(i for i, line in enumerate(lines) if line.startswith(head))
        near = " ".join(" ".join(lines[at : at + 3]).split())
        assert " ".join(name.split()) in near
        assert dps.results.table.figures(value) in near if np.isfinite(se) else "not estimable" in near


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=4),
    st.lists(st.floats(1e-12, 1e9) | st.just(np.inf), min_size=4, max_size=4),
    st.sampled_from(list(DISTS)),
)
def test_no_number_is_too_long_for_the_page(params: list[float], sd: list[float], dist: str) -> None:
    cov = np.diag(np.square(sd))
    fit = capacitor(params=[*params[:3], params[3] / 1e5], cov=cov, cov_privacy=0.3 * cov, dist=dist)
    with np.errstate(all="ignore"):
        for name, show in outputs(fit, USE).items():
            if name not in ("acceleration", "wald_test"):
                assert max(map(len, repr(show()).splitlines())) <= 100, name


def test_tiny_p_values_are_never_zero() -> None:
    fit = capacitor(cov=np.diag([1e-6] * 4))
    for shown in (fit.summary(), fit.t_test("voltage = 5"), fit.wald_test("voltage = 5")):
        assert "<0.001" in repr(shown) and "0.000 " not in repr(shown)


def test_all_that_says_the_same_is_equal_to_the_last_bit() -> None:
    """B63.2 is eta, which is the prediction; a B-life is a quantile; R at a B-life is what has survived."""
    for dist in DISTS:
        fit = capacitor(dist=dist)
        lives = fit.life([USE, STRESS], failed=[0.1, 0.5]).frame
        limits = ["estimate", "conf_low", "conf_high"]
        b10 = lives[lives["quantity"] == "B10"].reset_index(drop=True)
        assert (b10["estimate"] == fit.predict([USE, STRESS], type="quantile", p=0.1)).all()
        for at, life in zip((USE, STRESS), b10["estimate"], strict=True):
            assert fit.reliability(at, life).frame["estimate"][0] == pytest.approx(0.9, abs=1e-13)
        if DISTS[dist].log:
            scale = lives[lives["quantity"] == "eta"].reset_index(drop=True)[limits]
            assert scale.equals(fit.eta([USE, STRESS]).frame[limits])
            assert (fit.predict([USE, STRESS]) == scale["estimate"]).all()
            ratio = b10["estimate"][0] / b10["estimate"][1]
            assert fit.acceleration(USE, STRESS).estimate == pytest.approx(ratio, rel=1e-13)
            shape = fit.parameters().frame.set_index("term")["estimate"]["shape"]
            assert shape == float(fit.shape) == pytest.approx(1 / float(fit.sigma), rel=1e-15)
        else:
            middle = lives[lives["quantity"] == "mu"]["estimate"].to_numpy()
            assert (middle == fit.predict([USE, STRESS], type="lp")).all()
