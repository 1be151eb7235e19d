"""Tables of pages on what was measured are read from results, and so are the pictures."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import coverage_page
import measured
import pictures

TEXT = coverage_page.PAGE.read_text("utf-8")


@pytest.mark.parametrize("page", coverage_page.PAGES, ids=lambda page: page.stem)
def test_pages_are_what_the_results_make_of_them(page: Path) -> None:
    text = page.read_text("utf-8")
    assert coverage_page.written(text) == text


def test_every_table_stands_in_a_page() -> None:
    said = "".join(page.read_text("utf-8") for page in coverage_page.PAGES)
    assert TEXT.count("| survreg gaussian |") == 2
    assert [name for name in measured.TABLES if f"<!-- table: {name} -->" not in said] == []


def test_names_of_cells_are_words() -> None:
    assert measured.named("sev-corr-true-60-10000") == "Weibull, correlated (.9), 60 % censored, 10,000 rows"
    assert measured.named("cond1000-t3-20sd-d5-n10000").startswith(
        "correlated, t errors, bounds of 20 sds, k = 5"
    )
    assert measured.named("logit-rare-cond1-4sd-d5-n10000").startswith(
        "logit, one yes in a hundred, independent"
    )


def test_a_number_that_was_typed_is_found() -> None:
    what, fits, *_ = coverage_page.rows((coverage_page.RESULTS / "lottery.txt").read_text("utf-8"))[0]
    typed = TEXT.replace(f"| {what} | {fits} |", f"| {what} | 7 |", 1)
    assert typed != TEXT and coverage_page.written(typed) == TEXT


def test_cells_are_read_whole() -> None:
    first = pictures.cells("survreg_coverage_10000.txt")[0]
    assert first.name == "sev-norm-true-0-10000" and first.rows == 10_000 and first.censored == 0
    assert set(first.covers) == {"slopes", "intercept", "log sigma", "B10"}


@pytest.mark.parametrize("name", pictures.DRAWN)
def test_every_picture_can_be_drawn_and_is_there(name: str) -> None:
    figure = pictures.drawn(name)
    assert figure.axes and (pictures.PICTURES / f"{name}.svg").is_file()
    pictures.plt.close(figure)
