"""What a cell is read as does not depend on its neighbours, those of its own type among them.

Each cell that a storage type may hold is read in a table of its own, and then among all the others.
"""

import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpstats as dps
from tests.rows.kinds import (
    ARROW,
    COLUMNS,
    MAPPED,
    NAMES,
    OBJECTS,
    TEXTS,
    UNIT,
    Column,
    may_name_a_unit,
    objects,
)
from tests.rows.pairs import Reading, read
from tests.silent import silence

WHOLE = [cell for cell in OBJECTS if type(cell) is int]
DECIMALS = ["0.5", "1", "2", "-3", "NaN", "Infinity", "1e-999", "99999999999999999999.1"]
OF_EACH_TYPE = [  # several usual and odd cells of each type that `dpstats.rows.cells` knows
    *map(np.str_, TEXTS),
    *(np.int64(cell) for cell in WHOLE if -(2**63) <= cell < 2**63),
    *(np.uint64(cell) for cell in WHOLE if 0 <= cell < 2**64),
    *map(Decimal, DECIMALS),
    *(kind(cell) for kind in (np.float16, np.longdouble) for cell in (0.5, 1, 2, 10, np.nan, np.inf)),
    *(np.bool_(False), np.bool_(True)),
]
STORED = {
    **MAPPED,
    "object, many of each type": Column([*OBJECTS, *OF_EACH_TYPE], objects),
    **{f"Arrow's {name}": column for name, column in ARROW.items()},
}


def reading(name: str, cells: list[Any]) -> Reading:
    """Of a table whose columns hold these cells; where they cannot be ids, these are all alike."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):  # of what pandas says of the test's own table
        warnings.simplefilter("ignore")
        array = STORED[name].array(cells)
    ids = array if may_name_a_unit(name.removeprefix("Arrow's ")) else np.ones(len(cells), int)
    return read({**dict.fromkeys(NAMES, array), UNIT: ids}, 1)


def of_lines(cells: list[str], path: Path) -> Reading:
    """The same of a CSV file."""
    lines = [",".join([cell] * len(COLUMNS)) for cell in cells]
    path.write_text("\n".join([",".join(COLUMNS), *lines, ""]))
    return read(dps.read_csv(path), 1)


def check(alone: list[Reading], among: Reading) -> None:
    for what in ("cells", "ids"):
        one_by_one = np.concatenate([getattr(each, what) for each in alone])
        assert not np.flatnonzero((one_by_one != getattr(among, what)).any(axis=1)).size, what


@pytest.mark.parametrize("name", STORED)
def test_a_cell_among_others_is_read_as_it_is_alone(name: str) -> None:
    """Also where the others come in the opposite order."""
    cells = STORED[name].pool
    with silence():
        alone = [reading(name, [cell]) for cell in cells]
        check(alone, reading(name, cells))
        check(alone[::-1], reading(name, cells[::-1]))


def test_a_line_among_others_is_read_as_it_is_alone(tmp_path: Path) -> None:
    cells = [text for text in TEXTS if not set(text) & set("\n\r,")]
    alone = [of_lines([cell], tmp_path / "d.csv") for cell in cells]
    check(alone, of_lines(cells, tmp_path / "d.csv"))
    check(alone[::-1], of_lines(cells[::-1], tmp_path / "d.csv"))
