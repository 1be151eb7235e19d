"""The ledger of a data set, and what it is given: budgets, paths, and texts that its file can keep.

Which one a fit charges that is given none says :mod:`dpstats.ledger.default`.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from pathlib import Path
from sqlite3 import Connection
from typing import Any, NoReturn

from dpstats._arguments import Axes, is_line, path_of, plain, shown, truth
from dpstats._private import always_shown, forgetful, forgetting
from dpstats.budget import Approx, Budget, as_budget
from dpstats.budget.rules import Amount, Charge, Rule, add, covers, subtract
from dpstats.errors import BudgetError, LedgerError, SpecificationError
from dpstats.ledger import store
from dpstats.ledger.default import DEFAULT
from dpstats.ledger.report import Report
from dpstats.schema import ROW

_MOST_TEXT = 10**5  # characters of a formula or another text that a charge keeps


def text(name: str, value: object) -> str:
    """An argument that is a text which the file can keep."""
    if not isinstance(value, str):
        raise SpecificationError(f"{name} must be a text, not {shown(value)}")
    if len(value) > _MOST_TEXT or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise SpecificationError(
            f"{name} must be a text of at most {_MOST_TEXT:,} characters, all of them valid Unicode"
        )
    return str(value)


def releases(released: object) -> dict[str, str]:
    """Names of releases with their costs, as texts."""
    problem = "released must be names such as ['score'], or names with costs such as {'score': 'mu = 0.2'}"
    if isinstance(released, str) or not isinstance(released, Iterable):
        raise SpecificationError(f"{problem}; got {shown(released)}")
    costs = released.items() if isinstance(released, Mapping) else ((name, "") for name in released)
    found = {}
    for name, cost in costs:
        if not isinstance(name, str) or not isinstance(plain(cost), str | int | float | Budget):
            raise SpecificationError(f"{problem}; not {type(name).__name__} with {type(cost).__name__}")
        found[text("a name in released", name)] = text("a cost in released", str(cost))
    return found


def absolute(path: Path) -> Path:
    """A path from the root of the file system, with ``~`` as the user's home."""
    try:
        return Path(os.path.abspath(path.expanduser()))
    except (OSError, RuntimeError):
        raise LedgerError(
            f"nobody can say where {path} is: the folder in which the program runs is gone, "
            "or ~ stands for no one's; give the whole path"
        ) from None


# by path and by what a ledger says of itself, the last charge that this process has seen there
_SEEN: dict[tuple[Path, tuple[str, Budget, str]], store.Entry] = {}

_LEFT = ("remaining", "balance", "available", "rest")


@forgetful
class Ledger:
    """What was spent on a data set, on disk, and a total that nothing exceeds.

    Any number of notebooks and processes of one machine may open it at once. A charge is written and synced
    before the first noise is drawn, and there is no refund. All fits in a ``with`` block that are given no
    other ledger charge it; see :func:`use_ledger`.

    Parameters
    ----------
    path : str or Path
        A file on a local disk. Without `total` it must exist.
    total : Budget, optional
        Most that may ever be spent. Starts a new ledger, or must equal the total of the one that is there.
    dataset : str, optional
        Name of the data set; default: the file's name without its suffix.
    charged_by : str, optional
        Who charges by this object, such as a project: its charges end their method in it. By default nobody
        is named, as no login name is written down that its owner did not give.

    Raises
    ------
    LedgerError
        If the file is missing, damaged, no ledger, of another format, or has another total or data set.
        Nothing is ever overwritten.

    Examples
    --------
    >>> import dpstats as dps
    >>> ledger = dps.Ledger("plant.ledger", total=dps.approx(epsilon=3, delta=1e-6))
    >>> plant = dps.datasets.load("ccpp")
    >>> model = dps.ols("PE ~ AT", plant.data, plant.schema)
    >>> fit = model.fit(dps.approx(epsilon=1, delta=1e-6), ledger=ledger)
    >>> print(ledger.line())
    1.00 of 3.00 spent on 'plant'
    """

    version = ""  # of the data, which charges of this object name where dpstats.models.reuse was told one

    def __init__(
        self,
        path: str | Path,
        total: Budget | None = None,
        dataset: str | None = None,
        *,
        charged_by: str | None = None,
    ) -> None:
        if not (charged_by is None or (isinstance(charged_by, str) and is_line(charged_by))):
            raise LedgerError(f"charged_by must be a name on one line, not {shown(charged_by)}")
        self.charged_by = charged_by
        self.path = absolute(path_of("path", path, LedgerError))
        name: object = dataset
        if name is not None and not (isinstance(name, str) and is_line(name)):
            raise LedgerError(f"dataset must be the name of the data set on one line, not {shown(name)}")
        if total is not None:
            total = as_budget("total", total)
            if not os.path.lexists(self.path):
                self._begin(total, dataset or self.path.stem)
        elif not self.path.exists():
            raise LedgerError(f"no ledger {path}; start one: Ledger(path, total=) or dpstats ledger create")
        store.tidy(self.path)
        with store.reading(self.path) as connection:
            self._head = store.head(connection, self.path)
            self.dataset, self.total, _ = self._head
            store.verify(connection)
            self._saw(self._ends(connection))
        if total is not None and total != self.total:
            raise LedgerError(
                f"the ledger {path} has the total {self.total}, not {total}; a total cannot be changed. "
                "Open it without total="
            )
        if dataset is not None and dataset != self.dataset:
            raise LedgerError(f"the ledger {path} is of data set {self.dataset!r}, not {shown(dataset)}")

    def __enter__(self) -> "Ledger":
        DEFAULT.enter(self)
        return self

    def __exit__(self, *error: object) -> None:
        DEFAULT.leave(self)

    def _begin(self, total: Budget, dataset: str) -> None:
        self._head = dataset, total, store.now()
        try:
            store.create(self.path, *self._head)
            for key in self._keys():  # a ledger of the same second was begun anew on purpose
                _SEEN.pop(key, None)
        except FileExistsError:
            pass  # another process was first; whether its ledger is the same is checked like any other
        except OSError as error:
            raise LedgerError(f"the ledger {self.path} cannot be created: {error.strerror}") from None

    def charge(
        self,
        budget: Budget,
        *,
        formula: str,
        method: str,
        released: Iterable[str] | Mapping[str, object] = (),
        gaussian: bool = False,
        unit: str = ROW.short,
    ) -> store.Entry:
        """Write a cost, for good, before anything is released.

        Parameters
        ----------
        budget : Budget
            The whole cost.
        formula, method : str
            What it is for.
        released : names, or mapping of names to costs
            What will be released. Costs are texts, numbers or budgets, and kept as text, for people.
        gaussian : bool
            All releases are sums with Gaussian noise, together of ``budget.mu``, as dpstats' own are. They
            compose better, and enter totals that a black box of the same `budget` cannot.
        unit : str
            What is protected, such as ``"one row"`` or ``"one serial"``: neighbouring data sets have other
            rows for it. The first charge decides for the ledger: costs of different units do not add up.

        Raises
        ------
        BudgetError
            If it exceeds what is left, protects another unit than the charges before, or cannot soundly enter
            this total. Nothing is written then.
        SpecificationError
            If another argument is not of its kind. Nothing is written then.
        LedgerError
            If the file cannot be written. Release nothing then.

        Examples
        --------
        >>> import dpstats as dps
        >>> ledger = dps.Ledger("own.ledger", total=dps.zcdp(1))
        >>> entry = ledger.charge(dps.zcdp(0.25), formula="median of wage", method="own mechanism")
        >>> print(ledger.spent, ledger.left)
        rho = 0.25 (zCDP) rho = 0.75 (zCDP)
        """
        budget = as_budget("budget", budget)
        formula, method, unit = text("formula", formula), text("method", method), text("unit", unit)
        method += f", version {self.version!r} of the data" if self.version else ""
        method += f", charged by {self.charged_by}" if self.charged_by else ""
        gaussian, told = truth("gaussian", gaussian), releases(released)
        if gaussian and budget.pure:
            raise BudgetError("Gaussian noise promises no pure epsilon; charge zcdp, gdp or approx")
        wanted = Charge(budget, budget.promise(gaussian).gaussian)
        with store.charging(self.path) as connection:
            ends = self._ends(connection)
            store.upgrade(connection)
            if ends and ends[0].unit != unit:
                raise BudgetError(self._other_unit(ends[0].unit, unit))
            rule = self.total.rule(ends[0].charge if ends else wanted)
            spent = ends[-1].spent if ends else rule.zero
            cost = self._cost(rule, wanted, spent)
            fits = covers(rule.limit, add(spent, cost))
            entry = store.Entry(
                ends[-1].seq + 1 if ends else 1,
                store.now(),
                budget,
                wanted.gaussian,
                cost,
                add(spent, cost),
                formula,
                method,
                told,
                unit,
            )
            if fits:
                store.append(connection, entry)
        if not fits:
            raise BudgetError(self._refusal(rule, wanted, cost, spent))
        self._saw([entry])
        return entry

    def _keys(self) -> set[tuple[Path, tuple[str, Budget, str]]]:
        """Of what was seen of this ledger: by its path, and by where links of the path lead now."""
        return {(self.path, self._head), (self.path.resolve(), self._head)}

    def _saw(self, entries: list[store.Entry]) -> None:
        """Keep the last charge in mind; another thread may have seen a later one meanwhile."""
        with store.HELD:
            for key in self._keys() if entries else ():
                _SEEN[key] = max(entries[-1], _SEEN.get(key, entries[-1]), key=lambda entry: entry.seq)

    def _ends(self, connection: Connection) -> list[store.Entry]:
        """First and last charge of the file that is there now, which has all that this process has seen."""
        seen = [entry for key in self._keys() if (entry := _SEEN.get(key))]
        lacks = any(store.entries(connection, f"WHERE seq = {entry.seq}") != [entry] for entry in seen)
        if lacks or store.head(connection, self.path) != self._head:
            raise LedgerError(
                f"the ledger {self.path} was replaced by another, or by a copy that lacks charges which were "
                "made. This file was not charged, and nothing is released; put the file back that has them "
                "all, or open the other on purpose, in a new process"
            )
        return store.ends(connection)

    def _cost(self, rule: Rule, wanted: Charge, spent: Amount) -> Amount:
        try:
            return rule.cost(wanted, subtract(rule.limit, spent))
        except BudgetError as reason:
            raise BudgetError(
                f"{wanted.budget} cannot enter the total {self.total} of {self.dataset!r}: {reason}"
            ) from None

    def _other_unit(self, kept: str, unit: str) -> str:
        asked = unit if is_line(unit) else shown(unit)
        return (
            f"this would protect {asked}, but the ledger of {self.dataset!r} protects {kept}, and costs of "
            "different units do not add up. Declare the same unit, with schema.unit(column, max_rows=), or "
            "none for one row; or start another ledger"
        )

    def _refusal(self, rule: Rule, wanted: Charge, cost: Amount, spent: Amount) -> str:
        left = subtract(rule.limit, spent)
        name, there = self.total.unit, _first(_usable(rule.left_of, rule, spent))
        # a conversion and back makes 20.000000000000004 of 20
        asked = float(f"{_first(rule.in_units(cost)):.12g}")
        whole = _first(self.total)
        if len(cost) == 2 and cost[0] <= left[0] and isinstance(self.total, Approx):
            name, asked, there, whole = "delta", float(cost[1]), float(left[1]), self.total.delta
        largest = _usable(lambda amount: rule.largest(wanted, subtract(rule.limit, amount)), rule, spent)
        largest = largest or _usable(rule.left_of, rule, spent)
        remedy = f"{_spelled(largest)} would fit" if largest else "nothing like it fits any more"
        if wanted.budget.pure and not self.total.pure and asked > _first(wanted.budget):
            remedy += (
                "; beside Gaussian noise that of a pure epsilon counts as more: approx or gdp is cheaper"
            )
        return (
            f"needs {name} = {_rounded(asked, ROUND_CEILING)}, {_rounded(there, ROUND_FLOOR)} is left of "
            f"{whole} in {self.dataset!r}; {remedy}"
        )

    def _state(self) -> tuple[Rule, Amount]:
        with store.reading(self.path) as connection:
            ends = self._ends(connection)
        self._saw(ends)
        rule = self.total.rule(ends[0].charge if ends else None)
        return rule, ends[-1].spent if ends else rule.zero

    @property
    def spent(self) -> Budget | None:
        """What was spent, in the kind of the total, rounded up; None while nothing was."""
        rule, spent = self._state()
        return rule.in_units(spent)

    def __getattr__(self, name: str) -> NoReturn:
        meant = "; what is left of the total is ledger.left" if name in _LEFT else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{meant}")

    @property
    def left(self) -> Budget | None:
        """Largest single charge that still fits, in the kind of the total; None if nothing does.

        Under an (epsilon, delta) total, Gaussian fits add squares of mu: `spent` and `left` then compose to
        the total, although their epsilons add up to more.
        """
        rule, spent = self._state()
        return rule.left_of(spent)

    def line(self, entry: store.Entry | None = None) -> str:
        """``1.00 of 3.00 spent on 'fleet'``, now or just after `entry`; with a unit that is not epsilon."""
        if not isinstance(entry, store.Entry | None):
            raise SpecificationError(f"entry must be one of the entries of a ledger, got {shown(entry)}")
        rule, spent = self._state()
        amount = _first(rule.in_units(entry.spent if entry else spent))
        unit = "" if self.total.unit == "epsilon" else f"{self.total.unit} "
        return f"{unit}{_decimal(amount)} of {_decimal(_first(self.total))} spent on {self.dataset!r}"

    def entries(self) -> list[store.Entry]:
        """All charges, in the order they were made."""
        with store.reading(self.path) as connection:
            self._ends(connection)
            return store.entries(connection)

    def report(self) -> Report:
        """What was spent, in every notion, with the tight (epsilon, delta) curve; prints as text."""
        return Report(self.dataset, self.total, tuple(self.entries()), self.spent, self.left)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot epsilon spent against delta, and the total. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        """
        return self.report().plot(ax)

    def to_dict(self) -> dict[str, Any]:
        """The whole ledger as plain values."""
        return self.report().to_dict()

    @always_shown
    def __repr__(self) -> str:
        return f"Ledger {self.path.name}: {self.line()}"


_ROUNDING = 1e-6  # of a total: less is left of parts that were rounded, and buys nothing


def _usable(largest: Callable[[Amount], Budget | None], rule: Rule, spent: Amount) -> Budget | None:
    """What is the largest after `spent`, unless that is a rounding remainder of the largest before."""
    left, whole = largest(spent), largest(rule.zero)
    return left if left and whole and left.amount >= _ROUNDING * whole.amount else None


def _first(budget: Budget | None) -> float:
    return budget.amount if budget else 0.0


def _rounded(value: float, rounding: str) -> float:
    return float(Context(prec=4, rounding=rounding).create_decimal(repr(value)))


def _spelled(budget: Budget) -> str:
    first, *rest = vars(budget).values()
    amounts = [_rounded(first, ROUND_FLOOR), *rest]
    return f"{type(budget).__name__.lower()}({', '.join(f'{amount:g}' for amount in amounts)})"


def _decimal(value: float) -> str:
    return f"{value:.2f}" if value == 0 or value >= 0.095 else f"{value:.2g}"


@forgetting
def use_ledger(
    path: str | Path | Ledger | None, total: Budget | None = None, dataset: str | None = None
) -> Ledger | None:
    """Have every fit of this process charge a ledger, unless its ``ledger=`` is another.

    Parameters
    ----------
    path : str, Path, Ledger or None
        The file of the ledger, or one that is open. With None fits charge no ledger from now on.
    total, dataset : optional
        The same as in :class:`dpstats.Ledger`.

    Returns
    -------
    Ledger or None

    Raises
    ------
    LedgerError
        As of :class:`dpstats.Ledger`, or inside ``with ledger:``; or where the ledger that is used is named
        again and its file was moved away or replaced, unless ``use_ledger(None)`` was called. What was used
        before is used on.

    Examples
    --------
    >>> import dpstats as dps
    >>> ledger = dps.use_ledger("fleet.ledger", total=dps.approx(epsilon=3, delta=1e-6))
    >>> plant = dps.datasets.load("ccpp")
    >>> fit = dps.ols("PE ~ AT", plant.data, plant.schema).fit(dps.approx(epsilon=1, delta=1e-6))
    >>> print(ledger.line())
    1.00 of 3.00 spent on 'fleet'
    >>> dps.use_ledger(None)
    """
    told = not (total is None and dataset is None)
    if told and (path is None or isinstance(path, Ledger)):
        raise LedgerError(
            "total and dataset are of a ledger's file: give its path, or leave them out with None or a Ledger"
        )
    DEFAULT.require_none_entered()
    _check_there(DEFAULT.current(), path)
    ledger = path if path is None or isinstance(path, Ledger) else Ledger(path, total, dataset)
    DEFAULT.use(ledger)
    return ledger


def _check_there(used: Ledger | None, path: object) -> None:
    """Have a cell that runs again begin no new ledger where the file of the old one was moved away."""
    if used is None or used.path != _place(path):
        return
    try:
        used.entries()
    except LedgerError as gone:
        raise LedgerError(
            f"{gone}. Fits charged it until now; to leave it for another of the same name, call "
            "use_ledger(None) first"
        ) from None


def _place(path: object) -> Path | None:
    """Where a path leads, or a ledger is; None of what is neither."""
    if isinstance(path, Ledger):
        return path.path
    return absolute(Path(path)) if isinstance(path, str | Path) else None
