"""Numbers in texts: one grammar, the nearest float64, and the same alone as beside any other text."""

import math
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpstats.rows import grammar

GRAMMAR = re.compile(rb"[ \t\n\r\v\f]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t\n\r\v\f]*")


def expected(cell: bytes | None) -> float:
    if cell is None or not GRAMMAR.fullmatch(cell):
        return math.nan
    return float(cell) if math.isfinite(float(cell)) else math.nan


numbers = st.one_of(
    st.floats().map(repr),
    st.floats().map("{:.17f}".format),
    st.from_regex(r"[ ]?[+-]?[0-9]{0,40}\.?[0-9]{0,60}([eE][+-]?[0-9]{0,4})?[ ]?", fullmatch=True),
    # many digits after the mark, down to numbers below the smallest that is told from zero
    st.builds(
        "{}.{}{:b}e{}".format,
        st.integers(0, 10**20 - 1),
        st.integers(0, 330).map("0".__mul__),
        st.integers(0, 2**700),
        st.integers(-99, 99),
    ),
    st.text("0123456789.eE+-_xinfa ,\t", max_size=12),
)
cells = st.lists(st.none() | numbers.map(str.encode) | st.binary(max_size=6), max_size=30)


@settings(max_examples=250, deadline=None)
@given(cells)
@example(
    [b"1e999", b"1e-999", b"9" * 400, b"1." + b"1" * 400, b".", b"", b"-", b"+1", b"inf", b"nan", b"1_0"]
)
@example([b"2.2250738585072011e-308", b"9007199254740993", b"1.7976931348623159e308", b"5e-324", b"2.4e-324"])
def test_texts_become_the_nearest_numbers_one_by_one(drawn):
    for form in (pa.binary(), pa.large_binary()):
        got = grammar.parse(pa.array(drawn, form))
        np.testing.assert_array_equal(got, [expected(cell) for cell in drawn])
        assert np.signbit(got[got == 0]).tolist() == [
            bool(re.match(rb"[ \t\n\r\v\f]*-", cell))
            for cell, value in zip(drawn, got, strict=True)
            if value == 0
        ]
    for cell in drawn:
        alone = float(grammar.parse(pa.array([cell], pa.binary()))[0])
        assert repr(alone) == repr(grammar.number(cell) if cell is not None else math.nan) or alone != alone


def test_texts_without_a_number_are_missing_and_say_nothing():
    words = [text.encode() for text in grammar.MISSING_TEXTS] + [
        b"inf",
        b"Infinity",
        b"0x10",
        b"1_000",
        b"1,5",
        b"\xff",
    ]
    assert np.isnan(grammar.parse(pa.array(words, pa.binary()))).all()


@pytest.mark.parametrize(
    "text, value", [(b"1,5", 1.5), (b" -,5e1", -5.0), (b"1.5", math.nan), (b"1.000,5", math.nan)]
)
def test_a_decimal_comma(text, value):
    assert repr(grammar.number(text, ",")) == repr(value)


MARKS = [(",", "."), (".", ","), (" ", "."), ("'", ","), ("\u202f", ",")]


@pytest.mark.parametrize("thousands, mark", MARKS)
@pytest.mark.parametrize(
    "text, value",
    [
        ("1T234", 1234.0),
        (" -1T234T567M25 ", -1234567.25),
        ("+12T345e-3", 12.345),
        ("1234M5", 1234.5),
        ("M5", 0.5),
        ("10T001", 10001.0),
        ("0T619", math.nan),
        ("00T780", math.nan),
        ("-012T345", math.nan),
        ("1T23", math.nan),
        ("1T2345", math.nan),
        ("1234T567", math.nan),
        ("-T123", math.nan),
        ("1TT000", math.nan),
        ("1T234M567T8", math.nan),
        ("M", math.nan),
        ("NA", math.nan),
        ("1T234x", math.nan),
    ],
)
def test_digits_in_groups_of_three(text, value, thousands, mark):
    cell = text.replace("T", thousands).replace("M", mark).encode()
    for kind in (pa.binary(), pa.large_binary()):
        read = grammar.parse_grouped(pa.array([b"7", cell, None, b"\xff"], kind), thousands, mark)
        np.testing.assert_array_equal(read, [7.0, value, math.nan, math.nan])


@pytest.mark.parametrize("mark, other", [(".", ","), (",", ".")])
def test_digits_that_are_in_no_groups_have_no_marks_between(mark, other):
    cells = [b"1234", f"1{mark}5".encode(), b"1_000", b"1 000", f"1{other}234".encode()]
    read = grammar.parse_grouped(pa.array(cells), "", mark)
    np.testing.assert_array_equal(read, [1234.0, 1.5, math.nan, math.nan, math.nan])


@pytest.mark.parametrize("thousands, mark", MARKS)
def test_digits_in_groups_are_no_matter_for_other_cells(thousands, mark):
    cells, grouped = [b"7", b"1.5", b"1,5", b"1'5", b"x"], f"1{thousands}234".encode()
    alone = grammar.parse_grouped(pa.array(cells), thousands, mark)
    beside = grammar.parse_grouped(pa.array([*cells, grouped]), thousands, mark)
    np.testing.assert_array_equal(alone, beside[:-1])
    assert beside[-1] == 1234 and (alone == 1.5).sum() == 1
