"""The tables of docs/trust/coverage.md are those of the lottery, and its pictures are drawn from results."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import coverage_page
import pictures

TEXT = coverage_page.PAGE.read_text("utf-8")


def test_the_page_is_what_the_results_make_of_it() -> None:
    assert coverage_page.written(TEXT) == TEXT
    assert TEXT.count("| survreg gaussian |") == 2


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
