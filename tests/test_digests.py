"""benchmarks/digests.py sees what a change of the code does to a fit, and nothing else."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.privacy.catalogue import CASES, Case, made

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
import digests  # noqa: E402
from digests import compared, kept, report  # noqa: E402

SOME = [
    Case("ols", None, "auto", None, "zcdp", None),
    Case("survreg", "weibull", "auto", None, "zcdp", None),
    Case("coxph", None, None, None, "zcdp", None),
    Case("kaplan_meier", None, None, None, "zcdp", None),
]


def fitted() -> dict[str, dict[str, object]]:
    return dict(kept(case, 900) for case in SOME)


def test_cases_are_those_of_the_catalogue() -> None:
    assert set(SOME) <= set(CASES)


def test_the_same_code_gives_the_same_digests() -> None:
    before, after = fitted(), fitted()
    assert before.keys() == after.keys()
    assert compared(before, after) == []
    assert report(before, after, 9) == "4 fits: 4 the same, 0 but for rounding, 0 changed"


def test_a_change_is_seen_where_it_is_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fitted()
    monkeypatch.setattr(digests, "made", lambda n: made(n) | {"time": made(n)["time"] * 0.999})
    changes = compared(before, fitted())
    assert {change.name for change in changes} <= {f"{case}-900" for case in SOME[1:]}
    moved = {change.name: change.moved for change in changes}
    assert 1e-4 < moved[f"{SOME[1]}-900"] < 3


def test_rounding_is_told_from_a_change() -> None:
    old = {"a": {"digest": "1", "estimates": [1.0, 2.0], "errors": [0.1, 0.2]}}
    new = {"a": {"digest": "2", "estimates": [1.0 + 1e-12, 2.0], "errors": [0.1, 0.2]}}
    assert report(old, new, 9) == "1 fits: 0 the same, 1 but for rounding, 0 changed"
    new["a"]["errors"] = [0.1, 0.3]
    assert "1 changed\na: moved by 1e-11 standard errors, these times 1.5" in report(old, new, 9)


@pytest.mark.parametrize(
    "now", [{"digest": "refused"}, {"digest": "2", "estimates": [1.0], "errors": [np.inf]}]
)
def test_what_has_no_distance_is_a_change(now: dict[str, object]) -> None:
    old = {"a": {"digest": "1", "estimates": [1.0], "errors": [0.1]}}
    assert "a: moved by inf" in report(old, {"a": now, "b": now}, 9)
    assert "only in one of them: b" in report(old, {"a": now, "b": now}, 9)
