"""The private first look at variables: what was released, what follows from it, and how it is printed.

It prints as a table of numbers for each variable, and one of correlations.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd

from dpstats._arguments import Axes, axes, count, frozen
from dpstats._private import forgetful
from dpstats._stored import Stored
from dpstats.errors import SpecificationError
from dpstats.moments.cell_table import PROBABILITIES, CellTable, CoarseCounts, Noise, NumberAndInterval
from dpstats.moments.described import BoxSums, ColumnSums, Products, mean_of, reach_of, sd_of
from dpstats.moments.spread import Z95
from dpstats.results.document import (
    LEAST_SHARE,
    Document,
    Shown,
    marked,
    pairs_frame,
    pairs_table,
    privacy_table,
)
from dpstats.results.intervals import check_level
from dpstats.results.plotting import finished
from dpstats.results.table import (
    Facts,
    asked_and_paid,
    banner,
    heading,
    in_unit,
    level_percent,
    plain_facts,
    read_facts,
    weighing,
)
from dpstats.schema import Bounded, Levels, Schema, Variable

_SUMS = ("center", "half", "first", "second", "second_sd")
_PRODUCTS = ("sums", "missing", "sums_sd", "missing_sd")


def _plain_column(column: ColumnSums) -> dict[str, Any]:
    table, sums = column.table, column.sums
    numbers = {} if sums is None else {name: getattr(sums, name) for name in _SUMS}
    return {
        "edges": table.edges.tolist(),
        "counts": table.raw.tolist(),
        "rows": table.rows,
        "noise": list(table.noise),
        **(
            {}
            if (coarse := table.coarse) is None
            else {
                "coarse": {
                    "places": coarse.places.tolist(),
                    "counts": coarse.raw.tolist(),
                    "noise": list(coarse.noise),
                }
            }
        ),
        "sums": None if sums is None else {"noise": list(sums.noise), **numbers},
    }


def _column(variable: Variable, content: Mapping[str, Any]) -> ColumnSums:
    levels = len(variable.all)  # none of a number
    edges, counts = _array(content["edges"]), _array(content["counts"])
    rows = None if content["rows"] is None else float(content["rows"])
    coarse = _coarse(content["coarse"], len(edges)) if "coarse" in content else None
    table = CellTable(
        variable.bounds,
        edges,
        counts,
        _noise(content["noise"]),
        rows,
        not isinstance(variable, Bounded),
        coarse,
    )
    sums = content["sums"]
    rising = bool((np.diff(edges) > 0).all()) and len(counts) == len(edges) + 2
    known = sums is None and len(counts) == levels + 1 if levels else sums is not None
    _hold(rising and known, "counts")
    if sums is None:
        return ColumnSums(table, None)
    values = {name: float(sums[name]) for name in _SUMS}
    _hold(values["half"] > 0 and values["second_sd"] >= 0, "sums")
    return ColumnSums(table, BoxSums(noise=_noise(sums["noise"]), **values))


def _coarse(content: Mapping[str, Any], edges: int) -> CoarseCounts:
    """Of a table of so many edges."""
    places, counts = frozen(content["places"], int), _array(content["counts"])
    known = bool(((places >= 0) & (places < edges)).all()) and bool((np.diff(places) > 0).all())
    _hold(known and len(counts) == len(places) + 2, "coarse counts")
    return CoarseCounts(places, counts, _noise(content["noise"]))


def _noise(content: Any) -> Noise:
    law, size, sd = content
    _hold(int(size) >= 1 and float(sd) >= 0, "noise")
    return Noise(str(law), int(size), float(sd))


def _products(content: Mapping[str, Any], count: int) -> Products:
    arrays = {name: _array(content[name]) for name in _PRODUCTS}
    _hold(all(array.shape == (count, count) for array in arrays.values()), "products")
    stretch = float(content["stretch"]) if "stretch" in content else None
    _hold(stretch is None or 1 <= stretch < np.inf, "length to which rows were shortened")
    return Products(law=str(content["law"]), stretch=stretch, **arrays)


def _array(values: Any) -> np.ndarray:
    array = frozen(values)
    _hold(bool(np.isfinite(array).all()), "numbers")
    return array


def _hold(whole: bool, what: str) -> None:
    """Refuse a file that was edited."""
    if not whole:
        raise SpecificationError(f"the {what} of a saved description cannot be: the file was changed")


def inside(bounds: tuple[float, float], mean: float, sd: float) -> tuple[float, float]:
    """Mean and sd that bounds allow, from noisy ones."""
    low, high = bounds
    inner = 1e-9 * (high - low)
    mean = min(max(float(mean), low + inner), high - inner)
    return mean, min(max(float(sd), inner), 0.99 * ((mean - low) * (high - mean)) ** 0.5)


_NOTE = (
    "Numbers are of the usable cells of a variable, moved into its declared bounds; 'missing' is the share "
    "of cells that no fit can use. std err and the intervals count sampling and privacy noise; 'privacy' is "
    "the share of the variance that is privacy noise."
)
_GRID = (
    " 'grid' is that of not knowing where a quantile lies in a cell by which rows were counted: where values "
    "lie in heaps, as whole numbers do, it may be anywhere there, which no budget changes."
)
_PAIRS = "Correlations are over the rows that have both numbers."
_BESIDE = "Those without weight are among the rows above, but neither usable nor missing."


QUANTILES = dict(zip(("5 %", "25 %", "median", "75 %", "95 %"), PROBABILITIES, strict=True))
_DIGITS = 2  # of suggested bounds


@partial(forgetful, change=marked)
@dataclass(frozen=True, slots=True, repr=False, eq=False, kw_only=True)
class Description(Facts, Shown, Stored):
    """Private counts, means, sds, quantiles, shares and correlations of variables, with intervals.

    Attributes
    ----------
    schema : Schema
    names : tuple of str
        The variables.
    columns : tuple of ColumnSums
        What was released of each.
    products : Products or None
        Of pairs of numbers; None where there are fewer than two.
    nobs : int
    budget : Budget
    formula, method, adjacency, unit : str
    ledger : str or None
    not_private : bool

    Examples
    --------
    >>> import dpstats as dps
    >>> plant = dps.datasets.load("ccpp")
    >>> fit = dps.describe(plant.data, plant.schema, dps.zcdp(0.5), columns=["AT", "PE"])
    >>> print(fit)
    Private description...
    """

    _format, _called = "dpstats.description/1", "a saved description"
    _edited = "the saved description is incomplete or was edited"
    _unreadable = "holds no description; its save(path) did not write it"

    schema: Schema
    names: tuple[str, ...]
    columns: tuple[ColumnSums, ...]
    products: Products | None = None

    def __post_init__(self) -> None:
        count("nobs", self.nobs)
        if len(self.names) != len(self.columns) or not set(self.names) <= set(self.schema):
            raise SpecificationError("a description has one column for each name, and names of its schema")
        if (len(self.numbers) > 1) != (self.products is not None):
            raise SpecificationError("a description has products where it has two numbers or more")

    @property
    def numbers(self) -> tuple[str, ...]:
        """The variables that are numbers or counts."""
        return tuple(name for name in self.names if not self.schema[name].all)

    @property
    def weighing(self) -> float:
        """Share of the rows that weigh: of a subset, those in it."""
        return min(float(np.mean([column.table.weighing for column in self.columns])) / (self.nobs or 1), 1.0)

    def _column(self, name: str) -> ColumnSums:
        return self.columns[self.names.index(name)]

    def _in_unit(self, name: str) -> str:
        return in_unit(name, getattr(self.schema[name], "unit", None))

    @property
    def frame(self) -> pd.DataFrame:
        """Table of all numbers with 95 % limits; see :meth:`tidy`."""
        return self.tidy()

    def tidy(self, level: float = 0.95) -> pd.DataFrame:
        """Return one row for each number.

        Parameters
        ----------
        level : float
            Of the limits.

        Returns
        -------
        DataFrame
            ``variable``, ``quantity``, ``estimate``, ``std_error``, ``conf_low``, ``conf_high``,
            ``privacy_share``, the share of its variance that is privacy noise, and ``grid_share``, that of
            not knowing where in a cell of the counts a quantile is. Quantities are ``usable``
            rows, the share ``missing``, and ``mean``, ``sd`` and quantiles of numbers, or the share of each
            level, as ``share of HGST``. All but the first two are of the usable cells of the variable, moved
            into their declared bounds.

        Examples
        --------
        >>> fit.tidy(level=0.9)["quantity"].tolist()[:4]
        ['usable', 'missing', 'mean', 'sd']
        """
        check_level(level)
        heads = ("estimate", "std_error", "conf_low", "conf_high", "privacy_share", "grid_share")
        records = [
            {"variable": name, "quantity": quantity, **dict(zip(heads, found, strict=True))}
            for name in self.names
            for quantity, found in self._found(name, level)
        ]
        return pd.DataFrame(records)

    def _found(self, name: str, level: float) -> Iterator[tuple[str, NumberAndInterval]]:
        """Quantities of one variable."""
        column, variable = self._column(name), self.schema[name]
        yield "usable", column.table.in_use(level).within(0, self.nobs or math.inf)
        yield "missing", column.table.share(-1, level).within(0, 1)
        if variable.all:
            for i, text in [*enumerate(variable.all)][
                not isinstance(variable, Levels) :
            ]:  # of yes or no: yes
                yield f"share of {text}", column.table.share(i, level).within(0, 1)
        else:
            yield "mean", mean_of(column, level).within(*variable.bounds)
            yield "sd", sd_of(column, level)
            for head, p in QUANTILES.items():
                yield head, column.table.quantile(p, level).within(*variable.bounds)

    def correlations(self, level: float = 0.95) -> pd.DataFrame:
        """Return one row for each pair of numbers.

        Parameters
        ----------
        level : float
            Of the limits.

        Returns
        -------
        DataFrame
            ``first``, ``second``, ``estimate``, ``std_error``, ``conf_low``, ``conf_high`` and
            ``privacy_share``; over the rows that have both.

        Examples
        --------
        >>> fit.correlations()[["first", "second"]].values.tolist()
        [['AT', 'PE']]
        """
        check_level(level)
        products, sums = self.products, tuple(self._column(name) for name in self.numbers)
        if products is None:
            return pairs_frame((), lambda i, j: ())
        return pairs_frame(self.numbers, lambda i, j: products.correlation(i, j, sums, level).within(-1, 1))

    @property
    def covariates(self) -> dict[Any, Any]:
        """What ``dps.plan(model, budget, n, covariates=...)`` takes: means and sds, shares, correlations.

        Nothing else of the description goes into a plan, nor a mean or a correlation that may be any. An sd
        that may be 0 or noise, for all that is told, is the upper limit of its interval.
        """
        found: dict[Any, Any] = {}
        for name in self.names:
            column, variable = self._column(name), self.schema[name]
            if isinstance(variable, Levels):
                shares = np.array([column.table.share(i, 0.95).estimate for i in range(len(variable.all))])
                shares = shares / shares.sum() if shares.sum() else np.full(len(shares), 1 / len(shares))
                found[name] = dict(zip(variable.all, shares.tolist(), strict=True))
            elif variable.all:
                found[name] = float(np.clip(column.table.share(1, 0.95).estimate, 0.001, 0.999))
            elif not np.isnan(mean_of(column, 0.95).within(*variable.bounds).estimate):
                found[name] = self._moments(name)
        for _, row in self.correlations().dropna().iterrows():
            found[row["first"], row["second"]] = float(np.clip(row["estimate"], -0.99, 0.99))
        return found

    def _lacking(self, variables: Iterable[str]) -> tuple[float, float, float]:
        """Share of the rows that lack one of some variables, if gaps are independent, with 95 % limits.

        It is not below 0, where noise may put that of one variable.
        """
        tables = [self._column(name).table for name in variables if name in self.names]
        share = 1 - math.prod(each.usable / each.weighing for each in tables)
        half = Z95 * math.hypot(*(table.share(-1, 0.95).std_error for table in tables))
        return max(share, 0.0), max(share - half, 0.0), min(max(share + half, 0.0), 1.0)

    def _moments(self, name: str) -> tuple[float, float]:
        """Mean and sd that the bounds of the variable allow."""
        mean, sd = mean_of(self._column(name), 0.95).estimate, sd_of(self._column(name), 0.95)
        return inside(self.schema[name].bounds, mean, sd.estimate if sd.low > 0 < sd.estimate else sd.high)

    @property
    def reach(self) -> dict[str, tuple[float, float]]:
        """Bounds of each number that hold all of its values but one on each side, as far as can be told.

        They hold the rows that stand out from the noise, wherever these are, and the tails that mean and sd
        are told with, up to where these leave one row. They are rounded outwards to two digits of their
        distance, and lie within the declared ones. A variable of which nine in ten values seem alike keeps
        the declared ones, as nothing tells how far the others lie.
        """
        found = {}
        for name in self.numbers:
            low, high = self.schema[name].bounds
            down, up = reach_of(self._column(name))
            step = 10.0 ** (np.floor(np.log10(max(up - down, 1e-12 * (high - low)))) - _DIGITS + 1)
            down, up = np.floor(down / step) * step, np.ceil(up / step) * step
            found[name] = (max(float(f"{down:.12g}"), low), min(float(f"{up:.12g}"), high))
        return found

    @property
    def document(self) -> Document:
        """The printed tables."""
        frame, pairs, whose = self.frame, pairs_table(self.correlations()), self.schema.privacy_unit
        tables = []
        for name in self.names:
            rows = frame[frame["variable"] == name].itertuples()
            tables.append(privacy_table(self._in_unit(name), ((str(row.quantity), row) for row in rows)))
        return Document(
            title=heading(self, "description"),
            banner=banner(self),
            head=tuple(asked_and_paid(self)),
            tables=(*tables, *pairs),
            notes=(
                _NOTE + _GRID * bool((frame["grid_share"] > LEAST_SHARE).any()),
                *[_PAIRS] * len(pairs),
                *[f"{weighing(whose)} {_BESIDE}"] * bool(whose.column),
            ),
        )

    def summary(self) -> Document:
        """Return the printed tables, as the description itself prints.

        Returns
        -------
        Document

        Examples
        --------
        >>> print(fit.summary())
        Private description...
        """
        return self.document

    def plot(self, variable: str | None = None, level: float = 0.95, ax: Axes | None = None) -> Axes:
        """Plot a variable: quantiles of a number, or shares of levels, with intervals. Needs matplotlib.

        Parameters
        ----------
        variable : str, optional
            Default: the first.
        level : float
            Of the intervals.
        ax : matplotlib Axes, optional
            Draw here.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        SpecificationError
            If the variable was not described.

        Examples
        --------
        >>> fit.plot("AT").figure.savefig("temperature.png")
        """
        name = self.names[0] if variable is None else variable
        if not isinstance(name, str) or name not in self.names:
            raise SpecificationError(f"variable must be one that was described: {', '.join(self.names)}")
        check_level(level)
        ax = axes(ax)
        found = dict(self._found(name, level))
        title = f"{name}, {level_percent(level)} intervals"
        if name in self.numbers:
            found = {head: found[head] for head in QUANTILES}
            at, label = [QUANTILES[head] for head in found], "share of usable rows below"
            across = self._in_unit(name)
            ax.set_ylim(0, 1)
        else:
            found = {head: one for head, one in found.items() if head.startswith("share of ")}
            at, label, across = [*range(len(found))][::-1], "", "share"
            ax.set_yticks(at, [head.removeprefix("share of ") for head in found])
        values = np.array([one.estimate for one in found.values()])
        low, high = (np.array([getattr(one, end) for one in found.values()]) for end in ("low", "high"))
        ax.hlines(at, low, high, color="C1", linewidth=4, alpha=0.5, label="interval")
        ax.plot(values, at, "o-" if name in self.numbers else "o", color="black", markersize=4)
        ax.set(ylabel=label, xlabel=across)
        return finished(ax, title, self)

    def _plain(self) -> dict[str, Any]:
        return {
            **plain_facts(self),
            "schema": self.schema.to_dict(),
            "names": list(self.names),
            "columns": [_plain_column(column) for column in self.columns],
            "products": None if self.products is None else self.products.to_dict(),
        }

    @classmethod
    def _built(cls, content: Mapping[str, Any]) -> Self:
        fields = read_facts(content)
        schema = fields["schema"] = Schema.from_dict(fields["schema"])
        names = fields["names"] = tuple(map(str, fields["names"]))
        columns = tuple(
            _column(schema[name], one) for name, one in zip(names, fields["columns"], strict=True)
        )
        fields["columns"] = columns
        if fields["products"] is not None:
            numbers = [column for column in columns if column.sums is not None]
            fields["products"] = _products(fields["products"], len(numbers))
        return cls(**fields)
