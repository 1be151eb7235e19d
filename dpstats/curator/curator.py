"""The one way out for anything computed from rows (docs/theory/privacy.md#the-one-way-out)."""

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from dpstats import running
from dpstats._private import HoldsRows, protected
from dpstats.budget import Budget, Pure
from dpstats.curator import noise
from dpstats.curator.account import GUARD, Account, Price, guarded
from dpstats.curator.blocks import Block, Blocks, PublicDesign, RowSource, Sample, Scratch
from dpstats.curator.engines import chosen, gathered
from dpstats.curator.lattice import MAX_ROWS, coordinates
from dpstats.curator.law import (
    LEAST_MU,
    MOST_GAUSSIAN,
    MOST_SPHERICAL,
    Law,
    Sensitivity,
    gaussian_law,
    pure_law,
)
from dpstats.curator.objective import PASSES, Objective, Planned, Slope, Slopes
from dpstats.curator.partial import Task, WorkError, statistic_of, summed
from dpstats.curator.products import predictor
from dpstats.curator.release import Minimum, Release
from dpstats.curator.statistics import Statistic
from dpstats.errors import BudgetError, DataError
from dpstats.ledger import Ledger
from dpstats.schema import Unit

_LEAST_SHOWN = 2**17  # rows: a pass over fewer takes hardly so long as a bar waits


class Bar:
    """Shows how many rows of a pass are summed, by tqdm, if it is there and the options want it.

    Whether there is a bar, and what it counts by, follows from n alone: how many rows a part of a file has,
    and whether a file has parts, follows from how long its records are.

    Parameters
    ----------
    n : int
        Rows of a pass.
    step : int
        Rows that are told of at a time.
    number : int
        Of the pass.
    shown : bool
        Whether there is a bar at all.
    """

    def __init__(self, n: int, step: int, number: int, shown: bool) -> None:
        many = shown and n >= _LEAST_SHOWN
        self._bar = (
            running.bar(total=n, desc=f"pass {number}", unit=" rows", unit_scale=True) if many else None
        )
        self._n, self._step, self._summed, self._shown = n, step, 0, 0

    def __call__(self, rows: int) -> None:
        """So many more are summed."""
        self._summed += rows
        while self._bar is not None and self._shown < self._n and self._summed >= self._next():
            shown, self._shown = self._shown, self._next()
            self._bar.update(self._shown - shown)

    def _next(self) -> int:
        return min(self._shown + self._step, self._n)

    def over(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Blocks, of which each is summed when the next is asked for."""
        for block in blocks:
            yield block
            self(len(block.ok))

    def close(self) -> None:
        """The pass is over."""
        if self._bar is not None:
            self._bar.close()


class Folded:
    """A design of an intercept alone, to whose offset covariates are added times public slopes.

    A row of it depends on the same row of the design and on public numbers alone, and its offset is moved
    into bounds that follow from those of the columns. So it is a design like any other, for which every
    statistic is proved.

    Parameters
    ----------
    design : PublicDesign
        With an intercept, its first column.
    bounds : array, shape (d, 2)
        Of its d covariates.
    slopes : array, shape (d,)
        Released.
    """

    names = ("Intercept",)
    has_intercept = True
    delayed: bool
    intervals: bool
    counts_units: bool
    strata: int
    weights: str | None
    subset: str | None

    def __init__(self, design: PublicDesign, bounds: np.ndarray, slopes: np.ndarray) -> None:
        self._design, self._slopes = design, np.append(0.0, slopes)
        ends = np.sort(np.asarray(bounds) * np.asarray(slopes)[:, None], axis=1).sum(axis=0)
        low, high = design.offset_bounds
        self.offset_bounds: tuple[float, float] = (low + float(ends[0]), high + float(ends[1]))
        self.delayed, self.intervals, self.weights = design.delayed, design.intervals, design.weights
        self.counts_units, self.strata = design.counts_units, design.strata
        self.subset = design.subset

    def read(self, columns: dict[str, np.ndarray], memory: Scratch | None = None) -> Block:
        """As the design's, with the covariates in the offset."""
        rows = self._design.read(columns, memory)
        offset = predictor(self._slopes, rows.exog.T, Scratch()) + rows.offset
        exog = np.asfortranarray(rows.exog[:, :1])
        return replace(rows, exog=exog, offset=np.clip(offset, *self.offset_bounds))


T = TypeVar("T")

_LEAST_SAVED = 1 / 2  # a share of rows, of which a sample saves too little to be drawn


class _Sum(NamedTuple):
    """A sum to be released: all that is public of it."""

    statistic: Statistic
    public: Mapping[str, Any]
    sensitivity: Sensitivity
    price: Price
    law: Law


class Curator(HoldsRows):
    """Releases bounded sums of rows with noise, and refuses to exceed its total.

    Neighbouring data sets differ in one unit of privacy, a row unless the schema declares another; n is
    public. Rows that are missing or invalid weigh nothing.

    Parameters
    ----------
    rows : RowSource
        Rows of the declared columns, :func:`dpstats.rows.open_rows`.
    design : PublicDesign
        From :func:`dpstats.formula.build_design`.
    budget : Budget
        The total, also when each release is chosen after seeing the last; see
        :mod:`dpstats.curator.account`. A cost is a number, in epsilon under a pure budget and else in mu of
        Gaussian noise, or says itself what it is: ``Pure(epsilon)`` or ``Gdp(mu)``.

    Attributes
    ----------
    block_rows : int
        Rows read at a time, at most 16384; releases depend on it by their last bits.

    Notes
    -----
    *Neighbours.* Every row belongs to one unit or, without an id, to none. Data sets D and D' are
    neighbours if both have n rows, and D' has the rows of a unit u' where D has those of u, every other
    unit having the same rows in the same order in both. u' is u, or has no row in D, and u none in D'. The
    two may have any number of rows, with any values, anywhere in the table; where one has fewer than the
    other, rows of no unit make up the n. So someone's rows may also be blanked. Where the unit is a row, D
    and D' differ in one row. The same holds of inputs, files among them, in the place of tables: each record
    becomes one row by itself (:mod:`dpstats.rows`).

    *Sensitivity*, in every norm, is k times that of a statistic for one row, k = max_rows. Whether a row
    weighs depends on the rows of its own unit alone: those k weigh whose cells have the least hashes, of
    equal hashes the first in the data. The hash has a public key, and its cells are those that the design
    reads, which is public; another design may choose other rows, and its releases are bounded by themselves.
    So the rows that weigh are the same in D and D', but for at most k of u and at most k of u'. What a
    statistic sums over rows does not depend on their order, but for rounding, whose bound does not either
    (:mod:`dpstats.curator.lattice`). Let T_0 be the table of what weighs in D, filled up to n rows with rows
    that weigh nothing, and T_k that of D' with its rows in such an order that they differ at no more than k
    places. Change these places one by one: T_0, T_1, ..., T_k, all of n rows, each from the last by one row,
    which may be one that weighs nothing. That is what a statistic bounds at each of k steps, and what is
    computed lies, once, within the `slack` of n rows: by the triangle inequality |sum(D) - sum(D')| <=
    k * sensitivity + slack <= k (sensitivity + slack), in its L2 norm, its L1 norm, and each coordinate.
    It is attained, where T_0 holds k times the one row and T_k k times the other of a pair that attains the
    bound for one row.
    """

    block_rows: ClassVar[int] = MAX_ROWS

    def __init__(
        self,
        rows: RowSource,
        design: PublicDesign,
        budget: Budget,
    ) -> None:
        self._setting, self._passes = noise.current(), 0
        self._rows, self._design, self._blocks = rows, design, Blocks(rows, design, self.block_rows)
        self._engine = chosen(running.current(), rows.parts())
        self._account = Account(budget, rows.unit.short)
        self._scratch: dict[str, Scratch] = {}  # of the statistics that were released last

    @property
    def n(self) -> int:
        """Number of rows, public."""
        return self._rows.n

    @property
    def unit(self) -> Unit:
        """Whose privacy the releases protect."""
        return self._rows.unit

    @property
    def leaves_out(self) -> bool:
        """Whether rows may be left out on purpose: by a subset, or those of a unit that are too many."""
        return bool(self.unit.column) or self._design.subset is not None

    @property
    def offset_bounds(self) -> tuple[float, float]:
        """Public bounds of the offset."""
        return self._design.offset_bounds

    def folded(self, bounds: np.ndarray, slopes: np.ndarray) -> "Curator":
        """A curator of the same rows, of an intercept alone: the covariates, times slopes, are in the offset.

        It draws on the same account, so that what it spends counts in the same total and plan.

        Parameters
        ----------
        bounds : array, shape (d, 2)
            Public, of the d covariates after the intercept.
        slopes : array, shape (d,)
            Public numbers and earlier releases only.
        """
        return self.reading(Folded(self._design, bounds, slopes))

    def reading(self, design: PublicDesign) -> "Curator":
        """A curator of the same rows through another design, of the same variables and response.

        It draws on the same account. Public numbers and earlier releases alone say what the design is.
        """
        return self._with(_design=design, _blocks=Blocks(self._rows, design, self.block_rows))

    def sampled(self, share: float) -> "Curator":
        """A curator of some of the rows, of which each is drawn by a coin of its own; else of all of them.

        It draws on the same account, and its `n` is that of the rows that were drawn. Rows that are read
        again at every pass, which workers may read, are not sampled; nor are they for a share above 1/2,
        which would save little.

        Parameters
        ----------
        share : float
            The chance of a row, a public number.

        Notes
        -----
        *Sensitivity* is that of the same releases from all rows. Let D and D' be neighbours, and T_0 and T_k
        as in the notes of the class: tables of n rows that differ at k places. Coins that fall without regard
        to the rows, all by one law, fall on rows in one order as likely as in any other; so what is drawn of
        D, as rows in whatever order, has the law of what is drawn of T_0, and that of D' the law of T_k. Draw
        both by the same coins. The two samples have equally many rows and differ at no more than k places,
        those of the k whose coins say so: whatever the coins, each release is noised for that. What follows
        from all releases is a mixture, by coins of one law, of what is private for every fall of them. So it
        is as private, under each measure of an account: a trade-off function is convex, so that no test does
        better on average over the coins than it does for one fall, and the moments that bound a Renyi
        divergence are means over the coins. That coins are not told may make it more private; nothing is
        charged less for it.
        """
        if share > _LEAST_SAVED or self._rows.parts():
            return self
        rows = Sample(self._rows, share, self._setting.noise.coins)
        return self._with(_rows=rows, _blocks=Blocks(rows, self._design, self.block_rows))

    def _with(self, **own: Any) -> "Curator":
        """One on the same account that differs in these attributes."""
        other: Curator = object.__new__(type(self))
        vars(other).update(vars(self) | own | {"_scratch": {}})
        return other

    def cost_per_row(self, cost: float) -> float:
        """The cost at which a unit of one row would get the noise that `cost` buys; for planning."""
        return cost / self.unit.max_rows

    @property
    def not_private(self) -> bool:
        """Whether releases carry anything but secure noise."""
        return not self._setting.private

    def sensitivity(self, name: str, **public: Any) -> float:
        """L2 sensitivity of the sum that `release` would noise, rounding included; no row is read."""
        return self._bounded(name, public)[1].l2

    def pay(
        self,
        ledger: Ledger | str | Path | None,
        *,
        formula: str,
        method: str,
        costs: Mapping[str, float | Price],
    ) -> str | None:
        """Charge a ledger with the whole budget, before the first release; see :meth:`Account.pay`.

        Raises
        ------
        DataError
            If the rows are known to have changed since an earlier fit. Nothing is charged then.
        """
        self._rows.hold()
        return self._account.pay(ledger, formula=formula, method=method, costs=costs)

    def noise(self, name: str, cost: float | Price, **public: Any) -> tuple[str, tuple[np.ndarray, ...]]:
        """Law and sds of the noise that `release` would add; no row is read and nothing is spent."""
        asked = self._sum(name, cost, public)
        return asked.law.name, asked.statistic.unpack(asked.law.sds)

    def release(self, name: str, cost: float | Price, **public: Any) -> Release:
        """Sum a registered statistic over all rows and add noise.

        The law of noise of pure epsilon is the one of least variance for what the statistic says of
        neighbours, which is public (:func:`dpstats.curator.law.pure_law`).

        Parameters
        ----------
        name : str
            A name in :data:`dpstats.curator.statistics.REGISTRY`.
        cost : float, Pure or Gdp
        **public
            Parameters of the statistic: public numbers and earlier releases only.

        Raises
        ------
        BudgetError
            If the release does not fit into what is left of the total; nothing is read or spent then.
        DataError
            If a file that is read at every pass was changed, or cannot be read to its end; the cost is spent.
        RuntimeError
            If reading a row failed. The message and the exception hold nothing of the rows, and the cost is
            spent.
        """
        (release,) = self.release_together((name, cost, public))
        return release

    def release_together(self, *asked: tuple[str, float | Price, Mapping[str, Any]]) -> tuple[Release, ...]:
        """Release statistics by one pass over the rows: what `release` would release, one after the other.

        Each has its own cost and its own noise, so that their costs add up as those of single passes do.

        Parameters
        ----------
        *asked : tuple
            Of each the name, the cost and the public parameters, none of which may follow from the others'
            releases.

        Raises
        ------
        BudgetError, DataError, RuntimeError
            As of `release`. Nothing is read or spent if all together do not fit into what is left.
        """
        sums = [self._sum(*one) for one in asked]
        self._account.charge(*((one.statistic.name, one.law.price) for one in sums))
        noisy = protected(
            lambda: self._noisy(sums),
            _failed(" and ".join(one.statistic.name for one in sums)),
            (DataError, WorkError),
            shown=self.not_private,
        )
        return tuple(self._released(*one) for one in zip(sums, noisy, strict=True))

    def _sum(self, name: str, cost: float | Price, public: Mapping[str, Any]) -> _Sum:
        statistic, sensitivity = self._bounded(name, public)
        price = self._account.price(name, cost)
        return _Sum(statistic, public, sensitivity, price, self._law(statistic, sensitivity, price))

    def _released(self, asked: _Sum, noisy: np.ndarray) -> Release:
        statistic, law = asked.statistic, asked.law
        return Release(
            name=statistic.name,
            values=statistic.unpack(noisy),
            sd=law.sd,
            sensitivity=asked.sensitivity.l2,
            cost=asked.price,
            n=self.n,
            adjacency=self.unit.adjacency,
            law=law.name,
            sds=statistic.unpack(law.sds),
        )

    def minimise(self, cost: float | Price, **objective: Any) -> Minimum:
        """Minimise a penalised sum of losses tilted at random, or add noise to its minimum; see `tilt`.

        Parameters
        ----------
        cost : float, Pure or Gdp
            Tilt and noise are of its measure.
        **objective
            Public parameters of :class:`dpstats.curator.objective.Objective`.

        Returns
        -------
        Minimum

        Raises
        ------
        BudgetError
            If the release does not fit into what is left of the total, or its penalty is too small for it or
            for so many rows; nothing is read or spent then.
        DataError, RuntimeError
            As of `release`.
        """
        price = self._account.price("minimum", cost)
        planned = self._planned(price, objective)
        self._account.charge(("minimum", planned.price))
        params = protected(
            lambda: self._minimum(planned),
            _failed("minimum"),
            (DataError, WorkError),
            shown=self.not_private,
        )
        return planned.minimum(params, price)

    def check_minimum(self, cost: float | Price, **objective: Any) -> None:
        """Raise what `minimise` would raise for its cost, but for what is left; nothing is read or spent."""
        self._planned(self._account.price("minimum", cost), objective)

    def _planned(self, price: Price, objective: dict[str, Any]) -> Planned:
        """An objective with the noise that a cost buys."""
        planned = Objective(self._design, **objective).planned(guarded(price), self.n, self.unit.max_rows)
        for law in planned.laws:
            self._drawable(law)
        return planned

    def _bounded(self, name: str, public: Mapping[str, Any]) -> tuple[Statistic, Sensitivity]:
        """A statistic, and what replacing a whole unit changes of it; proved in the notes of the class.

        Nothing else scales with the unit.
        """
        statistic = statistic_of(self._design, name, public)
        return statistic, Sensitivity.of(statistic, self.n, self.unit.max_rows)

    def _law(self, statistic: Statistic, sensitivity: Sensitivity, price: Price) -> Law:
        """Of the noise for a release, from public numbers alone."""
        spent = guarded(price)
        if isinstance(spent, Pure):
            return self._drawable(pure_law(sensitivity, spent.epsilon, statistic.spherical))
        return self._drawable(gaussian_law(sensitivity, spent.mu))

    def _drawable(self, law: Law) -> Law:
        """The law, unless secure noise of it takes too long, or is not proved to be worth its mu."""
        provable = len(law.axes) <= MOST_GAUSSIAN and law.cost >= LEAST_MU * (1 - GUARD)
        if law.name == "gaussian" and not (provable or self.not_private):
            raise BudgetError(
                f"Gaussian noise on {len(law.axes)} numbers for mu = {law.cost:.3g} is not offered: give "
                f"each release a mu of at least {LEAST_MU:g}, and at most {MOST_GAUSSIAN} numbers"
            )
        if law.name == "spherical" and len(law.axes) > MOST_SPHERICAL and not self.not_private:
            raise BudgetError(
                f"spherical noise for {len(law.axes)} numbers takes too long to draw; more than "
                f"{MOST_SPHERICAL} are not offered; use the default noise, or a zcdp budget"
            )
        return law

    def _noisy(self, sums: Sequence[_Sum]) -> list[np.ndarray]:
        """The sums, each with noise of its own."""
        statistics = [one.statistic for one in sums]
        # the steps of a fit release one statistic again and again
        self._scratch = {
            name: self._scratch.get(name) or Scratch(self._blocks.standing)
            for name in (statistic.name for statistic in statistics)
        }
        scratches = [self._scratch[statistic.name] for statistic in statistics]
        task = Task.of(self._design, [(one.statistic.name, one.public) for one in sums], self.block_rows)
        found = self._swept(task, lambda blocks: summed(self._design, statistics, blocks, scratches))
        noisy = []
        for one, total in zip(sums, found.totals, strict=True):
            exact = coordinates(one.statistic.parts, total)
            if self._setting.recorder is not None:
                self._setting.recorder(one.statistic.name, exact.copy(), one.sensitivity.l2, one.law)
            noisy.append(self._with_noise(exact, one.law))
        return noisy

    def _swept(self, task: Task, here: Callable[[Iterable[Block]], T], silent: bool = False) -> T:
        """What a task adds up to over all rows, by one pass: by the engine's workers, or `here`, the same.

        A pass that the rows themselves ask for is silent: neither is it shown nor does it count.
        """
        self._passes += not silent
        parts = self._rows.parts()
        with closing(Bar(self.n, self.block_rows, self._passes, shown=not silent)) as bar:
            if self._engine is None:
                found: Any = here(bar.over(self._blocks))
            else:
                totals = []
                for total in gathered(self._engine, task, parts):
                    totals.append(total)
                    bar(total.count)
                found = functools.reduce(operator.add, totals)
        if found.count != self.n:
            raise RuntimeError(f"{found.count} rows were read instead of {self.n}")
        return found

    def _with_noise(self, exact: np.ndarray, law: Law) -> np.ndarray:
        if law.name == "gaussian":
            return self._setting.noise.gaussian(exact, float(law.axes[0]), law.cost)
        return self._setting.noise.pure(exact, law.name, law.axes, law.cost)

    def _minimum(self, planned: Planned) -> np.ndarray:
        """The noisy minimum, shape (k,)."""
        tilt = np.zeros(planned.objective.k)
        if planned.tilt is not None:
            tilt = self._with_noise(tilt, planned.tilt)
        exact = planned.exact(self._slopes(planned.objective), tilt)
        params = self._with_noise(exact, planned.rest)
        if self._setting.recorder is not None:
            self._setting.recorder(
                "minimum", *planned.recorded(self._slopes(planned.objective), exact, params)
            )
        return params

    def _slopes(self, objective: Objective) -> Slopes:
        """The slopes of an objective over all rows, each by one pass; no bar tells how many it takes."""
        passes, scratch = itertools.count(1), Scratch(self._blocks.standing)

        def at(params: np.ndarray) -> Slope:
            found = functools.partial(objective.slope, params)
            task = Task(self._design, "minimum", found, self.block_rows)
            here = functools.partial(found, scratch=scratch)
            return self._swept(task, here, silent=next(passes) > PASSES)

        return at


def _failed(name: str) -> RuntimeError:
    return RuntimeError(
        f"release {name!r} failed while rows were read. The cause is not shown, because "
        "it may depend on private values; run the fit on made-up data of the same schema to see it"
    )
