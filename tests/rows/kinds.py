"""Files and tables of every kind, whose cells are anything, for `tests.rows.pairs`."""

import functools
import gzip
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
from pyarrow import parquet

import dpstats as dps

Random = np.random.Generator
Record = Any

SCHEMA = dps.Schema(
    x=dps.bounded(-1, 1),
    k=dps.count(9),
    g=dps.levels("a", "b", other=True),
    r=dps.levels("1", "2", "10"),
    e=dps.event(failed="dead", censored="alive"),
    f=dps.flag(),
)
NAMES = list(SCHEMA)
UNIT = "serial"
COLUMNS = [*NAMES, UNIT]
ROWS = 40  # of a table, and pairs a table


class Code(BaseException):
    """Code of a cell was run; no except clause for mere errors catches it."""


def _never(*args: Any, **keywords: Any) -> Any:
    raise Code


_METHODS = (
    "__float__",
    "__int__",
    "__index__",
    "__hash__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__len__",
    "__iter__",
    "__bool__",
    "__str__",
    "__repr__",
    "__format__",
    "__array__",
    "__array_interface__",
    "__getitem__",
    "__complex__",
    "__round__",
    "__trunc__",
    "__add__",
    "__abs__",
    "__getattr__",
    "strip",
    "encode",
    "is_finite",
)
_BODY = dict.fromkeys(_METHODS, _never)
_Meta = type("Meta", (type,), {"__hash__": _never, "__eq__": _never, "__instancecheck__": _never})
HOSTILE = [
    type("Cell", (), _BODY)(),
    type("Text", (str,), _BODY)("a"),
    type("Float", (float,), _BODY)(0.5),
    type("Integer", (int,), _BODY)(1),
    type("Exact", (Decimal,), _BODY)(1),
    _Meta("Other", (), _BODY)(),
    type("Real", (np.float64,), _BODY)(0.5),
]
TEXTS = [
    "a",
    "b",
    "zzz",
    " a ",
    "",
    " ",
    "NA",
    "nan",
    "null",
    "1",
    "1.0",
    "2",
    "10",
    "01",
    "true",
    "FALSE",
    "0",
    "dead",
    "alive",
    "Alive",
    "0.5",
    "-0.25",
    "+.5",
    "1.",
    ".",
    "-",
    "1e3",
    "1e999",
    "1e-999",
    "1_0",
    "0x1p3",
    "inf",
    "-Infinity",
    "0.1" + "0" * 400,
    "1" * 400,
    "9" * 25,
    "1,5",
    "ü",
    "a\0b",
    "a\0c",
    "\u2028",
    "\ufeff1",
    "'",
    "\t1",
    "1\u00a0",
    "٣",
    "123456789.123456789012345678901234567890123",
    "5e-324",
    "1.7976931348623159e308",
]
NUMBERS: list[Any] = [0.5, -0.25, 0.1, 0, 1, 2, 10, -0.0, np.nan, np.inf, -np.inf, 1e300, 5e-324, -3, 0.3]
OBJECTS: list[Any] = [
    *HOSTILE,
    *TEXTS,
    *NUMBERS,
    "\ud800",
    None,
    pd.NA,
    pd.NaT,
    True,
    False,
    b"a",
    10**400,
    2**64,
    2**63,
    2**53 + 1,
    -(2**63),
    -(10**30),
    Decimal("0.1"),
    Decimal("sNaN"),
    Decimal("1e999"),
    Fraction(1, 3),
    1j,
    (1, 2),
    [3],
    {},
    set(),
    object(),
    Ellipsis,
    np.float16(0.3),
    np.float32(0.3),
    np.longdouble("1e4000"),
    np.int8(1),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.str_("a"),
    np.bytes_(b"a"),
    np.datetime64("2020-01-01"),
    np.timedelta64(3, "D"),
    np.array(0.5),
    np.array([0.5]),
    np.complex128(1),
    pd.Timestamp(0),
    pd.Timedelta(1),
    pd.Series([1.0]),
    memoryview(b"a"),
    bytearray(b"1"),
    str,
    float,
    lambda: 1.0,
]
BYTES = [text.encode() for text in TEXTS] + [b"\xff", b"a\xfe", b"\xed\xa0\x80"]
GOOD = {
    "x": ["0.5", "-0.25", "0.125", "1"],
    "k": ["1", "2", "9"],
    "g": ["a", "b"],
    "r": ["1", "2", "10"],
    "e": ["dead", "alive"],
    "f": ["1", "0"],
    UNIT: ["u1", "u2", "u3", "u4", "u5"],
}


class Kind(NamedTuple):
    """How one record is drawn, and how a table of records is made into what a model takes as data."""

    record: Callable[[], Record]
    table: Callable[[list[Record]], Any]


Maker = Callable[[Random, Path], Kind]


def one(rng: Random, pool: Any) -> Any:
    return pool[rng.integers(len(pool))]


# --- columns of one storage type ---------------------------------------------------------------------------


class Column(NamedTuple):
    """A storage type: which cells it may hold, and how cells become an array."""

    pool: list[Any]
    array: Callable[[list[Any]], Any]


def objects(cells: list[Any]) -> np.ndarray:
    return np.fromiter(cells, dtype=object, count=len(cells))


def _arrow(pool: list[Any], form: Any) -> Column:
    return Column([*pool, None], lambda cells: pa.array(cells, form))


def _integers(name: str) -> list[int]:
    limits = np.iinfo(name)
    return [0, 1, 2, 10, 9, 3, limits.min, limits.max, max(limits.min, -1), limits.max - 1]


with np.errstate(all="ignore"):
    HALVES = [*map(np.float16, NUMBERS), None]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = [float(value) for value in NUMBERS]
DECIMALS = [Decimal(text) for text in ("0.5", "0.1", "1", "2", "10", "-3", "99999999999999999999.1")]
ARROW: dict[str, Column] = {
    **{name: _arrow(_integers(name), getattr(pa, name)()) for name in INTEGERS},
    "float32": _arrow(FLOATS, pa.float32()),
    "float64": _arrow(FLOATS, pa.float64()),
    "float16": Column(HALVES, lambda cells: pa.array(cells, pa.float16())),
    "bool": _arrow([True, False], pa.bool_()),
    "decimal128": _arrow(DECIMALS, pa.decimal128(30, 5)),
    "decimal256": _arrow(DECIMALS, pa.decimal256(60, 9)),
    "decimals in a dictionary": Column(
        [*DECIMALS, None], lambda cells: pa.array(cells, pa.decimal128(30, 5)).dictionary_encode()
    ),
    "string": _arrow(TEXTS, pa.string()),
    "large_string": _arrow(TEXTS, pa.large_string()),
    "string_view": _arrow(TEXTS, pa.string_view()),
    "null": Column([None], lambda cells: pa.nulls(len(cells))),
    "bad bytes": Column([*BYTES, None], lambda cells: pa.array(cells, pa.binary()).view(pa.string())),
    "dictionary": Column([*TEXTS, None], lambda cells: pa.array(cells, pa.string()).dictionary_encode()),
    "numbers in a dictionary": Column(
        [*FLOATS, None], lambda cells: pa.array(cells, pa.float64()).dictionary_encode()
    ),
    "integers in a dictionary": Column([1, 2, 10, None], lambda cells: pa.array(cells).dictionary_encode()),
}


def _extension(pool: list[Any], dtype: Any) -> Column:
    return Column([*pool, None], lambda cells: pd.array(cells, dtype=dtype))


def _sparse(cells: list[Any]) -> Any:
    return pd.arrays.SparseArray(np.array(cells, dtype=float))


def _float64(cells: list[Any]) -> Any:
    """A masked array that has NaN too."""
    missing = np.array([cell is None for cell in cells])
    return pd.arrays.FloatingArray(np.array([0.0 if cell is None else cell for cell in cells]), missing)


PANDAS: dict[str, Column] = {
    **{
        name: Column(_integers(name), lambda cells, name=name: np.array(cells, dtype=name))
        for name in INTEGERS
    },
    **{
        name: Column(FLOATS, lambda cells, name=name: np.array(cells).astype(name))
        for name in ("float16", "float32", "float64", "longdouble", ">f8")
    },
    "bool": Column([True, False], lambda cells: np.array(cells)),
    "object": Column(OBJECTS, objects),
    "str": _extension(TEXTS, "str"),
    "string[python]": _extension([*TEXTS, "\ud800"], "string[python]"),
    "string[pyarrow]": _extension(TEXTS, "string[pyarrow]"),
    "Int64": _extension(_integers("int64"), "Int64"),
    "UInt8": _extension([0, 1, 2, 255], "UInt8"),
    "Float64": Column([*FLOATS, None], _float64),
    "boolean": _extension([True, False], "boolean"),
    "category": Column([*TEXTS, None], pd.Categorical),
    "fixed category": Column([*TEXTS[:20], None], lambda cells: pd.Categorical(cells, categories=TEXTS)),
    "mixed category": Column(
        [*FLOATS[:7], *TEXTS[:9], True, None],
        lambda cells: pd.Categorical(cells, categories=objects([0.5, 2, "a", " a ", "1", "zzz", True, 10])),
    ),
    "category of numbers": Column([1, 2, 10, None], lambda c: pd.Categorical(c, categories=[1, 2, 3, 10])),
    "sparse": Column(FLOATS, _sparse),
    **{
        f"{name}[pyarrow]": Column(
            column.pool, lambda cells, column=column: pd.arrays.ArrowExtensionArray(column.array(cells))
        )
        for name, column in ARROW.items()
        if name not in ("null", "bad bytes")
    },
}
_NO_IDS = ("float", "longdouble", ">f8", "Float", "decimal", "numbers", "sparse", "category of")


def may_name_a_unit(name: str) -> bool:
    """Whether ids may be of this storage type."""
    return not name.startswith(_NO_IDS) or name == "category of numbers"


MAPPED: dict[str, Column] = {
    **PANDAS,
    "masked": Column(
        [1, 2, 10, None],
        lambda cells: np.ma.array([cell or 0 for cell in cells], mask=[cell is None for cell in cells]),
    ),
    "masked texts": Column(
        [*TEXTS, None],
        lambda cells: np.ma.array(
            [cell or "a" for cell in cells], dtype=np.str_, mask=[cell is None for cell in cells]
        ),
    ),
    "list": Column(OBJECTS, list),
    "texts": Column(TEXTS, lambda cells: np.array(cells, dtype=np.str_)),
}


def columns_of(rng: Random, known: dict[str, Column]) -> dict[str, Column]:
    """A storage type for each column, of one that may name a unit for the last."""
    chosen = {name: known[one(rng, list(known))] for name in NAMES}
    return chosen | {UNIT: known[one(rng, list(filter(may_name_a_unit, known)))]}


def typed(rng: Random, known: dict[str, Column], table: Callable[[dict[str, Any]], Any]) -> Kind:
    """Records with a cell of each column's pool, and a table of the columns' arrays."""
    columns = columns_of(rng, known)
    good = rng.uniform(0, 1)

    def cell(name: str) -> Any:
        pool = columns[name].pool
        return one(rng, pool[:8] if rng.uniform() < good else pool)

    return Kind(
        lambda: tuple(cell(name) for name in COLUMNS),
        lambda records: table(
            {
                name: columns[name].array([record[place] for record in records])
                for place, name in enumerate(COLUMNS)
            }
        ),
    )


def _pieces(rng: Random, table: pa.Table) -> int:
    return int(rng.integers(1, table.num_rows + 1))


def arrow(rng: Random, folder: Path) -> Kind:
    form, size = rng.integers(4), int(rng.integers(1, ROWS))

    def made(columns: dict[str, Any]) -> Any:
        table = pa.table(columns)
        if form == 0:
            return pa.concat_tables([table.slice(0, size), table.slice(size)])
        if form == 1:
            return table.to_reader(max_chunksize=size)
        return columns if form == 2 else table.combine_chunks().to_batches()[0]

    return typed(rng, ARROW, made)


def parquet_file(rng: Random, folder: Path) -> Kind:
    known = {name: column for name, column in ARROW.items() if name not in ("bad bytes", "string_view")}
    size, path = int(rng.integers(1, ROWS + 1)), folder / "d.parquet"
    version, dictionary = one(rng, ["1.0", "2.0"]), bool(rng.integers(2))

    def made(columns: dict[str, Any]) -> Any:
        parquet.write_table(
            pa.table(columns), path, row_group_size=size, data_page_version=version, use_dictionary=dictionary
        )
        return path

    return typed(rng, known, made)


def arrow_file(rng: Random, folder: Path) -> Kind:
    start, size = one(rng, [pa.ipc.new_file, pa.ipc.new_stream]), int(rng.integers(1, ROWS))
    path = folder / "d.arrow"
    known = {name: column for name, column in ARROW.items() if "dictionary" not in name}

    def made(columns: dict[str, Any]) -> Any:
        table = pa.table(columns)
        with start(path, table.schema) as out:
            out.write_table(table, max_chunksize=size)
        return path

    return typed(rng, known, made)


def polars_frame(rng: Random, folder: Path) -> Kind:
    known = {
        name: ARROW[name]
        for name in (*INTEGERS, "float32", "float64", "bool", "decimal128", "large_string", "dictionary")
    }
    return typed(rng, known, lambda columns: polars.from_arrow(pa.table(columns)))


def _frame(columns: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(array, dtype=array.dtype) for name, array in columns.items()})


def pandas_frame(rng: Random, folder: Path) -> Kind:
    return typed(rng, PANDAS, _frame)


def mapping(rng: Random, folder: Path) -> Kind:
    return typed(rng, MAPPED, lambda columns: columns)


def frames(rng: Random, folder: Path) -> Kind:
    """An iterable of tables of different kinds."""
    size, again = int(rng.integers(1, ROWS)), bool(rng.integers(2))

    def made(columns: dict[str, Any]) -> Any:
        parts = [
            {name: array[start : start + size] for name, array in columns.items()}
            for start in range(0, ROWS, size)
        ]
        tables = [_frame(part) if place % 2 else part for place, part in enumerate(parts)]
        return tables if again else iter(tables)

    return typed(rng, PANDAS, made)


# --- lines of a text ----------------------------------------------------------------------------------------

_OPEN: dict[str, Any] = {"": open, ".gz": gzip.open}
ENCODINGS = ["utf-8", "utf-8", "utf-8", "latin-1", "cp1252", "cp874", "gbk", "gb18030", "gb18030", "euc_jp"]
FILLING = ["x", "å", "٣", "ก", "日"]  # in one encoding or another of fewer bytes than in UTF-8, or of more
GROUPED = [
    "1_234",
    "-12_345.5",
    "1_2",
    "1_2345",
    "_123",
    "1_234_",
    "1_234_567e1",
    "0_001",
    " 9_000 ",
    "1__000",
]
_PLAIN = [byte for byte in range(256) if byte != 10]


def csv_file(rng: Random, folder: Path) -> Kind:
    """A file of lines; a record is the bytes of one."""
    sep, decimal = one(rng, [*",,,\t\t;|", *" /<^]:~#\\'.\1"]), "."
    if sep != ",":
        decimal = "," if sep == "." else one(rng, ".,")
    packed, encoding = one(rng, [*[""] * 9, *_OPEN, ".zst"]), one(rng, ENCODINGS)
    end, last = one(rng, [b"\n", b"\r\n"]), bool(rng.integers(2))
    path, order = folder / f"d.csv{packed}", [str(name) for name in rng.permutation([*COLUMNS, "unused"])]
    good = rng.uniform(0, 1)
    quoted, filling = rng.uniform(0, 1) * rng.integers(2), one(rng, FILLING)
    thousands = one(rng, [None, None, *(mark for mark in ",. '" if mark not in (sep, decimal))])
    grouped = one(rng, [0.2, 0.02])  # so that parts of a file have no such cell
    opened = functools.cache(
        lambda: dps.read_csv(path, sep=sep, decimal=decimal, encoding=encoding, thousands=thousands)
    )

    def field(name: str) -> bytes:
        text = one(rng, GOOD.get(name, TEXTS) if rng.uniform() < 0.9 else TEXTS)
        if in_groups := thousands is not None and rng.uniform() < grouped:
            text = one(rng, GROUPED)
        if rng.uniform() < 0.9:  # the others keep a mark that is not the file's
            text = text.replace(".", decimal)
        if in_groups:
            text = text.replace("_", thousands)
        if name == "unused":  # fills lines up to the length from which on they are too long
            text = filling * int(rng.integers(100))
        if rng.uniform() < quoted:
            text = '"' + text.replace('"', '""') + '"'
        return text.encode(encoding, "ignore").replace(b"\n", b"")

    def record() -> bytes:
        line = sep.encode().join(map(field, order))
        return line if rng.uniform() < good else spoilt(rng, line, sep.encode())

    def table(records: list[bytes]) -> Any:
        whole = sep.join(order).encode() + end + end.join(records) + (end if last or not records[-1] else b"")
        if packed == ".zst":
            with pa.CompressedOutputStream(str(path), "zstd") as out:
                out.write(whole)
        else:
            with _OPEN[packed](path, "wb") as out:
                out.write(whole)
        return opened()

    return Kind(record, table)


def spoilt(rng: Random, line: bytes, sep: bytes) -> bytes:
    """Another line: bytes put in, taken out or doubled, or nothing like a line at all."""
    for _ in range(int(rng.integers(1, 4))):
        start = int(rng.integers(len(line) + 1))
        stop = start + int(rng.integers(4))
        put = one(
            rng,
            [
                b"",
                b'"',
                b'""',
                sep,
                sep * 3,
                b"\r",
                b"\0",
                b"\xff",
                b"\xef\xbb\xbf",
                b"NA",
                b"1e999",
                b"'",
                b" ",
                b"\\",
                b"\xc3",
                b"#",
                b"0" * 50,
                bytes(rng.choice(_PLAIN, 5).astype(np.uint8)),
            ],
        )
        line = line[:start] + put + line[stop:]
    wild = rng.uniform()
    if wild < 0.05:
        return b""
    return bytes(rng.choice(_PLAIN, int(rng.integers(30))).astype(np.uint8)) if wild < 0.15 else line


# formats of files by their titles, so that none is left out of the searches
KINDS: dict[str, Maker] = {
    "csv": csv_file,
    "a Parquet file": parquet_file,
    "an Arrow file": arrow_file,
    "arrow": arrow,
    "polars": polars_frame,
    "pandas": pandas_frame,
    "mapping": mapping,
    "frames": frames,
}
