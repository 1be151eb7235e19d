"""A plan as a printed table, and its half widths against the budget as a plot."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpstats._arguments import Axes, axes
from dpstats.budget import Budget, worded
from dpstats.formula import Design, IntervalResponse
from dpstats.planning.knowledge import Knowledge
from dpstats.planning.truth import ResponseLaw
from dpstats.results.document import NOT_ESTIMABLE, Document
from dpstats.results.plotting import legend
from dpstats.results.table import BANNER, Column, Table, figures, percent
from dpstats.schema import Unit

_HEADS = {
    "coef": "planned",
    "sampling": "sampling",
    "privacy": "privacy",
    "half_width": "half width",
    "privacy_share": "share",
    "found_80": "found 80 %",
    "not_estimable": "lost",
}

# beside what other spreads would do: a line has room for seven numbers
_HEADS_AROUND = {name: _HEADS[name] for name in ("sampling", "privacy", "half_width", "not_estimable")}
_HEADS_AROUND |= {"half_low": "sds x1.5", "half_high": "sds /1.5", "half_tied": "tied"}

_UNSURE = 0.1  # error of the middle of fits, of itself, at which one plan in eight is more than 15 % off
_APART = 2.0  # standard errors of one fit in ten over those in the middle, by which fits are not alike
_NOTICED = 0.005  # rows that lack a value, which are printed as 1 %
_EXPLAINS = 0.3  # correlation with the response, of which a tenth of its variance goes along with a covariate
_UNREAD = "No private row was read and nothing was charged"
_EXPOSED = "What is known of the rows was found without secret noise, and the plan charged nothing"
_FOUND = (
    "share is the share of the variance that is privacy noise, found 80 % is the effect that 80 % of fits"
    " find"
)
_AROUND = "sds x1.5 and sds /1.5 are the half width where the true sds are 1.5 times as large, or as small"


def document(
    design: Design,
    budget: Budget,
    n: int,
    table: pd.DataFrame,
    known: Knowledge,
    law: ResponseLaw,
    penalised: bool,
) -> Document:
    """Lay a plan out."""
    heads = _HEADS_AROUND if "half_low" in table else _HEADS
    heads = {name: head for name, head in heads.items() if name in table}
    columns = (Column("", "l"), *(Column(head, ".") for head in heads.values()))
    whose = design.schema.privacy_unit
    many = "1 row has" if whose.max_rows == 1 else f"{whose.max_rows} rows have"
    rows = f", of which at most {many} weight"
    unit = ((("Unit", whose.short + rows),),) if whose.column else ()
    return Document(
        title=f"Plan of a private fit: {design.formula}",
        banner=BANNER if known.not_private else "",
        head=((("Rows", f"{n} (planned)"),), (("Budget", worded(budget)),), *unit),
        tables=(Table(columns, tuple(_row(row, heads) for _, row in table.iterrows())),),
        notes=(
            *_notes(known, law, "half_low" in table, penalised),
            *_of_units(whose, n),
            *_lost(table, design),
            *_doubts(table),
        ),
    )


def _row(row: pd.Series, heads: dict[str, str]) -> tuple[str, ...]:
    if not np.isfinite(row["half_width"]):
        return row["term"], f"{NOT_ESTIMABLE} in {percent(row['not_estimable'])} of fits"
    shares = ("privacy_share", "not_estimable")
    return row["term"], *(percent(row[name]) if name in shares else figures(row[name]) for name in heads)


def _notes(known: Knowledge, law: ResponseLaw, around: bool, penalised: bool) -> list[str]:
    notes = [
        f"{_EXPOSED if known.not_private else _UNREAD}: the numbers are of fits of made-up rows under "
        "seeded noise. Sampling and privacy are parts of the standard error, half width is of the 95 % "
        f"interval, {_AROUND if around else _FOUND}" + ", and lost is the chance of 'not estimable'."
    ]
    if known.frame is not None:
        notes.append("Covariates are drawn from the public rows.")
    elif known.may_be_tied:
        notes.append(
            "Covariates are taken for uncorrelated; correlations make intervals wider"
            + "; tied is the half width where all of them are .5" * around
            + "."
        )
    lacking, *limits = known.lacking
    doubt = f" ({' to '.join(map(percent, limits))}, as far as noise tells)" * (limits[0] < limits[1])
    told = [
        (
            lacking > _NOTICED or limits[1] > _UNSURE,
            f"{percent(lacking)} of the rows lack a value{doubt}, and do not count.",
        ),
        (
            known.inside < 1,
            f"{percent(known.inside)} of the rows are in the subset, as was described, and count.",
        ),
        (
            known.subset,
            f"What was described is of the rows with {known.subset}, and is taken for that of all rows.",
        ),
        (
            known.assumed,
            f"Nothing is known of {', '.join(known.assumed)}: taken as even over what is declared, which is "
            "nearly always too optimistic, as most variables fill a small part of their bounds. Give means "
            "and sds, or shares of levels, in covariates= (--known on the command line).",
        ),
        (
            penalised and not law.coef[1:].any(),
            "Effects are taken for 0, and the penalty makes intervals depend on them: where there are "
            "effects, they are mostly longer. Give effects in coef= (--coef on the command line).",
        ),
        (
            not penalised
            and not law.coef[1:].any()
            and any(
                abs(rho) > _EXPLAINS and not all(name in known.spreads or "[T." in name for name in pair)
                for pair, rho in known.correlations.items()
            ),
            "Effects are taken for 0, and the response goes along with covariates as was described: with "
            "coefficients in coef= (--coef on the command line) residuals scatter less, and some fits have "
            "longer intervals than is planned here.",
        ),
        (law.assumed, f"Assumed: {'; '.join(law.assumed)}."),
    ]
    return [*notes, *(note for holds, note in told if holds)]


def _of_units(whose: Unit, n: int) -> list[str]:
    """What to say of rows of a unit beyond those that weigh: nothing public tells how many they are."""
    if whose.column is None:
        return []
    return [
        f"All {n} rows are taken for rows that weigh. Of a table whose units have more, fewer do, and "
        f"intervals are wider: give in n= how many, at most {whose.max_rows} for each {whose.column}. How "
        "many units there are is not public; say what you know without the table."
    ]


def _lost(table: pd.DataFrame, design: Design) -> list[str]:
    """What to say where most fits lose a coefficient: what would do."""
    lost = table[~np.isfinite(table["half_width"])]
    if lost.empty:
        return []
    looks = (
        " Units are watched for even times unless watches='equal' is told: where nearly all fail, most of "
        "them do before the first look."
    )
    return [
        f"Most fits lose {len(lost)} of {len(table)} coefficients: table() has the standard errors of those "
        "that keep them, budget_for() and n_for() tell which budget or how many rows give a half width. "
        "Fewer terms or levels and narrower bounds need less."
        + looks
        * isinstance(design.response, IntervalResponse)
    ]


def _doubts(table: pd.DataFrame) -> list[str]:
    """What to say where fits differ so much that none is like the one in the middle."""
    shown = table[np.isfinite(table["half_width"])]
    shown = shown[(shown["unsure"] > _UNSURE) | (shown["longest"] > _APART)]
    if shown.empty:
        return []
    worst = shown.loc[shown["longest"].idxmax()]
    far = f"has one {worst['longest']:.2g} times as long" if np.isfinite(worst["longest"]) else "loses it"
    return [
        "Standard errors differ much between fits here: the middle of them, which is shown, is known to "
        f"{percent(shown['unsure'].max())}, and of {worst['term']} one fit in ten {far}. More rows or budget "
        "make fits alike."
    ]


BUDGET, ROWS = "budget", "rows"  # what a plot may be against
MOST_DRAWN = 10  # terms, unless they are chosen: as many as there are colours


def draw(
    terms: Sequence[str],
    at: np.ndarray,
    half: np.ndarray,
    floor: np.ndarray,
    unit: str,
    ax: Axes | None,
    of: int,
) -> Axes:
    """One line for each term, of shape (places, terms), and a dashed one where noise is nothing.

    The place in the middle is the plan's. The title says if there are more terms, `of` in all.
    """
    from matplotlib.ticker import LogLocator, StrMethodFormatter

    ax = axes(ax)
    names = np.array([f"{each:.0f}" if unit == ROWS else f"{each:.3g}" for each in at])
    for j, term in enumerate(terms):
        known = np.isfinite(half[:, j])
        lost = "" if known.all() else f": {NOT_ESTIMABLE}"
        lost += f" at {', '.join(names[~known])}" * bool(lost and known.any())
        ax.plot(at[known], half[known, j], "o-", color=f"C{j}", markersize=4, label=term + lost)
        ax.plot(at, floor[:, j], color=f"C{j}", linestyle="--", linewidth=0.9)
    ax.axvline(at[len(at) // 2], color="0.6", linewidth=0.8, zorder=0)
    title = f"What {'rows buy' if unit == ROWS else 'a budget buys'} (dashed: without noise)"
    left = f"\nthe {len(terms)} of {of} terms with the widest intervals; terms= chooses" * (len(terms) < of)
    ax.set(
        xscale="log",
        yscale="log",
        xlabel=unit,
        ylabel="half width of the 95 % interval",
        title=title + left,
    )
    # at the places that were tried, in plain numbers
    ax.set_xticks(at, names)
    ax.minorticks_off()
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    legend(ax, 0)
    return ax
