"""Random formulas over one schema, and data inside and outside its public bounds."""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from dpstats.schema import Schema, bounded, count, event, flag, levels

SCHEMA = Schema(
    y=bounded(-5, 5),
    t=bounded(0.1, 1000, unit="h"),
    e=event(),
    x=bounded(-1, 1),
    z=bounded(0, 100),
    w=bounded(2, 7),
    c=count(20),
    f=flag(),
    g=levels("a", "b", "c"),
    h=levels("u", "v", other=True),
)
NUMERIC = ("t", "x", "z", "w", "c", "f")
_CONTRASTS = ("", ", Treatment('b')", ", Treatment(2)", ", Sum", ", Helmert", ", Diff", ", Poly")


def _number(low: float, high: float) -> st.SearchStrategy[str]:
    return st.floats(low, high).map(lambda value: f"{value:.3g}")


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    unary = st.sampled_from(
        (
            "np.log(np.abs({}) + 0.5)",
            "np.log(1 + ({}) ** 2)",
            "np.exp(-(({}) / 50) ** 2)",
            "np.sqrt(np.abs({}))",
            "np.sin({})",
            "np.cos({})",
            "np.tanh({})",
            "np.arctan({})",
            "np.arcsinh({})",
            "np.abs({})",
            "-({})",
            "np.floor({})",
            "np.ceil({})",
            "np.sign({})",
            "np.cbrt({})",
            "1 / (1 + ({}) ** 2)",
            "({}) ** 3",
            "np.log(({}))",
            "np.sqrt({})",
            "1 / ({})",
            "({}) ** -2",
            "({}) ** 0.5",
            "np.exp({})",
            "np.expm1({})",
            "np.log1p({})",
            "np.log2(2 + np.abs({}))",
            "np.log10(({}) + 3)",
            "np.minimum({}, 3)",
            "2 * (({}) > 0.5)",
            "np.maximum({}, -0.5)",
            "np.clip({}, -1, 2)",
        )
    )
    binary = st.sampled_from(
        (
            "({}) + ({})",
            "({}) - ({})",
            "({}) * ({})",
            "({}) / ({})",
            "np.minimum({}, {})",
        )
    )
    return st.builds(str.format, unary, inner) | st.builds(str.format, binary, inner, inner)


EXPRESSIONS = st.recursive(st.sampled_from(NUMERIC) | _number(-9, 9), _grow, max_leaves=5)

SHARED_FACTORS = st.one_of(
    st.sampled_from(NUMERIC),
    st.sampled_from(("g", "h", "Q('x')", "C(f)")),
    st.builds("C({}{})".format, st.sampled_from("gh"), st.sampled_from(_CONTRASTS)),
    st.sampled_from(("C(g, levels=['c', 'a', 'b'])", "C(g, Sum, levels=['b', 'a', 'c'])")),
    EXPRESSIONS.map("I({})".format),
    st.sampled_from(("I(g == 'a')", "g != 'c'", "C(h == 'other')", "I(1 * (g == 'b'))")),
    st.builds("I({} > {})".format, st.sampled_from(("x", "z - w", "np.sin(t)")), _number(-0.9, 0.9)),
    st.builds(
        "bs(z, knots=[20, {}], degree={}, include_intercept={}, lower_bound=0, upper_bound=100)".format,
        st.integers(21, 99),
        st.integers(0, 3),
        st.booleans(),
    ),
)
"""Factors that mean the same in patsy."""

OWN_FACTORS = st.one_of(
    EXPRESSIONS.map("center({}, 3)".format),
    EXPRESSIONS.map("center({}, 'middle')".format),
    EXPRESSIONS.map("scale({}, center=2, scale=0.3)".format),
    EXPRESSIONS.map("clip({}, -1, 4)".format),
    EXPRESSIONS.map("log(1 + abs({}))".format),
    st.builds("bs({}, df={}, degree={})".format, EXPRESSIONS, st.integers(3, 7), st.integers(0, 3)),
    st.builds("ns({}, df={}, include_intercept={})".format, EXPRESSIONS, st.integers(2, 7), st.booleans()),
    st.builds("ns(z, knots=[20, {}])".format, st.integers(21, 99)),
    st.builds("poly({}, {})".format, EXPRESSIONS, st.integers(1, 6)),
    st.builds("cut(z, [10, {}])".format, st.integers(11, 99)),
    st.builds("C(cut(I(z - w), [10, {}]){})".format, st.integers(11, 89), st.sampled_from(_CONTRASTS)),
)
"""Factors whose constants patsy would take from the data, or that it lacks."""


def right_sides(factors: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Sums of terms, each a product of up to three factors, with or without an intercept."""
    terms = st.lists(factors, min_size=1, max_size=3).flatmap(
        lambda chosen: st.sampled_from((":", "*")).map(lambda sign: sign.join(chosen))
    )
    return st.builds(
        str.__add__,
        st.lists(terms, min_size=1, max_size=3).map(" + ".join),
        st.sampled_from(("", " - 1", " + 0")),
    )


OFFSETS = st.one_of(st.sampled_from(NUMERIC), EXPRESSIONS).map("offset({})".format)
WEIGHTS = st.one_of(
    st.sampled_from(("w", "z", "c", "f", "t", "x")),
    EXPRESSIONS,
    EXPRESSIONS.map("np.maximum({}, 0)".format),
    EXPRESSIONS.map("np.abs({})".format),
    EXPRESSIONS.map("1 * (({}) > 0.5)".format),
)
"""Weights of rows, most of which are not negative."""


def inside(n: int, seed: int) -> pd.DataFrame:
    """Rows inside the public bounds, many of them in a corner; all levels occur."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for name, variable in SCHEMA.items():
        if variable.kind == "levels":
            codes = np.append(np.arange(len(variable.all)), rng.integers(0, len(variable.all), n))[:n]
            columns[name] = pd.Categorical(np.array(variable.all)[codes], categories=list(variable.all))
        elif variable.kind in ("flag", "event"):
            columns[name] = np.append([0, 1], rng.integers(0, 2, n))[:n]
        else:
            lower, upper = variable.bounds
            corner = np.where(rng.random(n) < 0.5, lower, upper)
            columns[name] = np.where(rng.random(n) < 0.4, corner, rng.uniform(lower, upper, n))
    return pd.DataFrame(columns)


_WILD: tuple[Any, ...] = (
    np.nan,
    np.inf,
    -np.inf,
    1e300,
    -1e300,
    5e-324,
    0,
    -1,
    1,
    2,
    True,
    None,
    "",
    " ",
    "a",
    "b",
    "zzz",
    "1",
    "NaN",
    "1e400",
    pd.NA,
    pd.Timestamp("2020-01-01"),
    10**400,
    1j,
    (1, 2),
    [3],
    {},
    b"a",
    np.float32(0.3),
    -0.0,
)


def wild(n: int, seed: int) -> pd.DataFrame:
    """Rows of anything, in columns of any type."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    usual = inside(n, seed)
    for name in SCHEMA:
        kind = rng.integers(0, 9)
        cells = np.empty(n, dtype=object)
        cells[:] = [_WILD[i] for i in rng.integers(0, len(_WILD), n)]
        floats = 10.0 ** rng.uniform(-310, 308, n) * rng.choice([-1.0, 1.0, np.nan, np.inf], n)
        columns[name] = (
            # as they are: pandas 2 looks for dates in arrays of objects, and raises at 10**400
            usual[name],
            pd.Series(cells, dtype=object),
            floats,
            np.float32(0.3) * np.ones(n, dtype=np.float32),
            rng.integers(-3, 4, n),
            rng.random(n) < 0.5,
            pd.array(rng.choice(["a", "", "1", None], n), dtype="str"),
            pd.array(rng.choice([0, 1, 2, None], n), dtype="Int64"),
            pd.Categorical(rng.choice([-2.5, 0, 1, 40], n)),
        )[kind]
    return pd.DataFrame(columns)
