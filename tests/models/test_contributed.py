"""Fits from messages: what they are without noise, what their intervals cover, what they say and refuse."""

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dps
from dpstats import testing
from dpstats.contributions import Rejected, Totals
from dpstats.contributors import Plan, contribute_rows
from dpstats.contributors.message import exact
from dpstats.errors import DataError, SpecificationError
from dpstats.estimators.contributed import linear_moments
from dpstats.models.contributed import approximation, expected_precision
from dpstats.results import Fit
from dpstats.rows import open_rows
from tests.contributors.people import BUDGET, FORMULA, SCHEMA, people, plan, seeded

N = 3000
DATA = people(N)
MEMBER = "member ~ age + educ + urban"


def frame() -> pd.DataFrame:
    table = pd.DataFrame(DATA)
    table["income"] = table["income"].clip(0, 10)
    table["educ"] = pd.Categorical(table["educ"], ["low", "mid", "high"])
    table["member"] = (table["member"] == "yes").astype(int)
    return table


def silent_fit(model: Any, of: Plan, **more: Any) -> Fit:
    """With a budget so large that noise is far below the data's own digits."""
    with testing.noise(testing.NoNoise()):
        return model.fit_contributions(contribute_rows(DATA, of), of, **more)  # type: ignore[no-any-return]


def fitted(of: Plan, seed: int = 1) -> Fit:
    with testing.noise(testing.SeededNoise(seed)):
        return dps.ols(of.formula, None, of.schema).fit_contributions(seeded(DATA, of, seed), of)


@pytest.mark.parametrize("wide", [10, 100])
def test_what_noise_hides_of_columns_in_far_too_wide_bounds_is_not_estimable(wide: int) -> None:
    """The slope of .3 was 0 with an interval of 0 to 3 % of it on either side, and "weak"."""
    schema = dps.Schema(x=dps.bounded(0, 10 * wide), y=dps.bounded(-4, 10))
    of = dps.plan_contributions("y ~ x", schema, dps.approx(2, 1e-6), 6000)
    draw, lost = np.random.default_rng(wide), []
    x = draw.poisson(1.5, 6000).clip(0, 10) * 1.0
    data = {"x": x, "y": 2 + 0.3 * x + draw.normal(size=6000)}
    (block,) = open_rows(data, schema, of.design.variables).blocks()
    sums = exact(of, of.design.read(block)).sum(axis=0)
    for _ in range(300):
        noise = draw.normal(scale=of.sds[0] * math.sqrt(6000), size=of.size)
        solution = linear_moments(Totals(6000, sums + noise, np.zeros((0, 0)), Rejected()), of).solve()
        error, se = solution.params[1] - 0.3, math.sqrt(solution.cov[1, 1])
        lost.append(abs(error) < 1.96 * se)
    assert np.mean(lost) > 0.97  # infinite errors hold; noise passes for a direction in one of a hundred


@pytest.mark.parametrize("wide", [600, 2000])
def test_nor_is_it_where_noise_outweighs_what_the_response_allows(wide: int) -> None:
    """Short intervals about 0 were told in all of 40 fits, and without a caution in 24 and 27 of them."""
    schema = dps.Schema(x=dps.bounded(-wide / 4, 3 * wide / 4), y=dps.bounded(-20, 20))
    of = dps.plan_contributions("y ~ x", schema, dps.approx(1, 1e-6), 1000)
    draw = np.random.default_rng(wide)
    x = draw.normal(size=1000)
    (block,) = open_rows({"x": x, "y": 1 + x / 2 + draw.normal(size=1000)}, schema, ("x", "y")).blocks()
    sums, told = exact(of, of.design.read(block)).sum(axis=0), 0
    for _ in range(40):
        noise = draw.normal(scale=of.sds[0] * math.sqrt(1000), size=of.size)
        solution = linear_moments(Totals(1000, sums + noise, np.zeros((0, 0)), Rejected()), of).solve()
        told += np.isfinite(solution.cov[1, 1])
    assert told <= 2


def test_the_intercept_is_lost_with_the_slope() -> None:
    """It had a short interval about the mean of the response, which is 2 and not 0."""
    schema = dps.Schema(x=dps.bounded(-1000, 1000), y=dps.bounded(-20, 20))
    of, draw = dps.plan_contributions("y ~ x", schema, dps.approx(8, 1e-6), 3000), np.random.default_rng(3)
    x = draw.exponential(size=3000)
    messages = seeded({"x": x, "y": 2 * x + draw.normal(size=3000)}, of, 1)
    with testing.noise(testing.SeededNoise(1)):
        fit = dps.ols(of.formula, None, schema).fit_contributions(messages, of)
    assert np.isinf(np.diag(fit.record.cov)).all()
    assert [code for code, _ in fit.flags] == ["not_estimable"]


def huge(formula: str = FORMULA, **more: Any) -> Plan:
    return dps.plan_contributions(formula, SCHEMA, dps.gdp(1e5), N, **more)


def test_without_noise_it_is_least_squares() -> None:
    found = silent_fit(dps.ols(FORMULA, None, SCHEMA), huge())
    want = smf.ols(FORMULA, frame()).fit()
    assert np.allclose(found.params, want.params[list(found.names)], rtol=1e-6)
    assert np.allclose(found.bse, want.bse[list(found.names)], rtol=1e-3)
    assert float(found.rsquared) == pytest.approx(want.rsquared, abs=1e-3)
    assert float(found.sigma) == pytest.approx(math.sqrt(want.scale), rel=1e-3)


def test_without_an_intercept_too() -> None:
    found = silent_fit(dps.ols("income ~ 0 + age + educ", None, SCHEMA), huge("income ~ 0 + age + educ"))
    want = smf.ols("income ~ 0 + age + educ", frame()).fit()
    assert np.allclose(found.params, want.params[list(found.names)], rtol=1e-6)


def test_an_offset_is_taken_off() -> None:
    formula = "income ~ educ + offset(0.03 * age)"
    found = silent_fit(dps.ols(formula, None, SCHEMA), huge(formula))
    want = smf.ols("I(income - 0.03 * age) ~ educ", frame()).fit()
    assert np.allclose(found.params, want.params[list(found.names)], rtol=1e-6)


def test_every_ridge_penalty_comes_from_one_collection() -> None:
    direct = silent_fit(dps.ridge(FORMULA, None, SCHEMA, 0.1), huge())
    other = silent_fit(dps.ols(FORMULA, None, SCHEMA), huge()).at_alpha(0.1)
    assert np.array_equal(direct.params, other.params) and direct.alpha == other.alpha == 0.1


@pytest.mark.parametrize(
    ("reach", "a2"),
    [(1, 0.120115), (2, 0.108445), (3, 0.095049), (4, 0.082813), (6, 0.064148), (8, 0.051675)],
)
def test_logistic_is_the_quadratic_approximation_of_the_page(reach: float, a2: float) -> None:
    assert approximation(reach) == pytest.approx(a2, abs=1e-6)
    found = silent_fit(dps.logit(MEMBER, None, SCHEMA), huge(MEMBER), reach=reach)
    want = smf.ols("I(2 * member - 1) ~ age + educ + urban", frame()).fit()
    assert np.allclose(found.params, want.params[list(found.names)] / (4 * a2), rtol=1e-5, atol=1e-6)
    text = found.summary().as_text()
    assert "quadratic approximation, R = " in text and f"a2 = {a2:.4f}"[:10] in text


def test_with_small_margins_it_is_close_to_the_maximum_likelihood() -> None:
    found = silent_fit(dps.logit(MEMBER, None, SCHEMA), huge(MEMBER), reach=1.0)
    want = smf.logit(MEMBER, frame()).fit(disp=0)
    assert np.allclose(found.params, want.params[list(found.names)], rtol=0.05, atol=0.02)
    assert np.allclose(found.bse, want.bse[list(found.names)], rtol=0.05)


def draws(of: Plan, reps: int, seed: int, slope: float | None = None) -> np.ndarray:
    """Coefficients' errors in standard errors, for fresh data and noise; sums of noise drawn at once."""
    draw, errors = np.random.default_rng(seed), []
    for rep in range(reps):
        blocks = open_rows(people(of.contributors, 1000 + rep), SCHEMA, of.design.variables).blocks()
        sums = np.sum([exact(of, of.design.read(block)).sum(axis=0) for block in blocks], axis=0)
        noise = draw.normal(scale=of.sds[0] * math.sqrt(of.contributors), size=of.size)
        totals = Totals(of.contributors, sums + noise, np.zeros((0, 0)), Rejected())
        solution = linear_moments(totals, of, slope).solve()
        errors.append((solution.params - [3, 0.8, 1.6, 0.03, -0.5]) / np.sqrt(np.diag(solution.cov)))
    return np.array(errors)


@pytest.mark.parametrize(("n", "honest"), [(4000, 1.0), pytest.param(20_000, 0.7, marks=pytest.mark.long)])
def test_intervals_cover_in_miniature(n: int, honest: float) -> None:
    errors = draws(plan(n, honest=honest), 150, 5)
    covered = float((np.abs(errors) < 1.96).mean())
    assert 0.92 < covered < 0.99
    assert abs(errors.mean()) < 0.15


def test_the_summary_shows_both_guarantees_and_what_was_rejected() -> None:
    of = plan(N, honest=0.5)
    messages = seeded(DATA, of)
    with testing.noise(testing.SeededNoise(1)):
        found = dps.ols(FORMULA, None, SCHEMA).fit_contributions([*messages, *messages[:7], None], of)
    text = " ".join(found.summary().as_text().split())
    assert "Central epsilon = 1, delta = 1e-05 (mu = 0.2681), if 1500 contributors keep their noise" in text
    assert "Local epsilon = 97.3283, delta = 1e-05" in text and "(mu = 10.38), of one message" in text
    assert "Messages 3000 accepted; rejected: 1 malformed, 7 duplicate" in text
    assert "replace one contributor's record" in text and "NOT PRIVATE" in text
    assert found.messages == {
        "accepted": N,
        "malformed": 1,
        "wrong_plan": 0,
        "out_of_range": 0,
        "duplicate": 7,
    }
    assert found.guarantees == of.guarantees and found.nobs == N and found.budget == BUDGET
    again = Fit.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.summary().as_text() == found.summary().as_text() and again.messages == found.messages


def test_secure_messages_make_a_private_fit() -> None:
    of = dps.plan_contributions("income ~ age", SCHEMA, BUDGET, 400)
    found = dps.ols(of.formula, None, of.schema).fit_contributions(contribute_rows(people(400), of), of)
    assert not found.not_private
    assert found.summary().as_text().lstrip().startswith("Private linear regression")


@pytest.mark.parametrize("compat", [None, "paper"])
def test_the_input_scheme(compat: str | None) -> None:
    """Its minimum solves the noisy normal equations; coefficients go back to the user's units."""
    of = plan(N, method="input", compat=compat, ball=10.0)
    messages = seeded(DATA, of)
    found = fitted(of)
    rows = np.array([message.values for message in messages])
    q, p = np.hsplit(rows, 2)
    w = np.linalg.solve(q.T @ q + of.ridge * np.eye(5), p.sum(axis=0))
    want = of.rows.to_user @ w * of.response[1]
    want[0] += of.response[0]
    assert np.allclose(found.params, want, rtol=1e-4, atol=1e-3)
    assert (of.ridge == 0) == (compat is not None)


def test_the_input_scheme_publishes_coefficients_alone() -> None:
    found = fitted(plan(N, method="input"))
    text = " ".join(found.summary().as_text().split())
    assert np.isinf(found.bse).all() and np.isfinite(found.params).all()
    assert "No standard errors: the guarantee of method='input' is of the coefficients alone" in text
    assert "not estimable" not in text and "Central epsilon = 1, delta = 1e-05, if 3000" in text
    assert "ball" not in text and "coefficients no longer than 3" in text
    again = Fit.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.summary().as_text() == found.summary().as_text()
    ax = found.plot_coef()
    assert ax.get_title().endswith("Coefficients, no standard errors") and not ax.collections
    assert np.allclose(ax.lines[0].get_xdata(), found.params[1:])
    assert "not estimable" not in [text.get_text() for text in ax.texts]


def test_the_published_scheme_claims_no_central_guarantee() -> None:
    of = plan(N, method="input", compat="paper")
    found = fitted(of)
    assert "none claimed: the published proof does not hold" in found.summary().as_text()
    assert found.budget == dps.gdp(of.local[0]) and "as published" in found.record.method


def test_a_minimum_is_hidden_by_a_little_noise() -> None:
    """The corrected scheme draws once more, on the server; the published one does not."""
    for compat, draws_more in ((None, True), ("paper", False)):
        of = plan(N, method="input", compat=compat)
        messages = seeded(DATA, of)
        found = []
        for seed in (1, 2):
            with testing.noise(testing.SeededNoise(seed)):
                found.append(dps.ols(FORMULA, None, SCHEMA).fit_contributions(messages, of).params)
        assert (found[0] != found[1]).any() == draws_more
        assert np.allclose(*found, rtol=1e-3, atol=1e-4)


def test_a_minimum_that_is_not_certified_is_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpstats.estimators import contributed

    monkeypatch.setattr(contributed, "minimum", lambda *given: (np.zeros(5), math.nan))
    with pytest.raises(RuntimeError, match="could not be certified"):
        fitted(plan(N, method="input"))


def test_what_does_not_fit_together_is_refused() -> None:
    of, member = plan(N), plan(N, MEMBER)
    with pytest.raises(SpecificationError, match="the plan is of 'income ~ age"):
        dps.ols("income ~ age", None, SCHEMA).fit_contributions([], of)
    with pytest.raises(SpecificationError, match="without weights"):
        dps.ols(FORMULA, None, SCHEMA, weights="urban").fit_contributions([], of)
    with pytest.raises(SpecificationError, match="plan must be a Plan"):
        dps.ols(FORMULA, None, SCHEMA).fit_contributions([], of.to_dict())  # type: ignore[arg-type]
    with pytest.raises(SpecificationError, match="ridge of its own"):
        dps.ridge(FORMULA, None, SCHEMA, 1.0).fit_contributions([], plan(N, method="input"))
    with pytest.raises(SpecificationError, match="reach must be"):
        dps.logit(MEMBER, None, SCHEMA).fit_contributions([], member, reach=-1)
    with pytest.raises(SpecificationError, match="needs an intercept"):
        dps.logit("member ~ 0 + age", None, SCHEMA).fit_contributions([], plan(N, "member ~ 0 + age"))
    with pytest.raises(SpecificationError, match="contributions give ols, ridge and logit"):
        dps.glm("income ~ age", None, SCHEMA, family="poisson").fit_contributions([], of)
    with pytest.raises(DataError, match="0 messages were accepted"):
        dps.ols(FORMULA, None, SCHEMA).fit_contributions([], of)
    with pytest.raises(SpecificationError, match="[Mm]essages of contributors go to fit_contributions"):
        dps.ols(FORMULA, None, SCHEMA).fit(BUDGET)
    with pytest.raises(SpecificationError, match="[Mm]essages of contributors go to fit_contributions"):
        dps.logit(MEMBER, None, SCHEMA).fit(dps.pure(1))


WIDE = dps.Schema(x=dps.bounded(4, 10), y=dps.bounded(0, 1))


@pytest.mark.parametrize("method", ["statistics", pytest.param("input", marks=pytest.mark.long)])
def test_the_precision_to_expect_is_about_what_comes(method: str) -> None:
    """For people spread evenly over their bounds, whose income does not depend on anything."""
    n, draw = 2000, np.random.default_rng(77)
    of = plan(n, method=method, ball=1e3)
    expected = expected_precision(of)
    found = []
    for seed in range(40):
        data = people(n, seed) | {"income": draw.uniform(0, 10, n)}
        messages = seeded(data, of, 10_000 + seed)
        with testing.noise(testing.SeededNoise(seed)):
            found.append(dps.ols(FORMULA, None, SCHEMA).fit_contributions(messages, of).params)
    total = np.hypot(expected["privacy"], expected["sampling"])
    assert np.std(found, axis=0) == pytest.approx(total, rel=0.35)
    assert list(expected["term"]) == list(of.design.names)


def test_a_column_of_half_the_spread_is_known_as_the_command_line_says() -> None:
    """Twice the part of sampling, and four times that of privacy."""
    of = dps.plan_contributions("y ~ x", WIDE, dps.approx(1, 1e-6), contributors=4000)
    draw, parts = np.random.default_rng(3), []
    x, y = draw.uniform(-3, 3, 4000), draw.uniform(0, 1, 4000)
    for spread in (1.0, 0.5):
        with testing.noise(testing.NoNoise()):
            messages = contribute_rows({"x": 7 + spread * x, "y": y}, of)
            fit = dps.ols("y ~ x", None, WIDE).fit_contributions(messages, of)
        share = fit.privacy_share["x"]
        parts.append(fit.bse["x"] * np.sqrt([1 - share, share]))
    assert parts[1] / parts[0] == pytest.approx([2.0, 4.0], rel=0.05)


def test_the_precision_of_a_logistic_plan_is_of_log_odds() -> None:
    linear, logistic = expected_precision(plan(N, MEMBER), 8.0), expected_precision(plan(N, MEMBER), 2.0)
    ratio = approximation(2.0) / approximation(8.0)
    assert np.allclose(linear["sampling"] / logistic["sampling"], ratio, rtol=1e-6)
