"""Forecasts of failures: closed forms, derivatives, simulation, ranges, and the table and plots."""

import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpstats.errors import DataError, NotReleased, SpecificationError
from dpstats.families import DISTS
from dpstats.results.forecast import FailureCounts
from tests.results.fits import USE, capacitor

FLEET = pd.DataFrame(
    {"age": [0.0, 100, 300, 700], "voltage": [200, 250, 300, 350], "temperature": [170, 180, 175, 172]}
)


def counts(chances: np.ndarray, se: float, units: np.ndarray | float = 1.0) -> FailureCounts:
    each = np.broadcast_to(units, chances.shape)
    sums = (np.array([each @ value]) for value in (chances, chances**2, chances * (1 - chances)))
    return FailureCounts(*sums, np.array([se]), float(each.sum()))


@pytest.mark.parametrize("dist", sorted(DISTS))
def test_what_is_expected_is_the_sum_of_conditional_failures(dist: str) -> None:
    """And where times are modelled as they are, ages may be negative, as times are."""
    fit, fleet = capacitor(dist=dist), FLEET
    if not DISTS[dist].log:
        fit, fleet = capacitor(dist=dist, params=[500.0, -1, -4, 5.5]), FLEET.assign(age=FLEET["age"] - 1000)
        assert (fleet["age"] < 0).any()
    frame = fit.forecast(fleet, [50.0, 120, 500]).frame
    later = [fit.conditional_reliability(fleet, fleet["age"], time).frame for time in (50.0, 120, 500)]
    until = [float((1 - each["estimate"]).sum()) for each in later]
    assert frame["cumulative"].tolist() == pytest.approx(until)
    assert frame["expected"].tolist() == pytest.approx(np.diff(until, prepend=0.0))
    assert frame["start"].tolist() == [0, 50, 120] and frame["end"].tolist() == [50, 120, 500]
    shares = np.array([1 - each["estimate"] for each in later])
    spread = np.diff(shares, axis=0, prepend=0.0)
    assert frame["sd_count"].to_numpy() == pytest.approx(np.sqrt((spread * (1 - spread)).sum(axis=1)))


@pytest.mark.parametrize("dist", ["weibull", "loglogistic", "lognormal"])
def test_the_part_of_the_parameters_is_the_derivative_through_the_covariance(dist: str) -> None:
    fit, rows = capacitor(dist=dist), []
    for j, value in enumerate(fit.record.params):
        step, ends = 1e-6 * max(abs(value), 1e-2), []
        for sign in (-1, 1):
            params = np.array(fit.record.params)
            params[j] += sign * step
            ends.append(capacitor(dist=dist, params=params).forecast(FLEET, [50, 120]).frame["expected"])
        rows.append((ends[1] - ends[0]) / (2 * step))
    gradient = np.array(rows).T
    expected = np.sqrt(np.einsum("mi,ij,mj->m", gradient, fit.record.cov, gradient))
    assert fit.forecast(FLEET, [50, 120]).frame["se_parameters"].to_numpy() == pytest.approx(
        expected, rel=1e-4
    )


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_limits_of_a_sure_chance_are_those_of_the_law_of_the_number(level: float) -> None:
    """Binomial where chances are alike, Poisson where they are small, the sum's own where neither."""
    tails = [(1 - level) / 2, (1 + level) / 2]
    for n, chance in ((50, 0.1), (50, 0.5), (400, 0.97), (100_000, 0.001)):
        low, high = counts(np.full(n, chance), 0.0).of_number(level)
        assert [low[0], high[0]] == stats.binom.ppf(tails, n, chance).tolist()
    low, high = counts(np.array([1e-7]), 0.0, np.array([1e8])).of_number(level)
    assert [low[0], high[0]] == stats.poisson.ppf(tails, 10).tolist()
    unlike = np.repeat([0.02, 0.6], [500, 20])
    law = np.convolve(stats.binom.pmf(np.arange(501), 500, 0.02), stats.binom.pmf(np.arange(21), 20, 0.6))
    low, high = counts(unlike, 0.0).of_number(level)
    assert [low[0], high[0]] == pytest.approx(np.searchsorted(law.cumsum(), tails), abs=1)


@pytest.mark.parametrize(("n", "chance", "se"), [(1000, 0.02, 8.0), (200, 0.6, 15.0), (50_000, 0.1, 900.0)])
def test_limits_count_what_is_not_known_of_the_chance(n: int, chance: float, se: float) -> None:
    """Against a simulation of the same mixture, whose limits have an error of their own."""
    rng = np.random.default_rng(3)
    log_hazard = np.log(-np.log1p(-chance))
    error = se / (n * (1 - chance) * -np.log1p(-chance))
    p = -np.expm1(-np.exp(log_hazard + error * rng.normal(size=400_000)))
    drawn = np.sort(rng.binomial(n, p))
    low, high = counts(np.full(n, chance), se).of_number(0.95)
    for limit, tail in ((low[0], 0.025), (high[0], 0.975)):
        below, until = (np.searchsorted(drawn, limit, side=side) / len(drawn) for side in ("left", "right"))
        assert below - 0.001 <= tail <= until + 0.001
    least, most = counts(np.full(n, chance), se).of_mean(0.95)
    assert [least[0], most[0]] == pytest.approx(n * np.quantile(p, [0.025, 0.975]), rel=0.01)


chances = st.lists(
    st.floats(0, 1) | st.sampled_from([0.0, 1e-300, 1e-12, 1 - 1e-12, 1.0]), min_size=1, max_size=8
)


@settings(max_examples=150, deadline=None)
@given(chances, st.floats(0, 1e6) | st.just(np.inf), st.integers(1, 10**7), st.floats(0.5, 0.999))
def test_limits_are_whole_and_stay_among_the_units(
    each: list[float], se: float, units: int, level: float
) -> None:
    found = counts(np.array(each), se, units)
    low, high = found.of_number(level)
    least, most = found.of_mean(level)
    assert 0 <= low[0] <= high[0] <= found.units and low[0] == round(low[0])
    assert -1e-9 <= least[0] <= found.expected[0] * (1 + 1e-9) and found.expected[0] <= most[0] * (1 + 1e-9)


def test_a_row_may_stand_for_many_units() -> None:
    many = FLEET.assign(count=[3, 0, 2, 5])
    rows = FLEET.loc[np.repeat(FLEET.index, many["count"])]
    one, other = (
        capacitor().forecast(many, 300, units="count"),
        capacitor().forecast(rows, 300),
    )
    pd.testing.assert_frame_equal(one.frame, other.frame)
    assert one.units == other.units == 10


def test_a_single_value_is_that_of_all_rows() -> None:
    """Of covariates beside ages, as elsewhere, and of ages or numbers beside covariates."""
    each = {"age": [0, 365], "voltage": [250, 250], "temperature": [175, 175], "count": [3, 3]}
    whole = capacitor().forecast(each, 200, units="count")
    single = {**each, "voltage": 250, "temperature": 175, "count": 3}
    pd.testing.assert_frame_equal(whole.frame, capacitor().forecast(single, 200, units="count").frame)
    many = {"age": 10, "voltage": [200, 300], "temperature": 175}
    assert capacitor().forecast(many, 200).units == 2
    with pytest.raises(SpecificationError, match="fleet cannot be read .* give columns of one length"):
        capacitor().forecast({**each, "voltage": [250, 250, 250]}, 200)


def test_one_horizon_is_divided_and_the_last_period_is_all_of_it() -> None:
    found = capacitor().forecast(FLEET.assign(old=FLEET["age"]).drop(columns="age"), 240, 6, age="old")
    assert found.frame["end"].tolist() == [40, 80, 120, 160, 200, 240]
    whole = capacitor().forecast(FLEET, [240]).frame.iloc[0]
    last = found.frame.iloc[-1]
    assert last["cumulative"] == pytest.approx(whole["expected"])
    assert (last["cumulative_low"], last["cumulative_high"]) == (whole["pred_low"], whole["pred_high"])


def test_what_noise_hides_may_be_none_or_all() -> None:
    cov = np.array(capacitor().cov_params())
    cov[1, 1] = np.inf
    with pytest.warns(UserWarning, match=r"4 row\(s\) .* of the fleet no number is expected"):
        found = capacitor(cov=cov).forecast(FLEET, 100, 2)
    assert found.frame[["expected", "cumulative", "sd_count"]].isna().all(axis=None)
    assert found.frame[["pred_low", "conf_low", "cumulative_low"]].to_numpy().tolist() == [[0, 0, 0]] * 2
    assert (found.frame[["pred_high", "conf_high", "cumulative_high"]] == 4).all(axis=None)
    assert str(found).count("not estimable") == 4 and "nan" not in str(found)
    assert len(found.plot().patches) == 0
    for cumulative in (False, True):
        ax = found.plot(cumulative)
        assert "not estimable" in [text.get_text() for text in ax.texts]
        assert not ax.collections and not any(np.isfinite(line.get_ydata()).any() for line in ax.get_lines())


def test_failures_that_seem_sure_are_hidden_by_noise_as_others_are() -> None:
    """Their derivative is 0 in floats, and what rests on a lost coefficient is not known all the same."""
    cov = np.diag([np.inf, 1e-9, 1e-9, 1e-4])
    sure = capacitor(params=[-50.0, 0, 0, 0], cov=cov, cov_privacy=cov)
    with pytest.warns(UserWarning, match="rest on what is not estimable"):
        found = sure.forecast(FLEET, 100)
    assert found.frame["expected"].isna().all() and np.isinf(found.frame["se_parameters"]).all()


@pytest.mark.parametrize(
    ("intercept", "spread", "sure"), [(60.0, 40.0, False), (-60.0, 60.0, False), (60.0, 0.5, True)]
)
def test_failures_that_seem_sure_are_so_only_if_the_errors_of_coefficients_say_so(
    intercept: float, spread: float, sure: bool
) -> None:
    """Where all stand or fail but for a chance that rounding makes 0 or 1, which noise may make any other."""
    cov = np.diag([spread**2, 1e-4, 1e-4, 1e-2])
    fit = capacitor(params=[intercept, 0, 0, 0], cov=cov, cov_privacy=cov)
    found = fit.forecast(FLEET.assign(age=0.0, units=1000), [200, 400], units="units").frame
    assert found["expected"].notna().all() == sure
    assert ((found["pred_low"] == 0) & ((found["pred_high"] == 0) == sure)).all()
    assert (found["cumulative_high"] == (0 if sure else 4000)).all()


def test_ages_beyond_the_public_bound_of_the_time_are_said() -> None:
    with pytest.warns(UserWarning, match=r"7 unit\(s\) of the fleet will be older than 2000"):
        capacitor().forecast(FLEET.assign(age=[1900, 1000, 0, 0], units=[7, 1, 1, 1]), 500, units="units")


def test_it_prints_on_a_page_and_says_what_is_not_private() -> None:
    found = capacitor(not_private=True).forecast(FLEET.assign(units=123_456), 500, units="units")
    assert max(map(len, str(found).splitlines())) <= 100 and "NOT PRIVATE" in str(found)
    assert "until (hours)" in str(found) and "493824 units (public)" in str(found)
    assert found.plot().get_title().startswith("NOT PRIVATE")
    assert str(pickle.loads(pickle.dumps(found))) == str(found)


def test_plots_show_the_numbers_of_the_table() -> None:
    found = capacitor().forecast(FLEET.assign(units=100), 500, 5, units="units")
    ax = found.plot()
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(found.frame["expected"].tolist())
    outer, inner = ([segment[:, 1] for segment in each.get_segments()] for each in ax.collections)
    assert np.array(outer) == pytest.approx(found.frame[["pred_low", "pred_high"]].to_numpy())
    assert np.array(inner) == pytest.approx(found.frame[["conf_low", "conf_high"]].to_numpy())
    centres = [patch.get_x() + patch.get_width() / 2 for patch in ax.patches]
    assert centres == pytest.approx((found.frame["start"] + found.frame["end"]).to_numpy() / 2)
    line = found.plot(cumulative=True).get_lines()[0]
    assert line.get_ydata() == pytest.approx([0, *found.frame["cumulative"]])
    assert line.get_xdata() == pytest.approx([0, 100, 200, 300, 400, 500])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"horizon": 0}, "horizon must be a number above 0"),
        ({"horizon": [30, 20]}, "horizon must be"),
        ({"horizon": np.inf}, "horizon must be"),
        ({"horizon": 5, "periods": 0}, "periods must be from 1 to 1000"),
        ({"horizon": 5, "age": "old"}, "fleet has no column 'old'.*age='...'"),
        ({"horizon": 5, "units": "n"}, "fleet has no column 'n'.*units='...'"),
        ({"horizon": 5, "level": 0.05}, "alpha"),
        ({"horizon": 5, "units": "temperature", "fleet": FLEET.assign(temperature=170.5)}, "whole numbers"),
        ({"horizon": 5, "units": "n", "fleet": FLEET.assign(n=-1.0)}, "whole numbers of units, not negative"),
        ({"horizon": 5, "fleet": FLEET.assign(age=-1.0)}, "fleet row 0: age must be a time of at least 0"),
        ({"horizon": 5, "fleet": pd.concat([FLEET, FLEET.assign(age=-1.0)])}, f"fleet row {len(FLEET)}: age"),
        ({"horizon": 5, "units": "n", "fleet": FLEET.assign(n="1.200")}, "1.200 is 1.2, unless thousands"),
        (
            {"horizon": 5, "fleet": FLEET.assign(age=np.inf)},
            "age must be ages, in the unit of .*, and finite",
        ),
        ({"horizon": 5, "fleet": FLEET.assign(age=[1, 2, np.nan, 4])}, "fleet row 2: age must be ages"),
        ({"horizon": 5, "age": "voltage"}, "'voltage' is a covariate of the fit.*age='...'"),
        ({"horizon": 5, "fleet": FLEET.drop(columns="voltage")}, "fleet lacks 'voltage'"),
    ],
)
def test_mistakes_are_named(given: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecificationError, match=words):
        capacitor().forecast(**{"fleet": FLEET, **given})


DAYS = pd.to_timedelta([1, 2, 3, 4], unit="D")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (DAYS, "durations, which have no unit; give their number, such as {} / pd.Timedelta"),
        (DAYS.to_numpy().astype("m8[D]"), "durations"),
        (list(DAYS), "durations"),
        ([np.timedelta64(1, "D"), 2, 3, 4], "durations"),
        (pl.Series(DAYS.to_pytimedelta()), "durations"),
        (pd.Series(DAYS).astype("category"), "durations"),
        (pd.Timestamp(0) + DAYS, r"dates, which have no unit; give days since one origin, \({} - origin\)"),
        (pd.Series(pd.Timestamp(0, tz="UTC") + DAYS, dtype=object), "dates"),
        (pl.Series((pd.Timestamp(0) + DAYS).date), "dates"),
        ([True, False, True, True], "booleans"),
        (pd.array([True, False, True, None], dtype="boolean"), "booleans"),
    ],
)
def test_dates_durations_and_booleans_are_no_numbers_anywhere(given: Any, words: str) -> None:
    """Numpy makes nanoseconds of them, or days, as they are stored: all of a fleet failed, for sure."""
    fit = capacitor()
    for name in ("age", "count"):
        fleet = FLEET.assign(count=1).assign(**{name: given})
        with pytest.raises(SpecificationError, match=words.format(rf"fleet\['{name}'\]")):
            fit.forecast(fleet, 100, units="count")
    asked: list[Callable[[], object]] = [
        lambda: fit.reliability(USE, times=given),
        lambda: fit.hazard(USE, times=given),
        lambda: fit.predict(USE, type="survival", times=given),
        lambda: fit.conditional_reliability(USE, given, 1.0),
    ]
    for ask in asked:
        with pytest.raises(SpecificationError, match=words.format("times")):
            ask()
    with pytest.raises(SpecificationError, match=words.format("y")):
        fit.residuals(FLEET, given)
    with pytest.raises(SpecificationError, match=words.format("times")):
        fit.plot_reliability(USE, times=given[:2])


def test_columns_that_stand_twice_in_a_fleet_are_refused() -> None:
    fleet = FLEET.assign(count=1)
    for name in ("age", "count", "voltage"):
        with pytest.raises(DataError, match=f"more than one column '{name}'; keep one, or rename"):
            capacitor().forecast(pd.concat([fleet, fleet[[name]]], axis=1), 100, units="count")


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["4.000", "3.000", "300", "0"], True),
        (["4.000", "3.000", "300", "1200"], False),  # in groups it were 1.200
        (["0.500", "1.000", "2.000", "3.000"], False),
        (["4.00", "3.000", "2.000", "1.000"], False),
        (["400", "300", "200", "100"], False),
        ([4.0, 3.0, 2.0, 1.0], False),
    ],
)
def test_texts_with_points_that_may_stand_between_thousands_are_told(cells: list[Any], told: bool) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = capacitor().forecast(FLEET.assign(age=cells), 100)
    words = "each text of age has three digits behind its point.*thousands='.'"
    assert [bool(re.search(words, str(one.message))) for one in said] == [True] * told
    numbers = capacitor().forecast(FLEET.assign(age=np.array(cells, dtype=float)), 100)
    pd.testing.assert_frame_equal(found.frame, numbers.frame)


def test_a_fleet_is_public_and_must_be_given() -> None:
    with pytest.raises(NotReleased, match="Pass fleet"):
        capacitor().forecast(horizon=10)


def test_a_fit_without_covariates_needs_ages_alone() -> None:
    fit = capacitor(
        formula="Surv(time, failed) ~ 1",
        names=("Intercept", "Log(scale)"),
        params=[7.3, -1.0],
        cov=np.diag([0.01, 0.01]),
        cov_privacy=np.diag([0.005, 0.005]),
    )
    found = fit.forecast({"age": [10.0, 20, 400]}, 100, 2)
    law = stats.weibull_min(np.exp(1.0), scale=np.exp(7.3))
    wanted = sum(1 - law.sf(age + 100) / law.sf(age) for age in (10.0, 20, 400))
    assert found.frame["cumulative"].iloc[-1] == pytest.approx(wanted)


def test_values_outside_their_bounds_are_extrapolated_to_or_moved() -> None:
    with pytest.warns(UserWarning, match="extrapolated"):
        there = capacitor().forecast(FLEET.assign(voltage=400), [100]).frame
    with pytest.warns(UserWarning, match="moved"):
        moved = capacitor().forecast(FLEET.assign(voltage=400), [100], clip=True).frame
    at_bound = capacitor().forecast(FLEET.assign(voltage=350), [100]).frame
    assert moved.equals(at_bound) and there["expected"][0] > moved["expected"][0]


def test_life_and_forecast_agree_on_when_half_have_failed() -> None:
    median = float(capacitor().predict(USE, type="median")[0])
    found = capacitor().forecast({**USE, "age": 0, "n": 1000}, [median], units="n").frame.iloc[0]
    assert found["expected"] == pytest.approx(500)
    assert found["conf_low"] < 500 < found["conf_high"]
