"""Plots: lines, bands, labels and axes, and what pyplot and notebooks show of them."""

import pickle
import subprocess
import sys
import warnings
from dataclasses import replace

import matplotlib.style
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import dpstats as dps
from dpstats.errors import NotReleased, SpecificationError
from dpstats.families import DISTS
from dpstats.planning.printed import draw as draw_plan
from dpstats.results import CurveFit, Fit
from dpstats.results.plotting import legend, plot_coef, plot_path
from tests.results.every import EVERY, hazards
from tests.results.fits import STRESS, USE, capacitor, wide
from tests.results.linear import linear

LIFE = ("plot_life", "plot_reliability", "plot_hazard")


def curve(groups: tuple[str, ...] = ("",), **changes: object) -> CurveFit:
    """250 fail in each of three intervals, 250 outlast them."""
    fields = dict(
        formula="Surv(time, failed) ~ 1",
        times=[400.0, 800, 1600],
        groups=groups,
        nobs=1000,
        counts=np.tile([250.0, 250, 250, 0, 0, 0, 0, 0, 250], (len(groups), 1)),
        sds=np.full((len(groups), 9), 2.0),
        budget=dps.pure(1),
        method="noisy counts of exits",
        adjacency="replace one row",
        unit="one row",
        time_unit="hours",
    )
    return CurveFit(**{**fields, **changes})


def bands(ax: object) -> list[np.ndarray]:
    return [path.vertices for each in ax.collections for path in each.get_paths()]


def test_plots_follow_a_style_of_matplotlib() -> None:
    """Its width, colours and dashes; the file of the style for papers is part of the package."""
    points = [USE, STRESS]
    with matplotlib.style.context("default"):
        plain = capacitor().plot_reliability(points)
    with matplotlib.style.context("dpstats.paper"):
        ax = capacitor().plot_reliability(points)
        drawn = [(line.get_color(), line.get_linestyle()) for line in ax.lines]
    assert drawn == [("#0072B2", "-"), ("#D55E00", "--")]
    assert [line.get_linestyle() for line in plain.lines] == ["-", "-"]
    sizes = [made.figure.get_size_inches().tolist() for made in (plain, ax)]
    assert sizes == [[7.5, 4.5], pytest.approx([6.3, 3.78])]


@pytest.mark.parametrize("model", EVERY)
def test_coefficients_are_drawn_with_the_part_that_is_noise(model: str) -> None:
    fit, _ = EVERY[model]
    ax = fit.plot_coef()
    terms = [label.get_text() for label in ax.get_yticklabels()]
    assert terms == [name for name in fit.names if name not in ("Intercept", "Log(scale)")]
    outer, inner = (each.get_segments() for each in ax.collections if isinstance(each, LineCollection))
    for j, term in enumerate(terms):
        low, high = fit.conf_int().loc[term]
        assert outer[j][:, 0] == pytest.approx([low, high]) and (outer[j][:, 1] == j).all()
        share = np.ptp(inner[j][:, 0]) / np.ptp(outer[j][:, 0])
        assert share**2 == pytest.approx(1 - fit.privacy_share[term], abs=1e-9)
    assert ax.get_legend_handles_labels()[1] == ["with privacy noise", "sampling alone", "estimate"]
    assert ax.yaxis_inverted() and ax.get_xlabel() == "coefficient"


def test_a_possible_bias_is_drawn_between_sampling_and_noise() -> None:
    share = np.array([0.2, 0.3, 0.0, 0.1])
    fit = capacitor(bias=share * np.diag(capacitor().record.cov))
    ax = fit.plot_coef()
    parts = [each.get_segments() for each in ax.collections if isinstance(each, LineCollection)]
    outer, middle, inner = ([np.ptp(line[:, 0]) ** 2 for line in each] for each in parts)
    privacy = fit.privacy_share[["voltage", "temperature"]].to_numpy()
    assert np.divide(middle, outer) == pytest.approx(1 - privacy)
    assert np.divide(inner, outer) == pytest.approx(1 - privacy - share[1:3])
    words = ["with privacy noise", "with possible bias", "sampling alone", "estimate"]
    assert ax.get_legend_handles_labels()[1] == words


def armed(fit: Fit) -> Fit:
    """A fit whose first covariate is an arm, A or B."""
    schema = dps.Schema(**{**fit.schema, "arm": dps.levels("A", "B")})
    formula = f"{fit.formula.partition('~')[0]}~ arm + temperature"
    content = fit.to_dict() | {"schema": schema.to_dict(), "formula": formula}
    names = [name.replace("voltage", "arm[T.B]") for name in fit.names]
    return type(fit).from_dict(content | {"names": names})


ARMS = [{"arm": "B", "temperature": 175}, {"arm": "A", "temperature": 175}]


def colours(ax: object, of: str) -> dict[str, str]:
    lines = {line.get_label(): line.get_color() for line in ax.lines}
    places = {to_rgb(f"C{place}"): f"C{place}" for place in range(4)}
    return {label[-1]: places[to_rgb(color)] for label, color in lines.items() if label.startswith(of)}


def test_rows_of_one_label_have_one_colour_on_an_axis_whichever_is_drawn_first() -> None:
    fit, points = armed(capacitor()), curve(("A", "B"), formula="Surv(time, failed) ~ arm")
    with pytest.warns(UserWarning, match="^curves are of all values of temperature together, and each line"):
        ax = points.plot(ax=fit.plot_reliability(ARMS))
    assert colours(ax, "arm") == colours(ax, "Kaplan-Meier") == {"A": "C1", "B": "C0"}
    ax = fit.plot_reliability(ARMS, ax=points.plot())
    assert colours(ax, "arm") == colours(ax, "weibull") == {"A": "C0", "B": "C1"}
    other = fit.plot_reliability(ARMS, ax=fit.plot_reliability(ARMS))
    assert len({line.get_color() for line in other.lines}) == 4, "two models differ"


def test_colours_go_on_where_those_of_other_rows_ended() -> None:
    points = curve(("P", "Q"), formula="Surv(time, failed) ~ other")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ax = points.plot(ax=armed(capacitor()).plot_reliability(ARMS))
    assert colours(ax, "Kaplan-Meier") == {"P": "C2", "Q": "C3"}


def test_a_curve_of_the_only_covariate_is_not_pooled() -> None:
    fit, points = armed(capacitor()), curve(("A", "B"), formula="Surv(time, failed) ~ arm")
    ax = fit.plot_reliability(ARMS)
    for line in ax.lines:
        line.set_gid("holds arm")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        points.plot(ax=ax)


def test_bands_of_several_curves_have_edges() -> None:
    for count, edges in ((2, 0), (5, 5)):
        ax = curve(tuple("abcde"[:count])).plot()
        hollow = [each for each in ax.collections if not len(each.get_facecolor())]
        assert len(hollow) == edges and len(ax.collections) == count + edges
    filled = {each.get_alpha() for each in ax.collections} - {0.5}
    assert filled == {0.15 / 4}


def test_coefficients_of_columns_in_different_units_share_an_axis_across_their_ranges() -> None:
    ax = capacitor().plot_coef(across_range=True)
    low, high = capacitor().conf_int().loc["voltage"] * 150
    assert ax.collections[0].get_segments()[0][:, 0] == pytest.approx([low, high])
    assert ax.get_xlabel() == "change of the log time across the public range"


def test_long_names_and_lost_coefficients_are_drawn_too() -> None:
    ax = wide().plot_coef()
    assert len(ax.get_yticks()) == 28 and max(len(t.get_text()) for t in ax.get_yticklabels()) <= 34
    lost, footer = (text.get_text() for text in ax.texts)
    assert lost == "not estimable"
    assert footer == "rho = 0.5 (zCDP), replace one row; privacy share of variance 30 %"
    chosen = wide().plot_coef(["temp", "age"])
    assert [label.get_text() for label in chosen.get_yticklabels()] == ["temp", "age"]
    with pytest.raises(SpecificationError, match="terms"):
        wide().plot_coef(["humidity"])


def test_levels_of_a_factor_with_a_long_name_are_told_apart() -> None:
    names = [label.get_text() for label in wide().plot_coef().get_yticklabels()]
    assert len(set(names)) == len(names) and any(name.endswith("Ruritania]") for name in names)


def test_of_a_name_without_levels_that_is_long_both_ends_are_told() -> None:
    whole, name = wide().record, "np.log(capacity_when_new) * " + "x" * 20 + "temperature"
    names = (*whole.names[:1], name, *whole.names[2:])
    ax = plot_coef(replace(whole, names=names), [name], np.ones(len(names)), "", 0.95, None, "")
    (label,) = (text.get_text() for text in ax.get_yticklabels())
    assert label == "np.log(capacity...xxxxtemperature"


@pytest.mark.parametrize("dist", DISTS)
def test_fits_are_straight_on_the_paper_of_their_family(dist: str) -> None:
    fit, times = capacitor(dist=dist), (100.0, 1000.0)
    ax = fit.plot_life([USE, STRESS], times=times)
    for line, at in zip(ax.get_lines(), (USE, STRESS), strict=False):
        x, z = line.get_data()
        straight = np.log(x) if DISTS[dist].log else x
        assert np.ptp(np.diff(z) / np.diff(straight)) < 1e-6 * abs(np.diff(z) / np.diff(straight)).max()
        reliability = fit.reliability(at, [x[0], x[-1]]).frame["estimate"].to_numpy()
        assert DISTS[dist].family.sf(np.array([z[0], z[-1]])) == pytest.approx(reliability)
    assert ax.get_xscale() == ("log" if DISTS[dist].log else "linear") and ax.get_xlim() == times
    assert len(bands(ax)) == 2
    for tick, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True):
        assert DISTS[dist].family.cdf(tick) == pytest.approx(float(label.get_text().rstrip(" %")) / 100)
    assert ax.get_ylabel() == "failed" and ax.get_xlabel() == "time (hours)"
    assert "the times of the rows are private" in ax.texts[0].get_text()


def test_the_unit_of_time_is_found_in_any_order_of_the_schema() -> None:
    declared = capacitor().record.schema
    schema = dps.Schema({name: declared[name] for name in reversed(list(declared))})
    assert capacitor(schema=schema).plot_life(USE).get_xlabel() == "time (hours)"


def test_ticks_of_probability_paper_have_room() -> None:
    for times in ((10.0, 2000.0), (900.0, 1000.0)):
        ax = capacitor().plot_life(USE, times=times)
        low, high = ax.get_ylim()
        ticks = np.sort(ax.get_yticks())
        assert (np.diff(ticks) > 0.05 * (high - low)).all() and ((low <= ticks) & (ticks <= high)).all()


@pytest.mark.parametrize("dist", DISTS)
def test_curves_are_what_the_tables_say(dist: str) -> None:
    fit = capacitor(dist=dist)
    if not DISTS[dist].log:
        fit = capacitor(dist=dist, params=[1500.0, -1, -4, 5.5])
    times = (100.0, 1000.0)
    for name, table in (("plot_reliability", fit.reliability), ("plot_hazard", fit.hazard)):
        ax = getattr(fit, name)([USE, STRESS], times=times, level=0.9)
        for line, band, at in zip(ax.get_lines(), bands(ax), (USE, STRESS), strict=True):
            ends = table(at, times, level=0.9).frame
            assert line.get_ydata()[[0, -1]] == pytest.approx(ends["estimate"].to_numpy())
            for time, row in zip(times, ends.itertuples(), strict=True):
                around = band[band[:, 0] == time, 1]
                assert [around.min(), around.max()] == pytest.approx([row.conf_low, row.conf_high])
        assert [text.get_text() for text in ax.get_legend().get_texts()] == [
            "voltage = 200, temperature = 170",
            "voltage = 350, temperature = 180",
        ]
        assert "90 % band" in ax.get_title()


def test_lines_end_at_the_public_bounds_of_the_time() -> None:
    for name in LIFE:
        x = getattr(capacitor(params=[20.0, 0, 0, 1]), name)(USE).get_lines()[0].get_xdata()
        assert x[-1] <= 2000 and (x[0] >= 10 or name == "plot_reliability")
    start = capacitor().plot_reliability(USE).get_lines()[0].get_data()
    assert (start[0][0], start[1][0]) == (0.0, 1.0)


def test_a_legend_hides_no_neighbour() -> None:
    """It stands beside axes that are alone, and inside those that are some of several."""
    for several in (False, True):
        ax = np.ravel(pyplot.subplots(1, 1 + several)[1])[0]
        capacitor().plot_reliability([USE, {**USE, "voltage": 300}], ax=ax)
        ax.figure.canvas.draw()
        legend = ax.get_legend().get_window_extent()
        assert (legend.x1 <= ax.get_window_extent().x1) == several
        pyplot.close(ax.figure)


def test_legends_name_what_differs_and_titles_what_is_the_same() -> None:
    ax = capacitor().plot_reliability([USE, {**USE, "voltage": 300}], times=(1, 5000))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["voltage = 200", "voltage = 300"]
    assert "at temperature = 170" in ax.get_title()
    assert ax.get_xlim() == (1, 5000), "the axes reach what was asked"
    assert capacitor().plot_hazard(USE).get_ylabel() == "hazard per hour"
    assert capacitor().plot_hazard(USE, times=(5, 50)).get_xlim() == (5, 50)


def test_ratios_stand_on_a_logarithmic_axis() -> None:
    ax = capacitor().plot_coef(["voltage"], across_range=True, exponentiate=True)
    assert ax.get_xlabel().startswith("time ratio across the public range")
    ticks = {label.get_text(): at for label, at in zip(ax.get_xticklabels(), ax.get_xticks(), strict=True)}
    assert len(ticks) > 1 and all(
        at == pytest.approx(np.log(float(text)), abs=5e-3) for text, at in ticks.items()
    )
    with pytest.raises(SpecificationError, match="exponentiate=True needs"):
        capacitor(dist="sev").plot_coef(exponentiate=True)


@pytest.mark.parametrize("sd", [3e-4, 0.03, 0.25, 3.0, 30.0])
def test_ratios_at_the_axis_are_round_and_one_is_among_them(sd: float) -> None:
    fit = capacitor(params=[0.0, 0.0, sd / 2, 0.0], cov=np.eye(4) * sd**2, cov_privacy=np.eye(4) * sd**2 / 2)
    ax = fit.plot_coef(exponentiate=True)
    texts = [label.get_text() for label in ax.get_xticklabels()]
    assert "1" in texts and 3 <= len(set(texts)) == len(texts)
    shares = np.array([float(text) for text in texts])
    assert np.log(shares) == pytest.approx(ax.get_xticks(), abs=1e-9)
    steps = np.diff(shares) if sd < 1 else shares
    assert all(f"{step:.0e}"[0] in "125" and step == pytest.approx(float(f"{step:.0e}")) for step in steps)
    assert ax.get_title() == "Time ratios, 95 % intervals"


def test_coefficients_are_drawn_per_so_many_units() -> None:
    one, many = (capacitor().plot_coef(["voltage"], units=units) for units in (None, {"voltage": 50}))
    ends = [ax.collections[0].get_segments()[0][:, 0] for ax in (one, many)]
    assert ends[1] == pytest.approx(50 * ends[0])
    assert [label.get_text() for label in many.get_yticklabels()] == ["voltage (per 50 V)"]
    with pytest.raises(SpecificationError, match="across_range=True is of all units in the bounds"):
        capacitor().plot_coef(across_range=True, units={"voltage": 50})


@pytest.mark.parametrize("ratio", ["", "odds ratio"])
def test_an_interval_of_which_next_to_nothing_is_known_does_not_shrink_the_others(ratio: str) -> None:
    whole, terms = wide().record, ["temp", "load", "age", "runs"]
    where = [whole.names.index(term) for term in terms]
    params, cov = np.zeros(len(whole.names)), np.eye(len(whole.names)) * 0.01
    params[where] = 0.5, -0.7, 0.2, 0.1
    usual = plot_coef(replace(whole, params=params, cov=cov), terms, np.ones(30), "", 0.95, None, ratio)
    assert [line.get_marker() for line in usual.lines if line.get_marker() in "<>"] == []
    cov[where[3], where[3]] = 4.7**2
    ax = plot_coef(replace(whole, params=params, cov=cov), terms, np.ones(30), "", 0.95, None, ratio)
    low, high = ax.get_xlim()
    assert -1.9 < low < -0.9 and 0.7 < high < 1.7
    arrows = {line.get_marker(): line.get_xydata()[0] for line in ax.lines if line.get_marker() in "<>"}
    assert arrows["<"] == pytest.approx([low, 3]) and arrows[">"] == pytest.approx([high, 3])
    cov[where, where] = 4.7**2
    ax = plot_coef(replace(whole, params=params, cov=cov), terms, np.ones(30), "", 0.95, None, ratio)
    assert ax.get_xlim()[1] > 9 and 2 < len(ax.get_xticks()) < 10


def test_a_decision_function_is_no_mean() -> None:
    ax = EVERY["svm"][0].plot_coef(across_range=True)
    assert ax.get_xlabel() == "change of the decision function across the public range"


@pytest.mark.parametrize("plot", ["plot_life", "plot_reliability"])
def test_a_band_that_fills_the_axes_is_told_from_their_ground(plot: str) -> None:
    for scale, hatch, words in ((1.0, None, False), (1e4, "//", True)):
        ax = getattr(capacitor(cov=scale * capacitor().record.cov), plot)([USE, STRESS])
        shapes = [each for each in ax.collections if each.get_paths()]
        assert [each.get_hatch() for each in shapes] == [hatch] * 2
        labels = [text.get_text() for text in ax.get_legend().get_texts()]
        assert all(label.endswith(": hardly known") is words for label in labels)
    ax = getattr(capacitor(cov=2 * capacitor().record.cov), plot)(USE)
    ax.lines[0].set_label("mine")
    (band,) = (each.get_paths()[0].vertices for each in ax.collections)
    at = band[len(band) // 4, 0]
    low, high = np.quantile(band[band[:, 0] == at, 1], [0.4, 0.6])
    ax.set(xlim=(at, at + 1), ylim=(low, high))  # a part of the axes that the band fills
    legend(ax)
    assert ax.lines[0].get_label() == "mine" and ax.collections[-1].get_hatch() == "//"


def test_each_fit_on_the_same_axes_has_a_footer_of_its_own() -> None:
    ax = capacitor().plot_reliability(USE)
    capacitor().plot_reliability(STRESS, ax=ax)
    first, second = (text for text in ax.texts if text.get_gid() == "footer")
    assert first.get_text() == second.get_text() and "privacy share of variance" in first.get_text()
    assert first.xyann != second.xyann


def test_curves_of_levels_are_named() -> None:
    ax = curve(("a", "b"), formula="Surv(time, failed) ~ maker").plot()
    assert ax.get_legend_handles_labels()[1] == ["maker = a", "maker = b"]
    assert any("privacy share" in text.get_text() for text in ax.texts)


def drawn(ax: object) -> list[str]:
    """Labels of the lines that have points."""
    return [line.get_label() for line in ax.get_lines() if np.isfinite(line.get_ydata()).sum() > 2]


def texts(ax: object) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_groups_that_are_asked_for_are_drawn_in_their_order_and_no_others() -> None:
    found = curve(
        ("A", "B", "C"), formula="Surv(time, failed) ~ maker", sds=np.full((3, 9), [[2.0], [9], [30]])
    )
    some, whole = found.plot(groups=["C", "A"]), found.plot()
    labels = [[line.get_label() for line in ax.lines] for ax in (some, whole, found.plot(groups="B"))]
    assert labels == [["maker = C", "maker = A"], ["maker = A", "maker = B", "maker = C"], ["maker = B"]]
    np.testing.assert_array_equal(some.lines[0].get_ydata(), whole.lines[2].get_ydata())
    noise = [ax.texts[-1].get_text() for ax in (found.plot(groups="A"), found.plot(groups="C"))]
    assert noise[0] != noise[1], "of the groups that are drawn"
    for wrong, words in (("b", "got 'b'"), ([], "got a list of 0 items")):
        with pytest.raises(SpecificationError, match=f"groups must be some of fit.groups, {words}"):
            found.plot(groups=wrong)


def test_so_many_curves_that_bands_hide_each_other_have_none_and_the_footer_says_so() -> None:
    counts = np.repeat(curve().counts, 7, axis=0)
    found = curve(tuple("ABCDEFG"), counts=counts, sds=np.full_like(counts, 2.0))
    many, few = found.plot(), found.plot(groups=list("ABCDEF"))
    assert not many.collections and len(few.collections) == 2 * 6
    assert any("no bands of more than 6 curves: choose some by groups=" in text for text in texts(many))
    assert "band" not in many.get_title() and "95 % band" in few.get_title()
    assert not any("no bands" in text for text in texts(few))


def test_limits_of_a_survival_curve_never_rise() -> None:
    whole, at = hazards(), EVERY["coxph"][1]
    baseline = replace(whole.record.baseline, cov=np.diag([0.04, 4.0, 0.02, 0.01, 0.001]))
    fit = hazards(baseline=baseline)
    times = baseline.times
    alone = fit.survival(at, times=times).frame["conf_high"].to_numpy()
    assert (np.diff(alone) > 0.05).any()
    (band,) = bands(fit.plot_survival(at))
    high = np.array([band[band[:, 0] == time, 1].max() for time in times])
    low = np.array([band[band[:, 0] == time, 1].min() for time in times])
    assert (np.diff(high) <= 0).all() and (np.diff(low) <= 0).all()
    assert sorted(high) == pytest.approx(sorted(alone))


@pytest.mark.parametrize("name", LIFE)
def test_what_is_not_estimable_is_named_and_not_drawn(name: str) -> None:
    cov = np.array(capacitor().cov_params())
    cov[1, 1] = np.inf
    hidden, zero = capacitor(cov=cov), {**USE, "voltage": 0}  # where a slope has no part in the line
    with pytest.warns(UserWarning, match="rest on what is not estimable, and have no line"):
        ax = getattr(hidden, name)(USE)
    assert not drawn(ax) and not bands(ax) and "not estimable" in texts(ax)
    with pytest.warns(UserWarning, match=r"1 row\(s\) of newdata rest on what is not estimable"):
        some = getattr(hidden, name)([zero, USE])
    far = "voltage = 0 (200 below its bounds)" + ": hardly known" * (name == "plot_life")
    assert some.get_legend_handles_labels()[1] == [far, "voltage = 200: not estimable"]
    assert drawn(some) == [far] and "not estimable" not in texts(some)
    alone = getattr(capacitor(), name)(zero)
    assert some.get_xlim() == alone.get_xlim(), "the axes are those of what is drawn"
    getattr(capacitor(), name)(STRESS, ax=ax)
    assert len(drawn(ax)) == 1 and "not estimable" not in texts(ax), "another fit has a line"


def test_hazards_that_are_not_estimable_are_named_and_not_drawn() -> None:
    fit, at = hazards(), EVERY["coxph"][1]
    cov = np.array(fit.record.cov)
    cov[1, 1] = np.inf  # of x
    hidden = hazards(cov=cov)
    with pytest.warns(UserWarning, match="rest on what is not estimable, and have no line"):
        ax = hidden.plot_survival(at)
    assert not drawn(ax) and "not estimable" in texts(ax)
    assert drawn(fit.plot_survival(at))


def test_a_band_of_survival_ends_where_its_line_does() -> None:
    whole = hazards()
    for until, end in ((np.array([400.0]), 300.0), (None, 1000.0)):
        ax = hazards(baseline=replace(whole.record.baseline, until=until)).plot_survival(EVERY["coxph"][1])
        assert [line.get_xdata()[-1] for line in ax.lines] == [end]
        assert [band.get_paths()[0].vertices[:, 0].max() for band in ax.collections] == [end]
        assert ax.get_xlim() == (0, 1000)


def test_a_private_curve_of_which_nothing_is_known_says_so() -> None:
    counts = np.array([[250.0, 250, 250, 0, 0, 0, 0, 0, 250], [1.0, 1, 1, 0, 0, 0, 0, 0, 1]])
    sds = np.array([[2.0] * 9, [400.0] * 9])
    nothing = curve(counts=counts[1:], sds=sds[1:])
    assert nothing.table()["survival"].isna().all()
    ax = nothing.plot()
    assert not drawn(ax) and "not estimable" in texts(ax) and ax.get_xlim() == (0, 1600)
    one = curve(("a", "b"), counts=counts, sds=sds).plot()
    assert one.get_legend_handles_labels()[1] == ["a", "b: not estimable"] and drawn(one) == ["a"]
    with pytest.warns(UserWarning, match="points are of all values"):
        points = capacitor().plot_life(USE, points=nothing)
    assert points.get_legend_handles_labels()[1][-1] == "Kaplan-Meier: not estimable"


def test_the_ridge_path_names_a_coefficient_that_is_lost() -> None:
    fit = linear()
    frame = fit.ridge_path([0.1, 1]).frame
    term = frame["term"].iloc[-1]
    frame.loc[frame["term"] == term, "std_error"] = np.inf
    ax = plot_path(fit.record, frame, dict.fromkeys(frame["term"].unique()[-2:], 1.0), "coefficient", None)
    assert ax.get_legend_handles_labels()[1][1] == f"{term}: not estimable" and len(bands(ax)) == 1


def test_a_plan_names_what_is_lost_and_at_which_budgets() -> None:
    half = np.array([[np.inf, np.inf, 1.0], [np.inf, 2.0, 1.0]])
    ax = draw_plan(["a", "b", "c"], np.array([0.5, 1.0]), half, np.ones((2, 3)), "rho", None, 3)
    labels = ax.get_legend_handles_labels()[1]
    assert labels == ["a: not estimable", "b: not estimable at 0.5", "c"]


def test_points_of_a_private_curve_stand_on_probability_paper() -> None:
    fit = capacitor()
    with pytest.warns(UserWarning, match="points are of all values of voltage, temperature together"):
        ax = fit.plot_life(USE, points=curve())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        capacitor(
            schema=dps.Schema(time=dps.bounded(10, 2000), failed=dps.event(), maker=dps.levels("a", "b")),
            formula="Surv(time, failed) ~ maker",
            names=("Intercept", "maker[T.b]", "Log(scale)"),
            params=[6.0, 0.5, -0.5],
            cov=np.eye(3) / 100,
            cov_privacy=np.eye(3) / 200,
        ).plot_life({"maker": "a"}, points=curve(("a", "b"), formula="Surv(time, failed) ~ maker"))
    (points,) = [line for line in ax.get_lines() if line.get_marker() == "o"]
    z = fit.record.distribution.family.quantile(np.array([0.25, 0.5, 0.75]))
    assert points.get_data()[0] == pytest.approx([400, 800, 1600])
    assert points.get_data()[1] == pytest.approx(z, abs=1e-6)
    assert "Kaplan-Meier, epsilon = 1" in ax.texts[0].get_text()
    assert fit.plot_life(USE, points=curve(("a", "b"))).get_legend_handles_labels()[1] == [
        "weibull, Surv(time, failed)",
        "Kaplan-Meier, a",
        "Kaplan-Meier, b",
    ]


def test_a_private_curve_is_drawn_with_its_band_alone_or_beside_a_fit() -> None:
    ax = curve(("a", "b")).plot()
    assert ax.get_legend_handles_labels()[1] == ["a", "b"] and len(bands(ax)) == 2
    assert ax.get_lines()[0].get_xdata() == pytest.approx([0, 400, 800, 1600])
    assert ax.get_lines()[0].get_ydata() == pytest.approx([1, 0.75, 0.5, 0.25])
    assert ax.get_lines()[0].get_drawstyle() == "default"
    stepped = curve().plot(steps=True, of="cumhaz")
    assert stepped.get_lines()[0].get_drawstyle() == "steps-post"
    assert stepped.get_lines()[0].get_ydata() == pytest.approx(-np.log([1, 0.75, 0.5, 0.25]))
    assert stepped.get_ylabel() == "cumulative hazard" and "Nelson-Aalen" in stepped.get_title()
    with pytest.raises(SpecificationError, match="of must be one of survival, cumhaz"):
        curve().plot(of="hazard")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (hours)", "survival")
    beside = capacitor().plot_reliability(USE)
    assert curve().plot(ax=beside) is beside
    assert beside.get_legend_handles_labels()[1][-1] == "Kaplan-Meier" and "Reliability" in beside.get_title()


def plots() -> list[object]:
    fit = capacitor(not_private=True)
    return [fit.plot_coef(), *(getattr(fit, name)(USE) for name in LIFE), curve(not_private=True).plot()]


def test_plots_say_what_is_not_private() -> None:
    assert all(ax.get_title().startswith("NOT PRIVATE") for ax in plots())


def test_pyplot_shows_and_saves_a_plot_where_it_is_imported() -> None:
    ax = capacitor().plot_reliability(USE)
    assert pyplot.gca() is ax
    pyplot.title("Capacitors")
    assert ax.get_title() == "Capacitors" and ax._repr_png_() is None  # a notebook shows it once
    pyplot.close(ax.figure)
    assert ax._repr_png_().startswith(b"\x89PNG")


def test_pyplot_is_not_imported_by_a_plot() -> None:
    lines = (
        "import sys",
        "from dpstats._arguments import axes",
        "ax = axes(None)",
        "assert 'matplotlib.pyplot' not in sys.modules and b'PNG' in ax._repr_png_()",
    )
    subprocess.run([sys.executable, "-c", "; ".join(lines)], check=True)


def test_a_private_line_beside_what_is_not_private_keeps_the_mark() -> None:
    ax = capacitor(not_private=True).plot_reliability(USE)
    assert capacitor().plot_reliability(USE, ax=ax).get_title().startswith("NOT PRIVATE")
    points = capacitor().plot_life(USE, points=curve(not_private=True))
    assert points.get_title().startswith("NOT PRIVATE")
    assert "points: Kaplan-Meier, NOT PRIVATE" in [text.get_text() for text in points.texts]
    beside = capacitor().plot_reliability(USE)
    assert curve(not_private=True).plot(ax=beside).get_title().startswith("NOT PRIVATE. Reliability")
    beside.set_title("Capacitors")  # by the user
    assert capacitor().plot_reliability(USE, ax=beside).get_title().startswith("NOT PRIVATE. Reliability")


def test_a_band_has_the_steps_of_its_line() -> None:
    (drawn,) = curve().plot(steps=True).collections[:1]
    ends = drawn.get_paths()[0].vertices
    assert all(x == x_ or y == y_ for (x, y), (x_, y_) in zip(ends, ends[1:], strict=False))


def test_a_notebook_shows_a_plot_that_pyplot_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot")
    for ax in plots():
        assert ax._repr_png_().startswith(b"\x89PNG") and ax.figure._repr_png_().startswith(b"\x89PNG")
        assert pickle.loads(pickle.dumps(ax.figure)).axes[0].get_title() == ax.get_title()


def test_plots_draw_where_they_are_told() -> None:
    for name in LIFE:
        ax = Figure().add_subplot()
        assert getattr(capacitor(), name)(USE, ax=ax) is ax and ax.get_lines()
    ax = Figure().add_subplot()
    assert capacitor().plot_coef(ax=ax) is ax


@pytest.mark.parametrize(
    "draw",
    [
        lambda ax: capacitor().plot_coef(ax=ax),
        lambda ax: capacitor().plot_life(USE, ax=ax),
        lambda ax: capacitor().plot_reliability(USE, ax=ax),
        lambda ax: capacitor().plot_hazard(USE, ax=ax),
        lambda ax: linear().plot_ridge_path(ax=ax),
        lambda ax: curve().plot(ax=ax),
    ],
)
@pytest.mark.parametrize("ax", ["x", 1, [], pd.DataFrame({"a": [1]})], ids=lambda ax: type(ax).__name__)
def test_what_is_no_axes_is_refused_by_the_name_of_the_argument(draw, ax) -> None:
    with pytest.raises(SpecificationError, match="ax must be axes of matplotlib"):
        draw(ax)


@pytest.mark.parametrize("terms", [0, 0.5, b"x", ["voltage", 0], [], "x"])
def test_terms_that_are_none_of_the_fit_are_refused(terms: object) -> None:
    with pytest.raises(SpecificationError, match=r"terms must be coefficients of the fit \(.*\), got"):
        capacitor().plot_coef(terms)


def test_plots_are_drawn_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    for ax in plots():
        ax.figure.canvas.draw()
    assert not [str(warning.message) for warning in recwarn]


@pytest.mark.parametrize("name", LIFE)
def test_what_cannot_be_drawn_says_why(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotReleased, match=f"'{name}' needs a time-to-failure"):
        getattr(EVERY["ols"][0], name)(EVERY["ols"][1])
    with pytest.raises(NotReleased, match="newdata"):
        getattr(capacitor(), name)()
    with pytest.raises(SpecificationError, match="above 0, as all survive until then, .* got 0 and 1000"):
        getattr(capacitor(), name)(USE, times=(0, 1000))
    for times in ((5.0, 1.0), (0.0, 10.0), (1.0, np.inf)):
        with pytest.raises(SpecificationError, match="times"):
            getattr(capacitor(), name)(USE, times=times)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"dpstats\[plot\]"):
        getattr(capacitor(), name)(USE)


@pytest.mark.parametrize("plot", LIFE)
def test_lines_of_several_fits_on_the_same_axes_are_told_apart(plot: str) -> None:
    ax = getattr(capacitor(), plot)(USE)
    getattr(capacitor(dist="loglogistic"), plot)([USE, STRESS], ax=ax)
    handles, labels = ax.get_legend_handles_labels()
    assert len({handle.get_color() for handle in handles}) == len(set(labels)) == 3
    assert labels[0] == "weibull, Surv(time, failed)" and all(
        label.startswith("loglogistic, Surv(time, failed), ") for label in labels[1:]
    )


def test_hazards_that_differ_tenfold_have_a_logarithmic_axis() -> None:
    near, far = {**USE, "voltage": USE["voltage"] + 1}, {**USE, "voltage": USE["voltage"] + 5000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scales = [capacitor().plot_hazard([USE, other]).get_yscale() for other in (near, far)]
    assert scales == ["linear", "log"]


def test_of_several_groups_twelve_times_are_printed_and_all_events_are_among_them() -> None:
    times = np.arange(1.0, 41)
    counts = np.tile(np.r_[np.full(40, 10.0), np.zeros(79), 600.0], (2, 1))
    changes = dict(times=times, counts=counts, sds=np.full((2, 120), 2.0))
    one, two = (
        curve(groups, **{**changes, "counts": counts[: len(groups)], "sds": changes["sds"][: len(groups)]})
        for groups in (("",), ("a", "b"))
    )
    assert [len(fit.document.tables[0].rows) for fit in (one, two)] == [40, 12]
    assert "12 of 40 times are printed; table() has all" in " ".join(str(two).split())
    assert sum(float(row[2]) for row in two.document.tables[0].rows) == 400 and len(two.table()) == 80
    assert two.document.tables[0].columns[0].head == "time (hours)"


@pytest.mark.parametrize("groups", [15, 30, 60])
def test_many_curves_have_a_legend_that_leaves_axes_their_height(groups: int) -> None:
    """Of one column of 30 names matplotlib gave up the layout, or cut it off."""
    counts = np.repeat(curve().counts, groups, axis=0)
    names = tuple(f"M{i}" for i in range(groups))
    with warnings.catch_warnings(action="error"):
        ax = curve(names, counts=counts, sds=np.full_like(counts, 2.0)).plot()
        ax.figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert 0 <= legend.y0 < legend.y1 <= ax.figure.bbox.y1 and legend.x1 <= ax.figure.bbox.x1
    assert ax.get_position().height > 0.7 and ax.get_position().width > 0.5


def test_a_probability_plot_holds_all_points_of_its_curve() -> None:
    """Early ones show infant mortality, where less than the .5 % has failed from which lines are drawn."""
    fit, points = capacitor(), curve(times=[20.0, 800, 3000])
    plain = fit.plot_life(USE).get_xlim()
    assert plain[0] > 20 and plain[1] < 3000
    ax = fit.plot_life(USE, points=points)
    assert ax.get_xlim() == (20, 3000)
    drawn = [line for line in ax.lines if line.get_marker() == "o"]
    low, high = ax.get_ylim()
    assert [*drawn[0].get_xdata()] == [20, 800, 3000] and (
        (low < drawn[0].get_ydata()) & (drawn[0].get_ydata() < high)
    ).all()
    assert fit.plot_life(USE, (100, 1000), points=points).get_xlim() == (100, 1000)
    with pytest.raises(SpecificationError, match="points must be a curve"):
        fit.plot_life(USE, points=[1])


def test_ratios_that_no_number_holds_are_refused_in_a_plot() -> None:
    fit = capacitor(params=[13.4, 1794.0, -0.03, -1.0])
    with pytest.raises(SpecificationError, match="voltage is beyond all numbers: write its column in larger"):
        fit.plot_coef(exponentiate=True)
    fit.plot_coef()
    fit.plot_coef(["temperature"], exponentiate=True)
