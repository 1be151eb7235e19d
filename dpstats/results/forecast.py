"""Failures to come of a public fleet: expected numbers by period, their limits, a table and a plot.

Limits are of a count of failures whose chances are known with an error. A sum of independent units that fail
with chances p_i has the mean m = sum p_i and the variance sum p_i (1 - p_i). So has a binomial count of
n' = m^2 / sum p_i^2 units of chance p' = m / n', a Poisson count where chances are small. It is taken for
that count, with log(-log(1 - p')) normal about its estimate by the delta method, so that no limit is
negative, or above the number of units. Limits are quantiles of this mixture.
See docs/theory/results.md#failures-of-a-fleet.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd
from scipy import special

from dpstats._arguments import Axes, among, axes, count, number, numbers, refuse_twice, shown, truth, warn
from dpstats._private import forgetful
from dpstats.errors import SpecificationError
from dpstats.families.links import IDENTITY
from dpstats.families.quantiles import even_shares
from dpstats.formula.newdata import RowError
from dpstats.results import survival_quantities as quantities
from dpstats.results.document import NOT_ESTIMABLE, Document, Result, limit_columns, point_columns
from dpstats.results.intervals import critical, refuse_alpha, standard_errors
from dpstats.results.newdata import NewData, Points, points
from dpstats.results.plotting import finished, left_out
from dpstats.results.prediction import warn_of_lost
from dpstats.results.record import Record
from dpstats.results.table import Column, Facts, Table, figures, in_unit, level_percent, plain, price

POINTS = 301  # of the normal law: its quantiles at even steps of probability
_LEAST = 1e-12  # a number of failures, or of units that stand, that is none but for rounding
_NONE = 1e-3  # a number of failures that is none


@dataclass(frozen=True, slots=True)
class FailureCounts:
    """Numbers of failures, each array of shape (J,).

    Attributes
    ----------
    expected : array
        Sum of chances.
    squares, variance : array
        Sums of p^2 and of p (1 - p), the variance of the number about its mean.
    se : array
        Standard error of `expected`, infinite where noise hides it.
    units : float
        Of which the failures are some.
    """

    expected: np.ndarray
    squares: np.ndarray
    variance: np.ndarray
    se: np.ndarray
    units: float

    def of_mean(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return limits of the expected number."""
        like, log_hazard, se = self._binomial()
        half = critical(level) * se
        low, high = (like * _chance(log_hazard + sign * half) for sign in (-1, 1))
        return self._limits(low, high, self.expected)

    def of_number(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return limits of the number itself, which are whole."""
        like, log_hazard, se = self._binomial()
        z = special.ndtri(even_shares(POINTS))
        chance = _chance(log_hazard[:, None] + se[:, None] * z)
        tail = special.ndtr(-critical(level))
        low, high = (_quantile(like, chance, q) for q in (tail, 1 - tail))
        return self._limits(low, high, np.round(self.expected))

    @property
    def _open(self) -> np.ndarray:
        """Whether the number is still open: neither none nor all of the units are sure to fail."""
        return (self.expected > _LEAST) & (self.variance > _LEAST)

    def _binomial(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return n', log(-log(1 - p')) and its standard error; any numbers where they are not used."""
        used = self._open & np.isfinite(self.se)
        mean, squares, variance = (
            np.where(used, each, other)
            for each, other in ((self.expected, 1.0), (self.squares, 0.5), (self.variance, 0.5))
        )
        fails, stands = squares / mean, variance / mean
        few = fails < 0.5  # which of the two has all digits
        hazard = -np.where(few, np.log1p(-np.where(few, fails, 0.0)), np.log(stands))
        like = mean**2 / squares
        return like, np.log(hazard), np.where(used, self.se, 0.0) / (like * stands * hazard)

    def _limits(self, low: np.ndarray, high: np.ndarray, sure: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return limits; of what noise hides, none and all units."""
        known = np.isfinite(self.se)
        low, high = (np.where(self._open, limit, sure) for limit in (low, high))
        return np.where(known, low, 0.0), np.where(known, np.minimum(high, self.units), self.units)


def _chance(log_hazard: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return -np.expm1(-np.exp(log_hazard))


def _quantile(like: np.ndarray, chance: np.ndarray, q: float) -> np.ndarray:
    """Return the least whole number that is reached with probability `q`, by halving."""
    low, high = np.full(len(like), -1.0), np.ceil(like)  # not reached, reached
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        left = like - middle
        reached = special.betaincc(middle[:, None] + 1, np.where(left > 0, left, 1.0)[:, None], chance)
        enough = np.where(left > 0, reached.mean(axis=1), 1.0) >= q
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


MOST_PERIODS = 1000
THICK = 4.0  # points, of the interval of an expected number
NOTE = (
    "'parameters' and 'chance' are the two parts of the standard deviation of a number of failures: "
    "what is not known of the expected number, and what happens. Limits are of the number and count "
    "both. Units that fail are not replaced, and none is retired."
)


@dataclass(frozen=True, slots=True)
class Fleet:
    """Public units: where they are in the design, how old they are, and how many are alike in each row."""

    at: Points
    ages: np.ndarray
    units: np.ndarray


@forgetful
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Forecast(Result):
    """Failures to come of a public fleet, by period.

    Attributes
    ----------
    frame : DataFrame
        One row for each period: ``start`` and ``end``, counted from now; the ``expected`` number of failures
        with its limits ``conf_low`` and ``conf_high``, which are of the parameters alone; its standard error
        ``se_parameters`` and ``sd_count``, the spread of the number itself about what is expected; limits
        ``pred_low`` and ``pred_high`` of the number, which count both; and, of all failures until the end of
        the period, ``cumulative``, ``cumulative_low`` and ``cumulative_high``, again limits of the number.
    units : float
        In the fleet.
    level : float
    facts : Facts
        Of the fit.
    time_unit : str
        Of the response; empty where none was declared.

    Examples
    --------
    >>> import dpstats as dps
    >>> drives = dps.datasets.load("hdfail")
    >>> fit = dps.survreg("Surv(time, status) ~ temp", drives.data, drives.schema).fit(dps.zcdp(0.5))
    >>> forecast = fit.forecast({"age": [100, 500, 900], "temp": [25, 30, 35]}, horizon=90, periods=3)
    >>> forecast.frame["end"].tolist()
    [30.0, 60.0, 90.0]
    """

    frame: pd.DataFrame
    units: float
    level: float
    facts: Facts
    time_unit: str

    def _page(self) -> Document:
        fleet = f"{plain(self.units)} unit{'s' * (self.units != 1)} (public)"
        until, limits = Column(in_unit("until", self.time_unit), "."), limit_columns(self.level)
        by_period = (until, *point_columns("expected", "parameters", "chance"), *limits)
        return Document(
            title=f"Forecast of failures, {level_percent(self.level)} limits",
            head=(
                (("Formula", self.facts.formula),),
                (("Fleet", fleet), ("Privacy", price(self.facts))),
            ),
            tables=(
                Table(by_period, tuple(self._rows("pred")), title="In each period"),
                Table(
                    (until, *point_columns("expected"), *limits),
                    tuple(self._rows("cumulative")),
                    title="In all",
                ),
            ),
            notes=(NOTE,),
        )

    def _rows(self, what: str) -> Iterator[tuple[str, ...]]:
        """Cells of a table; `what` is ``"pred"``, for periods, or ``"cumulative"``."""
        names = ["end", "expected", "se_parameters", "sd_count"]
        if what == "cumulative":
            names = ["end", what]
        frame = self.frame
        known = np.isfinite(frame["se_parameters"].to_numpy())
        limits = frame[[f"{what}_low", f"{what}_high"]].to_numpy()
        for row, sure, (low, high) in zip(frame[names].to_numpy(), known, limits, strict=True):
            numbers_of = (*map(figures, row[1:]), f"{low:.0f}", f"{high:.0f}") if sure else (NOT_ESTIMABLE,)
            yield plain(float(f"{row[0]:.6g}")), *numbers_of

    def plot(self, cumulative: bool = False, ax: Axes | None = None) -> Axes:
        """Plot expected failures by period, or of all periods until each end, with limits of their number.

        The dark part of each line is what is not known of the expected number; the rest is chance. Needs
        matplotlib.

        Parameters
        ----------
        cumulative : bool
            All failures until each end.
        ax : matplotlib Axes, optional
            Draw here; default: the axes of a new figure, ``plot().figure``.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> forecast.plot().get_ylabel()
        'failures in the period'
        """
        ax, frame = axes(ax), self.frame
        known = frame[np.isfinite(frame["se_parameters"])]
        limits = f"{level_percent(self.level)} limits of the number"
        if known.empty:
            left_out(ax, "expected")
            ax.set_xlim(0, frame["end"].max())
        elif truth("cumulative", cumulative):
            ends = np.append(0.0, known["end"])
            low, high = (np.append(0.0, known[f"cumulative_{end}"]) for end in ("low", "high"))
            ax.fill_between(ends, low, high, color="C1", alpha=0.3, linewidth=0, label=limits)
            ax.plot(ends, np.append(0.0, known["cumulative"]), color="C0", marker=".", label="expected")
        else:
            middle, width = (known["start"] + known["end"]) / 2, known["end"] - known["start"]
            ax.bar(middle, known["expected"], 0.9 * width, color="C0", alpha=0.35, label="expected")
            ax.vlines(middle, known["pred_low"], known["pred_high"], color="C1", label=limits)
            sure = f"{level_percent(self.level)} limits of what is expected"
            ax.vlines(middle, known["conf_low"], known["conf_high"], color="C0", linewidth=THICK, label=sure)
        what = "failures until then" if cumulative else "failures in the period"
        ax.set(xlabel=in_unit("from now", self.time_unit), ylabel=what, ylim=(0, None))
        title = f"Forecast for {plain(self.units)} units"
        return finished(ax, title, self.facts, cautions=self.cautions, fontsize="medium", wrap=True)


def fleet_of(record: Record, units: NewData | None, age: str, number_of: str | None, clip: bool) -> Fleet:
    """Read a public fleet.

    Parameters
    ----------
    record : Record
    units : dict, list of dict, or DataFrame
        With the covariates, and a column of ages.
    age : str
        Name of the column of ages.
    number_of : str, optional
        Name of a column that says how many units a row stands for.
    clip : bool
        Move covariates to their public bounds.

    Raises
    ------
    NotReleased
        Without units.
    SpecificationError
        If a column is lacking, ages are a covariate of the fit, or ages or numbers are negative or not
        finite.
    """
    if among(age, record.covariates):
        raise SpecificationError(
            f"fleet: {shown(age)} is a covariate of the fit, and the forecast needs the time for which each "
            "unit has been in service; give it as a column of its own and name that, age='...'"
        )
    at = points(record, units, "forecast", clip, "fleet")
    ages = _column(at.frame, "age", age, "ages, in the unit of the response")
    each = np.ones(len(ages))
    if number_of is not None:
        each = _column(at.frame, "units", number_of, "numbers of units")
        if not ((each == np.round(each)) & (each >= 0)).all():
            raise SpecificationError(
                f"fleet: {number_of} must be whole numbers of units, not negative; a point stands before "
                "decimals, so that 1.200 is 1.2, unless thousands='.' (--thousands .) reads the file"
            )
    if record.link is not IDENTITY and (ages < 0).any():
        raise RowError("fleet", int(np.argmax(ages < 0)), f": {age} must be a time of at least 0")
    for name in filter(None, (age, number_of)):
        warn_of_groups(name, at.frame[name])
    return Fleet(at, ages, each)


_GROUPED = re.compile(r"0|[1-9]\d{0,2}(\.\d{3})?")


def warn_of_groups(name: str, cells: Iterable[object]) -> None:
    """Say of texts that they are read as decimals, if all may be whole numbers with points in groups."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    if any("." in text for text in texts) and all(_GROUPED.fullmatch(text.strip()) for text in texts):
        warn(
            f"fleet: each text of {name} has three digits behind its point, and is read as a decimal, 4.000 "
            "as 4; if the point stands between thousands, read the file with thousands='.' and decimal=','"
        )


def _column(frame: pd.DataFrame, argument: str, name: str, what: str) -> np.ndarray:
    """Return a column of finite numbers."""
    if not isinstance(name, str) or name not in frame:
        raise SpecificationError(
            f"fleet has no column {shown(name)}: it needs one of {what}; name it, {argument}='...'"
        )
    refuse_twice([name], frame.columns)
    values = numbers(f"fleet[{name!r}]", frame[name])
    if not (finite := np.isfinite(values)).all():
        raise RowError("fleet", int(np.argmin(finite)), f": {name} must be {what}, and finite")
    return values


def ends_of(horizon: float | Sequence[float], periods: int) -> np.ndarray:
    """Return the ends of periods from now.

    Raises
    ------
    SpecificationError
        Unless `horizon` is one number above 0, or several that increase, and `periods` a whole number.
    """
    ends = numbers("horizon", horizon)
    if ends.ndim == 0:
        steps = count("periods", periods)
        if not 1 <= steps <= MOST_PERIODS:
            raise SpecificationError(f"periods must be from 1 to {MOST_PERIODS}, got {shown(periods)}")
        ends = number("horizon", horizon) * np.arange(1, steps + 1) / steps
    good = ends.ndim == 1 and 0 < len(ends) <= MOST_PERIODS and np.isfinite(ends).all()
    if not good or not (np.diff(ends, prepend=0.0) > 0).all():
        raise SpecificationError(
            f"horizon must be a number above 0, or ends of periods that increase, such as [30, 60, 90]; got "
            f"{shown(horizon)}"
        )
    return ends


def forecast(record: Record, fleet: Fleet, ends: np.ndarray, level: float) -> Forecast:
    """Forecast the failures of a fleet in periods that end at `ends`, and until then."""
    refuse_alpha(level)
    _warn_beyond(record, fleet, float(ends[-1]))
    rests = quantities.hidden(record, fleet.at) & (fleet.units > 0)
    warn_of_lost(rests, "so that of the fleet no number is expected", "fleet")
    until = [_failed(record, fleet, end, level) for end in ends]
    chances, sums, _ = until[0]
    steps = zip(until, [(0 * chances, 0 * sums, False), *until[:-1]], strict=True)
    of_periods = [
        (chance - before, gradient - other, lost or was_lost)
        for (chance, gradient, lost), (before, other, was_lost) in steps
    ]
    one, all_until = (_counts(record, fleet, each) for each in (of_periods, until))
    (conf_low, conf_high), (pred_low, pred_high) = one.of_mean(level), one.of_number(level)
    low, high = all_until.of_number(level)
    columns = {
        "start": np.append(0.0, ends[:-1]),
        "end": ends,
        "expected": np.where(np.isfinite(one.se), one.expected, np.nan),
        "conf_low": conf_low,
        "conf_high": conf_high,
        "se_parameters": one.se,
        "sd_count": np.where(np.isfinite(one.se), np.sqrt(one.variance), np.nan),
        "pred_low": pred_low,
        "pred_high": pred_high,
        "cumulative": np.where(np.isfinite(all_until.se), all_until.expected, np.nan),
        "cumulative_low": low,
        "cumulative_high": high,
    }
    facts = Facts(**{field.name: getattr(record, field.name) for field in fields(Facts)})
    return Forecast(pd.DataFrame(columns), float(fleet.units.sum()), level, facts, record.time_unit)


def _failed(record: Record, fleet: Fleet, end: float, level: float) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return each unit's chance to have failed by `end`, and the gradient of the sum of all, shape (k,).

    And whether units that seem sure to stand, or to fail, are not: then the sum tells nothing, as the error
    of such a chance is lost in rounding.
    """
    asked = np.full(len(fleet.ages), end)
    centre, gradient = quantities.log_conditional_hazard(record, fleet.at, fleet.ages, asked)
    hazard = np.exp(centre)
    sure = ((hazard < _LEAST) | (hazard > -np.log(_LEAST))) & (fleet.units > 0)
    half = critical(level) * standard_errors(gradient[sure], record)
    few = np.log(_NONE / max(fleet.units.sum(), 1.0))  # of the chance that one fails, or that one stands
    stand = hazard[sure] < _LEAST
    lost = np.where(stand, centre[sure] + half > few, centre[sure] - half < np.log(-few))
    return -np.expm1(-hazard), (fleet.units * np.exp(centre - hazard)) @ gradient, bool(lost.any())


def _counts(
    record: Record, fleet: Fleet, found: Sequence[tuple[np.ndarray, np.ndarray, bool]]
) -> FailureCounts:
    chances, gradients, lost = (np.array(each) for each in zip(*found, strict=True))
    hides = lost | (quantities.hidden(record, fleet.at) & (fleet.units > 0)).any()
    chances = np.clip(chances, 0.0, 1.0)
    se = np.where(hides, np.inf, standard_errors(gradients, record))  # where failures are nearly sure, too
    mean, squares, variance = (each @ fleet.units for each in (chances, chances**2, chances * (1 - chances)))
    return FailureCounts(mean, squares, variance, se, float(fleet.units.sum()))


def _warn_beyond(record: Record, fleet: Fleet, horizon: float) -> None:
    last = record.design.time_bounds[1]
    old = float(fleet.units[fleet.ages + horizon > last].sum())
    if old:
        warn(
            f"{plain(old)} unit(s) of the fleet will be older than {plain(last)}, the upper public bound of "
            "the time. No row of the fit was watched beyond it: the forecast rests on the distribution there"
        )
