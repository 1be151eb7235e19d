"""Names that users bring from other packages: a fit says what is written here in their place."""

import re

import numpy as np
import pytest

from dpstats.errors import NotReleased
from dpstats.results import NOT_RELEASED
from dpstats.results.notreleased import HABITS, LIKELIHOODS
from tests.results.every import hazards
from tests.results.fits import capacitor
from tests.results.glms import glm
from tests.results.linear import linear
from tests.results.test_curve_estimates import made

FITS = {
    "survreg": capacitor(),
    "coxph": hazards(),
    "ols": linear(),
    "kaplan_meier": made(np.full((1, 6), 50.0)),
}


# a name that only fits of another regression have says so: tests/results/test_kinds.py
OF_REGRESSIONS = {name for model in ("survreg", "coxph", "ols") for name in dir(type(FITS[model]))}


@pytest.mark.parametrize("model", FITS)
def test_a_name_of_another_package_says_what_to_write(model: str) -> None:
    has = dir(type(FITS[model])) if model == "kaplan_meier" else OF_REGRESSIONS
    lacked = [name for name in HABITS if name not in has]
    assert len(lacked) > 50
    for name in lacked:
        says_what_to_write(name, model)


def test_intervals_of_predictions_are_where_a_fit_of_any_kind_has_them() -> None:
    """A glm has none of a new response, and obs=True, which was named for it, was refused there."""
    for fit in (glm("binomial"), linear()):
        with pytest.raises(TypeError, match=r"fit\.get_prediction\(newdata\)\.summary_frame\(") as error:
            fit.predict({}, interval="confidence")
        assert "obs=True" not in str(error.value)


def says_what_to_write(name: str, model: str) -> None:
    fit = FITS[model]
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': write ") as error:
        getattr(fit, name)
    assert not isinstance(error.value, NotReleased) and name not in NOT_RELEASED
    written = str(error.value).split(": write ")[1]
    ways = dict(HABITS[name])
    if written in ways:
        assert all(hasattr(fit, member) for member in re.findall(r"(?<!')fit\.(\w+)", written))
    else:
        assert all(f"{way} of {whose}" in written and model not in whose for way, whose in ways.items())


def test_the_way_is_that_of_the_fit_at_hand() -> None:
    says = {
        model: pytest.raises(AttributeError, getattr, fit, "predict_median") for model, fit in FITS.items()
    }
    assert str(says["survreg"].value).endswith(": write fit.predict(newdata, type='median')")
    assert str(says["kaplan_meier"].value).endswith(": write fit.median()")
    assert str(says["coxph"].value).endswith("write fit.survival(newdata, times=[100]) (0.5 at the median)")
    assert str(says["ols"].value).endswith("(0.5 at the median) of coxph, or fit.median() of kaplan_meier")
    with pytest.raises(NotReleased, match=r"'alpha' .* a penalty here. Use fit.eta\(newdata\)"):
        assert FITS["survreg"].alpha


def test_what_is_refused_of_a_curve_names_what_a_curve_has() -> None:
    curve = FITS["kaplan_meier"]
    for name in NOT_RELEASED.keys() - set(dir(curve)):
        with pytest.raises(NotReleased, match=f"'{name}' ") as error:
            getattr(curve, name)
        named = re.findall(r"Use .*", str(error.value))
        assert all(hasattr(curve, member) for member in re.findall(r"fit\.(\w+)", named[-1]))
    name = "quantiles"
    with pytest.raises(AttributeError, match="did you mean 'quantile'"):
        getattr(curve, name)


def test_what_ranks_pairs_of_rows_is_told_as_that() -> None:
    for fit in FITS.values():
        with pytest.raises(NotReleased, match="compares each private row with every other"):
            assert fit.concordance_index_
    with pytest.raises(AttributeError, match=r"it is as_html\(\) here"):
        assert FITS["ols"].summary().to_html
    for name in ("save", "write"):
        with pytest.raises(AttributeError, match=r"write Path.*\.write_text\(table\.as_html\(\)\)"):
            getattr(FITS["ols"].summary(), name)
    with pytest.raises(TypeError, match="a ratio is of one unit of its covariate"):
        FITS["survreg"].time_ratios(per=10)


@pytest.mark.parametrize(("name", "own"), LIKELIHOODS.items())
def test_names_of_a_likelihood_say_how_to_ask_for_it_or_where_it_is(name: str, own: str) -> None:
    with pytest.raises(NotReleased, match=rf"'{name}' needs .*release=\['loglik'\]"):
        getattr(capacitor(), name)
    released = capacitor(loglik=(-400.0, 3.0, 3.0))
    with pytest.raises(AttributeError, match=f"'{name}': write fit.{own}$") as error:
        getattr(released, name)
    assert not isinstance(error.value, NotReleased) and hasattr(released, own)
