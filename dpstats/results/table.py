"""Tables as data: cells under heads, pages of them, and how numbers are written. `Document` prints them.

Numbers have significant digits, and never a bare 0.000. See docs/theory/results.md#how-numbers-are-printed.
The public facts of a release stand in words above every table: what was asked, how, and at what price.
"""

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpstats._stored import text
from dpstats.budget import Budget, from_dict, worded
from dpstats.schema import Unit

DIGITS = 4
WIDEST = 10  # characters; keeps four columns of figures within a 79-column page


def figures(value: float, min_decimals: int = 0, error: float = math.nan) -> str:
    """Write `value` with four significant digits, three where four would need more than five decimals.

    It has more where they show the first digit of its error, which four would hide.

    Parameters
    ----------
    value : float
    min_decimals : int
        Decimals kept even beyond four digits; 1 shows 1309.9 rather than 1310.
    error : float
        Standard error, where there is one.

    Returns
    -------
    str
        At most ten characters; empty for NaN.
    """
    if math.isnan(value):
        return ""
    if math.isinf(value) or value == 0:
        return f"{value:g}"
    scientific = f"{value:.{DIGITS - 1}e}"
    exponent = int(scientific.split("e")[1])
    if 0 < error < abs(value) * 10.0 ** (1 - DIGITS):
        shown = f"{value:.{max(-math.floor(math.log10(error)), min_decimals, 0)}f}"
        return shown if len(shown) <= WIDEST else scientific
    if not -5 <= exponent < 7:
        return scientific if abs(exponent) < 100 else f"{value:.{DIGITS - 2}e}"
    decimals = DIGITS - 1 - exponent
    if decimals > 5:
        decimals = max(5, decimals - 1)
    fixed = f"{value:.{max(decimals, min_decimals, 0)}f}"
    return fixed if len(fixed) <= WIDEST else f"{value:.{max(decimals, 0)}f}"


def times(value: float) -> str:
    """Write a time: four significant digits and at least one decimal."""
    return figures(value, min_decimals=1)


def plain(value: float) -> str:
    """Write a public number (a bound, a level, a time asked for) as the user would: 200, 0.5, 1e-06."""
    return f"{value:.10g}"


def penalty_text(alpha: float) -> str:
    """Write a ridge penalty, which may lie on a grid, with at most six digits."""
    return f"{alpha:.6g}"


def p_value(value: float) -> str:
    """Write a p-value with three decimals; ``<0.001`` below that, never 0.000."""
    if math.isnan(value):
        return ""
    return "<0.001" if value < 0.0005 else f"{value:.3f}"


def z_value(value: float) -> str:
    """Write a test statistic with two decimals, fewer when it is huge."""
    if math.isnan(value):
        return ""
    if abs(value) >= 1e5:
        return f"{value:.1e}"
    return f"{value:.2f}" if abs(value) < 1000 else f"{value:.0f}"


def percent(share: float) -> str:
    """Write a share of 1 in whole percent: ``41 %``."""
    return "" if math.isnan(share) else f"{100 * share:.0f} %"


def level_percent(level: float) -> str:
    """Write a confidence level or failed fraction in percent: ``95 %``, ``63.2 %``."""
    return f"{round(100 * level, 1):.10g} %"


def bracket(low: float, high: float, decimals: int | None = None) -> str:
    """Write an interval: ``[0.969, 0.998]``."""
    if decimals is None:
        return f"[{figures(low)}, {figures(high)}]"
    return f"[{low:.{decimals}f}, {high:.{decimals}f}]"


def in_unit(what: str, unit: str | None) -> str:
    """Write the head of a column or the name of an axis, with its unit where one is declared."""
    return f"{what} ({unit})" if unit else what


def one_of(unit: str) -> str:
    """Write a unit in the singular: ``hour`` of ``hours``, but ``celsius`` and ``m/s`` as they are."""
    return unit[:-1] if re.fullmatch(r"[A-Za-z ]{2,}(?<![sui])s", unit) else unit


def weighing(whose: Unit) -> str:
    """Say which rows of a unit of privacy weigh."""
    some = "one row has" if whose.max_rows == 1 else f"{whose.max_rows} rows have"
    return f"Of each {whose.column} at most {some} weight, chosen by a hash; rows without one have none."


def chi_square_text(statistic: float, df: int, p: float) -> str:
    """Write a test: ``chi2(2) = 7.31, p = 0.026``."""
    chance = p_value(p)
    return f"chi2({df}) = {z_value(statistic)}, p {chance if chance.startswith('<') else f'= {chance}'}"


def align_points(cells: Sequence[str]) -> list[str]:
    """Pad `cells` so that their decimal points stand under each other; flush right if that is too wide."""
    numbers = [cell.partition(".") for cell in cells]
    left = max((len(whole) for whole, _, _ in numbers), default=0)
    right = max((len(point + rest) for _, point, rest in numbers), default=0)
    if left + right > WIDEST or any("e" in cell for cell in cells):
        width = max((len(cell) for cell in cells), default=0)
        return [cell.rjust(width) for cell in cells]
    return [whole.rjust(left) + (point + rest).ljust(right) for whole, point, rest in numbers]


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Break `text` into lines of at most `width`, inside words where a name is longer than a line.

    What is equal, or is the larger, stays on the line of what it is compared with, where that is long enough.
    """

    def held(found: re.Match[str]) -> str:
        return found[0].replace(" ", "\x1f" if len(found[0]) <= width else " ")

    lines = textwrap.wrap(re.sub(r"\S+ [<=>] \S+", held, text), width, subsequent_indent=indent)
    return [line.replace("\x1f", " ") for line in lines] or [""]


Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, and ``"l"`` left, ``"r"`` right or ``"."`` on the decimal point."""

    head: str
    align: str = "r"


@dataclass(frozen=True, slots=True)
class Table:
    """Cells under heads.

    Attributes
    ----------
    columns : tuple of Column
    rows : tuple of tuple of str
        A row shorter than the columns ends in a remark that spans the rest.
    labels : int
        Leading columns that name the row; the last of them may be longer than fits beside the numbers.
    title, aside : str
        A line above the table, left and right.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    labels: int = 1
    title: str = ""
    aside: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """A title, a banner, lines of (label, value) pairs, tables and notes, each of them optional."""

    title: str = ""
    banner: str = ""
    head: tuple[tuple[Pair, ...], ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()


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
