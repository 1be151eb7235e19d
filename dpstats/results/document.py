"""Printed results: tables in five formats, which are text, HTML, LaTeX, Markdown and CSV.

Every printed result is a `Document`; no other module lays out text
(docs/theory/results.md#how-numbers-are-printed). A table of `Estimates` has numbers to compute with, and the
same numbers laid out to be read.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from itertools import combinations
from typing import Any, NoReturn, TypeVar, final

import numpy as np
import pandas as pd

from dpstats._arguments import is_line, number, shown
from dpstats._private import forgetful, forgetting
from dpstats.errors import SpecificationError
from dpstats.results.markup import comma_separated, fitting, html, latex, markdown, text
from dpstats.results.table import BANNER, Column, Marked, Page, Table, figures, level_percent, percent

T = TypeVar("T")

WIDTH, COMFORTABLE = 78, 100  # of a page, and of one whose tables need more
NARROWEST, WIDEST = 40, 1000  # characters: room for a label and some words beside it; no screen has more


def width_of(given: object) -> int:
    """Return the longest line that was asked for, in characters.

    Raises
    ------
    SpecificationError
        For one that no page has.
    """
    width = number("width", given)
    if not NARROWEST <= width <= WIDEST:
        raise SpecificationError(f"width must be from {NARROWEST} to {WIDEST} characters, got {shown(given)}")
    return int(width)


@forgetful
class Shown(ABC):
    """Base of all that prints as a `Document`: text, HTML in a notebook, other formats when asked."""

    __slots__ = ()

    @property
    @abstractmethod
    def document(self) -> "Document":
        """The printed table."""

    def as_text(self, width: int | None = None) -> str:
        """Return plain text.

        Parameters
        ----------
        width : int, optional
            Longest line in characters, from 40 to 1000; the numbers of a table may need more. Default: that
            of the summary, or 78, and as many up to 100 as keep the labels of tables beside their numbers.

        Returns
        -------
        str

        Raises
        ------
        SpecificationError
            For another width.

        Examples
        --------
        >>> len(table.as_text().splitlines()) > 1
        True
        """
        page = self.document
        wide = page.width if width is None else width_of(width)
        return text(page, wide or fitting(page, WIDTH, COMFORTABLE))

    def as_html(self) -> str:
        """Return an HTML fragment, self-contained and without scripts.

        Returns
        -------
        str

        Examples
        --------
        >>> "<table" in table.as_html()
        True
        """
        return html(self.document)

    def as_latex(self, caption: str | None = None, label: str | None = None) -> str:
        """Return LaTeX for a document that uses the package booktabs; numbers stand on their points.

        Parameters
        ----------
        caption : str, optional
            Makes it a float with this caption.
        label : str, optional
            For references, such as ``"tab:drives"``; makes it a float, too.

        Returns
        -------
        str

        Raises
        ------
        SpecificationError
            For a caption or label that is no line of text.

        Examples
        --------
        >>> "tabular" in table.as_latex(caption="Times to failure", label="tab:drives")
        True
        """
        for name, given in (("caption", caption), ("label", label)):
            if given is not None and not (isinstance(given, str) and is_line(given)):
                raise SpecificationError(f"{name} must be a text on one line, not {shown(given)}")
        if label is not None and not re.fullmatch(r"[\w:.-]+", label):
            raise SpecificationError(
                f"label must have letters, digits and : . - _ alone, such as 'tab:fit'; got {shown(label)}"
            )
        return latex(self.document, caption, label)

    def as_markdown(self) -> str:
        """Return Markdown with pipe tables.

        Returns
        -------
        str

        Examples
        --------
        >>> "| " in table.as_markdown()
        True
        """
        return markdown(self.document)

    def as_csv(self) -> str:
        """Return comma-separated values, as printed; full numbers are in ``.frame`` and ``fit.tidy()``.

        Returns
        -------
        str

        Examples
        --------
        >>> "," in table.as_csv()
        True
        """
        return comma_separated(self.document)

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return self.as_html()

    def _repr_latex_(self) -> str:
        return self.as_latex()


_WRITTEN = ("save", "write", "to_file")  # what others have for a file of a table


@dataclass(frozen=True, slots=True, repr=False)
class Document(Page, Shown):
    """A page that prints itself, in lines of at most `width` characters where no other width is asked for."""

    width: int | None = None

    def __getattr__(self, name: str) -> NoReturn:
        own = name.replace("to_", "as_", 1)
        meant = f"; it is {own}() here" if own != name and hasattr(type(self), own) else ""
        if name in _WRITTEN:
            meant = "; write Path('table.html').write_text(table.as_html()), with pathlib's Path"
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{meant}")

    @property
    def document(self) -> "Document":
        """The document itself."""
        return self


NOT_ESTIMABLE = "not estimable"
BEYOND = "beyond all numbers"
SCALED = (
    "write its column in larger numbers, such as I(1000 / x) for I(1 / x), or arrhenius(x) of a temperature"
)
_TOO_FAR = f"'{BEYOND}': one unit is far more than the column spans; {SCALED}."
FIXED = "fixed"  # in the place of a standard error


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Result(Marked, Shown):
    """Base of the tables that a fit's methods return, under the fit's banner if it has one.

    Attributes
    ----------
    cautions : tuple of str
        Of the fit, as far as they touch what is in the table, which ends with them.
    """

    cautions: tuple[str, ...] = field(default=(), kw_only=True)

    @abstractmethod
    def _page(self) -> Document:
        """The printed table, without the banner and the cautions."""

    @property
    @final
    def document(self) -> Document:
        """The printed table."""
        page = self._page()
        return replace(page, banner=self.banner or page.banner, notes=(*page.notes, *self.cautions))


def marked(
    ask: Callable[..., T], touching: Callable[[Any, str], tuple[str, ...]] = lambda result, asked: ()
) -> Callable[..., T]:
    """Have a method of a result without secret noise mark what it returns.

    A table that it returns ends with what `touching` says of the result and of the name of the method.
    """

    @wraps(ask)
    def asked(self: Any, *args: Any, **kwargs: Any) -> T:
        found = ask(self, *args, **kwargs)
        if isinstance(found, Result) and (said := touching(self, ask.__name__)):
            found = replace(found, cautions=said)
        is_frame = isinstance(found, pd.DataFrame | pd.Series)
        return exposed(found) if (is_frame or isinstance(found, Marked)) and self.not_private else found

    return forgetting(asked)


def exposed(found: Any) -> Any:
    """Return it with the banner, a frame and one among the fields of a result in its ``attrs``."""
    if isinstance(found, pd.DataFrame | pd.Series):
        found.attrs["banner"] = BANNER
        return found
    if "frame" in (each.name for each in fields(found)):
        exposed(found.frame)
    return replace(found, banner=BANNER)


@dataclass(frozen=True, slots=True, repr=False)
class Estimates(Result):
    """Table of estimates, which `life`, `reliability` and their like return.

    Attributes
    ----------
    frame : DataFrame
        Full precision: the values asked for, then ``estimate``, ``conf_low`` and ``conf_high``.
    layout : callable
        Lays out `document` when it is asked for: new data may have many rows, and few are printed.

    Examples
    --------
    >>> import dpstats as dps
    >>> cps = dps.datasets.load("cps1988")
    >>> fit = dps.logit("parttime ~ education", cps.data, cps.schema).fit(dps.zcdp(0.5))
    >>> table = fit.odds_ratios()
    >>> table.frame.columns.tolist()
    ['term', 'estimate', 'conf_low', 'conf_high']
    """

    frame: pd.DataFrame
    layout: Callable[[], Document]

    def __getattr__(self, name: str) -> NoReturn:
        own = f"; its numbers are a frame: .frame.{name}" if hasattr(pd.DataFrame, name) else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{own}")

    def _page(self) -> Document:
        return self.layout()

    def __reduce__(self) -> "tuple[Callable[..., Estimates], tuple[pd.DataFrame, Document]]":
        """With its document laid out, as a function that lays it out cannot be pickled."""
        return _laid_out, (self.frame, self.document)


def _laid_out(frame: pd.DataFrame, document: Document) -> Estimates:
    return Estimates(frame, lambda: document)


def limit_columns(level: float) -> tuple[Column, Column]:
    """Return columns for the limits, under the heads ``"[0.025"`` and ``"0.975]"``."""
    tail = round((1 - level) / 2, 6)
    return Column(f"[{tail:g}", "."), Column(f"{1 - tail:g}]", ".")


def point_columns(*heads: str) -> tuple[Column, ...]:
    """Return columns of numbers whose decimal points stand under each other."""
    return tuple(Column(head, ".") for head in heads)


def with_interval(
    label: str, heads: Sequence[str], rows: Iterable[tuple[str, ...]], level: float, **look: Any
) -> Table:
    """Return a table of numbers by name, of which limits of this level are the last two."""
    columns = (Column(label, "l"), *point_columns(*heads), *limit_columns(level))
    return Table(columns, tuple(rows), **look)


LEAST_SHARE = 0.005  # of a variance, that is printed as a percent


def privacy_table(title: str, rows: Iterable[tuple[str, Any]]) -> Table:
    """Return labelled estimates with their errors, the part of these by privacy, and 95 % limits."""
    rows = list(rows)
    grid = any(getattr(row, "grid_share", 0) > LEAST_SHARE for _, row in rows)
    shares = (Column("privacy"), *[Column("grid")] * grid)
    heads = (*point_columns("estimate", "std err"), *shares, *limit_columns(0.95))
    cells = tuple((label, *_privacy_cells(row, grid)) for label, row in rows)
    return Table((Column("", "l"), *heads), cells, title=title, aside=f"{level_percent(0.95)} intervals")


def pairs_frame(names: Sequence[str], found: Callable[[int, int], Iterable[float]]) -> pd.DataFrame:
    """Return what is found of each pair of names: an estimate with its error, limits and privacy share."""
    pairs = combinations(range(len(names)), 2)
    heads = ["first", "second", "estimate", "std_error", "conf_low", "conf_high", "privacy_share"]
    return pd.DataFrame([(names[i], names[j], *[*found(i, j)][:5]) for i, j in pairs], columns=heads)


def pairs_table(pairs: pd.DataFrame) -> list[Table]:
    """Return the table of correlations, none where there is no pair."""
    rows = ((f"{row.first}, {row.second}", row) for row in pairs.itertuples())
    return [privacy_table("Correlations", rows)] * bool(len(pairs))


def _privacy_cells(row: Any, grid: bool) -> tuple[str, ...]:
    if not np.isfinite(row.std_error):
        limits = [figures(row.conf_low), figures(row.conf_high)]
        return NOT_ESTIMABLE, *["", *[""] * (1 + grid), *limits] * bool(np.isfinite(row.conf_high))
    shares = [row.privacy_share, row.grid_share] if grid else [row.privacy_share]
    estimate, *limits = (figures(x, error=row.std_error) for x in (row.estimate, row.conf_low, row.conf_high))
    return estimate, figures(row.std_error), *map(percent, shares), *limits


def interval_cells(estimate: float, low: float, high: float, known: bool) -> tuple[str, ...]:
    """Return an estimate and its limits, in as many digits as tell these apart."""
    if known and (low == np.inf or high == 0):
        return (BEYOND,)
    half = (float(high) - float(low)) / 2
    return cells((estimate, low, high), known, lambda value: figures(value, error=half))


def too_far(tables: Iterable[Table]) -> str:
    """Say what to write, where a ratio is larger than all numbers, or smaller."""
    return _TOO_FAR if any(BEYOND in row for table in tables for row in table.rows) else ""


def cells(values: Iterable[float], known: bool, write: Callable[[float], str] = figures) -> tuple[str, ...]:
    """Return the numbers of a row, or what stands in their place where they are not known."""
    return tuple(write(float(value)) for value in values) if known else (NOT_ESTIMABLE,)
