"""No option of a registered statistic is left out of the search for worse pairs of rows.

Options are the parameters that have a default or are truth values, of the constructor of a statistic and of
what it is made of by the design. Those that no space of `tests.privacy.spaces` turns are named here, with why
they need none. Designs with one column, without an intercept or a leading 1, and with an offset are tried
for all, by many pairs of rows instead of a search.
"""

import inspect
import itertools
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial import distance

from dpstats.curator.statistics import REGISTRY, Statistic
from tests.made import MadeBlock, MadeDesign
from tests.privacy.spaces import SPACES, Space
from tests.privacy.test_worst_case import candidates, contributions

UNTURNED = {
    "log": "test_the_logarithm_of_a_response_is_one_more_response",
    "constant": "test_no_norm_is_passed_by_rows_of_other_columns",
    "apart": "whether an offset is taken off a response that is clipped afterwards",
}
ALONE = {  # by statistic: why PilotRow's `whole` needs no space there
    "truncated_gram": "the response beside the row is not released",
    "truncated_triangle": "the response beside the row is not released",
    "residual_moments": "a residual is clipped whether or not its row scales it",
    "residual_score": "a residual is clipped whether or not its row scales it",
}


def options(made: Any, frame: Any) -> Iterator[tuple[str, str]]:
    """Of a constructor that is called: the options that it has, and what they are."""
    for kind in type(made).__mro__:
        function = vars(kind).get("__init__")
        if getattr(function, "__code__", None) is frame.f_code:
            for name, parameter in inspect.signature(function).parameters.items():
                value = frame.f_locals[name]
                if parameter.default is not parameter.empty or isinstance(value, bool):
                    yield name, "array" if isinstance(value, np.ndarray | list) else repr(value)


def turned(name: str) -> dict[str, set[str]]:
    """What the options of a statistic are in its spaces."""
    found: dict[str, set[str]] = defaultdict(set)

    def called(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name == "__init__" and {"self", "design"} <= {*frame.f_locals}:
            for option, value in options(frame.f_locals["self"], frame):
                found[option].add(value)

    before = sys.getprofile()
    for space in SPACES[name]:
        sys.setprofile(called)
        try:
            space.statistic(name, 3)
        finally:
            sys.setprofile(before)
    return found


@pytest.mark.parametrize("name", SPACES)
def test_every_option_of_a_statistic_is_turned_by_its_spaces(name: str) -> None:
    left = {option for option, values in turned(name).items() if len(values) == 1}
    allowed = {*UNTURNED, *["whole"] * (name in ALONE)}
    assert not left - allowed, f"give {name} a space with another value in tests/privacy/spaces.py"


def norms(statistic: Statistic, values: np.ndarray) -> Iterator[tuple[float, float]]:
    """The largest distance of two rows in each norm that is declared, and what is said of it."""
    yield distance.pdist(values).max(), statistic.sensitivity
    if statistic.sensitivity_l1 is not None:
        yield distance.pdist(values, "cityblock").max(), statistic.sensitivity_l1
    if statistic.sensitivity_head is not None:
        yield distance.pdist(values[:, :-1]).max(), statistic.sensitivity_head
    if statistic.ranges is not None:
        yield from zip(np.ptp(values, axis=0), statistic.ranges, strict=True)
    if statistic.sensitivity_trace is not None:
        (part,) = statistic.parts
        apart = [part.unpack(one - other) for one, other in itertools.combinations(values[:120], 2)]
        yield np.abs(np.linalg.eigvalsh(apart)).sum(axis=1).max(), statistic.sensitivity_trace


def check(statistic: Statistic, space: Space, d: int) -> float:
    """That no two of many rows are farther apart than is declared; how far they are in the L2 norm."""
    rows = candidates(d, space.half, np.random.default_rng(d), 800)
    both = [*norms(statistic, contributions(statistic, rows))]
    assert all(found <= said * (1 + 1e-9) for found, said in both)
    return both[0][0] / both[0][1]


def without_constant(space: Space) -> Space:
    """Of rows without a leading 1."""

    def public(d: int) -> dict[str, Any]:
        return dict(space.public(d - 1), center=np.zeros(d), scale=np.ones(d), constant=False)

    return space._replace(public=public)


# of which nothing is released where there is an intercept alone
OF_COVARIATES = ("cell_", "present_", "sign_", "column_bends", "location_bend", "hazard_")


@pytest.mark.parametrize("name", [name for name in SPACES if not name.startswith(OF_COVARIATES)])
def test_no_norm_is_passed_by_rows_of_other_columns(name: str) -> None:
    """An intercept alone; covariates without a leading 1, one of them or three."""
    for space in SPACES[name]:
        public = space.public(1)
        if "groups" not in public and "levels" not in public:
            check(space.statistic(name, 0), space, 0)
        if "y_center" in public:
            for d in (1, 3):
                check(without_constant(space).statistic(name, d), space, d)


def boxed_offset(space: Space) -> Space:
    """Of statistics that release the mean of the offset, with its box."""

    def public(d: int) -> dict[str, Any]:
        given = space.public(d)
        return given | {name: np.append(given[name], given[name][-1]) for name in ("center", "half")}

    return space._replace(public=public)


@pytest.mark.parametrize("name", SPACES)
def test_no_offset_of_rows_passes_a_norm(name: str) -> None:
    """In each space of rows that are all there and alike in all else."""
    for space in SPACES[name]:
        if space.plain and not space.weighted:
            of = boxed_offset(space) if name == "column_means" else space
            check(of._replace(shifted=True).statistic(name, 1), space, 1)


def exponentials(block: MadeBlock) -> MadeBlock:
    """The same rows, whose responses are logarithms of these times."""
    ends = block.ends and (np.exp(block.ends[0]), np.exp(block.ends[1]))
    return replace(block, time=np.exp(block.time), entry=np.exp(block.entry), ends=ends)


def of_changed(
    space: Space,
    name: str,
    change: Callable[[MadeBlock], MadeBlock],
    public: dict[str, Any],
    d: int = 1,
    **more: Any,
) -> Statistic:
    """The statistic of rows that are changed after they are those of the space."""
    design = MadeDesign(d, delayed=space.delayed, intervals=space.intervals, strata=space.strata, **more)
    made = REGISTRY[name](design, **public)
    factors = made.factors
    made.factors = lambda block, scratch: factors(change(space._changed(block)), scratch)  # type: ignore[method-assign]
    return made


DECLARED = ("sensitivity", "sensitivity_l1", "sensitivity_head", "sensitivity_trace")


# a generalised linear model has the response as it is, whatever its map says
LOGGED = [name for name in SPACES if "log" in SPACES[name][0].public(1) and name != "truncated_score"]


@pytest.mark.parametrize("name", [*LOGGED, "log_likelihood"])
def test_the_logarithm_of_a_response_is_one_more_response(name: str) -> None:
    """Of times whose logarithms are the responses, rows give the same; and the same is declared of them."""
    for space in SPACES[name]:
        plain = of_changed(space, name, lambda block: block, space.public(1) | {"log": False})
        logged = of_changed(space, name, exponentials, space.public(1) | {"log": True})
        rows = candidates(1, min(space.half, 9.0), np.random.default_rng(1), 300)
        apart = contributions(plain, rows) - contributions(logged, rows)
        assert np.abs(apart).max() <= 1e-9 * plain.sensitivity
        for declared in DECLARED:
            assert getattr(plain, declared) == getattr(logged, declared)
        assert repr(plain.ranges) == repr(logged.ranges)


def without_intercept(space: Space, name: str, d: int) -> Statistic:
    """Of a design whose columns are covariates alone, as some statistics have numbers for all columns."""

    def cut(block: MadeBlock) -> MadeBlock:
        return replace(block, exog=block.exog[:, 1:])

    public = space.public(d)
    if name == "rows_apart" and "line" in public:  # the others of its numbers are for each covariate
        public["line"] = public["line"][1:]
    try:
        return of_changed(space, name, cut, public, d, has_intercept=False)
    except ValueError:
        return of_changed(space, name, cut, space.public(d - 1), d, has_intercept=False)


@pytest.mark.parametrize("name", SPACES)
def test_no_norm_is_passed_where_there_is_no_intercept(name: str) -> None:
    """In each space, and in one at least two thirds of what is declared is reached."""
    tried = itertools.product(SPACES[name], (1, 3))
    made = [(space, d) for space, d in tried if d > 1 or "groups" not in space.public(1)]
    assert max(check(without_intercept(space, name, d), space, d) for space, d in made) >= 2 / 3
