"""Accelerated tests: activation energies, powers, factors to a use level, and points by stress level."""

from typing import Any

import matplotlib
import matplotlib.colors
import numpy as np
import pytest

import dpstats as dps
from dpstats.errors import NotReleased, SpecificationError
from dpstats.formula.expressions import BOLTZMANN
from dpstats.results import Fit
from dpstats.testing import NoNoise, noise
from tests.results.fits import STRESS, USE, capacitor
from tests.results.test_plots import curve

NAMES = ("Intercept", "arrhenius(tempC)", "inverse_power(volts)", "Log(scale)")
COV = np.diag([0.01, 0.0004, 0.0025, 0.0009])
BENCH = {"tempC": 105, "volts": 16}


def bench(**changes: Any) -> Fit:
    fields: dict[str, Any] = {
        "formula": "Surv(time, failed) ~ arrhenius(tempC) + inverse_power(volts)",
        "schema": dps.Schema(
            time=dps.bounded(1, 5000, unit="h"),
            failed=dps.event(),
            tempC=dps.bounded(85, 125, unit="C"),
            volts=dps.bounded(10, 20, unit="V"),
            oven=dps.levels("85 C", "105 C", "125 C"),
        ),
        "names": NAMES,
        "params": [-6.0, 0.7, 2.5, -0.6],
        "cov": COV,
        "cov_privacy": COV / 2,
    }
    return capacitor(**{**fields, **changes})


def per_kt(celsius: float) -> float:
    return 1 / (BOLTZMANN * (celsius + 273.15))


def test_the_activation_energy_is_the_coefficient_in_electronvolts() -> None:
    row = bench().activation_energy(level=0.9).frame.iloc[0]
    assert row["term"] == "arrhenius(tempC)" and row["estimate"] == 0.7
    assert row["conf_high"] - row["conf_low"] == pytest.approx(2 * 1.644854 * 0.02)


def test_factors_are_those_of_the_laws() -> None:
    stress = [{"tempC": 125, "volts": 10}, {"tempC": 85, "volts": 20}]
    frame = bench().acceleration_factors({"tempC": 90, "volts": 12}, stress).frame
    wanted = [
        np.exp(0.7 * (per_kt(90) - per_kt(celsius))) * (volts / 12) ** 2.5
        for celsius, volts in ((125, 10), (85, 20))
    ]
    assert frame["estimate"].tolist() == pytest.approx(wanted)
    for j, each in enumerate(stress):
        one = bench().acceleration({"tempC": 90, "volts": 12}, each)
        assert frame.loc[j, ["estimate", "conf_low", "conf_high"]].tolist() == pytest.approx(
            [one.estimate, one.conf_low, one.conf_high]
        )
    error = np.hypot(0.02 * (per_kt(90) - per_kt(125)), 0.05 * np.log(10 / 12))
    assert np.log(frame["conf_high"] / frame["estimate"])[0] == pytest.approx(1.959964 * error)


def test_stress_is_the_harsher_bound_of_each_and_of_all() -> None:
    with pytest.warns(UserWarning, match="extrapolated"):
        found = bench().acceleration_factors({"tempC": 55, "volts": 12})
    assert found.frame["tempC"].tolist() == [125, 55, 125] and found.frame["volts"].tolist() == [12, 20, 20]
    assert found.frame["extrapolated"].tolist() == [False, True, False]
    assert "Acceleration from tempC = 55 (30 below its bounds), volts = 12" in str(found)
    plain = capacitor().acceleration_factors(USE)
    assert plain.frame["voltage"].tolist() == [350, 200, 350]
    assert plain.frame["estimate"].iloc[-1] == pytest.approx(capacitor().acceleration(USE, STRESS).estimate)


def test_stress_is_the_harsher_bound_also_where_the_other_is_farther() -> None:
    """Taking the farther bound, factors of .05 called cold and idle units stressed."""
    near = bench().acceleration_factors({"tempC": 110, "volts": 17})
    assert near.frame["tempC"].tolist() == [125, 110, 125] and near.frame["volts"].tolist() == [17, 20, 20]
    cooled = bench(params=[-6.0, -0.7, 2.5, -0.6]).acceleration_factors({"tempC": 90, "volts": 17})
    assert cooled.frame["tempC"].tolist() == [85, 90, 85] and (cooled.frame["estimate"] > 1).all()


def test_a_summary_names_energies_and_powers() -> None:
    text = bench().summary().as_text()
    assert "Activation energy  arrhenius(tempC)" in text and "eV" in text and "Time ratio" not in text
    assert "Power              inverse_power(volts)" in text and "Acceleration" not in text
    mixed = bench(
        formula="Surv(time, failed) ~ arrhenius(tempC) + arrhenius(tempC):volts",
        names=("Intercept", "arrhenius(tempC)", "arrhenius(tempC):volts", "Log(scale)"),
    )
    assert "Time ratio         arrhenius(tempC):volts" in mixed.summary().as_text()
    assert len(mixed.activation_energy().frame) == 1


def test_what_has_no_arrhenius_term_says_so() -> None:
    with pytest.raises(NotReleased, match="needs a term arrhenius"):
        capacitor().activation_energy()
    assert "activation_energy" not in dir(capacitor()) and "activation_energy" in dir(bench())
    with pytest.raises(NotReleased, match="log time"):
        bench(dist="sev").acceleration_factors(BENCH)
    with pytest.raises(SpecificationError, match="use must be one point"):
        bench().acceleration_factors([BENCH, BENCH])


def test_an_extrapolated_factor_says_so() -> None:
    with pytest.warns(UserWarning, match="extrapolated"):
        far = bench().acceleration({"tempC": 55, "volts": 12}, BENCH)
    assert far.name == "Acceleration factor, extrapolated"
    assert bench().acceleration(BENCH, BENCH).name == "Acceleration factor"


def test_each_line_has_the_points_of_its_own_stress_level() -> None:
    points = curve(("85 C", "105 C", "125 C"), formula="Surv(time, failed) ~ oven")
    lines = [{"tempC": t, "volts": 16, "oven": f"{t} C"} for t in (125, 85)]
    ax = bench().plot_life(lines, times=(100, 3000), points=points)
    labels = ax.get_legend_handles_labels()[1]
    assert [label for label in labels if label.startswith("Kaplan")] == [
        "Kaplan-Meier, oven = 85 C",
        "Kaplan-Meier, oven = 125 C",
    ]
    drawn = {line.get_marker(): line.get_color() for line in ax.get_lines() if line.get_marker() in "os^D"}
    colours = {marker: matplotlib.colors.to_hex(colour) for marker, colour in drawn.items()}
    first, second = (matplotlib.colors.to_hex(name) for name in ("C0", "C1"))
    assert colours["o"] == second and set(colours.values()) == {first, second}
    with pytest.warns(UserWarning, match="points are of all values of tempC, volts together"):
        bench().plot_life(BENCH, times=(100, 3000), points=points)


def test_a_fit_finds_the_energy_and_the_power() -> None:
    """Noise off: maximum likelihood of bounded scores, of a made test."""
    rng, n = np.random.default_rng(1), 4000
    temp, volts = rng.choice([85, 105, 125], n), rng.choice([10, 16, 20], n)
    time = np.exp(0.7 * per_kt(temp) - 2.5 * np.log(volts) - 6) * rng.weibull(1.8, n)
    data = {"time": np.minimum(time, 5000), "failed": 1 * (time < 5000), "tempC": temp, "volts": volts}
    with noise(NoNoise()):
        model = dps.survreg("Surv(time, failed) ~ arrhenius(tempC) + power(volts)", data, bench().schema)
        fit = model.fit(dps.zcdp(1e4))
    assert abs(fit.params["arrhenius(tempC)"] - 0.7) < 3 * fit.bse["arrhenius(tempC)"]
    assert abs(fit.params["power(volts)"] + 2.5) < 3 * fit.bse["power(volts)"]


def test_a_mistake_in_a_point_names_the_argument_that_holds_it() -> None:
    fit, at = capacitor(), {"voltage": 300, "temperature": 175}
    for ask, words in (
        (lambda: fit.acceleration(at, {"voltage": 350}), "stress lacks 'temperature'"),
        (lambda: fit.acceleration({"voltage": 200}, at), "use lacks 'temperature'"),
        (lambda: fit.acceleration_factors(5), "use must be a frame"),
        (lambda: fit.acceleration_factors(at, {"voltage": 350}), "stress lacks 'temperature'"),
        (lambda: fit.reliability([100], at), "reliability takes newdata first"),
    ):
        with pytest.raises(SpecificationError, match=words):
            ask()
    with pytest.raises(NotReleased, match="Pass use: values of voltage, temperature"):
        fit.acceleration(None, at)
