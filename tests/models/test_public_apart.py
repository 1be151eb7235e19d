"""Private data given as public= are refused, whatever they are called; public rows of one's own are not."""

import gc
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.rows import shared
from tests.results.test_record import reachable

SCHEMA = dps.Schema(y=dps.bounded(-4, 4), x=dps.bounded(0, 1), died=dps.flag())
N = 64
DRAW = np.random.default_rng(3)
ARRAYS = {"y": DRAW.normal(size=N), "x": DRAW.uniform(size=N), "died": DRAW.integers(0, 2, N)}
TYPED = {
    "numpy": pd.DataFrame(ARRAYS),
    "masked": pd.DataFrame(ARRAYS).convert_dtypes(),
    "arrow": pd.DataFrame(ARRAYS).convert_dtypes(dtype_backend="pyarrow"),
    "categories": pd.DataFrame(ARRAYS).astype({"died": "category"})[["died"]],
    "objects": pd.DataFrame(ARRAYS).astype(object),
    "sparse": pd.DataFrame(ARRAYS).astype(pd.SparseDtype(float)),
    "texts": pd.DataFrame({"died": ["yes", "no"] * 32}, dtype="string[python]"),
    "texts of Arrow": pd.DataFrame({"died": ["yes", "no"] * 32}, dtype="string[pyarrow]"),
}
TABLE, FRAME = pa.table(ARRAYS), pl.DataFrame(ARRAYS)
TEXTS = pa.table({"died": ["yes", "no"] * 32, "x": ARRAYS["x"]})
LIST = [1.0, 2.0]


class Iterable:
    """Frames that can be read again and again, and are no sequence."""

    def __iter__(self):
        yield from [TYPED["numpy"], TABLE]


TAKEN = {
    **{f"renamed, {name}": (frame, frame.rename(columns=str.upper)) for name, frame in TYPED.items()},
    **{f"last column, {name}": (frame, frame.iloc[:, -1:]) for name, frame in TYPED.items()},
    "itself": (TYPED["numpy"], TYPED["numpy"]),
    "shorter": (TYPED["numpy"], TYPED["numpy"].iloc[:40]),
    "a dict of its columns": (TYPED["numpy"], dict(a=TYPED["numpy"]["x"])),
    "a dict of arrays": (ARRAYS, dict(z=ARRAYS["x"][::2])),
    "lists": (dict(x=LIST), dict(y=LIST)),
    "Arrow": (TABLE, TABLE.rename_columns(["a", "b", "c"]).slice(7, 30)),
    "texts of a table": (TEXTS, TEXTS.select(["died"]).slice(3)),
    "Arrow from arrays": (ARRAYS, pa.table({"x": pa.array(ARRAYS["x"])})),
    "polars": (FRAME, FRAME.rename({"x": "z"})),
    "polars and Arrow": (FRAME, FRAME.to_arrow()),
    "in a list": ([TYPED["numpy"]], TYPED["numpy"]),
    "one of many": ([TYPED["numpy"], TABLE], [TABLE]),
    "values of a dict": ({"north": TYPED["numpy"], "south": TABLE}.values(), TABLE),
    "an iterable of one's own": (Iterable(), TABLE),
}
APART = {
    "copies": (TYPED["numpy"], TYPED["numpy"].copy()),
    "other rows of one frame": (TYPED["numpy"].iloc[:30], TYPED["numpy"].iloc[30:]),
    "other rows of one table": (TABLE.slice(0, 30), TABLE.slice(30)),
    "other rows, texts": (TEXTS.slice(0, 30), TEXTS.slice(30)),
    "other rows of polars": (FRAME[:30], FRAME[30:]),
    "categories alone": (TYPED["categories"], TYPED["categories"].iloc[DRAW.permutation(N)]),
    "none": (TYPED["numpy"], TYPED["numpy"].iloc[:0]),
    "an iterator": (iter([TABLE]), TYPED["numpy"]),
}


@pytest.mark.parametrize("case", TAKEN)
def test_the_memory_of_a_column_is_known_again(case):
    one, other = TAKEN[case]
    assert shared(one, other) and shared(other, one)


@pytest.mark.parametrize("case", APART)
def test_what_has_no_memory_in_common_is_not_refused(case):
    one, other = APART[case]
    assert not shared(one, other) and not shared(other, one)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_is_known_by_any_of_its_names(tmp_path, suffix):
    path, link, other = tmp_path / f"a.{suffix}", tmp_path / f"b.{suffix}", tmp_path / f"c.{suffix}"
    for file in (path, other):
        getattr(TYPED["numpy"], f"to_{suffix}")(file, index=False)
    link.symlink_to(path)
    for name in (str(path), link, tmp_path / ".." / tmp_path.name / path.name):
        assert shared(path, name)
    assert not shared(path, other) and not shared(path, TYPED["numpy"])
    if suffix == "csv":
        assert shared(dps.read_csv(path, sep=";"), link)
        assert not shared(dps.read_csv(path), dps.read_csv(other))


@pytest.mark.parametrize("one", [lambda a, b: [a, b], lambda a, b: {"a": a, "b": b}.values(), lambda a, b: a])
@pytest.mark.parametrize(
    "other",
    [
        lambda a: a,
        lambda a: dps.read_csv(a.path),
        lambda a: str(a.path),
        lambda a: [a],
        lambda a: {"a": dps.read_csv(a.path)}.values(),
    ],
)
def test_a_file_is_known_in_a_list(tmp_path, one, other):
    for name in ("a.csv", "b.csv", "c.csv"):
        TYPED["numpy"].to_csv(tmp_path / name, index=False)
    a, b, c = (dps.read_csv(tmp_path / name) for name in ("a.csv", "b.csv", "c.csv"))
    assert shared(one(a, b), other(a)) and shared(other(a), one(a, b))
    assert not shared(one(a, b), other(c)) and not shared(other(c), one(a, b))


@pytest.mark.parametrize("model", [dps.ols, dps.ridge, dps.logit, dps.glm])
def test_models_refuse_their_data_as_public_rows(model):
    more = {"ridge": dict(alpha=1.0), "glm": dict(family="binomial")}.get(model.__name__, {})
    formula = "y ~ x" if model in (dps.ols, dps.ridge) else "died ~ x"
    frame = TYPED["numpy"]
    for public in (frame, frame[["x", "y", "died"]], frame.rename(columns={"y": "z"}).assign(y=0.0)):
        with pytest.raises(SpecificationError, match="leave public= out"):
            model(formula, frame, SCHEMA, public=public, **more)
    model(formula, frame, SCHEMA, public=frame.copy(), **more)


TABLES = {"pandas": TYPED["numpy"], "Arrow-backed": TYPED["arrow"], "Arrow": TABLE, "polars": FRAME}


@pytest.mark.parametrize("name", TABLES)
def test_moments_of_the_data_are_refused_as_long_as_these_are_in_memory(name, tmp_path):
    frame = TABLES[name]
    moments = dps.public_moments("y ~ x", frame, SCHEMA)
    with pytest.raises(SpecificationError, match="leave public= out"):
        dps.ols("y ~ x", frame, SCHEMA, public=moments)
    dps.ols("y ~ x", {name: column.copy() for name, column in ARRAYS.items()}, SCHEMA, public=moments)
    moments.save(tmp_path / "moments.json")  # of what was saved nobody knows whence it comes
    dps.ols("y ~ x", frame, SCHEMA, public=dps.PublicMoments.load(tmp_path / "moments.json"))


def test_moments_keep_nothing_of_their_rows():
    frame = TYPED["numpy"].copy()
    moments, gone = dps.public_moments("y ~ x", frame, SCHEMA), weakref.ref(frame)
    assert not any(item is frame for item in reachable(moments))
    del frame
    gc.collect()
    assert gone() is None
    dps.ols("y ~ x", TYPED["numpy"], SCHEMA, public=moments)
