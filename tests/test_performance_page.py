"""The tables of docs/performance.md are those of benchmarks/results/speed.txt."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import speed_page

RESULTS, TEXT = speed_page.RESULTS.read_text("utf-8"), speed_page.PAGE.read_text("utf-8")


def test_the_page_is_what_the_results_make_of_it() -> None:
    assert speed_page.written(TEXT, RESULTS) == TEXT


def test_a_number_that_was_typed_is_found() -> None:
    cases = speed_page.lines(RESULTS)
    for case in (cases[0], cases[-1]):
        typed = TEXT.replace(f"{case.ratio} ({case.goal})", f"0.01 ({case.goal})")
        assert typed != TEXT and speed_page.written(typed, RESULTS) == TEXT


def test_every_case_is_told_with_its_verdict() -> None:
    cases = speed_page.lines(RESULTS)
    assert len(cases) >= 30
    for case in cases:
        assert f"{case.ratio} ({case.goal})" in TEXT
        tie = float(case.ratio) == float(case.goal)  # of what is shown, with two digits
        assert tie or (case.fast == "holds") == (float(case.ratio) <= float(case.goal))
        assert (case.small == "holds") == (
            float(case.peak) <= float(case.allowed)
        ) or case.peak == case.allowed
