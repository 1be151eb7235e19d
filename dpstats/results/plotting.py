"""Parts that plots of fits have in common, the plot of the ridge path, and that of coefficients.

The plot of coefficients, a forest plot, shades the part of each interval that is due to privacy noise.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from dpstats._arguments import Axes, among, axes, beside, listed, near, shown, warn
from dpstats.errors import SpecificationError
from dpstats.formula.factor_reader import category
from dpstats.results.cautions import touching
from dpstats.results.document import BEYOND, NOT_ESTIMABLE, SCALED
from dpstats.results.intervals import bias_share, limits, privacy_share
from dpstats.results.record import Record, is_scale
from dpstats.results.table import Facts, level_percent, one_of, percent, plain, price, titled, wrap

STYLES = ("-", "--", ":", "-.")  # the next one when the colours are used up
Step = Literal["post"] | None
BAND = 0.15  # opacity
LINES, LINES_SMALL = 4, 6  # of a legend, small and smallest, for each inch of the height of a figure
FOOTER = "footer"  # what marks a text as one
FOOTED = 100  # characters of a line of one
EXPOSED = "not-private"  # what marks axes that show what is not private
NOTHING_DRAWN = "nothing-drawn"  # what marks a text that says so
BAND_OF = "band of "  # what marks a band, before the label of its line
HOLDS = "holds "  # what marks a line of a model, before the variables that it holds at one value
FILLED, HARDLY_KNOWN = 0.8, ": hardly known"  # share of the axes from which a band tells next to nothing


def style(j: int) -> dict[str, Any]:
    """Return colour and line style of the j-th line, by matplotlib's cycle."""
    from matplotlib import rcParams

    cycle = list(rcParams["axes.prop_cycle"])
    turn, place = divmod(j, len(cycle))
    return {"linestyle": STYLES[turn % len(STYLES)], "color": f"C{place}"} | cycle[place]


def line_with_band(
    ax: Axes,
    x: ArrayLike,
    y: ArrayLike,
    limits: tuple[ArrayLike, ArrayLike],
    label: str,
    look: dict[str, Any],
) -> None:
    """Draw a line, and a band of its colour between its limits."""
    ax.plot(x, y, **look, label=label)
    band(ax, x, limits, look)
    ax.collections[-1].set_gid(BAND_OF + label)


def of_model(i: int, held: Sequence[str]) -> dict[str, Any]:
    """Return the style of the i-th line, of a model that holds variables at one value."""
    return {**style(i), "gid": HOLDS + "\n".join(held)}


def held_in(ax: Axes) -> list[str]:
    """Return the variables that lines of models on these axes hold at one value."""
    marks = (str(line.get_gid()) for line in ax.lines)
    names = (mark.removeprefix(HOLDS).split("\n") for mark in marks if mark.startswith(HOLDS))
    return list(dict.fromkeys(name for each in names for name in each if name))


def colour_beside(ax: Axes, label: str, curve: bool) -> dict[str, Any]:
    """Return the colour that rows of this label have already: a curve that of a model's line, or a model its.

    Lines of two models differ, since their labels are of the same rows.
    """
    for line in ax.lines:
        same = str(line.get_label()).removesuffix(HARDLY_KNOWN) == label
        if same and str(line.get_gid()).startswith(HOLDS) == curve:
            return {"color": line.get_color()}
    return {}


def warn_of_pooled(names: Sequence[str], points: str) -> None:
    """Say that a curve is of all values of variables of which lines beside it have one."""
    if names:
        warn(
            f"{points} of all values of {', '.join(names)} together, and each line holds at one: they "
            "need not agree, even where the model is right"
        )


def left_out(ax: Axes, label: str) -> None:
    """Name in the legend a line that is not drawn, because noise hides where it is."""
    ax.plot(np.nan, np.nan, " ", label=f"{label}: {NOT_ESTIMABLE}")


def band(  # noqa: PLR0913 - what is drawn, and where
    ax: Axes,
    x: ArrayLike,
    limits: tuple[ArrayLike, ArrayLike],
    look: dict[str, Any],
    step: Step = None,
    others: int = 0,
) -> None:
    """Draw a band of the colour of its line between its limits, in steps as the line.

    With more than one of `others` it is lighter and has edges, by which they are told apart.
    """
    color, opacity = look["color"], BAND / max(others, 1)
    ax.fill_between(x, *limits, color=color, alpha=opacity, linewidth=0, step=step)
    if others > 1:
        ax.fill_between(x, *limits, facecolor="none", edgecolor=color, alpha=0.5, linewidth=0.6, step=step)


def _mark_wide_bands(ax: Axes) -> None:
    """Hatch each band that fills nearly all of the axes, as it would look like their ground, and say so."""
    for shape in ax.collections:
        label = str(shape.get_gid()).removeprefix(BAND_OF)
        if label == str(shape.get_gid()) or not shape.get_paths():
            continue
        corners = (ax.transScale + ax.transLimits).transform(shape.get_paths()[0].vertices)
        x, y = np.clip(np.nan_to_num(corners, posinf=1.0, neginf=0.0), 0.0, 1.0).T
        if abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2 > FILLED:
            shape.set(hatch="//", gid=None)
            for line in [each for each in ax.lines if each.get_label() == label][:1]:  # or it was renamed
                line.set_label(label + HARDLY_KNOWN)


def footer(
    ax: Axes, facts: Facts, share: ArrayLike | None = None, more: str = "", cautions: Sequence[str] = ()
) -> None:
    """Write below new axes of which rows numbers are, their cost, the part of noise, `more` and cautions."""
    said = [*[f"rows with {facts.subset}"] * bool(facts.subset), f"{price(facts)}, {facts.adjacency}"]
    known = np.asarray([] if share is None else share, dtype=float)
    if np.isfinite(known).any():
        said.append(f"privacy share of variance {percent(float(np.nanmedian(known)))}")
    # of other fits on the same axes
    above = sum(1 + text.get_text().count("\n") for text in ax.texts if text.get_gid() == FOOTER)
    lines = (line for caution in cautions for line in wrap(caution, FOOTED))
    ax.annotate(
        "\n".join(["; ".join([*said, *[more] * bool(more)]), *lines]),
        (1, 0),
        gid=FOOTER,
        xytext=(0, -34 - 9 * above),  # points: below the label of the axis
        xycoords="axes fraction",
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize="x-small",
        color="0.35",
    )


def entitled(ax: Axes, title: str, *shown: Facts, **look: Any) -> None:
    """Write a title, with a warning where anything that is shown, or was before, is not private."""
    if any(each.not_private for each in shown):
        ax.set_gid(EXPOSED)
    ax.set_title(titled(title, ax.get_gid() == EXPOSED), **look)


def per(unit: str) -> str:
    """Return a unit of time as that of a rate: ``" per hour"`` of ``"hours"``."""
    return f" per {one_of(unit)}" if unit else " per unit of time"


def legend(ax: Axes, named: int = 1) -> None:
    """Put a legend to axes where more than `named` things have a label, or a text where no line is drawn.

    It stands beside axes that are alone in their figure, where it hides no line, and else inside. That of
    more lines than its figure is high for is small and in columns.
    """
    _mark_wide_bands(ax)
    labels = ax.get_legend_handles_labels()[1]
    for text in [each for each in ax.texts if each.get_gid() == NOTHING_DRAWN]:
        text.remove()  # of a fit whose lines were left out; others may have lines
    if labels and all(label.endswith(f": {NOT_ESTIMABLE}") for label in labels):
        middle = (0.5, 0.5, NOT_ESTIMABLE)
        ax.text(*middle, transform=ax.transAxes, ha="center", va="center", gid=NOTHING_DRAWN)
    if len(labels) <= named:
        return
    look: dict[str, Any] = {"fontsize": "small"}
    inches = ax.figure.bbox.height / ax.figure.dpi
    if len(labels) > LINES * inches:  # matplotlib would press the axes flat
        columns = math.ceil(len(labels) / (LINES_SMALL * inches))
        look = {"fontsize": "xx-small", "ncols": columns, "columnspacing": 1.0, "handlelength": 1.5}
    ax.legend(frameon=False, **look, **beside(ax))


def finished(  # noqa: PLR0913 - what is written, and where
    ax: Axes,
    title: str,
    *shown: Facts,
    share: ArrayLike | None = None,
    named: int = 1,
    cautions: Sequence[str] = (),
    **look: Any,
) -> Axes:
    """Write the title, a legend where more than `named` things have a label, and a footer."""
    entitled(ax, title, *shown, **look)
    legend(ax, named)
    footer(ax, shown[0], share, cautions=cautions)
    return ax


def plot_path(
    record: Record, frame: pd.DataFrame, shown: Mapping[str, float], label: str, ax: Axes | None
) -> Axes:
    """Draw coefficients of a ridge path, one line with its band for each.

    Parameters
    ----------
    record : Record
    frame : DataFrame
        Of the path.
    shown : mapping of str to float
        Names of the coefficients, and what to multiply each by.
    label : str
        Of the vertical axis.
    ax : matplotlib Axes, optional
    """
    ax = axes(ax)
    for j, (name, factor) in enumerate(shown.items()):
        line = frame[frame["term"] == name].sort_values("alpha")
        known = np.isfinite(line["std_error"])
        columns = ("conf_low", "estimate", "conf_high")
        low, estimate, high = (factor * line[column].where(known) for column in columns)
        if known.any():
            line_with_band(ax, line["alpha"], estimate, (low, high), name, style(j))
        else:
            left_out(ax, name)
    ax.axhline(0, color="0.6", linewidth=0.8)
    if record.alpha:
        ax.axvline(record.alpha, color="0.3", linestyle=":", label="this fit")
    title = "Ridge path, 95 % intervals for the penalised coefficients"
    ax.set(xscale="log", xlabel="alpha (ridge penalty)", ylabel=label)
    return finished(ax, title, record, share=frame.get("privacy_share"), named=0)


THICK = 5.0  # points
NOTHING = 0.01  # share of a variance
LONGEST = 34  # characters of a name
MANY = 7  # ticks of ratios, which have room beside each other
MOST = 300 * math.log(10)  # of the logarithm of a ratio: floats end a little beyond 1e300
WIDE = 5.0  # times as long as a usual interval, and as the largest estimate, is one that is cut off


def plot_coef(  # noqa: PLR0913 - what is drawn, and where
    record: Record,
    terms: Sequence[str],
    widths: np.ndarray,
    label: str,
    level: float,
    ax: Axes | None,
    ratio: str = "",
) -> Axes:
    """Draw one line for each of `terms`, the first on top, its coefficient times a width, shape (k,).

    Of a fit without standard errors it is a point. Of ratios, if they have a name, what is written at the
    axis is as far apart as their logarithms.
    """
    where = [record.names.index(term) for term in terms]
    low, high = ((limit * widths)[where] for limit in limits(record, level))
    centre, share = (record.params * widths)[where], privacy_share(record)[where]
    known, rows = np.isfinite(low), np.arange(len(where))
    far = known & (np.maximum(np.abs(low), np.abs(high)) > MOST) & bool(ratio)
    if far.any():
        raise SpecificationError(
            f"the {ratio} of {terms[int(np.argmax(far))]} is {BEYOND}: {SCALED}; or leave it out, terms=[...]"
        )
    drawn = known | bool(record.no_errors)
    bias = np.nan_to_num(bias_share(record)[where])
    ax = axes(ax, height=1.6 + 0.3 * len(where))
    left, right = np.where(known, low, 0.0), np.where(known, high, 0.0)
    middle = np.where(drawn, centre, 0.0)
    lengths = [(share * 0, "with privacy noise", "C1", 0.45), (share + bias, "sampling alone", "C0", 1.0)]
    if (bias > NOTHING).any():
        lengths.insert(1, (share, "with possible bias", "C2", 0.7))
    for without, words, color, alpha in lengths if known.any() else ():
        inner = np.where(known, np.sqrt(np.maximum(1 - without, 0.0)), 0.0)
        start, stop = (middle + inner * (end - middle) for end in (left, right))
        ends = start[known], stop[known]
        ax.hlines(rows[known], *ends, color=color, alpha=alpha, linewidth=THICK, label=words)
    ax.plot(middle[drawn], rows[drawn], "o", color="black", markersize=4, label="estimate")
    for row in rows[~drawn]:
        ax.annotate(
            NOT_ESTIMABLE, (0.02, row), xycoords=("axes fraction", "data"), va="center", fontsize="small"
        )
    ax.axvline(0, color="0.6", linewidth=0.8, zorder=0)
    _cut_off(ax, middle, left, right, known)
    ax.set_yticks(rows, [_short(record, term) for term in terms])
    ax.set(xlabel=label, ylim=(len(where) - 0.5, -0.5))
    ax.locator_params(axis="x", nbins=5)  # more labels of five signs overlap beside long names
    if ratio:
        _as_ratios(ax)
    counted = "no standard errors" if record.no_errors else f"{level_percent(level)} intervals"
    what = f"{ratio.capitalize()}s" if ratio and " " in ratio else ratio or "Coefficients"
    said = touching(record, "coefficients")
    return finished(ax, f"{what}, {counted}", record, share=share[known], cautions=said)


def _short(record: Record, term: str) -> str:
    """Return the name of a coefficient, in a long one the variable for its coding, or no middle."""
    code, bracket, level = term.partition("[T.")
    factor = category(code, record.schema) if bracket else None
    if len(term) > LONGEST and factor is not None and factor.variable is not None:
        term = f"{factor.variable}[T.{level}"
    half = (LONGEST - 3) // 2  # of a long name the factor's beginning and the level's end are told
    return term if len(term) <= LONGEST else f"{term[:half]}...{term[-half:]}"


def _cut_off(ax: Axes, middle: np.ndarray, left: np.ndarray, right: np.ndarray, known: np.ndarray) -> None:
    """End the axis where the intervals end but for those that would shrink all others, which have arrows."""
    half = (right - left) / 2
    usual = max(float(np.median(half[known])), float(np.abs(middle).max())) if known.any() else 0.0
    wide = known & (half > WIDE * usual)
    if not wide.any():
        return
    ends = np.concatenate([[0.0], middle, left[known & ~wide], right[known & ~wide]])
    low, high = float(ends.min()), float(ends.max())
    low, high = low - (high - low) / 2, high + (high - low) / 2
    for row in np.flatnonzero(wide):
        for end, inside, way in ((left[row], low, "<"), (right[row], high, ">")):
            if not low < end < high:
                ax.plot(inside, row, way, color="C1", markersize=2 * THICK, clip_on=False)
    ax.set_xlim(low, high)


def _as_ratios(ax: Axes) -> None:
    """Write ratios at the ticks of their logarithms, of a wide range at those of some powers of ten."""
    from matplotlib.ticker import MaxNLocator

    low, high = ax.get_xlim()
    powers = range(math.ceil(low / math.log(10)), math.floor(high / math.log(10)) + 1)
    marks = [m * 10.0**k for k in range(powers.start - 1, powers.stop) for m in (1, 2, 5)]
    inside = [mark for mark in marks if low <= np.log(mark) <= high]
    if len(inside) > MANY:
        step = math.ceil(len(powers) / MANY)
        inside = [10.0**k for k in powers if k % step == 0]
    if len(inside) < 3:  # a narrow range: multiples of a round number, of which 1 is one
        ticks = MaxNLocator(MANY, steps=[1, 2, 5, 10]).tick_values(*np.exp([low, high]))
        inside = [tick for tick in ticks if low <= np.log(tick) <= high]
    ax.set_xticks([np.log(mark) for mark in inside], [plain(mark) for mark in inside])


def chosen(record: Record, terms: Sequence[str] | None) -> tuple[str, ...]:
    """Return the coefficients asked for; default: all but intercept and scale, unless these are all."""
    if terms is None:
        kept = tuple(name for name in record.names if name != "Intercept" and not is_scale(name))
        return kept or record.names
    wanted = listed(terms)
    if not wanted or not all(among(term, record.names) for term in wanted):
        raise SpecificationError(
            f"terms must be coefficients of the fit ({', '.join(record.names)}), got {shown(terms)}"
            f"{near(terms, record.names)}"
        )
    return wanted
