"""What follows from a fit says which cautions of the fit touch it: tables, forecasts and plots."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from dpstats.moments import Quantity
from dpstats.results import Fit
from dpstats.results.cautions import cautions
from tests.results.every import hazards
from tests.results.fits import STRESS, USE, capacitor

FLEET = {"age": [0.0, 100.0], "voltage": [200, 300], "temperature": [170, 175]}
OF_LAW: dict[str, Callable[[Fit], Any]] = {
    "life": lambda fit: fit.life(USE),
    "mttf": lambda fit: fit.mttf(USE),
    "eta": lambda fit: fit.eta(USE),
    "parameters": lambda fit: fit.parameters(),
    "reliability": lambda fit: fit.reliability(USE, times=[500]),
    "mission": lambda fit: fit.conditional_reliability(USE, age=100, times=[500]),
    "hazard": lambda fit: fit.hazard(USE, times=[500]),
    "forecast": lambda fit: fit.forecast(FLEET, horizon=100, periods=2),
}
RATIOS: dict[str, Callable[[Fit], Any]] = {
    "time_ratios": lambda fit: fit.time_ratios(),
    "hazard_ratios": lambda fit: fit.hazard_ratios(),
    "acceleration_factors": lambda fit: fit.acceleration_factors(USE, STRESS),
}
PLOTS: dict[str, Callable[[Fit], Any]] = {
    "plot_life": lambda fit: fit.plot_life(USE),
    "plot_reliability": lambda fit: fit.plot_reliability(USE),
    "plot_hazard": lambda fit: fit.plot_hazard(USE),
    "forecast": lambda fit: fit.forecast(FLEET, horizon=100, periods=2).plot(),
}
LAW = "Caution (law): failures come at other times than this distribution says; see the summary of the fit."


def under(*problems: str, **changes: Any) -> Fit:
    return capacitor(flags=cautions(problems, capacitor().names), **changes)


def said(table: Any) -> str:
    return " ".join(table.as_text().split())


@pytest.mark.parametrize("asked", OF_LAW)
def test_what_rests_on_the_law_says_once_that_it_does_not_hold(asked: str) -> None:
    table = OF_LAW[asked](under("law"))
    assert said(table).count("Caution") == said(table).count(LAW) == 1
    for text in (table.as_html(), table.as_latex(), table.as_markdown(), table.as_csv()):
        assert text.count("failures come at other times than this distribution says") == 1
    assert "Caution" not in said(OF_LAW[asked](capacitor()))


@pytest.mark.parametrize("asked", RATIOS)
def test_ratios_hold_under_another_law_and_do_not_under_another_line(asked: str) -> None:
    assert "Caution" not in said(RATIOS[asked](under("law")))
    assert "Caution (bends): the response bends along voltage;" in said(RATIOS[asked](under("bends:1")))


def test_what_intervals_count_is_not_said_again() -> None:
    fit = under("unsettled", "weak:1", "below_budget", "shape")
    assert not any("Caution" in said(ask(fit)) for ask in (OF_LAW | RATIOS).values())


@pytest.mark.parametrize("asked", PLOTS)
def test_a_plot_says_it_below_its_axes(asked: str) -> None:
    found = [" ".join(text.get_text().split()) for text in PLOTS[asked](under("law", "bends")).texts]
    assert sum(LAW in text and "Caution (bends): the response bends;" in text for text in found) == 1
    assert not any("Caution" in text.get_text() for text in PLOTS[asked](capacitor()).texts)


def test_footers_of_fits_on_the_same_axes_are_below_each_other() -> None:
    ax = under("law").plot_reliability(USE)
    capacitor().plot_reliability(STRESS, ax=ax)
    first, second = [text.xyann[1] for text in ax.texts if text.get_gid() == "footer"]
    assert first - second == 2 * 9


def test_coefficients_that_are_drawn_are_under_cautions_of_the_line_alone() -> None:
    texts = [" ".join(text.get_text().split()) for text in under("law", "bends").plot_coef().texts]
    assert any("Caution (bends)" in text for text in texts) and not any("(law)" in text for text in texts)


def test_curves_of_hazards_that_are_not_proportional_say_so() -> None:
    fit = hazards(flags=cautions(("changing",), ()))
    at = {"x": 5, "z": "a"}
    lines = "Caution (changing): hazards are not proportional; see the summary of the fit."
    assert lines in said(fit.survival(at)) and lines in said(fit.hazard_ratios())
    assert any(lines in " ".join(text.get_text().split()) for text in fit.plot_survival(at).texts)


def test_a_law_in_doubt_is_told_where_no_caution_is() -> None:
    doubted = capacitor(law=Quantity(0.04, 0.012, 0.01))
    assert "The law is in doubt (fit.law): 4 % of the failures" in said(doubted.life(USE))
    assert "in doubt" not in said(capacitor(law=Quantity(0.02, 0.012, 0.01)).life(USE))
    assert "in doubt" not in said(doubted.time_ratios())


def test_a_table_keeps_its_cautions_in_a_pickle_and_under_a_banner() -> None:
    table = under("law", not_private=True).life(USE)
    assert LAW in said(pickle.loads(pickle.dumps(table))) and "NOT PRIVATE" in said(table)
