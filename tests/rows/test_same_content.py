"""The same content is the same rows, to the bit, in whatever table or file it is written."""

import decimal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import dpstats as dps
from dpstats.cli import options, streams
from dpstats.errors import DataError
from dpstats.rows import open_rows
from dpstats.rows.files import FORMATS
from dpstats.schema import WEIGHS

SCHEMA = dps.Schema(
    x=dps.bounded(-1, 1),
    k=dps.count(2**60),
    g=dps.levels("a", "b b", "ü", other=True),
    h=dps.levels(1, 2, 10),
    e=dps.event(failed="dead", censored="alive"),
    f=dps.flag(),
).unit("serial", max_rows=2)
NAMES = list(SCHEMA)
N = 1000


def columns() -> dict[str, list]:
    rng = np.random.default_rng(5)

    def holes(cells):
        return [None if rng.uniform() < 0.05 else cell for cell in cells]

    x = rng.normal(size=N) * 10.0 ** rng.integers(-300, 300, N)
    return {
        "x": holes([*x.tolist()[:-4], 5e-324, -0.0, 1.7976931348623157e308, 0.1]),
        "k": holes(rng.integers(0, 2**60, N).tolist()),
        "g": holes(rng.choice(["a", "b b", "ü", "z, z", 'q"q', "1"], N).tolist()),
        "h": holes(rng.choice([1, 2, 10, 3], N).tolist()),
        "e": holes(rng.choice(["dead", "alive", "gone"], N).tolist()),
        "f": holes(rng.choice([True, False], N).tolist()),
        "serial": [f"s{i}" if i else None for i in rng.integers(0, 200, N).tolist()],
    }


CONTENT = columns()


def table() -> pa.Table:
    return pa.table(CONTENT)


def frame() -> pd.DataFrame:
    types = {"k": "Int64", "h": "Int64", "f": "boolean"}
    made = {name: pd.array(column, dtype=types.get(name)) for name, column in CONTENT.items()}
    return pd.DataFrame(made | {"x": np.array(CONTENT["x"], dtype=float)})


def written(path, write):
    write(path)
    return path


def in_format(path):
    """A file of the format that its suffix names; a new format is to say here how it is written."""
    return written(path, lambda p: WRITERS[FORMATS[path.suffix].title](table(), p))


def stream(path):
    with pa.ipc.new_stream(path, table().schema) as out:
        out.write_table(table(), max_chunksize=99)


WRITERS = {"a Parquet file": parquet.write_table, "an Arrow file": feather.write_feather}
MAKERS = {
    "csv": lambda path: written(path / "d.csv", lambda p: frame().to_csv(p, index=False)),
    "tsv.gz": lambda path: written(
        path / "d.tsv.gz", lambda p: frame().to_csv(p, index=False, sep="\t", quoting=1)
    ),
    "latin-1": lambda path: dps.read_csv(
        written(
            path / "d.csv", lambda p: frame().to_csv(p, index=False, sep=";", decimal=",", encoding="latin-1")
        ),
        sep=";",
        decimal=",",
        encoding="latin-1",
    ),
    **{f"a file {suffix}": lambda path, suffix=suffix: in_format(path / f"d{suffix}") for suffix in FORMATS},
    "parquet in groups": lambda path: written(
        path / "d.parquet", lambda p: parquet.write_table(table(), p, row_group_size=99)
    ),
    "arrow stream": lambda path: written(path / "d.arrow", stream),
    "pandas parquet": lambda path: written(path / "d.parquet", frame().to_parquet),
    "arrow": lambda path: table(),
    "arrow in pieces": lambda path: table().to_reader(max_chunksize=7),
    "dictionaries": lambda path: frame()[["x", "k", "h", "f"]].join(
        table().select(["g", "e", "serial"]).to_pandas(categories=["g", "e", "serial"])
    ),
    "polars": lambda path: polars.DataFrame(CONTENT),
    "pandas": lambda path: frame(),
    "pandas, Arrow's types": lambda path: frame().convert_dtypes(dtype_backend="pyarrow"),
    "pandas, Python's texts": lambda path: frame().astype({"g": "string[python]", "e": "string[python]"}),
    "objects": lambda path: frame().astype(object),
    "categories": lambda path: frame().astype(dict.fromkeys(["g", "h", "f", "serial"], "category")),
    "lists": lambda path: CONTENT,
    "texts": lambda path: {
        name: [cell if cell is None else str(cell) for cell in column] for name, column in CONTENT.items()
    },
    "decimals": lambda path: CONTENT | {"k": [k and decimal.Decimal(k) for k in CONTENT["k"]]},
    "arrow's decimals": lambda path: table().set_column(
        1, "k", pa.array(CONTENT["k"]).cast(pa.decimal128(30))
    ),
    "frames": lambda path: [frame().iloc[:100], table().slice(100, 300), frame().iloc[400:]],
}


DECIMALS = ["1.00", "0.00", "1.50", None, "2.00", "10.00", "-3.25", "0.10", "11273066557310801.55"]
DECIMAL = pa.decimal128(20, 2)


def decimals(form=DECIMAL):
    return pa.array([cell and decimal.Decimal(cell) for cell in DECIMALS], form)


def texts_of_decimals(path):
    """As floats print: a text is the code of that text, which the digits of 1.00 are not."""
    path.write_text("".join(f"{cell},\n" for cell in ["x", *(cell and float(cell) for cell in DECIMALS)]))
    return path


OF_DECIMALS = {
    "arrow": lambda path: pa.table({"x": decimals()}),
    "arrow, finer": lambda path: pa.table({"x": decimals(pa.decimal256(60, 30))}),
    "arrow, a dictionary": lambda path: pa.table({"x": decimals().dictionary_encode()}),
    "arrow, pieces": lambda path: pa.table({"x": decimals()}).to_reader(max_chunksize=2),
    "parquet": lambda path: written(
        path / "d.parquet", lambda p: parquet.write_table(pa.table({"x": decimals()}), p)
    ),
    "polars": lambda path: polars.DataFrame({"x": decimals()}),
    "pandas": lambda path: pd.DataFrame({"x": decimals().to_pandas(types_mapper=pd.ArrowDtype)}),
    "categories": lambda path: pd.DataFrame({"x": pd.Categorical(decimals().to_pylist())}),
    "floats": lambda path: {"x": [cell and float(cell) for cell in DECIMALS]},
    "texts": lambda path: texts_of_decimals(path / "d.csv"),
}


@pytest.mark.parametrize(
    "variable",
    [
        dps.bounded(-1, 1),
        dps.count(9),
        dps.event(),
        dps.flag(2, 1.5),
        dps.levels(1, 2, 10),
        dps.levels("1.5", "0.1", "a"),
        dps.levels("2.0", -3.25, other=True),
        dps.levels(0, 0.1),
    ],
)
@pytest.mark.parametrize("maker", sorted(OF_DECIMALS))
def test_a_decimal_is_the_number_nearest_to_it_in_every_reader(maker, variable, tmp_path):
    """Not the text that it prints as: 1.00 is the code 1."""
    schema = dps.Schema(x=variable)
    (expected,) = open_rows({"x": decimals().to_pylist()}, schema, ["x"]).blocks()
    assert len(np.unique(expected["x"][~np.isnan(expected["x"])])) > 1
    (block,) = open_rows(OF_DECIMALS[maker](tmp_path), schema, ["x"]).blocks()
    assert block["x"].tobytes() == expected["x"].tobytes()


@pytest.mark.parametrize("maker", sorted(MAKERS))
def test_every_reader_gives_the_same_bits(maker, tmp_path):
    (expected,) = open_rows(
        {name: np.fromiter(column, object) for name, column in CONTENT.items()}, SCHEMA, NAMES
    ).blocks()
    np.testing.assert_array_equal(expected["x"], np.array(CONTENT["x"], dtype=float))
    assert 300 < expected[WEIGHS].sum() < 400
    (block,) = open_rows(MAKERS[maker](tmp_path), SCHEMA, NAMES).blocks()
    for name, column in expected.items():
        same = block[name].view(np.uint8).reshape(N, -1) == column.view(np.uint8).reshape(N, -1)
        missing = np.isnan(block[name]) & np.isnan(column)
        assert (same.all(axis=1) | missing).all(), name


@pytest.mark.parametrize("title", sorted({of.title for of in FORMATS.values()}))
def test_each_format_is_known_wherever_formats_are_named(title, tmp_path, monkeypatch):
    """By the standard input, in a file with the name of a CSV file, in messages, helps and pages."""
    suffix, word = min(name for name, of in FORMATS.items() if of.title == title), title.split()[1]
    path = in_format(tmp_path / f"d{suffix}")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=path.open("rb")))
    assert FORMATS[streams._kept(tmp_path).suffix].title == title
    with pytest.raises(DataError, match=word):
        open_rows(path.rename(tmp_path / "d.csv"), SCHEMA, ["x"])
    with pytest.raises(DataError, match=word):
        open_rows(7, SCHEMA, ["x"])
    assert word in open_rows.__doc__
    told = [Path(options.__file__).read_text(), (Path(__file__).parents[2] / "docs" / "data.md").read_text()]
    assert all(any(name in text for name, of in FORMATS.items() if of.title == title) for text in told)
