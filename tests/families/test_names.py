"""What differs between families stands in their records: nothing else has the name of one, or its record."""

import ast
import contextlib
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dpstats
from dpstats import families
from dpstats.cli import main
from dpstats.families import DISTS, FAMILIES, Family, GlmFamily
from dpstats.families.links import LINKS

ROOT = Path(dpstats.__file__).parent
NAMES = {*FAMILIES, *DISTS, *(dist.family.name for dist in DISTS.values())}
RECORDS = {
    name
    for module in (families.glm, families.location_scale)
    for name, value in vars(module).items()
    if isinstance(value, Family | GlmFamily)
}
FILES = sorted(path for path in ROOT.rglob("*.py") if path.parent.name != "families")
NOISE = {"gaussian": "a law of noise, which is called as the family is"}
ALLOWED = {
    "_lacking.py": {
        name: "what to write for another package's model" for name in ("poisson", "negativebinomial")
    },
    "cli/demo.py": {"weibull": "the example"},
    "models/survreg.py": {"weibull": "the default"},
    "models/contributed.py": {"gaussian": "ridge's law", "binomial": "logit's"},
    "models/linear.py": {"gaussian": "the law of a linear model"},
    "models/svm.py": {"binomial": "the law of a yes or no"},
    "models/glm.py": {"BINOMIAL": "logit is of it and has methods of its own", "GAUSSIAN": "it is dps.ols"},
    "estimators/published/truncated.py": {"BINOMIAL": "of the paper", "POISSON": "of the paper"},
    "estimators/gram/estimate.py": {"GAUSSIAN": "scores of a linear model"},
    "estimators/one_bend.py": {"SEV": "of proportional hazards, as log times have it"},
    "estimators/location_scale/signs.py": {"NORMAL": "as what predictions are taken for"},
    "planning/trials.py": {"GAUSSIAN": "the law of a linear model", "BINOMIAL": "how long logit takes"},
    "planning/truth.py": {"POISSON": "counts whose alpha is sought are made up of it"},
    **dict.fromkeys(
        (
            "curator/curator.py",
            "curator/law.py",
            "curator/objective.py",
            "estimators/apart.py",
            "estimators/gram/reach.py",
            "estimators/location_scale/checks.py",
            "estimators/matrices.py",
            "estimators/zoom.py",
            "ledger/ledger.py",
            "ledger/report.py",
        ),
        NOISE,
    ),
}


def named(tree: ast.AST) -> Iterator[str]:
    """Names and records of families in code; a docstring is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in NAMES:
            yield node.value
        elif isinstance(node, ast.Name) and node.id in RECORDS:
            yield node.id


def test_no_family_is_asked_for_by_name() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): {*named(ast.parse(path.read_text("utf-8")))} for path in FILES
    }
    assert len(FILES) > 200 and RECORDS >= {"SEV", "BINOMIAL"}
    assert {file: each for file, each in found.items() if each} == {
        file: {*each} for file, each in ALLOWED.items()
    }


DOCS = ROOT.parent / "docs"
LAWS, MEANS = {*DISTS}, {name.partition("(")[0] for name in FAMILIES}


def helps() -> str:
    """What the command line says of its options; its lines are broken anywhere."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told), pytest.raises(SystemExit):
        main(["fit", "--help"])
    return told.getvalue()


@pytest.mark.parametrize(
    "told, names",
    [
        pytest.param(lambda: dpstats.survreg.__doc__, LAWS, id="survreg"),
        pytest.param(lambda: (DOCS / "survreg.md").read_text("utf-8"), LAWS, id="docs/survreg.md"),
        pytest.param(lambda: dpstats.glm.__doc__, MEANS | {*LINKS}, id="glm"),
        pytest.param(lambda: (DOCS / "glm.md").read_text("utf-8"), MEANS | {*LINKS}, id="docs/glm.md"),
        pytest.param(helps, LAWS | MEANS, id="dpstats fit --help"),
    ],
)
def test_all_that_a_user_may_choose_is_named(told: Callable[[], str], names: set[str]) -> None:
    found = told()
    assert not {name for name in names if not re.search(rf"\b{name}\b", found)}


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
        "slow = family is BINOMIAL",
        "SAME = {'llogis': 'loglogistic'}",
    ],
)
def test_a_family_that_is_asked_for_is_seen(planted: str) -> None:
    assert list(named(ast.parse(planted)))
