"""A unit of several rows: its whole replacement stays within the sensitivity, and reaches it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dps
from dpstats.curator import Curator
from dpstats.curator.law import Sensitivity
from dpstats.rows import open_rows
from dpstats.rows import rows as opening
from dpstats.testing import NoNoise, Recording, SeededNoise, noise
from tests.privacy.harness import DESIGN, PUBLIC, SCHEMA, Data, release_everything, rows, violation

CORNER = dict(time=100.0, failed=1, temp=50.0, maker="B")
BLANK = dict(time=None, failed=None, temp=None, maker=None, serial=None)
OTHER = dict(time=3.0, failed=1, temp=20.0, maker="A", serial="v")


def table(records: list[dict]) -> Data:
    return {name: [record[name] for record in records] for name in (*SCHEMA, "serial")}


def curator(data: Data, max_rows: int, total: float = 10.0) -> Curator:
    rows = open_rows(data, SCHEMA.unit("serial", max_rows), DESIGN.variables)
    return Curator(rows, DESIGN, dps.gdp(total))


def everything(max_rows):
    return lambda data: release_everything(curator(data, max_rows))


def mixed(draw, mine, others):
    """Rows of one unit put anywhere between those of others, whose order stays."""
    records = list(others)
    for record in mine:
        records.insert(draw(st.integers(0, len(records))), record)
    return table(records)


@st.composite
def neighbours(draw):
    """Tables of one length in which all rows of one unit are those of another; the rest have no unit."""
    ids = st.sampled_from(["v", "w", "", None, 3, np.nan, (1, 2)])
    others = [{**record, "serial": draw(ids)} for record in draw(st.lists(rows, max_size=4))]
    old, new = draw(st.lists(rows, max_size=5)), draw(st.lists(rows, min_size=1, max_size=5))
    longest = max(len(old), len(new))
    units = []
    for mine, unit in ((old, "u"), (new, draw(st.sampled_from(["u", "t", [1]])))):
        none = [{**record, "serial": None} for record in draw(st.lists(rows, min_size=5, max_size=5))]
        units.append([{**record, "serial": unit} for record in mine] + none[: longest - len(mine)])
    return mixed(draw, units[0], others), mixed(draw, units[1], others)


@settings(max_examples=60, deadline=None)
@given(neighbours(), st.integers(1, 4))
def test_whole_units_replaced_stay_within_every_sensitivity(pair, max_rows):
    assert violation(everything(max_rows), *pair) is None


def worst(count: int) -> tuple[Data, Data]:
    """A unit of `count` rows in a corner of the box, and the same rows blank, beside another unit."""
    mine = [{**CORNER, "serial": "u"}] * count
    return table([OTHER, *mine, OTHER]), table([OTHER, *[BLANK] * count, OTHER])


def exact(data: Data, max_rows: int):
    recording = Recording(NoNoise())
    with noise(recording):
        release = curator(data, max_rows).release("event_moments", 1.0, **PUBLIC["event_moments"])
    return recording.records[0].exact, release


@pytest.mark.parametrize("max_rows", [1, 2, 3, 7])
@pytest.mark.parametrize("more", [0, 5])
def test_the_sensitivity_is_reached_with_max_rows_and_more_do_not_add(max_rows, more):
    (first, release), (second, _) = (exact(data, max_rows) for data in worst(max_rows + more))
    one_row = np.sqrt(3.56 * 4 + 2.25)
    distance = np.linalg.norm(first - second)
    assert max_rows * one_row * (1 - 1e-5) < distance <= release.sensitivity
    assert release.sensitivity < max_rows * one_row * (1 + 1e-4)
    assert release.sd == pytest.approx(release.sensitivity, rel=1e-8)
    assert release.adjacency == "replace one serial"


def test_a_curator_that_forgets_the_unit_is_caught(monkeypatch):
    pair = worst(3)
    assert violation(everything(2), *pair) is None
    bounded = Curator._bounded

    def one_row(self, name, public):
        statistic, _ = bounded(self, name, public)
        return statistic, Sensitivity.of(statistic, self.n, 1)

    monkeypatch.setattr(Curator, "_bounded", one_row)
    assert "moved beyond" in violation(everything(2), *pair)


def all_or_none(ids, columns, max_rows):
    """A planted fault: rows weigh by how many units there are."""
    return np.full(len(ids), len(np.unique(ids[ids.any(axis=1)], axis=0)) % 2 == 0)


def no_limit(ids, columns, max_rows):
    """A planted fault: all rows of a unit weigh."""
    return np.ones(len(ids), dtype=bool)


@pytest.mark.parametrize("rule", [no_limit, all_or_none])
def test_a_rule_that_does_not_bound_a_unit_is_caught(rule, monkeypatch):
    beside = [{**CORNER, "serial": unit} for unit in "vwxvwx"]
    pair = table([*beside, *[{**CORNER, "serial": "u"}] * 4]), table([*beside, *[BLANK] * 4])
    assert violation(everything(1), *pair) is None
    monkeypatch.setattr(opening, "weighing", rule)
    assert "moved beyond" in violation(everything(1), *pair)


def made(serials: int, seed: int) -> pd.DataFrame:
    """Three rows a serial, in random order."""
    generator = np.random.default_rng(seed)
    n = 3 * serials
    temp = generator.uniform(10, 50, n)
    time = np.exp(4 - 0.03 * temp + 0.7 * np.log(generator.exponential(size=n)))
    frame = pd.DataFrame(
        {
            "time": time.clip(1, 60),
            "failed": (time < 60) * 1,
            "temp": temp,
            "maker": generator.choice(["A", "B", "Z"], n),
            "serial": pd.array(np.repeat(np.arange(serials), 3), dtype="Int64"),
        }
    )
    return frame.sample(frac=1, random_state=seed, ignore_index=True)


def test_a_whole_fit_does_not_tell_whole_units_apart():
    data = made(150, 1)
    others = [data.copy() for _ in range(3)]
    mine = data["serial"] == 7
    others[0].loc[mine, ["time", "failed", "temp", "serial"]] = [1.0, 1, 50.0, 900]
    others[1].loc[mine, ["time", "failed", "temp"]] = np.nan
    others[2].loc[mine, "serial"] = pd.NA
    schema = SCHEMA.unit("serial", max_rows=2)

    def fit(frame):
        return dps.survreg("Surv(time, failed) ~ temp + maker", frame, schema).fit(dps.gdp(20))

    for other in others:
        assert violation(fit, data, other) is None


def test_estimators_plan_with_the_noise_that_is_drawn():
    """Two rows at twice the mu have the noise of one row: fits are the same to the last bit."""
    data = made(400, 2)
    unit = data.assign(serial=np.arange(len(data)))  # each row a unit, so that all weigh
    fits = []
    for most, mu in ((1, 2.0), (2, 4.0)):
        schema = SCHEMA.unit("serial", max_rows=most)
        with noise(SeededNoise(3)):
            fits.append(dps.survreg("Surv(time, failed) ~ temp", unit, schema).fit(dps.gdp(mu)))
    one, two = (fit.record for fit in fits)
    assert (one.params == two.params).all() and (one.cov == two.cov).all()
    assert (one.cov_privacy == two.cov_privacy).all() and one.settings == two.settings


def test_a_unit_of_one_row_each_changes_no_release(tmp_path):
    drives = dps.datasets.load("hdfail")
    traces, fits = [], []
    for schema in (drives.schema, drives.schema.unit("serial", max_rows=1)):
        recording = Recording(NoNoise())
        with noise(recording):
            fits.append(dps.survreg("Surv(time, status) ~ temp", drives.data, schema).fit(dps.gdp(0.3)))
        traces.append(recording.records)
    # with two counts more: of rows without an event, and of those that cannot be used
    whole, lost = (trace[0] for trace in traces)
    assert lost.name == whole.name == "reach_counts" and lost.cost == whole.cost
    assert lost.exact[:-2].tobytes() == whole.exact.tobytes()
    assert lost.exact[-1] == 0 and lost.exact[-2:].sum() == len(drives.data) - whole.exact[-32:].sum()
    for first, second in zip(*(trace[1:] for trace in traces), strict=True):
        assert (first.name, first.sensitivity, first.cost) == (second.name, second.sensitivity, second.cost)
        assert first.exact.tobytes() == second.exact.tobytes()
    assert (fits[0].record.unit, fits[0].record.adjacency) == ("one row", "replace one row")
    assert (fits[1].record.unit, fits[1].record.adjacency) == ("serial (at most 1 row)", "replace one serial")
    fits[1].save(tmp_path / "f.json")
    again = dps.load(tmp_path / "f.json")
    assert again.record.schema.privacy_unit == fits[1].record.schema.privacy_unit
    assert (again.record.unit, str(again.summary())) == (fits[1].record.unit, str(fits[1].summary()))
    assert (again.predict({"temp": 30}) == fits[1].predict({"temp": 30})).all()  # new data name no serial
