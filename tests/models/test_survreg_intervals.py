"""survreg of failures that are known between two times, or before one."""

import json
import math
import re
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import dpstats as dps
from dpstats.cli import main
from dpstats.estimators.location_scale.gaussian import GaussianRoute
from dpstats.estimators.location_scale.inspections import InspectedLaw
from dpstats.estimators.matrices import by_precision
from dpstats.families import DISTS
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.estimators.test_exact_intervals import FITS, inspected
from tests.estimators.test_exact_intervals import name as of_golden

FORMULA = "Surv(before, after, type='interval2') ~ x"
SCHEMA = dps.Schema(
    before=dps.bounded(0.5, 400, unit="h"),
    after=dps.bounded(0.5, 400, unit="h"),
    time=dps.bounded(0.5, 400),
    failed=dps.event(),
    x=dps.bounded(-3, 3),
)
BUDGET = dps.approx(2, 1e-5)


def rows(n: int = 4000, seed: int = 3, step: int = 12) -> dict[str, np.ndarray]:
    """Weibull times, inspected every `step` hours until 48."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=n)
    time = np.exp(3 + 0.5 * x + 0.6 * np.log(draw.exponential(size=n)))
    before = step * np.floor(time / step)
    seen = time < 48
    return {
        "x": x,
        "before": np.where(seen, np.where(before > 0, before, np.nan), 48.0),
        "after": np.where(seen, before + step, np.nan),
        "time": np.clip(time, 0.5, 48),
        "failed": seen * 1.0,
        "life": time,
    }


DATA = rows()


def fitted(formula: str = FORMULA, seed: int = 1, **more: Any) -> Any:
    build = {name: more.pop(name) for name in ("dist", "scale") if name in more}
    with noise(SeededNoise(seed)):
        return dps.survreg(formula, DATA, SCHEMA, **build).fit(BUDGET, **more)


def test_a_private_fit_finds_the_parameters() -> None:
    fit = fitted()
    truth = np.array([3, 0.5, math.log(0.6)])
    assert (np.abs(fit.params - truth) < 4 * fit.bse).all() and (fit.bse < 0.1).all()
    assert list(fit.params.index) == ["Intercept", "x", "Log(scale)"]


@pytest.mark.parametrize("dist", ["loglogistic", "lognormal", "exponential"])
def test_other_distributions(dist: str) -> None:
    fit = fitted(dist=dist)
    assert np.isfinite(fit.bse).all() and fit.bse["x"] < 0.1
    assert (fit.bse["Log(scale)"] == 0) == (dist == "exponential")


@pytest.mark.parametrize("golden", [each for each in FITS if each["data"] == "lung"], ids=of_golden)
def test_the_log_likelihood_is_that_of_r_but_for_the_units_of_seen_failures(golden: dict[str, Any]) -> None:
    frame, schema = inspected("lung")
    model = dps.survreg(golden["formula"], frame, schema, dist=golden["dist"])
    with noise(NoNoise()):
        fit = model.fit(dps.gdp(1e9), release=["loglik"], force=True)
    alive = frame.dropna(subset=["age", "sex", "ph_ecog"])
    seen = alive[alive["lower"] == alive["upper"]]
    assert float(fit.llf) == pytest.approx(golden["loglik"] + np.log(seen["lower"]).sum(), abs=2e-3)


def test_the_wider_apart_inspections_are_the_less_they_tell() -> None:
    """Every 3 hours they tell nearly all, every 12 and 24 less; the parameters are the same.

    Standard errors count what another law may do as well, of which wide intervals tell less.
    """
    fits = []
    for step in (3, 12, 24):
        with noise(NoNoise()):
            fits.append(dps.survreg(FORMULA, rows(step=step), SCHEMA).fit(dps.gdp(30)))
    assert fits[0].bse["Log(scale)"] < fits[2].bse["Log(scale)"] < 2.5 * fits[0].bse["Log(scale)"]
    for fine, coarse in pairwise(fits):
        assert (np.abs(fine.params - coarse.params) < 3 * coarse.bse).all()


def test_one_inspection_at_the_same_time_tells_no_scale() -> None:
    """Coefficients over sigma are known then, and none of them is: none is told, but where sigma is given."""
    once = rows(step=48)
    with noise(NoNoise()):
        fit = dps.survreg(FORMULA, once, SCHEMA).fit(dps.gdp(30))
        known = dps.survreg(FORMULA, once, SCHEMA, scale=0.6).fit(dps.gdp(30))
    assert np.isinf(fit.bse).all() and {code for code, _ in fit.flags} == {"not_estimable", "constant"}
    assert np.abs(known.params["x"] - 0.5) < 3 * known.bse["x"] < 0.1


@pytest.mark.parametrize(("apart", "told"), [(0.3, False), (2.0, True)])
def test_one_look_a_unit_tells_a_scale_by_how_far_looks_are_apart(apart: float, told: bool) -> None:
    """Looks within .3 sigmas tell log sigma to .25 without privacy; intervals were five times too short."""
    draw = np.random.default_rng(5)
    x, about = draw.normal(size=8000), draw.uniform(-0.5, 0.5, 8000)
    time = np.exp(3 + 0.3 * x + 0.6 * draw.logistic(size=8000))
    look = np.exp(3.2 + apart * 0.6 * about)
    rows = {
        "x": x,
        "before": np.where(time > look, look, np.nan),
        "after": np.where(time > look, np.nan, look),
    }
    for seed in range(3):
        with noise(SeededNoise(seed)):
            fit = dps.survreg(FORMULA, rows, SCHEMA, dist="loglogistic").fit(dps.gdp(0.6))
        assert np.isfinite(fit.bse).all() == told
        assert (np.abs(fit.params - [3, 0.3, math.log(0.6)]) < 4 * fit.bse).all()


def test_the_summary_says_what_ends_are() -> None:
    text = " ".join(fitted().summary().as_text().split())
    assert "before [0.5, 400] h (beyond = kept)" in text and "an end that is missing is open" in text
    assert "inspections" in text and "longer = censored" not in text


def test_it_predicts_and_is_kept_as_a_fit_of_known_times_is(tmp_path: Path) -> None:
    fit = fitted()
    assert np.isfinite(fit.predict({"x": [0.0]})).all()
    fit.save(tmp_path / "fit.json")
    again = dps.load(tmp_path / "fit.json")
    assert again.summary().as_text() == fit.summary().as_text()
    low, high = fit.plot_life({"x": 0.0}).get_xlim()
    assert 0 < low < high


def test_left_censoring() -> None:
    """Rows that had failed when they were found, at 12 hours."""
    found = dict(DATA, time=np.maximum(DATA["life"], 12.0), failed=(DATA["life"] > 12) * 1.0)
    with noise(SeededNoise(2)):
        fit = dps.survreg("Surv(time, failed, type='left') ~ x", found, SCHEMA).fit(BUDGET)
    assert (np.abs(fit.params - [3, 0.5, math.log(0.6)]) < 4 * fit.bse).all()


def test_what_may_be_released_besides() -> None:
    fit = fitted(release=["loglik", "dist"])
    assert np.isfinite(float(fit.llf)) and "Preferred: weibull" in str(fit.compare_dists())


def test_a_known_scale_asks_for_no_score_of_it() -> None:
    recording = Recording(SeededNoise(4))
    with noise(recording):
        fit = dps.survreg(FORMULA, DATA, SCHEMA, scale=0.6).fit(BUDGET)
    names = [record.name for record in recording.records]
    sizes = {len(record.exact) for record in recording.records if record.name == "martingale_score"}
    assert names.count("inspection_counts") == 3 and sizes == {2 + 3}
    assert np.abs(fit.params["x"] - 0.5) < 4 * fit.bse["x"]


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: fitted_pure(), "give approx, zcdp or gdp"),
        (lambda: model().fit(dps.pure(3), method="functional"), "Use method='newton'"),
        (lambda: dps.kaplan_meier(FORMULA.replace("x", "1"), DATA, SCHEMA), "fit survreg"),
        (lambda: dps.plan(model(), BUDGET, n=1000), "inspections= is of"),
        (lambda: dps.ols(FORMULA, DATA, SCHEMA), "use survreg"),
        (lambda: dps.survreg(FORMULA, DATA, dps.Schema(**dict(SCHEMA, after=dps.bounded(0, 9)))), "above 0"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_spent(ask: Any, says: str, tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    dps.use_ledger(path, total=BUDGET)
    try:
        with pytest.raises((dps.SpecificationError, dps.BudgetError), match=re.escape(says)):
            ask()
        assert not list(dps.Ledger(path).entries())
    finally:
        dps.use_ledger(None)


def model() -> Any:
    return dps.survreg(FORMULA, DATA, SCHEMA)


def fitted_pure() -> Any:
    return model().fit(dps.pure(3))


def test_neither_open_ends_nor_their_number_are_seen_in_what_is_asked() -> None:
    """Tables that differ in one row ask the same questions, whatever the row holds."""
    asked = []
    for row in [(np.nan, np.nan), (3.0, 3.0), (9.0, 2.0), (np.nan, 1e9), (0.0, 20.0)]:
        data = {name: values.copy() for name, values in DATA.items()}
        data["before"][5], data["after"][5] = row
        recording = Recording(NoNoise())
        with noise(recording):
            dps.survreg(FORMULA, data, SCHEMA).fit(dps.gdp(0.5), force=True)
        asked.append([(record.name, record.exact.shape) for record in recording.records])
    assert all(each == asked[0] for each in asked)


def test_the_command_line_fits_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, schema, out = (tmp_path / name for name in ("a.csv", "a.toml", "a.json"))
    cells = zip(DATA["before"], DATA["after"], DATA["x"], strict=True)
    lines = [",".join("" if math.isnan(cell) else f"{cell:.6g}" for cell in row) for row in cells]
    data.write_text("before,after,x\n" + "\n".join(lines) + "\n")
    kept = dps.Schema(**{name: SCHEMA[name] for name in ("before", "after", "x")})
    kept.save(schema)
    formula = 'Surv(before, after, type="interval2") ~ x'
    asked = [
        "fit",
        formula,
        str(data),
        "--schema",
        str(schema),
        "--budget",
        "approx(2, 1e-5)",
        "--out",
        str(out),
    ]
    assert main(asked) in (0, None)
    assert json.loads(out.read_text())["formula"] == formula
    assert "Weibull" in capsys.readouterr().out


def test_every_family_has_its_quantile_where_its_hazard_says() -> None:
    """The point of a narrow interval goes there and back."""
    for dist in ("weibull", "loglogistic", "lognormal"):
        family, z = DISTS[dist].family, np.linspace(-6, 3, 19)
        back = family.quantile(-np.expm1(-np.exp(family.log_cumulative_hazard(z))))
        np.testing.assert_allclose(back, z, atol=1e-8)


def test_bounds_that_cut_through_intervals_move_nothing() -> None:
    """The last inspections lie beyond the public bound of both ends, and the first before it."""
    draw = np.random.default_rng(8)
    n, grid = 20_000, np.array([5.0, 20, 40, 80, 120, 200])
    x = draw.normal(size=n)
    at = np.searchsorted(grid, 100 * np.exp(0.3 * x) * draw.exponential(size=n))
    before, after = (np.append(ends, math.nan)[at] for ends in ([0, *grid[:-1]], grid))
    data = {"x": x, "before": np.where(at == len(grid), grid[-1], before), "after": after}
    schema = dps.Schema(before=dps.bounded(10, 100), after=dps.bounded(10, 100), x=dps.bounded(-3, 3))
    with noise(SeededNoise(1)):
        fit = dps.survreg(FORMULA, data, schema).fit(dps.zcdp(20))
    assert (np.abs(fit.params - [math.log(100), 0.3, 0]) < 4 * fit.bse).all() and (fit.bse < 0.05).all()


def test_inspections_far_from_all_failures_are_taken_to_say_a_little() -> None:
    """Noise puts all rows where a failure says nothing of the location, and what it says is divided by."""
    ends, counts = np.linspace(5.0, 15.0, 11), np.zeros((12, 12))
    counts[5, 6] = 1.0
    law = InspectedLaw.counted(DISTS["loglogistic"].family, ends, counts)
    cut = SimpleNamespace(c=2.0, floor=-50.0)
    assert law.left(law.cut(cut.c, cut.floor)).location == 0
    route: Any = SimpleNamespace(
        _by_inspections=SimpleNamespace(law_of_rows=law, log_sigma=lambda *_: 1.0),
        _share=lambda _, guess, sd, *limits: by_precision(1.0, 0.1, guess, sd),
        choice=cut,
        point=None,
    )
    share, _ = GaussianRoute._inspected(route, cast(Any, None))
    assert 0 < share < 1
