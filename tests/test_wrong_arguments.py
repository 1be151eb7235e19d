"""No message shows a cell, whatever stands in the place of an argument, and all errors are the package's own.

Every public callable and every public method of what they return is called with each of its arguments
replaced by each kind of thing that may hold private cells. Callables and arguments are found by inspection:
a new one is tested by itself, or the test fails until it is given its other arguments.
"""

import inspect
import re
import sqlite3
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats import errors
from dpstats.budget import Budget
from dpstats.contributors import contribute_rows, write_messages
from dpstats.planning import FitPlan
from tests.planning.few import few_fits
from tests.results.every import EVERY
from tests.results.fits import USE, capacitor

CELL, NUMBER = "Bosch", 682.3125
CANARIES = re.compile(r"Bosch|682\.3|6\.823")
FRAME = pd.DataFrame({"time": [NUMBER, 17.5] * 3, "failed": [1, 0] * 3, "maker": [CELL, "WDC"] * 3})
SCHEMA = dps.Schema(
    time=dps.bounded(1, 1000),
    failed=dps.event(),
    maker=dps.levels(CELL, "WDC"),
    x=dps.bounded(-1, 1),
    z=dps.bounded(-1, 1),
)
BUDGET = dps.approx(20, 1e-6)  # with little noise few fits tell what a plan is asked
OWN = tuple(kind for kind in vars(errors).values() if inspect.isclass(kind))

HOSTILE: dict[str, Callable[[], Any]] = {
    "frame": lambda: FRAME,
    "series of texts": lambda: FRAME["maker"],
    "series of numbers": lambda: FRAME["time"],
    "array of texts": lambda: FRAME["maker"].to_numpy(),
    "array of numbers": lambda: FRAME["time"].to_numpy(),
    "array of rows": lambda: FRAME.to_numpy(),
    "list of texts": lambda: FRAME["maker"].tolist(),
    "list of numbers": lambda: FRAME["time"].tolist(),
    "list of rows": lambda: FRAME.to_numpy().tolist(),
    "dict of lists": lambda: FRAME.to_dict("list"),
    "dict of rows": lambda: FRAME.to_dict("index"),
    "list of dicts": lambda: FRAME.to_dict("records"),
    "tuple of cells": lambda: tuple(FRAME["maker"]),
    "set of cells": lambda: set(FRAME["maker"]),
    "groups": lambda: FRAME.groupby("maker"),
    "generator": lambda: iter(FRAME.to_numpy().tolist()),
    "iterator of texts": lambda: iter(FRAME["maker"].tolist()),
    "index": lambda: FRAME.set_index("maker").index,
    "text of a file": lambda: FRAME.to_csv(index=False),
    "line of a file": lambda: f"{CELL},{NUMBER},1," + "x" * 300,
    "bytes": lambda: FRAME.to_csv(index=False).encode(),
    "categorical": lambda: FRAME["maker"].astype("category"),
    "one row": lambda: FRAME.iloc[0],
    "row as a dict": lambda: FRAME.iloc[0].to_dict(),
    "dict of a name": lambda: {f"{CELL} {CELL}": 41},
}

# arguments that are rows of new data, which may be private ones by mistake
ROWS = ("newdata", "fleet", "use", "stress", "at")


FEW = dps.Schema(time=dps.bounded(1, 1000), maker=dps.levels(CELL, "WDC"))
FLAGGED = dps.Schema(time=dps.bounded(1, 1000), failed=dps.flag(), maker=dps.levels(CELL, "WDC"))
PLAN = dps.plan_contributions("time ~ maker", SCHEMA, BUDGET, contributors=100)
CHOICES = dps.plan_contributions("failed ~ maker", FLAGGED, BUDGET, contributors=100)
CURVE = dps.kaplan_meier("Surv(time, failed) ~ maker", FRAME, SCHEMA).fit(BUDGET, force=True)
MOMENTS = dps.PublicMoments("y ~ x", ("Intercept", "x"), 100, np.eye(2), np.ones(2), 3.0)
MEANS = dps.ols("time ~ maker", FRAME, SCHEMA).fit(BUDGET, force=True).moments
LOOK = dps.describe(FRAME, FEW, BUDGET, force=True)
MESSAGES = [dps.contribute({"time": 5.0, "maker": "WDC"}, PLAN) for _ in range(100)]
LABELS = [dps.contribute({"failed": 1, "maker": "WDC"}, CHOICES) for _ in range(100)]

# good arguments by their names, for those without a default; of those that repeat, all
COMMON: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "mu": 1.0,
    "rho": 1.0,
    "lower": 0.0,
    "upper": 10,
    "text": "pure(1)",
    "budget": BUDGET,
    "schema": SCHEMA,
    "alpha": 0.1,
    "other": BUDGET,
    "formula": "time ~ maker",
    "frame": FRAME,
    "data": FRAME,
    "family": "gamma",
    "contributors": 100,
    "column": "serial",
    "max_rows": 2,
    "radius": 1.0,
    "name": "hdfail",
    "plan": PLAN,
    "record": {"time": 5.0, "maker": "WDC"},
    "messages": MESSAGES,
    "honest": 1.0,
    "method": "statistics",
    "compat": None,
    "force": True,
    "ball": 3.0,
    "names": ("Intercept", "x"),
    "n": 100,
    "xx": np.eye(2),
    "xy": np.ones(2),
    "yy": 3.0,
    "tables": SCHEMA.to_dict(),
    "shares": (0.5, 0.5),
    "columns": ("x", "z"),
    "path": "out.json",
    "described": LOOK,
    "title": "Curve",
}
DRIVES = dps.Schema(time=dps.bounded(1, 1000), load=dps.bounded(0, 3))
AHEAD = dps.plan(dps.survreg("Surv(time) ~ load", None, DRIVES), BUDGET, 2000, {"load": (1, 0.8)})
TIMES = {"formula": "Surv(time, failed) ~ maker"}
LABELLED = {"formula": "failed ~ maker", "schema": FLAGGED}
GIVEN: dict[str, dict[str, Any]] = {
    "survreg": TIMES,
    "coxph": TIMES,
    "kaplan_meier": TIMES,
    "logit": LABELLED,
    "svm": LABELLED,
    "check": {"schema": FEW},
    "describe": {"schema": FEW},
    "plan": {"model": dps.ols("time ~ maker", None, SCHEMA)},
    "compare": {"fits": (capacitor(),)},
    "Ledger": {"total": BUDGET, "path": "new.ledger"},
    "use_ledger": {"path": None},  # of another, all fits of the tests that follow would charge it
    "PublicMoments.load": {"path": "moments.json"},
    "CurveFit.load": {"path": "curve.json"},
    "CurveFit.predict": {"times": 300.0},
    "CurveFit.rmst": {"until": 300.0},
    "Description.load": {"path": "look.json"},
    "Description.save": {"path": "new.look.json"},
    "PublicMoments.save": {"path": "new.moments.json"},
    "CurveFit.save": {"path": "new.curve.json"},
    "write_messages": {"path": "new.jsonl"},
    "load": {"path": "fit.json"},
    "read_csv": {"path": "d.csv"},
    "read_sql": {"query": "SELECT 1 AS x", "connection": sqlite3.connect(":memory:")},
    "Plan.load": {"path": "plan.json"},
    "GlmModel.plan": {"n": 400},  # of few rows many fits are planned
    "Schema.load": {"path": "s.json"},
    "Plan.from_dict": {"content": PLAN.to_dict()},
    "Fit.load": {"path": "fit.json"},
    "Fit.save": {"path": "new.fit.json"},
    "Fit.predict": {"type": "quantile"},
    "LinearFit.drop": {"terms": ["alcohol"]},
    "LinearFit.update": {"formula": ". ~ . - alcohol"},
    "Fit.forecast": {"horizon": 300.0},
    **{f"Fit.{name}": {"times": 300.0} for name in ("reliability", "conditional_reliability", "hazard")},
}
TOML = "\n".join(f'{name} = {{kind = "bounded", lower = 0, upper = 1}}' for name in "xz")


def _of_fit(fit: Any, at: dict[str, Any]) -> dict[str, Any]:
    first = fit.names[1]
    term = next((name for name in at if isinstance(at[name], str)), "none")
    return {
        "newdata": at,
        "use": at,
        "stress": at,
        "fleet": at | {"age": 100.0},
        "hypothesis": f"{first} = 0",
        "term": term,
        "content": fit.to_dict(),
        "y": [100.0],
    }


def _holders() -> list[tuple[Any, dict[str, Any]]]:
    """An object of every public class, and of what public functions return, with good arguments."""
    models = [
        dps.survreg("Surv(time, failed) ~ maker", FRAME, SCHEMA),
        dps.coxph("Surv(time, failed) ~ maker", FRAME, SCHEMA),
        dps.kaplan_meier("Surv(time, failed) ~ maker", FRAME, SCHEMA),
        dps.ols("time ~ maker", FRAME, SCHEMA),
        dps.svm("failed ~ maker", FRAME, FLAGGED),
        dps.glm("time ~ maker", FRAME, SCHEMA, "gamma"),
    ]
    logit = (dps.logit("failed ~ maker", FRAME, FLAGGED), {"plan": CHOICES, "messages": LABELS})
    fits = [(fit, _of_fit(fit, dict(at))) for fit, at in (EVERY[name] for name in FITS)]
    fit, given = fits[-1]
    found = (
        fit.summary(),
        fit.t_test("x = 0"),
        fit.t_test_pairwise("z"),
        fit.marginal_effects(given["newdata"]),
        MEANS,
        fit.get_prediction(given["newdata"]),
        models[0].fit(dps.pure(9), force=True).life({"maker": "WDC"}),
        capacitor().forecast({**USE, "age": 100.0}, 300.0),
    )
    effects = {
        "effects": {"load": 0.3},
        "half_width": {"load": 0.08},  # about as planned: far from it many plans are made
        "newdata": {"load": 2.0},
    }
    ledger = dps.Ledger(Path(tempfile.mkdtemp(), "a.ledger"), dps.approx(1e9, 1e-3))
    contents = [(each, {"content": each.to_dict()}) for each in (CURVE, MOMENTS, LOOK)]
    budgets = (BUDGET, dps.pure(1), dps.zcdp(1), dps.gdp(1))
    plain = (SCHEMA, *budgets, PLAN, *models, *found, CURVE.logrank(), MESSAGES[0], ledger, ledger.report())
    return [
        *((each, {}) for each in plain),
        (AHEAD, effects),
        (dps.check(FRAME, FEW), {}),
        *contents,
        logit,
        *fits,
    ]


FITS = ("survreg-weibull", "coxph", "ols", "logit", "glm-poisson", "glm-gamma", "svm")


# what a kind of budget says to a ledger and to the account of a fit
COMPOSING = ("promise", "rule", "cost_of")


def _methods(owner: Any) -> list[str]:
    """The package's public functions of a class, or those that an object shows."""
    kind = owner if inspect.isclass(owner) else type(owner)
    inner = COMPOSING if issubclass(kind, Budget) else ()
    names = [name for name in dir(owner) if not name.startswith("_") and name not in inner]
    found = [(name, getattr(kind, name, None)) for name in names]
    return [name for name, each in found if callable(each) and each.__module__.startswith("dpstats")]


def _public(
    holders: list[tuple[Any, dict[str, Any]]],
) -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    """Every public function, class and method of these holders with good arguments."""
    for name in dps.__all__:
        found = getattr(dps, name)
        if callable(found) and found not in (*OWN, dps.Fit):  # a Fit is made by models alone
            yield name, found, GIVEN.get(name, {})
    for function in (dps.datasets.load, contribute_rows, write_messages):
        yield function.__name__, function, GIVEN.get(function.__name__, {})
    for holder, given in holders:
        for name in _methods(holder):
            full, any_fit = f"{type(holder).__name__}.{name}", isinstance(holder, dps.Fit)
            of_fits = GIVEN.get(f"Fit.{name}", {}) if any_fit else {}
            yield full, getattr(holder, name), {**given, **of_fits, **GIVEN.get(full, {})}


HOLDERS = _holders()
PUBLIC = list(_public(HOLDERS))
# parts of what is public that no page of the documents calls
INNER = ("PooledCharges", "Promise", "TablePart", "CsvFile", "CsvPart", "Objects", "Texts", "Norm")


def _kinds_of(hint: Any) -> set[type]:
    """The package's classes in an annotation."""
    if inspect.isclass(hint):
        return {hint} if hint.__module__.startswith("dpstats") else set()
    return {kind for part in get_args(hint) for kind in _kinds_of(part)}


def test_every_class_that_can_be_reached_is_in_the_table() -> None:
    """What public functions, methods and properties say that they return has methods that are called, too."""
    functions = [each for _, each, _ in PUBLIC]
    late = {"Axes": Any, "FitPlan": FitPlan}  # what modules import for type checkers alone
    kinds: set[type] = set()
    for function in functions:
        is_class = inspect.isclass(function)
        given = function if is_class else get_type_hints(function, localns=late).get("return")
        for kind in _kinds_of(given) - kinds:
            kinds.add(kind)
            members = [getattr(kind, name) for name in (*_methods(kind), *_properties(kind))]
            functions += [one.fget if isinstance(one, property) else one for one in members]
    held = tuple({type(holder) for holder, _ in HOLDERS})
    kinds -= {base for kind in held for base in kind.__mro__}  # a fit is of a kind of Fit
    missing = {kind.__name__ for kind in kinds if _methods(kind) and not issubclass(kind, held)}
    assert missing == set(INNER)


def _properties(kind: type) -> list[str]:
    return [name for name in dir(kind) if name[0] != "_" and isinstance(getattr(kind, name), property)]


ALWAYS = ("newdata", "use", "fleet", "horizon", "total", "formula", "y", "fits", "times", "n")


def _call(function: Callable[..., Any], wrong: str, value: Any, given: dict[str, Any]) -> Any:
    """`function` with one argument replaced, and the others that it needs as they should be."""
    positional, keywords = [], {}
    for parameter in inspect.signature(function).parameters.values():
        name, needed = parameter.name, parameter.default is parameter.empty
        if name == wrong:
            chosen = value
        elif name in given and (needed or name in ALWAYS) or name in COMMON and (needed or name == "force"):
            chosen = given.get(name, COMMON.get(name))
        else:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            keywords["x"] = chosen
        elif parameter.kind is parameter.VAR_POSITIONAL:
            positional.extend([chosen] if name == wrong else chosen)
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(chosen)
        else:
            keywords[name] = chosen
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*positional, **keywords)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of each kind that is read; plans are of few fits, as nobody looks at what they say."""
    monkeypatch.chdir(tmp_path)
    few_fits(monkeypatch)
    FRAME.to_csv("d.csv", index=False)
    capacitor().save("fit.json")
    PLAN.save("plan.json")
    CURVE.save("curve.json")
    LOOK.save("look.json")
    MOMENTS.save("moments.json")
    SCHEMA.save("s.json")
    Path("s.toml").write_text(TOML)


def kept(error: BaseException) -> set[str]:
    """Frames below the caller's that keep a local variable, and errors that lead to a cell.

    A frame may keep the public function itself, as the one that forgets the rest does.
    """
    found, chain = set(), [error]
    for one in chain:
        chain += [each for each in (one.__cause__, one.__context__) if each is not None]
        for frame, _ in traceback.walk_tb(one.__traceback__):
            if frame.f_code.co_filename != __file__ and set(frame.f_locals) - {"make"}:
                found.add(f"{frame.f_code.co_qualname} {set(frame.f_locals)}")
        if CANARIES.search(repr((one.args, vars(one), getattr(one, "obj", None)))):
            found.add(type(one).__name__)
    return found


@pytest.mark.parametrize(
    "function, given", [pytest.param(function, given, id=name) for name, function, given in PUBLIC]
)
def test_no_message_shows_a_cell(function: Callable[..., Any], given: dict[str, Any], folder: None) -> None:
    """Whichever of its arguments is wrong."""
    faults = {
        f"{wrong}: {kind}": fault
        for wrong in inspect.signature(function).parameters
        if wrong != "ax"
        for kind, fault in _faults(function, wrong, given)
    }
    assert not faults, "\n" + "\n".join(f"{where}: {fault}" for where, fault in faults.items())


def _faults(function: Callable[..., Any], wrong: str, given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Of errors at each kind of thing in the place of one argument: the kind, and what is wrong."""
    Path("out.json").unlink(missing_ok=True)  # nothing is saved over another
    for kind, make in HOSTILE.items():
        try:
            _call(function, wrong, make(), given)
        except Exception as error:
            message = str(error)
            if kind == min(HOSTILE):  # no repr raises
                traceback.TracebackException.from_exception(error, capture_locals=True)
            if CANARIES.search(message):
                yield kind, f"{type(error).__name__}: {message[:200]}"
            elif kept(error):
                yield kind, f"kept in {', '.join(kept(error))}"
            elif not isinstance(error, OWN):
                yield kind, f"not our own: {type(error).__name__}: {message[:120]}"


def _rows_in() -> Iterator[Any]:
    """Every public function that takes new data, and the argument that has them."""
    for name, function, given in PUBLIC:
        for wrong in sorted(set(ROWS) & set(inspect.signature(function).parameters) & set(given)):
            if isinstance(given[wrong], dict):
                yield pytest.param(function, wrong, given, id=f"{name}-{wrong}")


@pytest.mark.parametrize("function, wrong, given", list(_rows_in()))
def test_no_message_shows_a_cell_of_new_data(
    function: Callable[..., Any], wrong: str, given: dict[str, Any]
) -> None:
    """Where the columns are those that the formula needs, and a cell is none that is declared."""
    at, cell, faults, refused = given[wrong], f"{NUMBER} {CELL}", [], 0
    for name in at:
        row = at | {name: cell}
        for rows in (
            row,
            [at, row],
            pd.DataFrame([at, row], index=[cell, cell]),
            {k: [row[k]] * 2 for k in row},
        ):
            try:
                _call(function, wrong, rows, given)
            except Exception as error:
                refused += 1
                if CANARIES.search(str(error)) or kept(error) or not isinstance(error, OWN):
                    faults.append(f"{name}: {type(error).__name__}: {error} {kept(error)}")
    assert refused and not faults, "\n" + "\n".join(faults)


def _of_dataclass(kind: type) -> bool:
    """Whether its __repr__ is that of fields, all of which are set before any of them is checked."""
    return is_dataclass(kind) and kind.__dataclass_params__.repr  # type: ignore[attr-defined]


def test_what_is_not_complete_can_be_shown(tmp_path: Path) -> None:
    """A debugger asks an object while it is being made; a ledger's file may be gone."""
    kinds = {type(holder) for holder, _ in HOLDERS}
    shown = {kind for kind in kinds if "__repr__" in vars(kind) and not _of_dataclass(kind)}
    kinds = shown | {kind for kind in kinds if issubclass(kind, dps.Fit)}
    assert len(kinds) > 8
    for kind in kinds:
        assert kind.__name__ in repr(object.__new__(kind))
    ledger = dps.Ledger(tmp_path / "a.ledger", total=BUDGET)
    (tmp_path / "a.ledger").unlink()
    assert repr(ledger) == "<Ledger, not complete>"


def test_good_arguments_are_taken(folder: None) -> None:
    """Else another argument might be refused before the one that is tested; a method is of some fit."""
    refused: dict[str, str] = {}
    taken = set()
    for name, function, given in _public(_holders()):  # one that other tests have not called
        Path("out.json").unlink(missing_ok=True)  # nothing is saved over another
        try:
            _call(function, "", None, given)
            taken.add(function.__qualname__)
        except OWN as error:
            refused[function.__qualname__] = f"{name}: {type(error).__name__}: {error}"
    assert not {name: why for name, why in refused.items() if name not in taken}
