"""benchmarks/ablation.py changes one number at a time, wherever it is used, and tells what that did."""

import ast
import multiprocessing
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from ablation import Editing, Names, Number, constants, edited, found, names_of, parsed, told, tried  # noqa: E402

SEED = 17  # an ordinary Poisson regression of 5,106 rows


def numbers(text: str) -> list[float | tuple[float, ...]]:
    editing = Editing()
    editing.visit(ast.parse(text, mode="eval").body)
    return editing.found


def test_numbers_of_a_constant_are_found_and_a_grid_is_one() -> None:
    assert numbers("(1 / 3, 12, (0.05, -0.11), 'name', True, 0.0)") == [1 / 3, 12, 0.05, -0.11]
    assert numbers("np.linspace(-FAR, FAR, 161)") == [161]
    assert numbers("(1.0, 2.0, 4.0, 8.0, 16.0)") == [(1.0, 2.0, 4.0, 8.0, 16.0)]
    assert numbers("(1.0, 2.0, 4.0, 8.0, 4.0)") == [1.0, 2.0, 4.0, 8.0, 4.0]


def test_each_name_of_several_has_its_own_number() -> None:
    pairs = [(name, ast.unparse(node)) for name, node in constants(parsed("A, B = 1, (2, 3)\nC = D = 4.0\n"))]
    assert pairs == [("A", "A = 1"), ("B", "B = (2, 3)"), ("C", "C = D = 4.0")]


def test_a_number_keeps_its_kind_and_a_grid_loses_values() -> None:
    changed = Editing(1, "half").visit(ast.parse("(4000.0, 12, 'name')", mode="eval").body)
    assert ast.unparse(changed) == "(4000.0, 6, 'name')"
    assert edited(1, "half") == 1
    assert edited((1, 2, 3, 4, 5, 6), "thinned") == (1, 3, 5)
    assert edited((1, 2, 3, 4, 5, 6), "cut") == (1, 2, 3, 4)


@pytest.mark.long
def test_what_is_made_of_a_number_is_read_where_the_number_is() -> None:
    made = Names().made()
    own, other = (
        Number(f"dpstats.estimators.{module}", "_UNEVEN", 0, 0.5)
        for module in ("known.level_shares", "gram.tail")
    )
    assert not names_of(own, made) & names_of(other, made)
    levels = "dpstats.estimators.level_scores"
    assert f"{levels}.SHIFTS" in names_of(Number(levels, "FARTHEST", 0, 4.0), made)
    assert Names().full("dpstats.estimators.newton.level_coefficients", "SHIFTS") == f"{levels}.SHIFTS"


@pytest.mark.long
def test_a_change_reaches_the_fit_and_leaves_this_process_alone() -> None:
    from dpstats.estimators.engine import route
    from dpstats.estimators.newton import iterate

    listed = {str(number): number for number in found("estimators")}
    first, inert = listed["engine.route.DAMPING"], listed["newton.plan._STEPS"]
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        tasks = [(first, "half", [SEED]), (inert, "half", [SEED]), (inert, "twice", [SEED])]
        near, *same = [record["scores"] for record in pool.imap(tried, tasks)]
    assert same[0] == same[1] != near
    assert route.DAMPING == iterate.DAMPING == first.value
    assert told(same[0] | {"0": same[0][str(SEED)]}, near)[:2] == (1, 1)


def test_a_longer_interval_and_a_larger_error_are_told() -> None:
    usual = {"errors": [1.0, -1.0, None], "widths": [1.0, 1.0, None], "halves": [0.5, 0.9, None]} | {
        "flags": [],
        "lost": 1,
    }
    wide = {"errors": [1.2, -1.2, 1.0], "widths": [2.0, 2.0, 1.0], "halves": [0.5, 1.9, 0.1]} | {
        "flags": ["law"],
        "lost": 0,
    }
    read, changed, means, errors = told({"1": usual, "2": usual}, {"1": wide})
    assert (read, changed) == (1, 1)
    halved = [0.11, 0.34657, -0.25, 0.5, -1 / 6]  # the second fit did not read the number
    assert means == pytest.approx(halved, abs=1e-4)
    assert errors == pytest.approx([abs(each) for each in halved], abs=1e-4)
