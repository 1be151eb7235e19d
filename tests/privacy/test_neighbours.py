"""Two inputs that differ in one record give two tables that differ in one row, whatever the record holds.

A longer search, `PYTHONPATH=. python benchmarks/neighbours.py`, compares a million pairs.
"""

import contextlib
import io
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import dpstats as dps
from dpstats.rows import encode, grammar, lines, open_rows, weighing
from dpstats.rows.files import FORMATS
from tests.privacy.harness import violation
from tests.rows.kinds import HOSTILE, KINDS
from tests.rows.pairs import search

PAIRS_OF_A_TABLE, SHORTER = 40, 20
# tables of each kind, 20,000 pairs in all; a twentieth of them are among the tests that are not long
TABLES = {
    "csv": 120,
    "a Parquet file": 60,
    "an Arrow file": 60,
    "arrow": 80,
    "polars": 60,
    "pandas": 50,
    "mapping": 50,
    "frames": 20,
}


def test_every_format_of_files_is_searched_for_long_enough() -> None:
    assert {of.title for of in FORMATS.values()} <= set(TABLES)
    assert set(TABLES) == set(KINDS) and PAIRS_OF_A_TABLE * sum(TABLES.values()) >= 20_000


@pytest.mark.parametrize("shorter", [SHORTER, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", sorted(TABLES))
def test_a_record_decides_about_its_own_row_alone(kind: str, shorter: int, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("pairs")

    @settings(max_examples=TABLES[kind] // shorter, deadline=None)
    @given(st.integers(0, 2**32))
    def searched(seed: int) -> None:
        assert search(kind, seed, folder) == PAIRS_OF_A_TABLE

    searched()


# --- planted faults of a reader, each of which the search finds ---------------------------------------------


def _inferred(cells: Any) -> np.ndarray:
    """Numbers as a reader finds them that looks at the whole column."""
    values = pd.Series(
        [None if cell is None else cell.decode("utf-8", "replace") for cell in cells.to_pylist()]
    )
    try:
        return values.astype(float).to_numpy()
    except ValueError:
        return np.array([grammar.number(cell or b"") for cell in cells.to_pylist()])


def _sorted_levels(self: Any, cells: Any) -> np.ndarray:
    """Codes by the order of what is there."""
    found = pa.compute.dictionary_encode(cells)
    return found.indices.fill_null(-1).to_numpy().astype(np.int16)


def _by_what_the_part_has(cells: Any, thousands: str, mark: str) -> np.ndarray:
    """Numbers, also with the usual decimal mark if no cell has digits in groups."""
    if pa.compute.any(pa.compute.match_substring(cells, thousands)).as_py():
        return grammar.parse_grouped(cells, thousands, mark)
    return grammar.parse(pa.compute.replace_substring(cells, mark, "."))


@pytest.mark.parametrize(
    "owner, name, fault, kind",
    [
        (encode, "parse", _inferred, "mapping"),
        (encode.Lookup, "texts", _sorted_levels, "arrow"),
        (lines.Lines, "_by_hand", lambda self, line: ["u1"] * self._width if b'"' in line else 1 / 0, "csv"),
        (lines.Lines, "_is_regular", lambda self, chunk, found: np.ones(len(found), dtype=bool), "csv"),
        pytest.param(  # this and the last two are found after many pairs
            lines, "_without_long_lines", lambda chunk: chunk, "csv", marks=pytest.mark.long
        ),
        (lines, "_lines", lambda chunk: pa.array(chunk.splitlines(keepends=True), pa.large_binary()), "csv"),
        (lines, "parse_grouped", _by_what_the_part_has, "csv"),
        pytest.param(
            weighing,
            "_words",
            lambda values: (
                values.astype(np.float32).view(np.int32).astype(np.uint64)
                if values.dtype == np.int16
                else values.astype(np.float64).view(np.uint64)
            ),
            "arrow",
            marks=pytest.mark.long,
        ),
        pytest.param(
            encode.Ids,
            "numbers",
            lambda self, column: np.column_stack(
                [np.ones(len(column)), column.values.astype(float) - column.values.min(initial=0)]
            ).astype(np.uint64),
            "pandas",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_planted_fault_is_found(
    owner: Any, name: str, fault: Any, kind: str, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(owner, name, fault)
    with pytest.raises((AssertionError, dps.DataError)):
        for seed in range(200):
            search(kind, seed, tmp_path)


# --- faults that were found in a reader, through the public API of every model ------------------------------

SCHEMA = dps.Schema(
    time=dps.bounded(0.5, 50),
    failed=dps.event(),
    x=dps.bounded(0, 1),
    y=dps.bounded(0, 10),
    k=dps.count(9),
    f=dps.flag(),
    g=dps.levels("a", "b", other=True),
)
BY_PERSON = SCHEMA.unit("person", max_rows=1)
N = 120
MODELS = {
    "survreg": lambda data, schema: dps.survreg("Surv(time, failed) ~ x + g", data, schema),
    "kaplan_meier": lambda data, schema: dps.kaplan_meier("Surv(time, failed) ~ g", data, schema),
    "ols": lambda data, schema: dps.ols("y ~ x + g", data, schema),
    "ridge": lambda data, schema: dps.ridge("y ~ x + g", data, schema, alpha=1.0),
    "logit": lambda data, schema: dps.logit("f ~ x + g", data, schema),
    "poisson": lambda data, schema: dps.glm("k ~ x + g", data, schema, family="poisson"),
    "svm": lambda data, schema: dps.svm("f ~ x + g", data, schema),
}
NUMBERS = ["time", "x", "y", "k"]


def frame() -> pd.DataFrame:
    generator = np.random.default_rng(3)
    x = generator.uniform(size=N)
    return pd.DataFrame(
        {
            "time": np.exp(2 * x + generator.normal(size=N)).clip(0.5, 50),
            "failed": generator.integers(0, 2, N),
            "x": x,
            "y": 3 + 4 * x + generator.normal(size=N),
            "k": generator.poisson(1 + 3 * x),
            "f": generator.integers(0, 2, N),
            "g": generator.choice(["a", "b", "c"], N),
            "person": [f"p{i}" for i in range(N)],
        }
    )


def texts(change: Any = None) -> list[bytes]:
    """The lines of a CSV file of the table."""
    made = frame()
    if change is not None:
        made[NUMBERS] = made[NUMBERS].astype(object)
        change(made)
    return made.to_csv(index=False).encode().splitlines()


def in_files(folder: Any, *tables: list[bytes]) -> list[Any]:
    paths = [folder / f"{name}.csv" for name in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        path.write_bytes(b"\n".join(table) + b"\n")
    return paths


def replaced(table: list[bytes], **records: bytes) -> list[bytes]:
    return [records.get(f"at{place}", line) for place, line in enumerate(table)]


def truths_for_numbers(folder: Any) -> list[Any]:
    """Texts of truth values in the place of numbers; one of them becomes a number."""

    def change(made: pd.DataFrame) -> None:
        made[NUMBERS] = made[NUMBERS].gt(1).astype(str).astype(object)

    table = texts(change)
    cells = [b"0.5" if cell in (b"True", b"False") else cell for cell in table[7].split(b",")]
    return in_files(folder, table, replaced(table, at7=b",".join(cells)))


def a_word_among_numbers(folder: Any) -> list[Any]:
    table = texts()
    cells = table[7].split(b",")
    words = [b"abc" if frame().columns[place] in NUMBERS else cell for place, cell in enumerate(cells)]
    return in_files(folder, table, replaced(table, at7=b",".join(words)))


def a_field_too_many(folder: Any) -> list[Any]:
    table = texts()
    return in_files(folder, table, replaced(table, at1=b"0," + table[1]))


def one_quotation_mark(folder: Any) -> list[Any]:
    table = texts()
    return in_files(folder, table, replaced(table, at5=b'"' + table[5]))


def two_quotation_marks(folder: Any) -> list[Any]:
    table = replaced(texts(), at5=b'"' + texts()[5])
    return in_files(folder, table, replaced(table, at90=table[90] + b'"'))


def bytes_that_are_no_text(folder: Any) -> list[Any]:
    table = texts()
    return in_files(folder, table, replaced(table, at60=b"\xff\xfe\0\r" + table[60]))


def one_id_missing(folder: Any) -> list[Any]:
    """Ids above 2^53 in Parquet: as floats, people would merge."""
    ids = [2**60 + row for row in range(N)]
    paths = []
    for place, table in enumerate((ids, [*ids[:-1], None])):
        paths.append(folder / f"{place}.parquet")
        columns = {name: pa.array(column) for name, column in frame().items() if name != "person"}
        parquet.write_table(pa.table({**columns, "person": pa.array(table, pa.int64())}), paths[-1])
    return paths


class Warns:
    def __float__(self) -> float:
        warnings.warn("8.25", stacklevel=1)
        return 8.25


class Exits:
    def __float__(self) -> float:
        raise SystemExit


WILD = {
    "bytes": b"1",
    "array": np.array(0.5),
    "complex": 1j,
    "date": np.datetime64("2020-01-01"),
    "warns": Warns(),
    "exits": Exits(),
    "large": 10**400,
    **{f"hostile {place}": cell for place, cell in enumerate(HOSTILE)},
}


def object_cell(cell: Any) -> Any:
    def made(folder: Any) -> list[Any]:
        table = {name: [1.0 if v is None else v for v in column.tolist()] for name, column in frame().items()}
        return [table, {name: [cell, *column[1:]] for name, column in table.items()}]

    return made


PAIRS = {
    maker.__name__: maker
    for maker in (
        truths_for_numbers,
        a_word_among_numbers,
        a_field_too_many,
        one_quotation_mark,
        two_quotation_marks,
        bytes_that_are_no_text,
        one_id_missing,
    )
} | {f"object cell, {name}": object_cell(cell) for name, cell in WILD.items()}


FITTED = [name for name in sorted(PAIRS) if "hostile" not in name]
# readers are those of all models: each pair is fitted by two of them, and by all in the long tests
IN_TURN = [[[*MODELS][(2 * place + more) % len(MODELS)] for more in (0, 1)] for place in range(len(FITTED))]
OF_MODELS = [
    *(pytest.param(name, two, id=f"{name}, two") for name, two in zip(FITTED, IN_TURN, strict=True)),
    *(pytest.param(name, [*MODELS], id=name, marks=pytest.mark.long) for name in FITTED),
]


@pytest.mark.parametrize(("name", "models"), OF_MODELS)
def test_released_sums_of_every_model_stay_within_the_sensitivity(
    name: str, models: list[str], tmp_path: Any
) -> None:
    said, schema = io.StringIO(), BY_PERSON if name == "one_id_missing" else SCHEMA
    for model in models:
        pair, described = PAIRS[name](tmp_path), MODELS[model]
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            found = violation(lambda data, make=described: make(data, schema).fit(dps.gdp(3)), *pair)
        assert found is None, (model, found)
    assert said.getvalue() == ""


@pytest.mark.parametrize("name", sorted(PAIRS))
def test_n_and_all_other_rows_are_the_same(name: str, tmp_path: Any) -> None:
    rows = [open_rows(data, BY_PERSON, list(SCHEMA)) for data in PAIRS[name](tmp_path)]
    first, second = (next(table.blocks()) for table in rows)
    assert rows[0].n == rows[1].n == N
    changed = np.zeros(N, dtype=bool)
    for column, values in first.items():
        changed |= [
            one.tobytes() != other.tobytes() for one, other in zip(values, second[column], strict=True)
        ]
    assert changed.sum() <= 1
