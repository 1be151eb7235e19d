"""Survival curves without a model: noisy counts of exits, and what follows from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from dpstats._arguments import Axes, among, axes, count, frozen, listed, number, shown, truth, warn
from dpstats._private import forgetful
from dpstats._stored import Stored, text
from dpstats.errors import SpecificationError
from dpstats.moments.interval_counts import CumulativeHazard, comparison, cumulative_hazard
from dpstats.moments.noisy import SEEN, lacking
from dpstats.results.cautions import cautions
from dpstats.results.curve_estimates import Hazard, LogRankTest, half_widths, logrank_test, restricted_mean
from dpstats.results.document import NOT_ESTIMABLE, Document, Shown, limit_columns, marked, point_columns
from dpstats.results.notreleased import NOT_RELEASED, missing, refusal
from dpstats.results.plotting import (
    band,
    colour_beside,
    entitled,
    footer,
    held_in,
    left_out,
    legend,
    style,
    warn_of_pooled,
)
from dpstats.results.survival_quantities import check_times, failed_fractions
from dpstats.results.table import (
    Column,
    Facts,
    Table,
    asked_and_paid,
    banner,
    figures,
    heading,
    in_unit,
    level_percent,
    percent,
    plain,
    plain_facts,
    read_facts,
)
from dpstats.schema import ROW

BANDS = 6  # curves whose bands can be told apart on one plot
PRINTED = 12  # times of each of several groups; of one all are printed
NOTE = (
    "At risk and events are noisy counts, since the time of the line before. Of the square of std err "
    "'privacy' is the share of privacy noise, and 'grid' that of not knowing where between two times rows "
    f"leave, which more times= lessen and no budget does. '{NOT_ESTIMABLE}': at that time "
    "fewer are left than noise can be told from; at all times if a group is small, or most times are outside "
    "their bounds."
)
# where no curve reaches more than half of the times that were found, and fewer times would show more
SCARCE = (
    " A first look chose these times, and noise hides much of what few rows show: fewer and early times, "
    "named by times= without a look at the data, reach further."
)
# where failures of all groups together are no more than noise makes up
UNSEEN = (
    " Noise may have made up all failures: does the code of the event say what failed, and are the bounds in "
    "the unit of the times? dps.check(data, schema) counts rows that cannot be used."
)
_INSTEAD = "Use fit.table(), fit.predict(times), fit.quantile(p), fit.rmst(until) or fit.logrank()."
# what a plot may show, with the title of its vertical axis and its own
PLOTTED = {
    "survival": ("survival", "Kaplan-Meier curve"),
    "cumhaz": ("cumulative hazard", "Nelson-Aalen cumulative hazard"),
}


@partial(forgetful, change=marked)
@dataclass(frozen=True, slots=True, repr=False, eq=False, kw_only=True)
class CurveFit(Facts, Shown, Stored):
    """Private Kaplan-Meier curves at public times, one for each level of a factor.

    Attributes
    ----------
    formula : str
    times : array, shape (J,)
        Those that were named, and others found by a first look that was paid for.
    named : array or None
        Those that were named, which are the table's.
    groups : tuple of str
        Levels of the factor; ``("",)`` without one.
    counts, sds : array, shape (groups, 3 J)
        Released: rows that fail in each interval, that are censored in it before its end, that are censored
        at the end of each but the last, and that outlast all, or their weights; the sds of their noise.
    nobs : int
    budget : Budget
    method, adjacency, unit, time_unit : str
    ledger, subset, weights : str or None
    not_private : bool

    Examples
    --------
    >>> import dpstats as dps
    >>> drives = dps.datasets.load("hdfail")
    >>> model = dps.kaplan_meier("Surv(time, status) ~ 1", drives.data, drives.schema, times=[500, 1000])
    >>> fit = model.fit(dps.zcdp(0.5))
    >>> print(fit)
    Private Kaplan-Meier curve...
    """

    _format, _called = "dpstats.curve/2", "a saved curve"
    _edited = "the saved curve is incomplete or was edited"
    _unreadable = "holds no curve; its save(path) did not write it"

    times: np.ndarray
    groups: tuple[str, ...]
    counts: np.ndarray
    sds: np.ndarray
    named: np.ndarray | None = None
    time_unit: str = ""
    weights: str | None = None

    def __post_init__(self) -> None:
        shape = (len(self.groups), 3 * len(self.times))
        for name in ("times", "counts", "sds", *("named",) * (self.named is not None)):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        if self.counts.shape != shape or self.sds.shape != shape:
            raise SpecificationError(f"counts and sds must have shape {shape}, got {self.counts.shape}")
        count("nobs", self.nobs)
        known = all(np.isfinite(array).all() for array in (self.times, self.counts, self.sds))
        if not (known and _increase(self.times) and (self.sds >= 0).all()):
            raise SpecificationError("times must increase, counts be finite, and sds not be negative")
        if self.named is not None and not (_increase(self.named) and np.isin(self.named, self.times).all()):
            raise SpecificationError("named must be some of the times, in their order")

    def __getattr__(self, name: str) -> NoReturn:
        if name in NOT_RELEASED:
            raise refusal(name, NOT_RELEASED[name][0], _INSTEAD)
        raise missing(name, self)

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if name != "logrank" or len(self.groups) > 1]

    @property
    def flags(self) -> tuple[tuple[str, str], ...]:
        """Cautions found from released numbers: (code, message)."""
        if self.weights or self.subset or self.unit != str(ROW):
            return ()  # rows without weight are meant
        counted, noise = self.counts.sum() / self.nobs, np.sqrt((self.sds**2).sum()) / self.nobs
        return cautions(lacking(counted, noise), ())

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """Return one row for each group and time, of those that were named if any were.

        Parameters
        ----------
        level : float
            Of the limits, point by point; made on the scale of the cumulative hazard, -log S, which is that
            of R's survfit. Under pure epsilon they count the long tails of its noise.

        Returns
        -------
        DataFrame
            ``group``, ``time``, noisy ``at_risk`` and ``events`` since the line before, within those of the
            table,
            ``survival``, ``std_error``, ``conf_low``, ``conf_high``, ``privacy_share``, ``grid_share`` (of
            the variance, by what is not known of where between two times rows leave, which more times
            lessen) and ``cumulative_hazard`` with its ``hazard_error``. NaN where too few are left at risk.

        Examples
        --------
        >>> fit.table(level=0.9)["time"].tolist()
        [500.0, 1000.0]
        """
        return self._table(level, self._shown)

    @property
    def _shown(self) -> np.ndarray:
        """Places of the times that were named, or of all."""
        every = np.arange(len(self.times))
        return every if self.named is None else np.searchsorted(self.times, self.named)

    def _table(self, level: float, shown: np.ndarray) -> pd.DataFrame:
        frames = []
        since = np.append(0, shown[:-1] + 1)  # the first interval after the line before
        for group, found in zip(self.groups, self._hazards, strict=True):
            value, errors = found.value, found.each
            half = half_widths(errors.se, errors.one, level, self.budget.pure)
            columns = {
                "survival": np.exp(-value),
                "std_error": np.exp(-value) * errors.se,
                "conf_low": np.exp(-(value + half)),
                "conf_high": np.exp(-np.maximum(value - half, 0.0)),
                "privacy_share": (errors.se_privacy / errors.se) ** 2,
                "grid_share": (errors.se_grid / errors.se) ** 2,
                "cumulative_hazard": value,
                "hazard_error": errors.se,
            }
            counts = {
                "at_risk": found.at_risk[since],
                "events": np.add.reduceat(found.events[: shown[-1] + 1], since),
            }
            most = np.inf if self.weights else self.nobs
            counts = {name: np.clip(values, 0.0, most) for name, values in counts.items()}
            columns = {name: values[shown] for name, values in columns.items()}
            frames.append(pd.DataFrame({"group": group, "time": self.times[shown], **counts, **columns}))
        return pd.concat(frames, ignore_index=True)

    @property
    def _hazards(self) -> list[CumulativeHazard]:
        return [cumulative_hazard(*pair) for pair in zip(self.counts, self.sds, strict=True)]

    def predict(self, times: float | Sequence[float] = (), level: float = 0.95) -> pd.DataFrame:
        """Return survival and cumulative hazard at any times, as R's ``summary(survfit, times=)``.

        Between the times of the grid hazards are taken as constant, for the estimate alone: whatever they
        are, the curve lies between its values at the two times around, and so do limits. Ask for a time of
        the grid where limits are to be narrow.

        Parameters
        ----------
        times : float or sequence of float
        level : float

        Returns
        -------
        DataFrame
            One row for each group and time: ``survival`` with ``conf_low`` and ``conf_high``, and
            ``cumulative_hazard`` with ``hazard_low`` and ``hazard_high`` (Nelson and Aalen's). NaN beyond
            where the curve says something.

        Raises
        ------
        SpecificationError
            For times that are none.

        Examples
        --------
        >>> fit.predict(750)["survival"].between(0, 1).all()
        np.True_
        """
        asked = check_times(times, "predict")

        def columns(hazard: Hazard) -> dict[str, np.ndarray]:
            value, low, high = hazard.at(asked)
            survival = {"survival": np.exp(-value), "conf_low": np.exp(-high), "conf_high": np.exp(-low)}
            return survival | {"cumulative_hazard": value, "hazard_low": low, "hazard_high": high}

        return self._of_groups(level, "time", asked, columns)

    def quantile(self, p: float | Sequence[float] = (0.25, 0.5, 0.75), level: float = 0.95) -> pd.DataFrame:
        """Return times by which fractions have failed, as R's ``quantile(survfit)``.

        Parameters
        ----------
        p : float or sequence of float
            Failed fractions; never surviving fractions.
        level : float
            Of limits that come from those of the curve (Brookmeyer and Crowley's); they are times of the
            grid, as the curve may fall anywhere between two of them.

        Returns
        -------
        DataFrame
            One row for each group and fraction: ``estimate``, NaN where the curve does not fall so far,
            ``conf_low`` and ``conf_high``, which is infinite where nothing is known of it.

        Raises
        ------
        SpecificationError
            For fractions outside (0, 1).

        Examples
        --------
        >>> fit.quantile(0.05).columns.tolist()
        ['group', 'failed', 'estimate', 'conf_low', 'conf_high']
        """
        failed, heads = failed_fractions(p), ("estimate", "conf_low", "conf_high")
        reached = -np.log1p(-failed)
        return self._of_groups(
            level, "failed", failed, lambda hazard: dict(zip(heads, hazard.reached(reached), strict=True))
        )

    def median(self, level: float = 0.95) -> pd.DataFrame:
        """Return the time by which half have failed, of each group; see `quantile`.

        Parameters
        ----------
        level : float

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> fit.median()["failed"].tolist()
        [0.5]
        """
        return self.quantile(0.5, level)

    def rmst(self, until: float, level: float = 0.95) -> pd.DataFrame:
        """Return the restricted mean survival time: mean life, of which no more than `until` counts.

        Parameters
        ----------
        until : float
            A time above 0, within the grid.
        level : float
            Of limits around all areas that curves through the same values at the times of the grid may have.

        Returns
        -------
        DataFrame
            One row for each group: ``until``, ``estimate``, ``std_error``, ``conf_low``, ``conf_high``,
            ``privacy_share`` and ``grid_share``, as in `table`. NaN where the curve does not reach so far,
            and a warning says how far it does.

        Raises
        ------
        SpecificationError
            For a time that is none, or beyond the grid.

        Examples
        --------
        >>> bool(fit.rmst(500)["estimate"][0] < 500)
        True
        """
        end = float(check_times(number("until", until), "rmst: until", positive=True)[0])
        if end > self.times[-1]:
            raise SpecificationError(
                f"rmst: until must be at most {plain(self.times[-1])}, the last time of the grid"
            )
        rows = []
        for group, found in zip(self.groups, self._hazards, strict=True):
            areas, weights = restricted_mean(self.times, found, end)
            known = self.times[np.isfinite(found.value)]
            if len(known) and self.times[0] > 0 and not np.isfinite(areas).all():
                last = plain(known[-1])
                of = f" of {group}" * (len(self.groups) > 1)
                warn(f"rmst: the curve{of} is known until {last}; a mean until then is, and later none")
            errors = found.errors(weights + np.where(np.isfinite(areas), 0.0, np.nan)[:, None])
            half = half_widths(errors.se, errors.one, level, self.budget.pure).max()
            low, high = np.clip([areas[1] - half, areas[2] + half], 0.0, end).tolist()
            shares = (float((part[0] / errors.se[0]) ** 2) for part in (errors.se_privacy, errors.se_grid))
            rows.append((group, end, float(areas[0]), float(errors.se[0]), low, high, *shares))
        names = ["group", "until", "estimate", "std_error", "conf_low", "conf_high"]
        return pd.DataFrame(rows, columns=[*names, "privacy_share", "grid_share"])

    def logrank(self) -> LogRankTest:
        """Test that all groups have the same hazards, as R's ``survdiff``.

        Returns
        -------
        LogRankTest
            With ``statistic``, ``df`` and ``pvalue``, which count privacy noise, too.

        Raises
        ------
        SpecificationError
            For a curve of one group.

        Examples
        --------
        >>> model = dps.kaplan_meier("Surv(time, status) ~ rsc", drives.data, drives.schema)
        >>> model.fit(dps.zcdp(0.5)).logrank().df
        1
        """
        if len(self.groups) < 2:
            raise SpecificationError(
                "logrank compares groups, and this curve has one: fit 'Surv(...) ~ factor' for several"
            )
        return logrank_test(self.groups, comparison(self.counts, self.sds))

    def _of_groups(
        self, level: float, asked: str, values: np.ndarray, columns: Callable[[Hazard], dict[str, np.ndarray]]
    ) -> pd.DataFrame:
        """What the curve of each group tells of what was asked, one group after the other."""
        groups = zip(self.groups, self._lines(level), strict=True)
        frames = [
            pd.DataFrame({"group": group, asked: values, **columns(hazard)}) for group, hazard in groups
        ]
        return pd.concat(frames, ignore_index=True)

    def _lines(self, level: float) -> list[Hazard]:
        return [Hazard.of(self.times, found, level, self.budget.pure) for found in self._hazards]

    @property
    def factor(self) -> str:
        """Name of the factor whose levels the curves are of; empty without one."""
        return "" if self.groups == ("",) else self.formula.partition("~")[2].strip()

    @property
    def frame(self) -> pd.DataFrame:
        """Table of the curve with 95 % limits."""
        return self.table()

    @property
    def document(self) -> Document:
        """The printed table."""
        return self.summary()

    def summary(self, level: float = 0.95) -> Document:
        """Return the printed table, as the curve itself prints with 95 % limits.

        Parameters
        ----------
        level : float

        Returns
        -------
        Document

        Examples
        --------
        >>> print(fit.summary(level=0.9))
        Private Kaplan-Meier curve...
        """
        shown = self._shown
        few = self.named is None and len(shown) > PRINTED and len(self.groups) > 1
        if few:
            shown = np.linspace(-1, len(shown) - 1, PRINTED + 1).round().astype(int)[1:]
        frame = self._table(level, shown)
        heads = (
            *point_columns(in_unit("time", self.time_unit)),
            Column("at risk"),
            Column("events"),
            *point_columns("survival", "std err"),
            Column("privacy"),
            Column("grid"),
            *limit_columns(level),
        )
        scarce = self.named is None and frame["survival"].isna().groupby(frame["group"]).mean().min() >= 0.5
        scarce = scarce and any(found.cut_short for found in self._hazards)
        printed = f" {PRINTED} of {len(self.times)} times are printed; table() has all."
        return Document(
            title=heading(self, "Kaplan-Meier curve"),
            banner=banner(self),
            head=(
                *asked_and_paid(self, self.weights),
                *((("Caution", message),) for _, message in self.flags),
            ),
            tables=tuple(
                Table(heads, _rows(block), 1, title=str(group), aside=f"{level_percent(level)} intervals")
                for group, block in frame.groupby("group", sort=False)
            ),
            notes=(NOTE + UNSEEN * self._unseen + SCARCE * bool(scarce) + printed * few,),
        )

    @property
    def _unseen(self) -> bool:
        """Whether there may be no failure at all."""
        failed, sds = self.counts[:, : len(self.times)], self.sds[:, : len(self.times)]
        return bool(failed.sum() <= SEEN * np.sqrt((sds**2).sum()))

    def plot(
        self,
        level: float = 0.95,
        ax: Axes | None = None,
        *,
        of: str = "survival",
        steps: bool = False,
        groups: Sequence[str] | None = None,
    ) -> Axes:
        """Plot the fraction that survives, or the cumulative hazard, from time 0 on. Needs matplotlib.

        Parameters
        ----------
        level : float
            Of the bands, point by point; between times of the grid they hold whatever the curve does there.
            More than six curves have none.
        ax : matplotlib Axes, optional
            Draw here, such as on ``fit.plot_reliability(...)``.
        of : {"survival", "cumhaz"}
            What to plot; the cumulative hazard is Nelson and Aalen's.
        steps : bool
            Draw steps from time to time, as survfit does; else lines, as nothing says that units fail at the
            times of the grid.
        groups : sequence of str, optional
            Levels of the factor whose curves are drawn, in this order; default: all.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        SpecificationError
            For another `of`, or a group that the curve does not have.

        Examples
        --------
        >>> fit.plot(steps=True).figure.savefig("curve.png")
        """
        if not among(of, tuple(PLOTTED)):
            raise SpecificationError(f"of must be one of {', '.join(PLOTTED)}; got {shown(of)}")
        new, in_steps = ax is None, truth("steps", steps)
        ax = axes(ax)
        lines = dict(zip(self.groups, self._lines(level), strict=True))
        drawn = self.groups if groups is None else listed(groups)
        if not drawn or not all(among(group, self.groups) for group in drawn):
            raise SpecificationError(f"groups must be some of fit.groups, got {shown(groups)}")
        bands = not new or len(drawn) <= BANDS
        if not new:
            warn_of_pooled([name for name in held_in(ax) if name != self.factor], "curves are")
        first = len(ax.get_legend_handles_labels()[1])
        for i, group in enumerate(drawn):
            look, hazard, rows = style(first + i), lines[group], named(self.factor, group)
            if (
                not new
            ):  # beside lines of a fit: in the colour of the same rows, or grey where there is one curve
                own = {"color": look["color"] if len(drawn) > 1 else "0.25"}
                look = {**own, **colour_beside(ax, rows, curve=True), "linestyle": ":"}
            label = ", ".join(part for part in ("" if new else "Kaplan-Meier", rows) if part)
            if not (hazard.times > 0).any():
                left_out(ax, label or "all rows")
                continue
            times, *limits = hazard.band
            value, low, high = (
                np.exp(-line) if of == "survival" else line for line in (hazard.value, *limits)
            )
            way = "steps-post" if in_steps else "default"
            ax.plot(hazard.times, value, **look, marker=".", label=label or "all rows", drawstyle=way)
            if bands:
                band(ax, times, (low, high), look, "post" if in_steps else None, len(drawn) - 1)
        if new:
            ax.set(
                ylabel=PLOTTED[of][0],
                ylim=(-0.02, 1.02) if of == "survival" else (0, None),
                xlim=(0, None if ax.collections else self.times[-1]),
                xlabel=in_unit("time", self.time_unit),
            )
            table = self.table(level)
            more = "" if bands else f"no bands of more than {BANDS} curves: choose some by groups="
            footer(ax, self, table["privacy_share"][table["group"].isin(drawn)], more)
        if new or self.not_private:
            band_of = f", {level_percent(level)} band" * bands
            entitled(ax, f"{PLOTTED[of][1]}{band_of}" if new else ax.get_title(), self)
        legend(ax)
        return ax

    def _plain(self) -> dict[str, Any]:
        return {
            **plain_facts(self),
            "time_unit": self.time_unit,
            "times": self.times.tolist(),
            "groups": list(self.groups),
            "counts": self.counts.tolist(),
            "sds": self.sds.tolist(),
            **({"weights": self.weights} if self.weights else {}),
            **({} if self.named is None else {"named": self.named.tolist()}),
        }

    @classmethod
    def _built(cls, content: Mapping[str, Any]) -> "CurveFit":
        fields = read_facts(content)
        fields |= {"time_unit": str(fields["time_unit"]), "weights": text(fields.get("weights"))}
        return cls(**fields | {"groups": tuple(map(str, fields["groups"]))})


def _increase(times: np.ndarray) -> bool:
    return times.ndim == 1 and len(times) > 0 and bool((np.diff(times) > 0).all())


def named(factor: str, group: str) -> str:
    """Return a group with the name of its factor, such as ``"maker = WDC"``."""
    return group if factor in ("", "1") or group.startswith(f"{factor} = ") else f"{factor} = {group}"


def _rows(block: pd.DataFrame) -> tuple[tuple[str, ...], ...]:
    """Return the lines of a group's table; where its curve ends for good, one line says so."""
    cells = [_cells(row) for row in block.itertuples(index=False)]
    end = int(block["survival"].notna().to_numpy().nonzero()[0].max(initial=-1)) + 1
    if end > len(cells) - 2:
        return tuple(cells)
    return (*cells[:end], (*cells[end][:-1], f"{NOT_ESTIMABLE}, nor is any later time"))


def _cells(row: Any) -> tuple[str, ...]:
    risk = (plain(row.time), str(round(row.at_risk)), str(round(row.events)))
    if np.isnan(row.survival):
        return (*risk, NOT_ESTIMABLE)
    numbers = (
        f"{row.survival:.4f}",
        figures(row.std_error),
        percent(row.privacy_share),
        percent(row.grid_share),
    )
    return (*risk, *numbers, f"{row.conf_low:.4f}", f"{row.conf_high:.4f}")
