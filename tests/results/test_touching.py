"""What follows from a fit says which cautions of the fit touch it: tables, forecasts and plots."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpstats as dps
from dpstats.moments import Quantity
from dpstats.results import Fit
from dpstats.results.cautions import cautions
from dpstats.results.table import plain
from dpstats.testing import SeededNoise, noise
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


def known(**changes: Any) -> Fit:
    """Half of 64 units fail, a tenth of these at other times than the law says; all else is certain."""
    fields = {"cov": 1e-20 * np.eye(4), "cov_privacy": np.zeros((4, 4)), "nevents": Quantity(32.0, 0.0, 0.0)}
    return capacitor(**{**fields, "law": Quantity(0.1, 0.01, 0.01), **changes})


def test_limits_under_doubt_are_those_by_which_twice_as_many_more_have_failed() -> None:
    """That is 1.96 times a tenth of the half that fails."""
    fit = known()
    life = fit.life(USE, failed=[0.01, 0.2]).frame.iloc[:2]
    for share, row in zip((0.01, 0.2), life.itertuples(), strict=True):
        early = float(fit.predict(USE, p=[share + 0.05 * stats.norm.ppf(0.975)]).iloc[0, 0])
        assert row.estimate / row.conf_low == pytest.approx(row.conf_high / row.estimate)
        assert row.conf_high == pytest.approx(early, rel=1e-6)
        at = fit.reliability(USE, times=row.estimate).frame.iloc[0]
        assert at.conf_low == pytest.approx(1 - share - 0.05 * stats.norm.ppf(0.975), rel=1e-6)


def test_no_time_is_so_early_that_more_have_failed_than_doubt_allows() -> None:
    low = known().reliability(USE, times=[1e-9, 1e-3, 1, 10]).frame["conf_low"].to_numpy()
    assert (low >= 1 - 0.05 * 1.96 - 0.02).all() and (np.diff(low) <= 0).all()


def test_forecasts_count_what_the_law_may_be_off_by_and_ratios_do_not() -> None:
    sure = known(law=Quantity(0.01, 0.01, 0.01))
    new = {"age": [0.0], "voltage": [200], "temperature": [170]}
    wide, short = (fit.forecast(new, horizon=50, periods=1).frame.iloc[0] for fit in (known(), sure))
    assert wide["conf_high"] == pytest.approx(wide["expected"] + 0.05 * 1.96, rel=0.01)
    assert short["conf_high"] == pytest.approx(wide["expected"])
    for ask in RATIOS.values():
        assert ask(known()).frame["conf_high"].to_list() == ask(sure).frame["conf_high"].to_list()


@pytest.mark.parametrize(
    ("changes", "share"),
    [
        ({}, 0.1),
        ({"subset": "voltage > 1"}, 0.2),
        ({"nevents": None}, 0.2),
        ({"flags": cautions(("law",), ()), "law": Quantity(0.1, 0.2, 0.2)}, 0.1),
        ({"law": Quantity(0.1, 0.2, 0.2)}, 0.0),
        ({"law": None}, 0.0),
    ],
)
def test_all_rows_may_fail_where_some_have_no_weight(changes: dict[str, Any], share: float) -> None:
    low = known(**changes).reliability(USE, times=1e-9).frame["conf_low"].iloc[0]
    assert low == pytest.approx(1 - share / 2 * 1.96, abs=0.002)


def test_lives_beyond_what_the_check_of_the_law_sees_are_said_to_be_extrapolated() -> None:
    fit = known(law=Quantity(0.0, 0.02, 0.02))  # a share of 2.4 times that, of the half that fails
    words = "Told by the distribution alone: B1, B99. Its check sees nothing of fewer than 2.4 % of the units"
    assert words in said(fit.life(USE, failed=[0.01, 0.03, 0.5, 0.97, 0.99]))
    assert "Told by" not in said(fit.life(USE, failed=[0.03, 0.5]))
    some = known(law=Quantity(0.0, 0.02, 0.02), subset="voltage > 1")
    words = (
        "Perhaps told by the distribution alone: B1, B3, B97, B99. Its check sees nothing of fewer than "
        "4.8 % of the failures, and which share of the units fails is not known (fit.law)."
    )
    assert words in said(some.life(USE, failed=[0.01, 0.03, 0.5, 0.97, 0.99]))
    assert "Told by" not in said(known().life(USE)) and "Told by" not in said(capacitor().life(USE))


def test_times_beyond_their_public_bound_are_said_to_rest_on_the_distribution() -> None:
    """R(120 months) of returns that were watched for 24 had three digits and no word."""
    fit, words = known(), "No row was watched beyond {}, the upper public bound of the time: what is told"
    last = fit.record.design.time_bounds[1]
    assert words.format(plain(last)) in said(fit.reliability(USE, times=[last, 1.01 * last]))
    for late in (
        fit.hazard(USE, times=1.01 * last),
        fit.conditional_reliability(USE, age=last, times=1.0),
        fit.life(USE, failed=1 - 1e-12),
    ):
        assert "No row was watched beyond" in said(late)
    for early in (fit.reliability(USE, times=last), fit.life(USE, failed=1e-3), fit.mttf(USE)):
        assert "No row was watched beyond" not in said(early)
    with pytest.warns(UserWarning, match="No row was watched beyond"):
        fit.predict(USE, type="survival", times=[1.0, 1.01 * last])


def test_early_lives_of_two_modes_are_held_where_the_law_is_in_doubt() -> None:
    """Of bearings and electronics: few fail early, but many more than a Weibull law of both has."""
    schema = dps.Schema(t=dps.bounded(1, 60000), e=dps.event(), x=dps.bounded(0, 1))
    rng = np.random.default_rng(0)

    def lives(n: int) -> np.ndarray:
        return np.minimum(30000 * rng.weibull(2.3, n), 110000 * rng.weibull(0.8, n))

    truth, doubted, held = np.quantile(lives(400000), 0.01), 0, 0
    for seed in range(8):
        life, end = lives(12000), rng.uniform(5000, 60000, 12000)
        data = {"t": np.minimum(life, end).clip(1), "e": 1 * (life <= end), "x": rng.uniform(0, 1, 12000)}
        with noise(SeededNoise(seed)):
            fit = dps.survreg("Surv(t, e) ~ x", data, schema).fit(dps.gdp(1))
        table = fit.life({"x": 0.5}, failed=[0.01])
        if "Caution (law)" in said(table) or "in doubt" in said(table):
            doubted += 1
            held += table.frame["conf_low"].iloc[0] <= truth <= table.frame["conf_high"].iloc[0]
    assert doubted >= 5 and held >= doubted - 1
