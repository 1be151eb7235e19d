"""The report of a ledger: what its charges amount to, in every notion of privacy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpstats._arguments import number, shown
from dpstats._axes import axes
from dpstats._private import forgetful
from dpstats.budget import LEAST, MOST, Approx, Budget, Gdp, Pure, Zcdp, delta_of
from dpstats.budget.amounts import to_text
from dpstats.errors import SpecificationError
from dpstats.ledger.curve import Total
from dpstats.ledger.store import FORMAT, Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DELTA = 1e-6  # where the total names none
WIDTH = 79


@forgetful
@dataclass(frozen=True)
class Report:
    """What was spent on a data set.

    The limit holds however each charge was chosen. The amounts in every notion, and the curve, are those of
    the list as it stands, as if it had been fixed in advance.

    Attributes
    ----------
    dataset : str
    total : Budget
    entries : tuple of Entry
    spent, left : Budget or None
        In the kind of the total; None for nothing.
    """

    dataset: str
    total: Budget
    entries: tuple[Entry, ...]
    spent: Budget | None
    left: Budget | None

    @property
    def delta(self) -> float:
        """Delta of the total; 1e-6 if it has none."""
        return delta_of(self.total) or DELTA

    @property
    def unit(self) -> str | None:
        """What all charges protect; None while there is none."""
        return self.entries[0].unit if self.entries else None

    @property
    def charges(self) -> Total:
        """The charges, pooled by kind."""
        return Total.of(entry.charge for entry in self.entries)

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon that we can prove for the whole list at `delta`; inf if none."""
        if not 0 < (asked := number("delta", delta)) < 1:
            raise SpecificationError(f"delta must lie between 0 and 1, got {shown(delta)}")
        return self.charges.epsilon(asked)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each charge."""
        rows = [
            {
                "seq": entry.seq,
                "at": entry.at,
                "budget": str(entry.budget),
                "gaussian": entry.gaussian,
                "formula": entry.formula,
                "method": entry.method,
                "released": _names(entry),
            }
            for entry in self.entries
        ]
        columns = ["seq", "at", "budget", "gaussian", "formula", "method", "released"]
        return pd.DataFrame(rows, columns=columns).set_index("seq")

    @property
    def notions(self) -> pd.DataFrame:
        """The whole list in each notion of privacy; empty where it promises none."""
        if not self.entries:
            found: list[Budget | None] = [None] * 4
        else:
            charges, epsilon = self.charges, self.epsilon(self.delta)
            best = Approx(max(epsilon, LEAST), self.delta) if epsilon <= MOST else None
            found = [charges.to_pure(), charges.to_zcdp(), charges.to_gdp(), best]
        return pd.DataFrame(
            {
                "notion": [kind.__name__.lower() for kind in (Pure, Zcdp, Gdp, Approx)],
                "spent": ["" if budget is None else str(budget) for budget in found],
            }
        ).set_index("notion")

    @property
    def curve(self) -> pd.DataFrame:
        """The tight curve: epsilon for each delta from 1e-2 to 1e-12."""
        deltas = [10.0**-power for power in range(2, 13)]
        return pd.DataFrame({"delta": deltas, "epsilon": [self.epsilon(delta) for delta in deltas]})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the curve and the total. Needs matplotlib."""
        ax = axes(ax)
        deltas = [10.0 ** (-power / 4) for power in range(8, 49)]
        ax.plot(deltas, [self.epsilon(delta) for delta in deltas], label=f"{len(self.entries)} charges")
        total = self.total
        if isinstance(total, Approx):
            ax.plot([total.delta], [total.epsilon], "o", color="black", label=f"total: {total}")
        else:
            limit = [total.to_approx(delta).epsilon for delta in deltas]
            ax.plot(deltas, limit, "--", color="black", label=f"total: {total}")
        ax.set(xscale="log", xlabel="delta", ylabel="epsilon", title=f"Privacy spent on {self.dataset!r}")
        ax.legend()
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; exact amounts as fractions in text."""
        return {
            "format": f"dpstats.ledger/{FORMAT}",
            "dataset": self.dataset,
            "total": self.total.to_dict(),
            "unit": self.unit,
            "spent": self.spent.to_dict() if self.spent else None,
            "left": self.left.to_dict() if self.left else None,
            "charges": [
                {
                    "seq": entry.seq,
                    "at": entry.at,
                    "budget": entry.budget.to_dict(),
                    "gaussian": entry.gaussian,
                    "cost": to_text(entry.cost),
                    "formula": entry.formula,
                    "method": entry.method,
                    "released": dict(entry.released),
                }
                for entry in self.entries
            ],
        }

    def __str__(self) -> str:
        rule = "=" * WIDTH
        head = [
            f"Ledger of {self.dataset!r}",
            rule,
            f"Total   {self.total}" + (f"; protects {self.unit}" if self.unit else ""),
            f"Spent   {self.spent or 'nothing'}",
            f"Left    {self.left or 'nothing'}",
        ]
        if not self.entries:
            return "\n".join([*head, rule])
        charges = [f"{item.seq:>5}  {item.at}  {str(item.budget):<29}{_what(item)}" for item in self.entries]
        notions = [f"  {kind:<8}{spent or '-'}" for kind, spent in self.notions["spent"].items()]
        curve = [f"  {delta:<10.0e}{epsilon:.4g}" for delta, epsilon in self.curve.itertuples(index=False)]
        return "\n".join(
            [
                *head,
                rule,
                "    #  charged (UTC)         cost                         for",
                *charges,
                rule,
                "All charges together, in each notion of privacy",
                *notions,
                "",
                "  delta     epsilon",
                *curve,
                rule,
            ]
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        frames = (self.frame, self.notions, self.curve)
        return f"<h4>Ledger of {self.dataset!r}</h4>" + "".join(frame.to_html() for frame in frames)


def _names(entry: Entry) -> str:
    return ", ".join(f"{name} ({cost})" if cost else name for name, cost in entry.released.items())


def _what(entry: Entry) -> str:
    text = " ".join(f"{entry.formula} [{entry.method}]".split())
    room = WIDTH - 58
    return text if len(text) <= room else text[: room - 3] + "..."
