"""Constants that the theory's pages state are those of the code.

A page's table of constants has rows such as ``| `_FREE`, `gram.bounds._NOTHING` | .4, .02 sds | why |``.
Every name in backticks is assigned in ``dpstats`` with the numbers of the second cell. A name that several
modules have comes with the end of its module's.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "theory").glob("*.md"))
TABLE = re.compile(r"^\| constant \| value \| reason \|\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w^.])(\d*\.?\d+(?:e-?\d+)?)(?:/(\d+))?( %)?")

Stated = tuple[tuple[str, ...], tuple[float, ...]]
Code = dict[str, list[set[float]]]


def stated(page: str) -> list[Stated]:
    """Names of a page's table of constants, with their numbers."""
    rows = [row.split("|")[1:3] for table in TABLE.findall(page) for row in table.splitlines()]
    named = [(tuple(re.findall(r"`([\w.]+)`", names)), values) for names, values in rows]
    return [(names, numbers(values)) for names, values in named if names]


def numbers(cell: str) -> tuple[float, ...]:
    """Numbers of a cell: ``2/3`` and ``1 %`` are numbers, ``10^3`` is no 3."""
    found = NUMBER.findall(cell)
    return tuple(float(top) / float(below or 1) / (100 if percent else 1) for top, below, percent in found)


def values(tree: ast.Module) -> Code:
    """Numbers in the expressions that are assigned to each name of a module."""
    found = defaultdict(list)
    for node in tree.body:
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs = [(node.target, node.value)]
        else:
            continue
        for target, value in pairs:
            for name, own in unpacked(target, value):
                found[name].append(within(own))
                for field, number in fields(own):
                    found[f"{name}.{field}"].append(within(number))
    return found


def fields(value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """What a record is made of, such as ``TUNING = Tuning(far=2.0)``, and what records in it are."""
    if isinstance(value, ast.Call):
        for each in value.args:
            yield from fields(each)
        yield from ((each.arg, each.value) for each in value.keywords if each.arg)


def unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Names of a target, with the expression that is assigned to each."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for left, right in zip(target.elts, value.elts, strict=True):
            yield from unpacked(left, right)


def within(value: ast.expr) -> set[float]:
    """Numbers in an expression, and the quotients of two of them."""
    found = {
        float(node.value)
        for node in ast.walk(value)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    }
    for node in ast.walk(value):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            ends = (node.left, node.right)
            if all(isinstance(end, ast.Constant) for end in ends):
                found.add(ends[0].value / ends[1].value)  # type: ignore[attr-defined]
    return found


def wrong(rows: list[Stated], code: Code) -> list[str]:
    """Rows whose names do not have their numbers, or may be of several modules."""
    found = []
    for names, listed in rows:
        each = [(number,) for number in listed] if len(names) == len(listed) > 1 else [listed] * len(names)
        for name, own in zip(names, each, strict=True):
            modules = {module for module in code if f".{module}".endswith(f".{name}")}
            if len(modules) > 1:
                found.append(f"{name}: of {', '.join(sorted(modules))}")
            elif not any(set(own) <= known for module in modules for known in code[module]):
                found.append(f"{name}: {', '.join(f'{number:g}' for number in own)}")
    return found


def code() -> Code:
    """Numbers of all names of the package, such as ``dpstats.estimators.steps.FIRST``."""
    found = {}
    for path in sorted((ROOT / "dpstats").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for name, known in values(ast.parse(path.read_text(encoding="utf-8"))).items():
            found[f"{module}.{name}"] = known
    return found


def test_constants_of_the_theory_are_those_of_the_code() -> None:
    known = code()
    rows = {page.name: stated(page.read_text(encoding="utf-8")) for page in PAGES}
    assert sum(len(of) for of in rows.values()) > 25
    assert {name: said for name, of in rows.items() if (said := wrong(of, known))} == {}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("| `FREE`, `_NOTHING` | .35, .01 sds | why |", []),
        ("| `FREE`, `_NOTHING` | .01, .35 sds | why |", ["FREE: 0.01", "_NOTHING: 0.35"]),
        ("| `SHARE` | 1 % of epsilon | why |", []),
        ("| `SHARE` | 2 % of epsilon | why |", ["SHARE: 0.02"]),
        ("| `SHAPE` | 2/3 | why |", []),
        ("| `ABSENT` | 1 | why |", ["ABSENT: 1"]),
        ("| `STEPS` | 8 | why |", ["STEPS: of a.STEPS, b.STEPS"]),
        ("| `b.STEPS` | 8 | why |", []),
        ("| `a.STEPS` | 8 | why |", ["a.STEPS: 8"]),
        ("| `TUNING.first`, `TUNING.far` | 25 %, 2 | why |", []),
        ("| `TUNING.far` | 3 | why |", ["TUNING.far: 3"]),
        ("| share of mu^2 | .3 | a name without backticks is no name |", []),
    ],
)
def test_a_constant_that_is_not_that_of_the_code_is_caught(row: str, said: list[str]) -> None:
    own = values(ast.parse("FREE, _BENT = 0.35, 0.05\n_NOTHING: float = 0.01\nSHARE = 0.01\nSHAPE = 2 / 3\n"))
    own |= {"a.STEPS": [{7.0}], "b.STEPS": [{8.0}]}
    own |= values(ast.parse("TUNING = Tuning(Shares(first=0.25), far=2.0)\n"))
    assert wrong(stated(f"| constant | value | reason |\n|---|---|---|\n{row}\n"), own) == said
