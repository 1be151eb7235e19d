"""A source of rows that the package does not know: one function and its row of `TABLES`."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import dpstats as dps
from dpstats.errors import DataError
from dpstats.rows import rows
from dpstats.rows.cells import of_numpy
from dpstats.rows.encode import Batch
from dpstats.rows.sources import Asked, Source
from dpstats.testing import SeededNoise, noise

RNG = np.random.default_rng(1)
TABLE = {"x": RNG.uniform(0, 1, 3000), "y": RNG.normal(0, 1, 3000)}
SCHEMA = dps.Schema(x=dps.bounded(0, 1), y=dps.bounded(-4, 4))


@dataclass(frozen=True)
class Records:
    """Records of one storage type, one after the other, as an instrument writes them."""

    names: tuple[str, ...]
    cells: np.ndarray

    def chunks(self, columns: tuple[str, ...]) -> Iterator[Batch]:
        for some in np.array_split(self.cells, 3):
            yield {name: of_numpy(some[:, self.names.index(name)].copy()) for name in columns}


def of_records(data: Records, asked: Asked) -> Source:
    asked.require(data.names)
    asked.check(dict.fromkeys(data.names, data.cells.dtype))
    return Source(lambda: data.chunks(asked.columns))


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "TABLES", [*rows.TABLES, (lambda data: isinstance(data, Records), of_records)])


def fit(data: object) -> dps.Fit:
    with noise(SeededNoise(1)):
        return dps.ols("y ~ x", data, SCHEMA).fit(dps.zcdp(1))


def test_its_fits_are_those_of_the_same_records_in_a_frame() -> None:
    records = Records(("y", "other", "x"), np.column_stack([TABLE["y"], TABLE["y"], TABLE["x"]]))
    usual = fit(TABLE)
    assert fit(records).params.equals(usual.params)
    assert fit([records]).params.equals(usual.params)


def test_the_same_records_are_not_taken_twice() -> None:
    records = Records(("y", "x"), np.column_stack([TABLE["y"], TABLE["x"]]))
    with pytest.raises(DataError, match="data hold a table twice"):
        fit([records, records])


def test_its_header_is_checked_as_any() -> None:
    with pytest.raises(DataError, match="no column 'x'"):
        fit(Records(("y", "z"), np.column_stack([TABLE["y"], TABLE["x"]])))
    with pytest.raises(DataError, match="data must be a frame"):
        fit(object())


def test_one_place_decides_whether_a_file_is_of_lines() -> None:
    """So that a format whose records tell the types is added there."""
    package = Path(dps.__file__).parent
    named = {
        str(path.relative_to(package)): path.read_text().count("SEPARATORS[")
        for path in package.rglob("*.py")
    }
    asking = [path for path in package.rglob("*.py") if "SEPARATORS" in path.read_text()]
    assert {path.name for path in asking} == {"paths.py", "files.py"}
    assert sum(named.values()) == 1
