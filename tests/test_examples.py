"""Everything public has an example in its docstring, and the examples run.

An example is a session of its own; that of a method goes on from that of its class, so that it may use the
``fit``. Numbers that noise decides are left out, or stand as ``...``.
"""

import doctest
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import dpstats as dps
from dpstats import models
from dpstats.checking import DataCheck
from dpstats.planning import FitPlan
from dpstats.results import CurveFit, Description, Fit, GlmFit, LinearFit, SurvivalFit, SvmFit
from dpstats.results.curve_estimates import LogRankTest
from dpstats.results.document import Estimates
from dpstats.results.forecast import Forecast
from dpstats.results.prediction import Prediction
from dpstats.results.wald import ContrastTest, PairwiseTest, WaldTest

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


def methods() -> Iterator[tuple[str, Any, type]]:
    """Methods of fits and of what these return, by name, each with the first class that has it."""
    known = []
    for kind in RESULTS:
        for name, method in inspect.getmembers(kind, inspect.isroutine):
            function = getattr(method, "__func__", method)
            if not name.startswith("_") and function not in known:
                known.append(function)
                yield f"{kind.__name__}.{name}", method, kind


RESULTS = (
    *(Fit, LinearFit, GlmFit, SurvivalFit, SvmFit, Estimates, CurveFit, Description),
    *(Forecast, LogRankTest, Prediction, ContrastTest, PairwiseTest, WaldTest, FitPlan, DataCheck),
)
OWNERS = {name: kind for name, _, kind in methods()}
THINGS = (
    dict(described())
    | {name: method for name, method, _ in methods()}
    | {kind.__name__: kind for kind in RESULTS}
)


def sections(thing: Any) -> set[str]:
    """Heads of the numpydoc sections of a docstring."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    return {head for head, rule in zip(lines, lines[1:], strict=False) if head and set(rule) == {"-"}}


def report(thing: Any, name: str, session: dict[str, Any]) -> str:
    """What goes wrong with the examples of a docstring; empty if nothing does."""
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(thing) or "", session, name, None, 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    runner.run(test, out=said.append, clear_globs=False)
    session.update(test.globs)
    return "".join(said)


@cache
def session(kind: type) -> dict[str, Any]:
    """What the example of a class leaves to those of its methods."""
    made: dict[str, Any] = {}
    assert report(kind, kind.__name__, made) == ""
    return made


def lacking(thing: Any) -> set[str]:
    """Sections that its signature asks for and that are not there."""
    wanted = {"Examples"}
    if inspect.isroutine(thing):
        parameters = set(inspect.signature(thing).parameters) - {"self", "cls"}
        returns = inspect.signature(thing).return_annotation not in (inspect.Signature.empty, "None", None)
        wanted |= ({"Parameters"} if parameters else set()) | ({"Returns"} if returns else set())
    return wanted - sections(thing)


def test_enough_is_described() -> None:
    assert len(THINGS) > 100
    assert {"ols", "Schema", "datasets.load", "Survreg.fit", "Fit.tidy", "SurvivalFit.eta"} <= set(THINGS)


@pytest.mark.parametrize("name", THINGS)
def test_it_has_an_example_that_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    assert lacking(THINGS[name]) == set()
    made = dict(session(OWNERS[name])) if name in OWNERS else {}
    assert report(THINGS[name], name, made) == ""


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
    assert "Expected:\n    3" in report(wrong, "wrong", {})
