"""The one way out for anything computed from rows (spec/privacy.md 3.3)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.curator import noise as noise_setting
from dpstats.curator.blocks import Blocks, RowReader, RowSource, Scratch
from dpstats.curator.lattice import MAX_ROWS, LatticeSum, slack
from dpstats.curator.noise import NoiseSource, Recorder, Setting
from dpstats.curator.release import Release
from dpstats.curator.statistics import REGISTRY, Statistic
from dpstats.errors import BudgetError
from dpstats.schema import Unit

__all__ = ["Curator"]

# A release is noised for mu (1 - 1e-9). Floats that add up to the total then never exceed it, and the lattice
# of the noise is paid for (see mechanisms).
_GUARD = 1e-9


class Curator:
    """Releases bounded sums of rows with noise, and refuses to exceed its total.

    Neighbouring data sets differ in one unit of privacy, a row unless the schema declares another; n is
    public. Rows that are missing or invalid weigh nothing.

    Parameters
    ----------
    rows : RowSource
        Rows of the declared columns, :func:`dpstats.rows.open_rows`.
    design : RowReader
        From :func:`dpstats.formula.build_design`.
    budget_mu_total : float
        Total in Gaussian differential privacy: the mu squared of all releases add up to at most its square,
        also when each is chosen after seeing the last.
    noise, recorder : optional
        For tests and studies, see :mod:`dpstats.testing`. Any but the defaults make the curator
        `not_private`.
    block_rows : int
        Rows read at a time, at most 8192; no release depends on it.

    Notes
    -----
    *Neighbours.* Every row belongs to one unit or, without an id, to none. Data sets D and D' are neighbours
    if both have n rows, and D' has the rows of a unit u' where D has those of u, every other unit having the
    same rows in the same order in both. u' is u, or has no row in D, and u none in D'. The two may have any
    number of rows, with any values, anywhere in the table; where one has fewer than the other, rows of no
    unit make up the n. So someone's rows may also be blanked. Where the unit is a row, D and D' differ in one
    row.

    *Sensitivity* is k times that of a statistic for one row, k = max_rows. Whether a row weighs depends on
    its rank among the rows of its own unit, so the rows that weigh are the same in D and D', but for at most
    k of u and at most k of u'. What a statistic sums over rows does not depend on their order. Let T_0 be the
    table of what weighs in D, filled up to n rows with rows that weigh nothing, and T_k that of D' with its
    rows in such an order that they differ at no more than k places. Change these places one by one:
    T_0, T_1, ..., T_k, all of n rows, each from the last by one row, which may be one that weighs nothing.
    That is what `Statistic.sensitivity` bounds, rounding included (`slack`), at each of k steps, and by the
    triangle inequality |sum(D) - sum(D')| <= k * sensitivity. It is attained, where T_0 holds k times the one
    row and T_k k times the other of a pair that attains the bound for one row.
    """

    def __init__(
        self,
        rows: RowSource,
        design: RowReader,
        budget_mu_total: float,
        noise: NoiseSource | None = None,
        recorder: Recorder | None = None,
        block_rows: int = MAX_ROWS,
    ) -> None:
        if not (math.isfinite(budget_mu_total) and budget_mu_total > 0):
            raise BudgetError(f"the total mu must be positive and finite, got {budget_mu_total!r}")
        if not 1 <= block_rows <= MAX_ROWS:
            raise ValueError(f"block_rows must lie between 1 and {MAX_ROWS}, got {block_rows}")
        ambient = noise_setting.current()
        self._setting = Setting(noise or ambient.noise, recorder or ambient.recorder)
        self._rows, self._design, self._blocks = rows, design, Blocks(rows, design, block_rows)
        self._limit = Fraction(float(budget_mu_total)) ** 2
        self._spent = Fraction(0)

    @property
    def n(self) -> int:
        """Number of rows, public."""
        return self._rows.n

    @property
    def unit(self) -> Unit:
        """Whose privacy the releases protect."""
        return self._rows.unit

    def mu_per_row(self, mu: float) -> float:
        """The mu at which a unit of one row would get the noise that `mu` buys; for planning."""
        return mu / self.unit.max_rows

    @property
    def not_private(self) -> bool:
        """Whether releases carry anything but secure noise."""
        return not self._setting.private

    def sensitivity(self, name: str, **public: Any) -> float:
        """L2 sensitivity of the sum that `release` would noise, rounding included; no row is read."""
        return self._sensitivity(self._statistic(name, public))

    def release(self, name: str, mu: float, **public: Any) -> Release:
        """Sum a registered statistic over all rows and add Gaussian noise.

        Parameters
        ----------
        name : str
            A name in :data:`dpstats.curator.statistics.REGISTRY`.
        mu : float
            Cost in Gaussian differential privacy.
        **public
            Parameters of the statistic: public numbers and earlier releases only.

        Raises
        ------
        BudgetError
            If the release does not fit into what is left of the total; nothing is read or spent then.
        RuntimeError
            If reading a row failed. The message and the exception hold nothing of the rows, and the cost is
            spent.
        """
        statistic = self._statistic(name, public)
        sensitivity = self._sensitivity(statistic)
        spent = float(mu) * (1 - _GUARD)
        self._charge(name, spent)
        noisy = self._protected(statistic, sensitivity, spent)
        values, sd = statistic.unpack(noisy), sensitivity / spent
        return Release(name, values, sd, sensitivity, mu, self.n, self.unit.adjacency)

    def _statistic(self, name: str, public: dict[str, Any]) -> Statistic:
        if name not in REGISTRY:
            raise ValueError(f"no statistic is called {name!r}; there are {', '.join(sorted(REGISTRY))}")
        return REGISTRY[name](self._design, **public)

    def _sensitivity(self, statistic: Statistic) -> float:
        """Of replacing a whole unit; proved in the notes of the class. Nothing else scales with the unit."""
        one_row = statistic.sensitivity * (1 + 1e-9) + slack(statistic.parts, self.n)
        return one_row * self.unit.max_rows

    def _charge(self, name: str, mu: float) -> None:
        """Count the cost before any row is read. There is no refund."""
        if not (math.isfinite(mu) and mu > 0):
            raise BudgetError(f"the mu of release {name!r} must be positive and finite, got {mu!r}")
        after = self._spent + Fraction(mu) ** 2
        if after > self._limit:
            left = math.sqrt(max(self._limit - self._spent, Fraction(0)))
            raise BudgetError(f"release {name!r} costs mu = {mu:g}, but only mu = {left:g} is left")
        self._spent = after

    def _protected(self, statistic: Statistic, sensitivity: float, mu: float) -> np.ndarray:
        """Noisy sum, shape (m,). No exception that leaves here has seen a frame with rows or an exact sum."""
        failure: BaseException | None = None
        try:
            with np.errstate(all="ignore"):
                return self._noisy(statistic, sensitivity, mu)
        except Exception:
            if self.not_private:
                raise
            failure = RuntimeError(
                f"release {statistic.name!r} failed while rows were read. The cause is not shown, because "
                "it may depend on private values; run the fit on made-up data of the same schema to see it"
            )
        except BaseException as error:  # an interrupt keeps its type, so that it still stops the program
            failure = type(error)()
        raise failure

    def _noisy(self, statistic: Statistic, sensitivity: float, mu: float) -> np.ndarray:
        lattice, scratch, count = LatticeSum(statistic.parts), Scratch(), 0
        for block in self._blocks:
            lattice.add(statistic.factors(block, scratch), block.ok)
            count += len(block.ok)
        if count != self.n:
            raise RuntimeError(f"{count} rows were read instead of {self.n}")
        exact = lattice.vector()
        if self._setting.recorder is not None:
            self._setting.recorder(statistic.name, exact.copy(), sensitivity, mu)
        return self._setting.noise.gaussian(exact, sensitivity, mu)
