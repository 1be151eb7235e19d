"""What a user knows of variables before any row is read: spreads and correlations, or public rows."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dpstats._arguments import by_type, near, number, shown
from dpstats.errors import SpecificationError
from dpstats.formula import Design, SurvResponse
from dpstats.formula.reader import variable_in
from dpstats.formula.response import Response
from dpstats.formula.spelling import spelt
from dpstats.formula.variables import VariableColumns
from dpstats.moments import PublicMoments
from dpstats.results import Description
from dpstats.results.column_moments import ColumnMoments
from dpstats.results.description import inside
from dpstats.rows import open_rows
from dpstats.schema import Levels, Schema, Variable, level_text

_LEAST_SHARE = 0.001  # of a flag, which a plan wants strictly between 0 and 1


def cells(name: str, variable: Variable) -> list[str]:
    """Names of the levels of a category, as columns of a design have them."""
    return [f"{name}[T.{level}]" for level in variable.all]


def of_public(moments: PublicMoments, design: Design, response: str | None) -> dict[Any, Any]:
    """Means, sds, shares and correlations of public rows, as ``covariates=`` of a plan takes them.

    The response is among them where it is a variable.

    Raises
    ------
    SpecificationError
        If the moments are of other columns, or columns are not variables or levels of one.
    """
    if moments.names != design.names:
        raise SpecificationError(
            "covariates= has public moments of other columns than the model's; compute them by "
            f"public_moments({design.formula!r}, ...)"
        )
    if not design.has_intercept:
        raise SpecificationError("public moments say no means without an intercept; give a public frame")
    explained = response is not None and variable_in(moments.formula.partition("~")[0].strip()) == response
    own = [*design.alone[1:], *([(response, None)] if response and explained and not design.offset else [])]
    joint = np.block([[moments.xx, moments.xy[:, None]], [moments.xy, moments.yy]])[: len(own) + 1]
    mean = joint[0, : len(joint)]
    cov = joint[:, : len(joint)] - np.outer(mean, mean)
    sd = np.sqrt(np.maximum(np.diag(cov), 0.0))
    with np.errstate(all="ignore"):
        corr = np.nan_to_num(cov / np.outer(sd, sd))
    return of_columns(design.schema, own, mean[1:], sd[1:], corr[1:, 1:])


def of_table(
    frame: pd.DataFrame, names: tuple[str, ...], design: Design, response: str | None
) -> "Knowledge":
    """Public rows, those without a gap, and what they say of the response or its event.

    Raises
    ------
    SpecificationError
        If a column is missing, or no row can be used.
    """
    own = response if response is not None and response in frame else None
    read = VariableColumns(Schema(design.schema.variables), names if own is None else (*names, own))
    if not read.names:
        return Knowledge({}, {}, {}, frame, ())
    blocks = open_rows(frame, read.schema, read.names).blocks()
    values = np.concatenate([np.empty((0, len(read.names))), *(read.read(block).exog for block in blocks)])
    whole = ~np.isnan(values).any(axis=1)
    if not whole.any():
        raise SpecificationError(
            f"covariates= is a table without a row that has {', '.join(read.names)} as the schema declares it"
        )
    y, lacking = values[whole, -1], float(np.mean(~whole))
    mine = _of_response(own, _of_one(design.schema, own, y.mean(), y.std()) if own else {}, design.schema)
    return Knowledge({}, {}, {}, frame[whole], (), (lacking, lacking, lacking), response=mine)


def _of_one(schema: Schema, name: str, mean: float, sd: float) -> dict[str, Any]:
    return of_columns(schema, [(name, None)], np.array([mean]), np.array([sd]), np.eye(1))


def of_fit(moments: ColumnMoments, response: str | None) -> dict[Any, Any]:
    """The same of a fit's columns, and of the response that it explains by a line.

    Raises
    ------
    SpecificationError
        If they are of failures alone, or columns are not variables or levels of one.
    """
    if moments.of != "rows":
        raise SpecificationError(
            "covariates= has the moments of a fit of times, which are of the rows that fail, and a plan "
            "needs those of all rows; give means and sds, or what dps.describe returned"
        )
    corr, design, sds = moments.matrix, moments.design, moments.sds.to_numpy()
    pairs, own = np.eye(len(sds)) if corr is None else corr.to_numpy(), design.alone[-len(sds) :]
    told = of_columns(design.schema, own, moments.means.to_numpy(), sds, pairs)
    if moments.response and response and response == design.response.measured.name:
        told |= _of_one(design.schema, response, *moments.response)
    names = [_key(*each) for each in own if each]
    hidden = {name for name, sd in zip(names, sds, strict=True) if np.isnan(sd)}
    return _of_names(told, {*design.schema, *names} - hidden)


def _key(name: str, level: str | None) -> str:
    """A variable, or a level of it, as correlations name it."""
    return name if level is None else f"{name}[T.{level}]"


def _of_names(told: Mapping[Any, Any], names: set[str]) -> dict[Any, Any]:
    """What is told of these variables or columns, and of pairs of them."""
    return {
        key: value
        for key, value in told.items()
        if names.issuperset(key if isinstance(key, tuple) else (key,))
    }


def of_columns(
    schema: Schema,
    columns: Sequence[tuple[str, str | None] | None],
    mean: np.ndarray,
    sd: np.ndarray,
    corr: np.ndarray,
) -> dict[Any, Any]:
    """The same of columns of a number, a flag or a level; None is of another column."""
    told: dict[Any, Any] = {}
    tied: list[tuple[int, str, str]] = []  # columns whose correlations can be told
    for j, column in enumerate(columns):
        if column is None:
            raise SpecificationError(
                "moments tell of columns, and a plan needs variables: give a public frame, or means and sds "
                "of variables, where the formula transforms or multiplies them"
            )
        (name, level), variable = column, schema[column[0]]
        if isinstance(variable, Levels):
            told.setdefault(name, {})[level] = float(mean[j])
        elif not variable.all:
            told[name] = inside(variable.bounds, mean[j], sd[j])
        else:
            told[name] = float(np.clip(mean[j], _LEAST_SHARE, 1 - _LEAST_SHARE))
        if not (isinstance(variable, Levels) and level == variable.all[0]):
            tied.append((j, name, _key(name, level)))
    for name, shares in told.items():
        if isinstance(shares, dict):
            missing = [level for level in schema[name].all if level not in shares]
            shares.update(dict.fromkeys(missing, max(1 - sum(shares.values()), 0.0) / max(len(missing), 1)))
    for (i, one, first), (j, other, second) in itertools.combinations(tied, 2):
        if one != other:
            told[first, second] = float(np.clip(corr[i, j], -0.999, 0.999))
    return told


Pair = tuple[str, str]

MOST_SKEWED = 100.0  # a log-normal law whose logarithm has an sd of 1.8


@dataclass(frozen=True)
class Spread:
    """Mean and sd of a number; the sd of a flag follows from its share of ones.

    Attributes
    ----------
    mean, sd : float
    skewness : float or None
        Third central moment over sd^3; None for what the bounds suggest.
    kurtosis : float or None
        Fourth central moment over sd^4, less the 3 of a normal law; None for what the others suggest.
    assumed : bool
        Whether they are those of even values over the bounds, because nothing better is known.
    """

    mean: float
    sd: float
    skewness: float | None = None
    kurtosis: float | None = None
    assumed: bool = False


@dataclass(frozen=True)
class Knowledge:
    """What made-up rows are drawn from.

    Attributes
    ----------
    spreads : dict of Spread
        Of numbers, counts, flags and events that the user or the bounds tell of.
    shares : dict of tuple of float
        Of the levels of each category, in the schema's order.
    correlations : dict of float
        Of pairs of numbers, flags and levels, such as ``maker[T.WDC]``; 0 of others.
    frame : DataFrame or None
        Public rows, in the place of all this.
    assumed : tuple of str
        Variables of which nothing is known.
    lacking : tuple of float
        Share of the rows that lack a value, and its limits where noise is in it.
    inside : float
        Share of the rows that are in the model's subset, where all that is made up are.
    subset : str or None
        Of which rows all this is described, where they are not those of the model.
    response : Spread or None
        Of the response, or of its event; None where nothing is told of it.
    not_private : bool
        Whether it follows from a description or a fit that is not private.
    """

    spreads: dict[str, Spread]
    shares: dict[str, tuple[float, ...]]
    correlations: dict[Pair, float]
    frame: pd.DataFrame | None
    assumed: tuple[str, ...]
    lacking: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inside: float = 1.0
    subset: str | None = None
    not_private: bool = False
    response: Spread | None = None

    def stretched(self, factor: float) -> "Knowledge":
        """The same with other sds of the numbers of which nothing is known."""
        spreads = {
            name: Spread(one.mean, one.sd * factor, assumed=True) if one.assumed else one
            for name, one in self.spreads.items()
        }
        return replace(self, spreads=spreads)

    @property
    def may_be_tied(self) -> bool:
        """Whether there are numbers or flags whose correlations are not told."""
        return not self.correlations and len(self.spreads) > 1

    def tied(self, rho: float) -> "Knowledge":
        """The same with this correlation of all numbers and flags."""
        return replace(self, correlations=dict.fromkeys(itertools.combinations(self.spreads, 2), rho))


def drawn_variables(design: Design) -> tuple[str, ...]:
    """Variables that made-up rows have before their response: all others, and the time of a late entry."""
    response = design.response
    return tuple(
        name
        for name in design.variables
        if name not in response.variables or (response.entry and name == response.entry.name)
    )


def told_of(response: Response) -> tuple[str, float | None]:
    """What may be told of a response: its event, and the value of one that failed, or itself and None."""
    event = response.event if isinstance(response, SurvResponse) else None
    return event or (response.measured.name or response.text, None)


def of_subset(given: Any, design: Design) -> bool:
    """Whether a description or a fit tells of the rows of the model's subset, and how many they are."""
    return (
        isinstance(given, Description | ColumnMoments)
        and given.weighing is not None
        and design.subset is not None
        and spelt(design.subset, design.schema) == spelt(given.subset or "", design.schema)
    )


def read_known(given: Any, design: Design, response: str | None, inside: bool = False) -> Knowledge:
    """Read ``covariates=``.

    Parameters
    ----------
    given : dict, DataFrame, PublicMoments, ColumnMoments, Description or None
    design : Design
    response : str or None
        The response or its event, if it is a variable: it may be told of, too.
    inside : bool
        Whether what is given is of the rows of the model's subset, which the design then leaves out.

    Raises
    ------
    SpecificationError
        If it names no variable of the formula, or says what cannot be.
    """
    names = drawn_variables(design)
    if isinstance(given, pd.DataFrame):
        return of_table(given, names, design, response)
    if isinstance(given, PublicMoments):
        given = of_public(given, design, response)
    readable = {*names, *([response] if response else [])}
    rows: dict[str, Any] = {}
    if isinstance(given, Description | ColumnMoments):
        rows = {"inside": given.weighing} if inside else {"subset": given.subset}
        rows["not_private"] = given.not_private
        if isinstance(given, Description):
            rows["lacking"] = given._lacking(set(design.variables) - design.response.open)
        told = given.covariates if isinstance(given, Description) else of_fit(given, response)
        given = _of_names(told, readable)
    if given is not None and not isinstance(given, Mapping):
        raise SpecificationError(
            "covariates= is a dict such as {'temp': (25, 6)}, mean and sd of each variable, a frame of "
            f"public rows, PublicMoments, fit.moments or what dps.describe returned, not {shown(given)}"
        )
    told = dict(given or {})
    pairs = {key: told.pop(key) for key in list(told) if isinstance(key, tuple)}
    if unread := set(told) - readable:
        left = design.response
        raise SpecificationError(
            f"{left.text!r} is of another scale than its variable: leave it out of covariates= and give "
            f"scale=, the sd of residuals of {left.text!r}"
            if unread <= {left.text, *left.variables}
            else "covariates= names something that the formula does not read; it reads "
            f"{', '.join(sorted(readable)) or 'no variable'}{near(unread, sorted(readable))}"
        )
    mine = _of_response(response, told, design.schema)
    spreads, shares, assumed = _marginals(told, names, design.schema)
    places = {name: name for name in (*spreads, *([response] if response and mine else []))}
    for name in shares:
        if both := sorted(spreads.keys() & cells(name, design.schema[name])):
            raise SpecificationError(
                f"{both[0]!r} is what a plan calls a level of {name!r}; rename the variable"
            )
    places |= {cell: name for name in shares for cell in cells(name, design.schema[name])[1:]}
    return Knowledge(spreads, shares, _correlations(pairs, places), None, assumed, response=mine, **rows)


def _marginals(
    told: Mapping[str, Any], names: Sequence[str], schema: Schema
) -> tuple[dict[str, Spread], dict[str, tuple[float, ...]], tuple[str, ...]]:
    spreads: dict[str, Spread] = {}
    shares: dict[str, tuple[float, ...]] = {}
    for name in names:
        variable = schema[name]
        if isinstance(variable, Levels):
            shares[name] = _shares(name, told.get(name), variable)
        elif variable.all:
            spreads[name] = _share(name, told.get(name, 0.5))
        else:
            spreads[name] = _spread(name, told.get(name), variable.bounds)
    return spreads, shares, tuple(name for name in names if name not in told)


def _spread(name: str, given: Any, bounds: tuple[float, float]) -> Spread:
    low, high = bounds
    if given is None:
        return Spread((low + high) / 2, (high - low) / 12**0.5, assumed=True)
    told = f"covariates= takes (mean, sd) of {name!r}"
    if not (isinstance(given, list | tuple) and 2 <= len(given) <= 4):
        raise SpecificationError(f"{told}, {{{name!r}: (mean, sd)}}, and not {by_type(given)}")
    mean, sd = number(f"the mean of {name!r}", given[0]), number(f"the sd of {name!r}", given[1])
    if not low < mean < high:
        swapped = "; are they in the other order?" if 0 < mean < _most(sd, low, high) else ""
        raise SpecificationError(
            f"{told}, and the mean must lie between its bounds, {low:g} and {high:g}{swapped}"
        )
    most = _most(mean, low, high)
    if not 0 < sd < most:
        raise SpecificationError(
            f"{told}, and the sd must be positive and below {most:.6g}, as its bounds allow no more; "
            "a range, a variance or values of rows are no mean and sd"
        )
    skewness = number(f"the skewness of {name!r}", given[2]) if len(given) > 2 else None
    if skewness is not None and not abs(skewness) <= MOST_SKEWED:
        raise SpecificationError(
            f"the skewness of {name!r} must lie between -{MOST_SKEWED:g} and {MOST_SKEWED:g}"
        )
    kurtosis = number(f"the kurtosis of {name!r}", given[3]) if len(given) > 3 else None
    if skewness is not None and kurtosis is not None and not skewness**2 - 2 < kurtosis <= MOST_SKEWED**4:
        raise SpecificationError(
            f"the kurtosis of {name!r}, the fourth number, must be above the square of its skewness less 2; "
            "that of a normal law is 0, and of even values over a range -1.2"
        )
    return Spread(mean, sd, skewness, kurtosis)


def _most(mean: float, low: float, high: float) -> float:
    """The largest sd that bounds allow."""
    return max((mean - low) * (high - mean), 0.0) ** 0.5


def _of_response(name: str | None, told: Mapping[str, Any], schema: Schema) -> Spread | None:
    """Of a response, whose sd may be left to ``scale=``; None where nothing is told of it."""
    if name is None or (given := told.get(name)) is None:
        return None
    variable = schema[name]
    if variable.all:
        return _share(name, given)
    if isinstance(given, list | tuple):
        return _spread(name, given, variable.bounds)
    low, high = variable.bounds
    mean = number(f"the mean of {name!r}", given)
    if not low < mean < high:
        raise SpecificationError(f"the mean of {name!r} must lie between its bounds, {low:g} and {high:g}")
    return Spread(mean, np.nan)


def _share(name: str, given: Any) -> Spread:
    share = number(f"the share of ones of {name!r}", given)
    if not 0 < share < 1:
        raise SpecificationError(f"covariates= needs the share of ones of {name!r}, between 0 and 1")
    return Spread(share, (share * (1 - share)) ** 0.5)


def _shares(name: str, given: Any, variable: Levels) -> tuple[float, ...]:
    if given is None:
        return (1 / len(variable.all),) * len(variable.all)
    if not isinstance(given, Mapping):
        raise SpecificationError(
            f"covariates= needs the share of each level of {name!r}, such as "
            f"{{{name!r}: {{{variable.all[0]!r}: 0.5, ...}}}}, not {by_type(given)}"
        )
    given = {level_text(level): share for level, share in given.items()}
    lacking = [level for level in variable.all if level not in given]
    if unknown := set(given) - set(variable.all):
        raise SpecificationError(
            f"covariates= has {len(unknown)} name(s) that are no level of {name!r}; its levels are "
            f"{', '.join(map(repr, variable.all))}, of which {', '.join(map(repr, lacking)) or 'none'} "
            f"has no share{near(unknown, sorted(lacking))}"
        )
    shares = [number(f"a share of {name!r}", given.get(level, 0.0)) for level in variable.all]
    if not (all(0 <= share <= 1 for share in shares) and abs(sum(shares) - 1) < 0.01):
        none = f"; {', '.join(map(repr, lacking))} has none" if lacking else ""
        raise SpecificationError(
            f"the shares of the levels of {name!r} must be from 0 to 1 and add up to 1{none}"
        )
    return tuple(share / sum(shares) for share in shares)


def _correlations(given: Mapping[Any, Any], places: Mapping[str, str]) -> dict[Pair, float]:
    """By pairs of names, each of which belongs to a variable."""
    found: dict[Pair, float] = {}
    for key, value in given.items():
        if len(key) != 2 or not all(one in places for one in key) or places[key[0]] == places[key[1]]:
            raise SpecificationError(
                "a pair in covariates= is the correlation of two numbers, flags or levels of the formula, "
                "such as {('temp', 'load'): 0.3, ('maker[T.WDC]', 'temp'): 0.1}; those of the first level "
                "follow"
            )
        rho = number("a correlation in covariates=", value)
        if not -1 < rho < 1:
            raise SpecificationError("a correlation in covariates= must lie between -1 and 1")
        found[key[0], key[1]] = rho
    return found
