"""Made-up rows have the means, sds, skewness, shares and correlations that were told."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.formula import build_design
from dpstats.planning.fit_plan import _of_budget, _of_rows, rounded_up
from dpstats.planning.knowledge import read_known
from dpstats.planning.rows import Maker
from dpstats.planning.trials import Setting, Trial
from dpstats.planning.truth import EVEN, read_asked

SCHEMA = dps.Schema(
    x=dps.bounded(0, 60),
    z=dps.bounded(-500, 500),
    income=dps.bounded(0, 1000),
    g=dps.levels("a", "b", "c"),
    smokes=dps.flag("yes", "no"),
    y=dps.bounded(0.01, 1e4),
    w=dps.bounded(0, 3),
    time=dps.bounded(0.1, 4000),
    failed=dps.event(),
    ended=dps.flag(),
)
DESIGN = build_design("y ~ x + z + income + g + smokes", SCHEMA)
KNOWN = {
    "x": (5, 4),
    "z": (1.0, 0.3),
    "income": (60, 50, 3.0),
    "g": {"a": 0.6, "b": 0.3, "c": 0.1},
    "smokes": 0.2,
    ("x", "z"): -0.5,
    ("income", "smokes"): 0.3,
}


def made(known: Any, n: int = 60_000) -> pd.DataFrame:
    maker = Maker(read_known(known, DESIGN, "y"), SCHEMA, ("x", "z", "income", "g", "smokes"))
    return pd.DataFrame(maker.draw(np.random.default_rng(3), n))


def test_made_up_rows_are_as_told() -> None:
    rows = made(KNOWN)
    np.testing.assert_allclose(rows[["x", "z", "income"]].mean(), [5, 1, 60], rtol=0.02)
    np.testing.assert_allclose(rows[["x", "z", "income"]].std(), [4, 0.3, 50], rtol=0.04)
    assert abs(rows["income"].skew() - 3) < 0.5
    shares = rows["g"].value_counts(normalize=True)
    np.testing.assert_allclose([shares["a"], shares["b"], shares["c"]], [0.6, 0.3, 0.1], atol=0.01)
    rows["smokes"] = (rows["smokes"] == "yes").astype(float)
    assert abs(rows["smokes"].mean() - 0.2) < 0.01
    corr = rows[["x", "z", "income", "smokes"]].corr()
    assert abs(corr["x"]["z"] + 0.5) < 0.02 and abs(corr["income"]["smokes"] - 0.3) < 0.03
    assert abs(corr["x"]["income"]) < 0.02
    assert rows["x"].between(0, 60).all() and rows["income"].between(0, 1000).all()


@pytest.mark.parametrize("strength", [0.4, 0.97])
def test_levels_along_a_line_go_with_numbers_and_levels_as_told(strength: float) -> None:
    rng = np.random.default_rng(8)
    shared = rng.normal(size=(60_000, 1))
    x, g, h, smokes = (strength**0.5 * shared + (1 - strength) ** 0.5 * rng.normal(size=(60_000, 4))).T
    cuts = [np.quantile(g, [0.1, 0.7]), np.quantile(h, [0.2, 0.4, 0.6, 0.8])]
    columns = {"x": 5 + x, "smokes": smokes > 0.84} | {
        f"{name}[T.{level}]": np.searchsorted(at, values) == place
        for name, at, values, levels in (("g", cuts[0], g, "cab"), ("h", cuts[1], h, "ecadb"))
        for place, level in enumerate(levels)
    }
    told = pd.DataFrame(columns, dtype=float)
    shares = {name: {each[-2]: told[each].mean() for each in told if each[0] == name} for name in "gh"}
    known = {"x": (5, 1, 0.0), "smokes": 0.2, **shares} | {
        (one, other): told.corr().loc[one, other]
        for one, other in combinations(told, 2)
        if one[0] != other[0] and not {one, other} & {"g[T.a]", "h[T.a]"}
    }
    schema = dps.Schema(**SCHEMA, h=dps.levels(*"abcde"))
    maker = Maker(
        read_known(known, build_design("y ~ x + g + h + smokes", schema), "y"), schema, (*"xgh", "smokes")
    )
    rows = maker.draw(np.random.default_rng(3), 60_000)
    assert maker.missed(rows) == ()
    made = {f"{name}[T.{level}]": rows[name] == level for name in "gh" for level in schema[name].all}
    made |= {"x": rows["x"], "smokes": rows["smokes"] == "yes"}
    found = pd.DataFrame(made, dtype=float)[list(told)]
    np.testing.assert_allclose(found.mean(), told.mean(), atol=0.01)
    np.testing.assert_allclose(found.corr(), told.corr(), atol=0.03)


def test_levels_that_lie_along_no_line_are_said_to() -> None:
    told = {("x", "g[T.b]"): 0.6, ("g[T.c]", "smokes"): 0.6, ("x", "g[T.c]"): 0.0, ("g[T.b]", "smokes"): 0.0}
    ahead = dps.plan(dps.ols("y ~ x + g + smokes", None, SCHEMA), dps.zcdp(1), 500, {"x": (5, 4)} | told)
    assert "in the place of 0.60, as made-up levels lie along one" in " ".join(str(ahead.summary()).split())


def test_levels_go_with_levels_where_there_is_no_number() -> None:
    schema = dps.Schema(g=dps.levels("a", "b"), h=dps.levels("c", "d"), y=dps.bounded(0, 1))
    known = {"g": {"a": 0.5, "b": 0.5}, "h": {"c": 0.5, "d": 0.5}, ("g[T.b]", "h[T.d]"): 0.4}
    maker = Maker(read_known(known, build_design("y ~ g + h", schema), "y"), schema, ("g", "h"))
    rows = pd.DataFrame(maker.draw(np.random.default_rng(3), 20_000))
    assert abs(np.corrcoef(rows["g"] == "b", rows["h"] == "d")[0, 1] - 0.4) < 0.03


@pytest.mark.parametrize("size", [0.6, 1.2])
def test_a_law_of_long_tails_has_their_skewness_and_kurtosis(size: float) -> None:
    rows = np.exp(size * np.random.default_rng(5).normal(size=20_000))
    told = tuple(float(pd.Series(rows).agg(each)) for each in ("mean", "std", "skew", "kurt"))
    drawn = made({"income": tuple(np.multiply(told, (10, 10, 1, 1)))})["income"] / 10
    ends = [0.02, 0.25, 0.5, 0.75, 0.98]
    np.testing.assert_allclose(drawn.quantile(ends), np.quantile(rows, ends), rtol=0.1, atol=0.05)
    assert abs(drawn.skew() / told[2] - 1) < 0.15 and abs(drawn.kurt() / told[3] - 1) < 0.4


def test_what_is_not_told_is_even_over_its_bounds() -> None:
    known = read_known(None, DESIGN, "y")
    assert set(known.assumed) == {"x", "z", "income", "g", "smokes"}
    rows = made(None)
    np.testing.assert_allclose(rows["x"].quantile([0.1, 0.5, 0.9]), [6, 30, 54], rtol=0.03)


def test_public_rows_are_drawn_as_they_are() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0], "z": [3.0, 4.0], "income": 5.0, "g": "a", "smokes": ["yes", "no"]})
    rows = made(frame, 1000)
    assert set(zip(rows["x"], rows["z"], strict=True)) == {(1.0, 3.0), (2.0, 4.0)}


def test_public_moments_tell_means_sds_shares_and_correlations() -> None:
    rows = made(KNOWN).assign(y=1 + 0.1 * np.arange(60_000) % 7)
    known = read_known(dps.public_moments(DESIGN.formula, rows, SCHEMA), DESIGN, "y")
    assert abs(known.spreads["x"].sd - 4) < 0.1 and abs(known.spreads["smokes"].mean - 0.2) < 0.01
    np.testing.assert_allclose(known.shares["g"], [0.6, 0.3, 0.1], atol=0.01)
    assert abs(known.correlations["x", "z"] + 0.5) < 0.02


def test_levels_that_are_numbers_are_told_as_they_were_declared() -> None:
    design = build_design("y ~ g", dps.Schema(y=dps.bounded(0, 1), g=dps.levels(1, 2, 3)))
    numbers, texts = {1: 0.3, 2: 0.5, 3: 0.2}, {"1": 0.3, "2": 0.5, "3": 0.2}
    assert read_known({"g": numbers}, design, "y") == read_known({"g": texts}, design, "y")


@pytest.mark.parametrize(
    "known, words",
    [
        ({"height": (1, 2)}, "it reads"),
        ({"x": 5}, r"takes \(mean, sd\) of 'x'"),
        ({"x": {"mean": 5, "sd": 1}}, r"\(mean, sd\)}, and not a dict"),
        ({"x": (-3, 6)}, "between its bounds, 0 and 60$"),
        ({"income": (1200, 900)}, "between its bounds, 0 and 1000$"),
        ({"z": (-600, 3)}, "between its bounds, -500 and 500$"),
        ({"y": (0.001, 2)}, r"between its bounds, 0.01 and 10000; are they in the other order"),
        ({"x": (25, -6)}, "sd must be positive"),
        ({"x": [41, 44, 43, 45]}, "values of rows are no mean and sd"),
        ({"x": (70, 5)}, "between its bounds"),
        ({"x": (30, 40)}, "below 30"),
        ({"x": (30, 4, 1e6)}, "skewness"),
        ({"smokes": 1.5}, "share of ones"),
        ({"g": {"a": 0.6, "d": 0.4}}, "no level of 'g'; its levels are"),
        ({"g": {"a": 0.6, "b": 0.2}}, "add up to 1"),
        ({("x", "g"): 0.2}, "two numbers, flags or levels"),
        ({("x", "g[T.a]"): 0.2}, "those of the first level follow"),
        ({("g[T.b]", "g[T.c]"): -0.2}, "two numbers, flags or levels"),
        ({("x", "z"): 1.0}, "between -1 and 1"),
        ([1, 2], "is a dict"),
    ],
)
def test_what_cannot_be_is_refused(known: Any, words: str) -> None:
    with pytest.raises(dps.SpecificationError, match=words):
        read_known(known, DESIGN, "y")


@pytest.mark.parametrize("row", [{"x": "Miller"}, {"x": 31.5}, {"g": "Miller"}, {"smokes": "Miller"}])
def test_a_row_given_as_what_is_known_is_not_quoted(row: dict[str, Any]) -> None:
    with pytest.raises(dps.SpecificationError, match="one value of type (str|float)|not a text$") as refused:
        read_known(row, DESIGN, "y")
    assert "Miller" not in str(refused.value) and "31.5" not in str(refused.value)


LAWS: list[tuple[Any, dict[str, Any], str]] = [
    (dps.ols("np.log(y) ~ x", None, SCHEMA), {"scale": 0.5, "coef": {"Intercept": 3.0, "x": 0.02}}, "y"),
    (dps.glm("y ~ x", None, SCHEMA, "gamma"), {"scale": 0.5, "known": {"y": 40}}, "y"),
    (dps.logit("smokes ~ x", None, SCHEMA), {"events": 0.15, "coef": {"x": 0.1}}, "smokes"),
    (dps.survreg("Surv(time, failed) ~ x", None, SCHEMA), {"events": 0.3, "scale": 0.5}, "failed"),
    (
        dps.survreg("Surv(time, censored=ended) ~ x", None, SCHEMA),
        {"events": 0.3, "scale": 0.5, "coef": {"Intercept": 4.0, "x": 0.01}},
        "ended",
    ),
]


@pytest.mark.parametrize("model, law, column", LAWS, ids=lambda each: each if isinstance(each, str) else "")
def test_made_up_responses_have_the_mean_or_share_that_was_told(model: Any, law: dict, column: str) -> None:
    design = model.design
    response = design.response.text if design.response.text in SCHEMA else None
    known = read_known(law.get("known"), design, response)
    asked = read_asked(
        *map(law.get, ("coef", "scale", "events", "inspections")),
        EVEN,
        known.response,
        design.names,
    )
    trial = Trial(Setting(model, known, asked))
    rng = np.random.default_rng(0)
    drawn = trial._drawn(rng, 40_000)
    values = pd.Series(trial._of.columns(trial.law, drawn, rng)[column])
    if column == "y" and "known" in law:
        assert abs(values.mean() - 40) < 1 and abs(values.std() - 20) < 1
    elif column == "y":
        eta = 3 + 0.02 * drawn.exog[:, 1]
        assert (
            abs(np.log(values).mean() - eta.mean()) < 0.02 and abs((np.log(values) - eta).std() - 0.5) < 0.02
        )
    elif column == "ended":
        assert abs((values.astype(str) == "0").mean() - 0.3) < 0.01
    else:
        assert abs((values.astype(str).isin(["yes", "1"])).mean() - (law["events"])) < 0.01


@pytest.mark.parametrize(
    "model, law, words",
    [
        (dps.ols("y ~ x", None, SCHEMA), {"coef": {"z": 1.0}}, "names no coefficient"),
        (dps.ols("y ~ x", None, SCHEMA), {"coef": {"x": np.inf}}, "finite"),
        (dps.ols("y ~ x", None, SCHEMA), {"scale": -1}, "positive"),
        (dps.ols("y ~ x", None, SCHEMA), {"events": 0.5}, "yes or no"),
        (dps.ols("y ~ x", None, SCHEMA), {"coef": {"x": 1e4}}, "explains a response"),
        (dps.logit("smokes ~ x", None, SCHEMA), {"events": 1.0}, "below 1"),
        (dps.ols("I(y + w) ~ x", None, SCHEMA), {}, "several"),
        (dps.ols("np.abs(z) ~ x", None, SCHEMA), {}, "rises or falls"),
        (
            dps.survreg("Surv(w, time, failed) ~ x", None, SCHEMA),
            {"events": 0.3},
            "enter late needs .* the log of the typical",
        ),
        (dps.coxph("Surv(w, time, failed) ~ x", None, SCHEMA), {"events": 0.3}, "late entries"),
        (
            dps.coxph("Surv(time, failed) ~ x + strata(g)", None, SCHEMA),
            {},
            r"strata\(\) of coxph.* with g among",
        ),
    ],
)
def test_a_law_that_cannot_be_is_refused(model: Any, law: dict, words: str) -> None:
    with pytest.raises(dps.SpecificationError, match=words):
        dps.plan(model, dps.approx(1, 1e-6), 1000, **law)


def test_an_intercept_that_is_asked_for_is_told_by_the_life_of_usual_units() -> None:
    """Nobody knows the life of a unit whose covariates are all 0, as of temperatures of an Arrhenius term."""
    model = dps.survreg("Surv(w, time, failed) ~ x", None, SCHEMA)
    low, high = SCHEMA["x"].bounds
    with pytest.raises(dps.SpecificationError, match="the typical life, less the") as error:
        dps.plan(model, dps.approx(1, 1e-6), 1000, events=0.3, coef={"x": 5.0})
    usual = float(str(error.value).split("less the ")[1].split()[0])
    assert abs(usual - 5 * (low + high) / 2) < 0.05 * 5 * (high - low)
    with pytest.raises(dps.SpecificationError, match="about the log of the typical life, and events="):
        dps.plan(model, dps.approx(1, 1e-6), 1000, events=0.3)


def test_errors_shrink_with_rows_and_budgets_by_their_parts() -> None:
    sampling, privacy, error = (
        np.array([0.3, 0.3, 0.0]),
        np.array([0.4, 0.0, 0.4]),
        np.array([0.35, 0.1, 0.1]),
    )
    rows = _of_rows(sampling, privacy, error)
    np.testing.assert_allclose(np.hypot(sampling / rows**0.5, privacy / rows), error)
    sampling, privacy, error = sampling[::2], privacy[::2], error[::2]
    budget = _of_budget(sampling, privacy, error)
    np.testing.assert_allclose(np.hypot(sampling, privacy / budget), error)
    assert _of_budget(sampling, privacy, 0.2 + 0.0 * error)[0] == 4.0  # sampling alone is above


def test_numbers_are_rounded_up() -> None:
    assert rounded_up(0.02301) == 0.024 and rounded_up(23_000.0) == 23_000
