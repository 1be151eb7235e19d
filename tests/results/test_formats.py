"""One table, five formats: each says what the text says, and none lets a user's words become markup."""

import csv
import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.errors import SpecificationError
from dpstats.results.document import Document
from dpstats.results.markup import latex_escaped
from dpstats.results.table import Column, Table
from tests.results.every import EVERY
from tests.results.fits import USE, capacitor, wide

EVIL = ("Intercept", r"a\b{c}", "x|y_z*[w]", "Log(scale)")


def shown() -> list[Document]:
    fit = capacitor()
    more = [fit.life(USE), fit.reliability(USE, [10, 20]), fit.t_test("voltage = 0"), fit.time_ratios()]
    documents = [each.summary() for each, _ in EVERY.values()] + [wide().summary()]
    return documents + [each.document for each in more]


def cells(doc: Document) -> list[tuple[str, ...]]:
    return [row for table in doc.tables for row in table.rows]


@pytest.mark.parametrize("doc", shown())
def test_csv_has_every_cell(doc: Document) -> None:
    rows = [tuple(row) for row in csv.reader(io.StringIO(doc.as_csv()))]
    for row in cells(doc):
        assert row in rows
    if doc.title:
        assert rows[0] == (doc.title,)


def unescaped(text: str) -> str:
    return re.sub(r"\\([\\`*_\[\]<>|~#&])", r"\1", text)


@pytest.mark.parametrize("doc", shown())
def test_markdown_has_every_cell_and_even_rows(doc: Document) -> None:
    text = doc.as_markdown()
    for block in text.split("\n\n"):
        if block.startswith("|"):
            bars = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(bars) == 1
    for row in cells(doc):
        for cell in row:
            assert " ".join(cell.split()) in unescaped(text)


@pytest.mark.parametrize("doc", shown())
def test_latex_has_even_rows_and_closes_what_it_opens(doc: Document) -> None:
    text = doc.as_latex()
    assert text.count("{") == text.count("}") - text.count(r"\}") + text.count(r"\{")
    assert re.findall(r"\\begin{(\w+)}", text).count("tabular") == text.count(r"\end{tabular}")
    for table in re.findall(r"\\begin{tabular}{((?:[lr]|@{})+)}\n(.*?)\\end{tabular}", text, re.DOTALL):
        sides, body = table[0].replace("@{}", ""), table[1]
        for line in body.splitlines():
            if line.endswith(r"\\"):
                spanned = sum(int(n) - 1 for n in re.findall(r"\\multicolumn{(\d+)}", line))
                assert len(re.findall(r"(?<!\\)&", line)) + spanned == len(sides) - 1
                assert not line.startswith(("[", "*"))


@pytest.mark.parametrize("doc", shown())
def test_html_has_even_rows(doc: Document) -> None:
    tables = re.findall(r"<table.*?</table>", doc.as_html(), re.DOTALL)
    assert len(tables) >= len(doc.tables)
    for table in tables:
        rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
        spans = [re.findall(r"<t[hd](?:[^>]*colspan=\"(\d+)\")?", row) for row in rows]
        assert len({sum(int(n or 1) for n in row) for row in spans}) == 1


def test_numbers_stand_on_their_points_in_latex_and_html() -> None:
    doc = Document(tables=(Table((Column("", "l"), Column("b", ".")), (("x", "-12.5"), ("y", "3"))),))
    assert r"x & $-12$ & .5 \\" in doc.as_latex() and r"y & 3 &  \\" in doc.as_latex()
    assert ">-12.5</td>" in doc.as_html() and ">3\u2008\u2007</td>" in doc.as_html()


def test_a_caption_or_a_label_makes_a_float() -> None:
    text = capacitor().summary().as_latex(caption="Lives of 64 & more", label="tab:lives")
    assert text.startswith(r"\begin{table}[htbp]\centering") and text.endswith(r"\end{table}")
    assert r"\caption{Lives of 64 \& more}" in text and r"\label{tab:lives}" in text
    for wrong in ({"caption": 3}, {"label": "a b"}, {"label": "}"}, {"caption": "a\nb"}):
        with pytest.raises(SpecificationError, match=next(iter(wrong))):
            capacitor().summary().as_latex(**wrong)


def test_words_of_a_user_are_no_markup() -> None:
    doc = capacitor(names=EVIL, ledger="$x$ #1 & 100 %").summary()
    assert r"a\textbackslash{}b\{c\}" in doc.as_latex() and r"\$x\$ \#1 \& 100 \%" in doc.as_latex()
    assert r"x\|y\_z\*\[w\]" in doc.as_markdown()


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_any_text_stays_one_cell(text: str) -> None:
    doc = Document(tables=(Table((Column("", "l"), Column("b")), ((text, "1"),)),))
    (row,) = [line for line in doc.as_markdown().splitlines()[2:] if line]
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3
    assert "\n" not in latex_escaped(text)
    body = doc.as_latex().splitlines()
    assert sum(line.endswith(r"& 1 \\") for line in body) == 1


def test_a_notebook_finds_html_and_latex() -> None:
    assert capacitor()._repr_latex_() == capacitor().summary().as_latex()
    for each in (capacitor().summary(), capacitor().life(USE), capacitor().t_test("voltage = 0")):
        assert each._repr_html_() == each.as_html() and each._repr_latex_() == each.as_latex()
