"""What differs between families stands in their records: nothing else asks which family it has."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpstats
from dpstats.families import DISTS, FAMILIES

ROOT = Path(dpstats.__file__).parent
NAMES = {*FAMILIES, *DISTS, *(dist.family.name for dist in DISTS.values())}
FILES = sorted(path for path in ROOT.rglob("*.py") if path.parent.name != "families")
NOISE = {"law.name", "release.law", "law", "self.name"}  # a law of noise is called Gaussian too


def asked(tree: ast.AST) -> Iterator[str]:
    """Comparisons with names of families, and tables by such names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(is_named, sides)) and not NOISE & set(map(ast.unparse, sides)):
                yield ast.unparse(node)
        elif isinstance(node, ast.MatchValue) and is_named(node.value):
            yield ast.unparse(node)
        elif isinstance(node, ast.Dict) and node.keys and all(key and is_named(key) for key in node.keys):
            yield ast.unparse(node)
        elif isinstance(node, ast.Subscript) and is_named(node.slice):
            yield ast.unparse(node)
        elif isinstance(node, ast.Tuple | ast.List | ast.Set) and is_named(node):
            yield ast.unparse(node)


def is_named(node: ast.expr) -> bool:
    """Whether an expression is the name of a family, or some of them."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return bool(node.elts) and all(map(is_named, node.elts))
    return isinstance(node, ast.Constant) and node.value in NAMES


def test_no_family_is_asked_for_by_name() -> None:
    found = {path.name: list(asked(ast.parse(path.read_text("utf-8")))) for path in FILES}
    assert len(FILES) > 200 and not {name: each for name, each in found.items() if each}


LISTED = re.compile(r"[\[(]SEV, LOGISTIC, NORMAL[\])]")
TESTS = ROOT.parent / "tests"


def test_tests_of_every_law_take_those_of_the_table() -> None:
    """A list of the laws by name would leave out a new one; `laws.py` has them all."""
    found = [
        f"{path.name}: {line}"
        for path in TESTS.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if LISTED.search(line) and not line.startswith("from ")
    ]
    assert found == [] and LISTED.search("in [" + "SEV, LOGISTIC, NORMAL]")


@pytest.mark.parametrize(
    "planted",
    [
        "floor = 1 if family.name != 'gaussian' else 0",
        "if record.dist in ('binomial', 'poisson'): pass",
        "MEANS = {'binomial': 1, 'poisson': 2}",
        "LIKELIHOODS = ('binomial', 'poisson')",
        "law = DISTS['weibull']",
        "match dist:\n    case 'weibull': pass",
    ],
)
def test_a_family_that_is_asked_for_is_seen(planted: str) -> None:
    assert list(asked(ast.parse(planted)))
