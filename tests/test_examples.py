"""Everything public has an example in its docstring, and the examples run.

An example is a session of its own. Numbers that noise decides are left out, or stand as ``...``.
"""

import doctest
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dpstats as dps
from dpstats import models

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def described() -> Iterator[tuple[str, Any]]:
    """What must have an example, by name: all that is public, and how each model is fitted."""
    for name in dps.__all__:
        thing = getattr(dps, name)
        if inspect.ismodule(thing):
            yield from ((f"{name}.{part}", getattr(thing, part)) for part in thing.__all__)
        elif inspect.isclass(thing) or inspect.isfunction(thing):
            yield name, thing
    for name in models.__all__:
        thing = getattr(models, name)
        if inspect.isclass(thing):
            fits = [part for part in vars(thing) if part.startswith("fit")]
            yield from ((f"{name}.{part}", getattr(thing, part)) for part in fits)


THINGS = {name: thing for name, thing in described() if not thing.__module__.startswith("dpstats.results")}


def sections(thing: Any) -> set[str]:
    """Heads of the numpydoc sections of a docstring."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    return {head for head, rule in zip(lines, lines[1:], strict=False) if head and set(rule) == {"-"}}


def report(thing: Any, name: str) -> str:
    """What goes wrong with the examples of a docstring; empty if nothing does."""
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(thing) or "", {}, name, None, 0)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(test, out=said.append)
    return "".join(said)


def lacking(thing: Any) -> set[str]:
    """Sections that its signature asks for and that are not there."""
    wanted = {"Examples"}
    if inspect.isfunction(thing):
        parameters = set(inspect.signature(thing).parameters) - {"self", "cls"}
        returns = inspect.signature(thing).return_annotation not in (inspect.Signature.empty, "None", None)
        wanted |= ({"Parameters"} if parameters else set()) | ({"Returns"} if returns else set())
    return wanted - sections(thing)


def test_enough_is_described() -> None:
    assert len(THINGS) > 40
    assert {"ols", "Schema", "datasets.load", "Survreg.fit"} <= set(THINGS)


@pytest.mark.parametrize("name", THINGS)
def test_it_has_an_example_that_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    assert lacking(THINGS[name]) == set()
    assert report(THINGS[name], name) == ""


def bare(a: int) -> int:
    """Nothing else."""
    return a


def wrong(a: int) -> int:
    """A sum.

    Parameters
    ----------
    a : int

    Returns
    -------
    int

    Examples
    --------
    >>> 1 + 1
    3
    """
    return a


def test_what_is_missing_or_wrong_is_caught() -> None:
    assert lacking(bare) == {"Parameters", "Returns", "Examples"}
    assert lacking(wrong) == set()
    assert "Expected:\n    3" in report(wrong, "wrong")
