"""The judge of the fits judges rightly: designs, scores and reports of benchmarks/lottery.py; not luck."""

import sys
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
import coxph_lottery  # noqa: E402
from lots.covariates import FARTHEST  # noqa: E402
from lots.designs import MODELS, draw_design  # noqa: E402
from lots.exact import glm  # noqa: E402
from lots.real import real_lot  # noqa: E402
from lots.report import false_alarm, line, report, tenths, wrong  # noqa: E402
from lots.rows import curves, sample  # noqa: E402
from lots.score import exact, lot, scored  # noqa: E402
from lottery import drawn, seeds  # noqa: E402


def small(count: int, most: int = 1500) -> list[int]:
    """The first seeds of small designs of regressions whose truth is known."""
    designs = (draw_design(seed) for seed in range(10_000))
    found = (d.seed for d in designs if d.n < most and d.known and d.model != "kaplan_meier")
    return [seed for _, seed in zip(range(count), found, strict=False)]


def test_designs_are_wide_and_come_again():
    designs = [draw_design(seed) for seed in range(3000)]
    assert designs[7].described() == draw_design(7).described()
    assert {design.model for design in designs} == set(MODELS)
    described = [design.described() for design in designs]
    ranges = {
        "n": (400, 150_000),
        "epsilon": (0.25, 8),
        "d": (1, 25),
        "looseness": (1.5, 500),
        "correlation": (0, 0.97),
        "rarest level": (0.012, 0.5),
        "censored": (0, 0.95),
    }
    for key, (low, high) in ranges.items():
        values = [record[key] for record in described]
        assert min(values) <= low and max(values) >= high


@pytest.mark.parametrize("seed", range(15))
def test_rows_lie_in_their_bounds_anywhere(seed):
    covariates = draw_design(seed).covariates
    rows = covariates.draw(np.random.default_rng(seed), 400)
    for column in covariates.columns:
        if not column.coded:
            low, high = column.bounds
            spread = np.ptp(column.values(np.array([-FARTHEST, FARTHEST])))
            assert low <= rows[column.name].min() and rows[column.name].max() <= high
            assert high - low >= 0.99 * spread


def test_what_is_called_the_truth_is_what_many_rows_give():
    """The fit without privacy is off by its standard error: designs, truths and exact fits agree."""
    off = []
    for seed in small(25, 20_000):
        design = draw_design(seed)
        if design.n < 3000 or len(design.covariates.columns) > 8:
            continue
        rows = sample(design)
        params, cov = exact(design.model, design.dist, rows, slice(0, design.n))
        off += list((params - rows.truth) / np.sqrt(np.diag(cov)))
    off = np.array(off)[np.isfinite(off)]
    assert len(off) > 40 and np.mean(np.abs(off) < 2) > 0.85 and np.median(np.abs(off)) < 1


def test_exact_fits_are_those_of_statsmodels():
    rng = np.random.default_rng(0)
    exog = sm.add_constant(rng.normal(size=(500, 2)) * [1, 100])
    y = rng.poisson(np.exp(0.3 + 0.5 * exog[:, 1]))
    found, cov = glm(exog, y, "poisson")
    expected = sm.GLM(y, exog, sm.families.Poisson()).fit(cov_type="HC0")
    assert found == pytest.approx(expected.params, rel=1e-6)
    assert np.sqrt(np.diag(cov)) == pytest.approx(expected.bse, rel=1e-6)


def test_lumps_of_censored_rows_lie_at_times_of_the_grid():
    designs = (draw_design(seed) for seed in range(3000))
    lumped = (d for d in designs if d.model == "kaplan_meier" and d.censoring == "lumps")
    found = curves(next(design for design in lumped if design.censored > 0.1))
    censored = found.rows.loc[found.rows["failed"] == 0, "time"].to_numpy()
    assert np.isclose(censored[:, None], found.times).any(axis=1).all()


def test_scores_are_in_half_lengths_on_the_side_of_the_truth():
    found = scored(
        params=np.array([1.0, 1.0, 1.0]),
        low=np.array([0.0, 0.9, -np.inf]),
        high=np.array([3.0, 1.1, np.inf]),
        truth=np.array([5.0, 1.25, 0.0]),
        doubt=np.zeros(3),
        exact_se=np.full(3, 0.5),
    )
    assert found["halves"] == [-2.0, -2.5, None] and found["lost"] == 1
    assert found["errors"] == [-8.0, -0.5, None]


def record(
    halves: list[float], flags: tuple[str, ...] = (), lost: int = 0, **more: object
) -> dict[str, object]:
    plain = dict(seed=1, route="ols pure", n=10, d=1, epsilon=1.0, law="right")
    found = dict(halves=halves, errors=halves, widths=halves, flags=list(flags), lost=lost)
    return plain | found | {"n epsilon": 10.0} | more


def test_what_counts_as_wrong_and_as_a_false_alarm():
    assert wrong(record([0.1, -2.1])) and not wrong(record([0.1, 1.9]))
    assert not wrong(record([9.0], ("weak",)))
    assert false_alarm(record([0.9], ("weak",))) and not false_alarm(record([1.1], ("weak",)))
    assert not false_alarm(record([0.9], ("not_estimable",), lost=1)) and not false_alarm(record([0.9]))
    found = line([record([3.0]), *[record([0.5])] * 98, record([0.5], ("weak",))])
    assert found[:2] == [100, 1.0] and found[2] == pytest.approx(6.45, abs=0.1)  # Clopper and Pearson
    assert found[3] == pytest.approx(98 / 99) and found[4:7] == pytest.approx([1.0, 0.0, 1.0])


def test_every_record_is_in_one_tenth():
    records = [record([0.0], n=n) for n in [1] * 30 + list(range(70))]
    groups = tenths(records, "n")
    assert sum(len(group) for _, group in groups) == 100


def test_a_few_lots_are_scored_and_reported(tmp_path):
    records = [lot(seed) for seed in small(4, 700)]
    assert all("halves" in found and len(found["halves"]) == len(found["names"]) for found in records)
    assert lot(records[0]["seed"])["halves"] == records[0]["halves"]
    shown = report(records, "python lottery.py")
    for found in records:
        assert (f"--design {found['seed']}  #" in shown) == (not found["flags"])
    assert "4 fits, 0 refused, 0 failed" in shown


def test_a_run_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "run.jsonl"
    first = drawn(path, 3, seeded, fits=2, minutes=1, jobs=1)
    second = drawn(path, 3, seeded, fits=4, minutes=1, jobs=1)
    assert [found["seed"] for found in second[:2]] == [found["seed"] for found in first]
    expected = [seed for _, seed in zip(range(4), seeds(3), strict=False)]
    assert sorted(found["seed"] for found in second) == sorted(expected)
    assert drawn(path, 3, seeded, fits=4, minutes=0, jobs=1) == second


def seeded(seed: int) -> dict[str, int]:
    return {"seed": seed}


def test_real_rows_without_a_folder_are_those_of_the_package(tmp_path):
    found = real_lot(4, tmp_path)
    assert found["n"] >= 300 and ("halves" in found or "refused" in found)


def test_what_noise_hides_does_not_round_away_what_is_seen():
    """Beside a guess of any size a variance became no number, and a fit failed after it was paid."""
    slopes, _, test = coxph_lottery.fitted(820_189, "strata")
    assert test is None and not any(slope["known"] for slope in slopes)
