"""Tables of times to failure: B-lives, reliability at times, parameters, ratios, other distributions.

See docs/theory/results.md#survival-tables and, of other distributions (release=["dist"]),
docs/theory/intervals.md#choice-of-a-distribution.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from dpstats.results import survival_quantities as quantities
from dpstats.results.document import (
    NOT_ESTIMABLE,
    WIDTH,
    Document,
    Estimates,
    cells,
    interval_cells,
    limit_columns,
    point_columns,
    too_far,
    with_interval,
)
from dpstats.results.intervals import (
    critical,
    failing_known,
    says_nothing,
    standard_errors,
    unseen_share,
    with_limits,
)
from dpstats.results.newdata import Points, beside
from dpstats.results.prediction import linear_predictor
from dpstats.results.record import Record
from dpstats.results.table import Column, Table, bracket, figures, in_unit, level_percent, plain, times
from dpstats.results.units import Units, in_units, per_unit

Columns = dict[str, np.ndarray]


def life(record: Record, at: Points, failed: np.ndarray, level: float) -> Estimates:
    """Lay out quantiles, the scale and the mean, one table for each point."""
    log, family = record.distribution.log, record.distribution.family
    names = [*(f"B{100 * q:.6g}" for q in failed), "eta" if log else "mu", "mean"]
    fractions = np.append(failed, family.cdf(0.0))
    m, q = len(at.exog), len(fractions)
    linear = quantities.quantile(record, *at.at_each(fractions))
    quantiles = with_limits(linear, record, level, record.link.inverse)
    location, gradient = linear_predictor(record, at)
    location_se = standard_errors(gradient, record)
    means = mean(record, at, level)
    columns = {name: np.column_stack([quantiles[name].reshape(m, q), means[name]]) for name in quantiles}
    shares = {"quantity": names * m, "failed": np.tile(np.append(fractions, np.nan), m)}
    frame = pd.DataFrame(shares | {name: values.ravel() for name, values in columns.items()})

    def layout() -> Document:
        aside = f"{level_percent(level)} intervals" + (", log scale" if log else "")
        tables = []
        for i in range(m):
            remark = f"{family.title} mu = {location[i]:.4g} ({location_se[i]:.3g})" if log else ""
            block = frame.iloc[i * (q + 1) : (i + 1) * (q + 1)]
            title = _at("Life", at.label(i))
            tables.append(_life_table(block, level, title, aside, remark, record.time_unit))
        notes = _beyond_the_check(record, names, failed) + unwatched(record, columns["estimate"])
        return Document(tables=tuple(tables), notes=notes)

    return Estimates(beside(at.repeated(q + 1), frame), layout)


def mean(record: Record, at: Points, level: float) -> Columns:
    """Return the mean life with its limits; NaN where noise hides it, and limits of an infinite mean."""
    centre, gradient = quantities.mean(record, at)
    columns = with_limits((centre, gradient), record, level, record.link.inverse)
    hidden, infinite = np.isinf(standard_errors(gradient, record)), np.isinf(centre)
    return {
        name: np.where(hidden | (infinite & (name != "estimate")), np.nan, values)
        for name, values in columns.items()
    }


def unwatched(record: Record, asked: np.ndarray) -> tuple[str, ...]:
    """Say that times, NaN apart, lie beyond the upper public bound, until which rows may be watched."""
    last = record.design.time_bounds[1]
    if not np.any(asked > last):
        return ()
    return (
        f"No row was watched beyond {plain(last)}, the upper public bound of the time: what is told of later "
        "times rests on the distribution.",
    )


def _beyond_the_check(record: Record, names: Sequence[str], failed: np.ndarray) -> tuple[str, ...]:
    """Say which lives are so early, or so late, that no check of the law reaches there."""
    unseen = unseen_share(record)
    which = [name for name, q in zip(names, failed, strict=False) if min(q, 1 - q) < unseen]
    if not which:
        return ()
    known = failing_known(record)
    told = "Told" if known else "Perhaps told"
    whose = "units" if known else "failures, and which share of the units fails is not known"
    return (
        f"{told} by the distribution alone: {', '.join(which)}. Its check sees nothing of fewer than "
        f"{plain(float(f'{100 * unseen:.2g}'))} % of the {whose} (fit.law).",
    )


def _life_table(frame: pd.DataFrame, level: float, title: str, aside: str, remark: str, unit: str) -> Table:
    rows: list[tuple[str, ...]] = []
    for name, q, *values in frame.itertuples(index=False):
        share = "" if np.isnan(q) else level_percent(q)
        if np.isnan(values[0]) or says_nothing(*values):
            rows.append((name, share, NOT_ESTIMABLE))
        elif np.isnan(values[1]):
            rows.append((name, share, times(values[0])))
        else:
            rows.append((name, share, *map(times, values), remark if name == "eta" else ""))
    heads = (
        Column("", "l"),
        Column("failed"),
        *point_columns(in_unit("time", unit)),
        *limit_columns(level),
        Column("", "l"),
    )
    return Table(heads, tuple(rows), title=title, aside=aside)


def by_time(
    heads: Sequence[str],
    at: Points,
    asked: Columns,
    columns: Columns,
    level: float,
    scale: str,
    notes: tuple[str, ...] = (),
) -> Estimates:
    """Lay out a quantity at times, several to a line, as ``R(250) = 0.993 [0.969, 0.998]``.

    Parameters
    ----------
    heads : sequence of str
        What each is, e.g. ``"R(250)"``.
    at : Points
        One row for each of `heads`.
    asked : dict
        Columns of what was asked for, such as the time.
    columns : dict
        From `with_limits`.
    level : float
    scale : str
        On which the interval was made: ``"log"`` for rates, another for probabilities.
    notes : tuple of str
    """

    def layout() -> Document:
        lines: dict[str, list[str]] = {}
        for row, (head, estimate, low, high) in enumerate(zip(heads, *columns.values(), strict=True)):
            text = _rate(estimate, low, high) if scale == "log" else _probability(estimate, low, high)
            lines.setdefault(at.label(row), []).append(f"{head} = {text}")
        aside = f"{level_percent(level)} intervals, {scale} scale"
        return Document(
            tables=tuple(
                Table((Column("", "l"),), tuple((line,) for line in _packed(items)), 1, _at("", label), aside)
                for label, items in lines.items()
            ),
            notes=notes,
        )

    return Estimates(beside(at, pd.DataFrame({**asked, **columns})), layout)


def _rate(estimate: float, low: float, high: float) -> str:
    return NOT_ESTIMABLE if says_nothing(estimate, low, high) else f"{figures(estimate)} {bracket(low, high)}"


def _probability(estimate: float, low: float, high: float) -> str:
    """Write a probability with three decimals, more where it is nearly 0 or 1 throughout its interval."""
    if low == 0 and high == 1:
        return NOT_ESTIMABLE
    margin = min(1 - low, high)
    decimals = int(np.clip(1 - np.floor(np.log10(margin)), 3, 8)) if margin > 0 else 3
    known = NOT_ESTIMABLE if np.isnan(estimate) else f"{estimate:.{decimals}f}"
    return f"{known} {bracket(low, high, decimals)}"


def by_point(
    name: str, at: Points, columns: Columns, level: float, unit: str, notes: tuple[str, ...] = ()
) -> Estimates:
    """Lay out one quantity at each point."""

    def rows() -> Iterator[tuple[str, ...]]:
        for i, values in enumerate(zip(*columns.values(), strict=True)):
            known = not (np.isnan(values[0]) or says_nothing(*values))
            yield at.label(i) or name, *cells(values[: 1 if np.isnan(values[1]) else 3], known, times)

    return Estimates(
        beside(at, pd.DataFrame(columns)),
        lambda: Document(tables=(with_interval("", [in_unit(name, unit)], rows(), level),), notes=notes),
    )


_AT_ZERO = "eta is that where all columns are 0. That of a unit is fit.eta(newdata)."


def parameters(record: Record, level: float, of_time: bool) -> Estimates:
    """Lay out coefficients and sigma, or, `of_time`, their exponentials and the shape."""
    k = len(record.names)
    p, sign = record.n_location, np.ones(k)
    labels = [f"[{label}]" for label in record.scale_labels] or [""]
    names = [*record.names[:p], *(f"sigma{label}" for label in labels)]
    if of_time:
        sign[p:] = -1.0
        names = ["eta" if name == "Intercept" else f"exp({name})" for name in record.names[:p]]
        names += [f"shape{label}" for label in labels]
    linear = sign * record.params, np.diag(sign)
    columns = with_limits(linear, record, level, np.exp)
    if not of_time:
        location = with_limits(linear, record, level, np.array)
        columns = {name: np.append(location[name][:p], columns[name][p:]) for name in columns}
    printed = [in_unit(name, record.time_unit) if name == "eta" else name for name in names]
    note = _AT_ZERO * ("eta" in names and p > 1)
    return terms("parameter", names, columns, standard_errors(linear[1], record), level, printed, note)


def location(record: Record) -> quantities.Linear:
    """Return the location coefficients with their gradient."""
    p = record.n_location
    return record.params[:p], np.eye(p, len(record.names))


def ratios(
    record: Record,
    head: str,
    level: float,
    units: Units | None,
    of: Callable[[Record], quantities.Linear] = location,
) -> Estimates:
    """Lay out exp of every location coefficient but the intercept, or of what `of` makes of them."""
    record = in_units(record, units)
    centre, gradient = of(record)
    keep = [j for j, name in enumerate(record.names[: record.n_location]) if name != "Intercept"]
    columns = with_limits((centre[keep], gradient[keep]), record, level, np.exp)
    se = standard_errors(gradient[keep], record)
    names = [record.names[j] for j in keep]
    return terms(head, names, columns, se, level, [per_unit(record, name) for name in names])


def terms(
    head: str,
    names: list[str],
    columns: Columns,
    se: np.ndarray,
    level: float,
    labels: Sequence[str] = (),
    note: str = "",
) -> Estimates:
    """Lay out one quantity for each of several terms, which have their names or other labels in print."""
    rows = (
        (name, *interval_cells(estimate, low, high, not (np.isinf(s) or says_nothing(estimate, low, high))))
        for name, s, estimate, low, high in zip(labels or names, se, *columns.values(), strict=True)
    )
    table = with_interval(head, ["estimate"], rows, level)
    document = Document(tables=(table,), notes=tuple(filter(None, (note, too_far((table,))))))
    return Estimates(pd.DataFrame({"term": names, **columns}), lambda: document)


def _at(what: str, label: str) -> str:
    if not label:
        return what
    return f"{what} at {label}" if what else f"At {label}"


def _packed(items: list[str]) -> list[str]:
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + 3 + len(item) <= WIDTH:
            lines[-1] += "   " + item
        else:
            lines.append(item)
    return lines


_NOTE = (
    "Log-likelihood less that of the fitted distribution, as the rows of this fit have it, each clipped; "
    "std err and limits are of the noise. More is better; twice the difference is one of AIC."
)


def of_rivals(record: Record, level: float) -> Estimates:
    """Lay out log-likelihoods under other distributions, the fitted one first, with limits of the noise."""
    found = ((record.dist, 0.0, 0.0), *record.rivals)
    half = [critical(level) * sd for _, _, sd in found]
    frame = pd.DataFrame(found, columns=["dist", "estimate", "std_error"])
    frame["conf_low"], frame["conf_high"] = frame["estimate"] - half, frame["estimate"] + half
    rows = [
        (name, *map(figures, numbers)) if sd else (name, "fitted")
        for name, sd, *numbers in zip(
            frame["dist"],
            frame["std_error"],
            *(frame[column] for column in ("estimate", "std_error", "conf_low", "conf_high")),
            strict=True,
        )
    ]
    preferred = f"Preferred: {' or '.join(contenders(record, level))}"
    table = with_interval("", ["log-lik", "std err"], rows, level, title=preferred)
    return Estimates(frame, lambda: Document(tables=(table,), notes=(_NOTE,)))


def contenders(record: Record, level: float = 0.95) -> list[str]:
    """Return the distribution of the largest likelihood, and those that noise does not tell from it."""
    found = ((record.dist, 0.0, 0.0), *record.rivals)
    best, *others = sorted(found, key=lambda each: -each[1])
    near = critical(level)
    left = [name for name, value, sd in others if best[1] - value <= near * math.hypot(best[2], sd)]
    return [best[0], *left]


def line_of(record: Record) -> str:
    """Return what a summary says of it."""
    others = ", ".join(
        f"{name} {value:+.0f} (sd of noise {figures(sd)})" for name, value, sd in record.rivals
    )
    return f"{' or '.join(contenders(record))}; log-likelihood against {record.dist}: {others}; rows clipped"
