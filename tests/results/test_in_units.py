"""Coefficients per several units: those of a fit whose column was divided, under names that say so."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.moments.mixture import Tails
from dpstats.results import Fit
from dpstats.testing import SeededNoise, noise
from tests.results.fits import capacitor
from tests.results.glms import glm
from tests.results.linear import linear

UNITS = {"age": 10}


def scaled(fit: Fit) -> np.ndarray:
    """10 for each coefficient of age, and of age with another factor."""
    return np.array([10.0 if "age" in name.split(":") else 1.0 for name in fit.names])


@pytest.mark.parametrize("family", ["binomial", "poisson", "gamma"])
def test_it_is_the_fit_of_a_divided_column(family: str) -> None:
    fit = glm(family)
    plain, many = fit.tidy(conf_int=True), fit.tidy(conf_int=True, units=UNITS)
    assert scaled(fit).tolist().count(10.0) == 2  # of age, and of age and sex
    for column in ("estimate", "std_error", "conf_low", "conf_high"):
        assert many[column].to_numpy() == pytest.approx(plain[column].to_numpy() * scaled(fit), rel=1e-12)
    for column in ("statistic", "p_value", "privacy_share"):
        assert many[column].to_numpy() == pytest.approx(plain[column].to_numpy(), rel=1e-9, nan_ok=True)
    assert [name for name in many["term"] if name not in fit.names] == [
        "age (per 10 year)",
        "age (per 10 year):sex",
    ]
    assert fit.conf_int(units=UNITS)[1].to_numpy() == pytest.approx(many["conf_high"].to_numpy())


def test_fits_side_by_side_are_per_several_units_of_what_each_has() -> None:
    fits = [glm("poisson"), capacitor()]
    both = dps.compare(*fits, units={"age": 10, "voltage": 50})
    each = [fits[0].tidy(conf_int=True, units=UNITS), fits[1].tidy(conf_int=True, units={"voltage": 50})]
    columns = ["term", "estimate", "std_error", "conf_low", "conf_high"]
    assert both.frame[columns].equals(pd.concat(each, ignore_index=True)[columns])
    assert "age (per 10 year)" in str(both) and "voltage (per 50" in str(both)
    with pytest.raises(SpecificationError, match="units takes numbers that stand alone"):
        dps.compare(*fits, units={"age": 10, "wages": 3})


def test_the_fit_itself_agrees() -> None:
    """Noise is on what the fit standardises: a column in tens is the same fit to rounding."""
    rng = np.random.default_rng(3)
    rows = pd.DataFrame({"age": rng.uniform(20, 80, 4000)})
    rows["y"] = 1 + 0.02 * rows["age"] + rng.normal(size=4000)
    fits = []
    for many in (1, 10):
        schema = dps.Schema(age=dps.bounded(16 / many, 96 / many), y=dps.bounded(-5, 9))
        with noise(SeededNoise(5)):
            fits.append(dps.ols("y ~ age", rows.assign(age=rows["age"] / many), schema).fit(dps.gdp(1)))
    ones, tens = fits
    assert ones.conf_int(units=UNITS).to_numpy() == pytest.approx(tens.conf_int().to_numpy(), rel=1e-6)


def test_noise_that_is_not_normal_goes_along() -> None:
    half = np.diagonal(glm("gaussian").cov_params()) / 2
    fit = glm("gaussian", tails=Tails("laplace", 1, half))
    low, high = fit.conf_int(units=UNITS).to_numpy().T
    before = fit.conf_int().to_numpy().T
    assert high - low == pytest.approx((before[1] - before[0]) * scaled(fit))
    assert fit.tidy(units=UNITS)["p_value"].to_numpy() == pytest.approx(fit.pvalues.to_numpy())


def test_summaries_say_of_how_many_units() -> None:
    text = glm("poisson").summary(units={"age": 25}, width=70).as_text()
    assert "age (per 25 year) " in text and "age (per 25 year):sex" in text
    assert "per 10" not in text and max(map(len, text.splitlines())) <= 70
    capacitors = str(capacitor().summary(units={"voltage": 50}))
    ratios = capacitors.partition("Time ratio")[2]
    assert "voltage (per 50 V)" in ratios and f"{np.exp(50 * capacitor().params['voltage']):.4f}" in ratios
    assert str(linear(0.05).summary(units={"alcohol": 2})).count("alcohol (per 2") == 1


def test_a_width_is_that_of_the_summary_and_can_be_changed_again() -> None:
    document = capacitor().summary(width=60)
    assert str(document).splitlines()[1] == "=" * 60
    assert document.as_text(90).splitlines()[1] == "=" * 90


@pytest.mark.parametrize(
    ("units", "said"),
    [
        ({"sex": 10}, r"numbers that stand alone in the formula \(age\), got 'sex'"),
        ({"hours": 10}, "function of a variable is per unit of the function"),
        ({"age": 0}, r"units\['age'\] must be a positive number$"),
        ({"age": "ten"}, r"units\['age'\] must be a number"),
        ([10], r"a dict such as \{'balance': 1000\}, got a list of 1 item"),
    ],
)
def test_wrong_units_are_told(units: Any, said: str) -> None:
    with pytest.raises(SpecificationError, match=said):
        glm("binomial").summary(units=units)


def test_ratios_near_one_have_the_digits_that_tell_their_limits_apart() -> None:
    text = str(glm("binomial").odds_ratios(units={"age": 1e-3}))
    (line,) = (line for line in text.splitlines() if line.startswith("age (per 0.001 year) "))
    estimate, low, high = line.split()[-3:]
    assert float(low) < float(estimate) < float(high)


def test_ratios_say_what_they_are_per_and_take_other_units() -> None:
    fit = capacitor()
    one, many = fit.time_ratios(), fit.time_ratios(units={"voltage": 50})
    assert "voltage (per 1 V)" in str(one) and "voltage (per 50 V)" in str(many)
    assert "temperature (per 1)" in str(many)
    assert many.frame["estimate"].to_numpy() == pytest.approx(one.frame["estimate"].to_numpy() ** [50, 1])
    hazards = [
        fit.hazard_ratios(units=units).frame["estimate"].to_numpy() for units in ({"voltage": 50}, None)
    ]
    assert hazards[0] == pytest.approx(hazards[1] ** [50, 1])
    with pytest.raises(SpecificationError, match="how many units of a variable are meant says units="):
        fit.time_ratios({"voltage": 50})
    with pytest.raises(SpecificationError, match=".loc.name. of them is one"):
        fit.hazard_ratios("voltage")


@pytest.mark.parametrize(
    ("unit", "one"),
    [("years", "year"), ("celsius", "celsius"), ("m/s", "m/s"), ("engine hours", "engine hour")],
)
def test_a_ratio_of_one_unit_is_per_one_of_it(unit: str, one: str) -> None:
    fit = glm("binomial")
    schema = fit.schema.to_dict()
    schema["age"]["unit"] = unit
    fit = glm("binomial", schema=dps.Schema.from_dict(schema))
    assert f"age (per 1 {one}) " in str(fit.odds_ratios())
    assert f"age (per 10 {unit}) " in str(fit.odds_ratios(units={"age": 10}))
    schema["age"]["upper"] = schema["age"]["lower"] + 20
    narrow = glm("binomial", schema=dps.Schema.from_dict(schema))
    assert f" per {one} at sex = F" in " ".join(str(narrow.summary()).split())
