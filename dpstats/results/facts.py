"""Public facts of a release, which every kind of result has: what was asked, how, and at what price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpstats._stored import text
from dpstats.budget import Budget, from_dict, worded
from dpstats.results.table import Pair

_MARK = "NOT PRIVATE"
BANNER = f"{_MARK}: fitted without noise, or with known noise"
NO_LEDGER = "none: nothing adds up across fits"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Facts:
    """Facts of a release. See `Record` and `CurveFit`, which have these and what was released."""

    formula: str
    nobs: int | None
    budget: Budget
    method: str
    adjacency: str = "replace one row"
    unit: str = "one row"
    ledger: str | None = None
    subset: str | None = None
    not_private: bool = False


_TEXTS = ("formula", "adjacency", "unit", "ledger", "method")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Marked:
    """Base of what a fit's methods return that prints itself, and says so where the fit is not private.

    Attributes
    ----------
    banner : str
        Set by :func:`dpstats.results.document.marked`.
    """

    banner: str = field(default="", kw_only=True)

    @property
    def not_private(self) -> bool:
        """True if it is of a fit made without, or with known, noise."""
        return bool(self.banner)


def plain_facts(facts: Facts) -> dict[str, Any]:
    """Return plain values for JSON, a subset where there is one."""
    return {
        **{name: getattr(facts, name) for name in _TEXTS},
        **({"subset": facts.subset} if facts.subset else {}),
        "nobs": facts.nobs,
        "budget": facts.budget.to_dict(),
        "not_private": facts.not_private,
    }


def read_facts(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file holds, without its format, each fact as what it must be."""
    fields = {name: value for name, value in content.items() if name != "format"}
    fields |= {name: text(fields[name]) if name == "ledger" else str(fields[name]) for name in _TEXTS}
    fields |= {"subset": text(fields.get("subset")), "nobs": int(fields["nobs"])}
    return fields | {"budget": from_dict(fields["budget"]), "not_private": bool(fields["not_private"])}


def banner(facts: Facts) -> str:
    """Return a warning above everything that is printed of a result without secret noise; else nothing."""
    return BANNER if facts.not_private else ""


def price(facts: Facts) -> str:
    """Return the budget in words."""
    return _MARK if facts.not_private else str(facts.budget)


def heading(facts: Facts, title: str) -> str:
    """Return the title of a summary; what has no secret noise is never called private."""
    return capital(title) if facts.not_private else f"Private {title}"


def capital(text: str) -> str:
    """Return a text that begins a line, with a capital."""
    return text[:1].upper() + text[1:]


def titled(title: str, not_private: bool) -> str:
    """Return a title, with a warning where something that it is of is not private."""
    return f"{_MARK}. {title.removeprefix(f'{_MARK}. ')}" if not_private else title


def asked_and_paid(
    facts: Facts, weights: str | None = None, guarantees: tuple[Pair, ...] = ()
) -> list[tuple[Pair, ...]]:
    """Return the lines that begin a summary, in pairs; guarantees stand in the place of the budget.

    A fit that charged no ledger says so, but for one of contributions, which has none to charge.
    """
    size = "not public" if facts.nobs is None else f"{facts.nobs} (public)"
    neighbours, unit = ("Neighbours", facts.adjacency), ("Unit", facts.unit)
    return [
        (("Formula", facts.formula),),
        *([(("Weights", weights),)] if weights else []),
        *([(("Subset", facts.subset),)] if facts.subset else []),
        (("Method", facts.method), ("Rows", size)),
        *((pair,) for pair in guarantees),
        (neighbours,) if guarantees else (("Privacy", worded(facts.budget)), neighbours),
        (("Ledger", facts.ledger or NO_LEDGER), unit) if facts.ledger or not guarantees else (unit,),
    ]
