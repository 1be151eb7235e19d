"""Survival curves without a model: noisy counts of exits, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpstats._arguments import count
from dpstats._axes import axes
from dpstats._private import forgetful
from dpstats._stored import Stored, check_format, described, restored, text
from dpstats.budget import Pure
from dpstats.budget import from_dict as budget_from_dict
from dpstats.errors import SpecificationError
from dpstats.moments.interval_counts import CumulativeHazard, cumulative_hazard
from dpstats.moments.mixture import Tails
from dpstats.results.document import Document, Shown
from dpstats.results.estimates import NOT_ESTIMABLE, limit_columns, points
from dpstats.results.facts import Facts, asked_and_paid, banner, heading, titled
from dpstats.results.format import figures, level_percent, percent, plain
from dpstats.results.intervals import critical, refuse_alpha
from dpstats.results.plotting import legend, line_with_band, style
from dpstats.results.table import Column, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FORMAT", "CurveFit"]

FORMAT = "dpstats.curve/2"
TEXTS = ("formula", "adjacency", "unit", "ledger", "method", "time_unit")
ESTIMATES = ("survival", "std_error", "conf_low", "conf_high")


@forgetful
@dataclass(frozen=True, slots=True, repr=False, eq=False, kw_only=True)
class CurveFit(Facts, Shown, Stored):
    """Private Kaplan-Meier curves at public times, one for each level of a factor.

    Attributes
    ----------
    formula : str
    times : array, shape (J,)
        Public.
    groups : tuple of str
        Levels of the factor; ``("",)`` without one.
    counts, sds : array, shape (groups, 3 J)
        Released: rows that fail in each interval, that are censored in it before its end, that are censored
        at the end of each but the last, and that outlast all; the sds of their noise.
    nobs : int
    budget : Budget
    method, adjacency, unit, time_unit : str
    ledger : str or None
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

    _unreadable = "holds no curve; its save(path) did not write it"

    times: np.ndarray
    groups: tuple[str, ...]
    counts: np.ndarray
    sds: np.ndarray
    time_unit: str = ""

    def __post_init__(self) -> None:
        shape = (len(self.groups), 3 * len(self.times))
        for name in ("times", "counts", "sds"):
            array = np.array(getattr(self, name), dtype=float)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.counts.shape != shape or self.sds.shape != shape:
            raise SpecificationError(f"counts and sds must have shape {shape}, got {self.counts.shape}")
        count("nobs", self.nobs)
        known = all(np.isfinite(array).all() for array in (self.times, self.counts, self.sds))
        if not (known and (np.diff(self.times) > 0).all() and (self.sds >= 0).all()):
            raise SpecificationError("times must increase, counts be finite, and sds not be negative")

    def table(self, level: float = 0.95) -> pd.DataFrame:
        """Return one row for each group and time.

        Parameters
        ----------
        level : float
            Of the limits, point by point; made on the scale of the cumulative hazard, -log S, which is that
            of R's survfit. Under pure epsilon they count the long tails of its noise.

        Returns
        -------
        DataFrame
            ``group``, ``time``, noisy ``at_risk`` and ``events`` of the interval that ends there,
            ``survival``, ``std_error``, ``conf_low``, ``conf_high``, ``privacy_share`` and
            ``cumulative_hazard`` with its ``hazard_error``. NaN where too few are left at risk.

        Examples
        --------
        >>> fit.table(level=0.9)["time"].tolist()
        [500.0, 1000.0]
        """
        refuse_alpha(level)
        frames = []
        for group, counts, sds in zip(self.groups, self.counts, self.sds, strict=True):
            found = cumulative_hazard(counts, sds)
            survival, half = np.exp(-found.value), self._half_widths(found, level)
            frames.append(
                pd.DataFrame(
                    {
                        "group": group,
                        "time": self.times,
                        "at_risk": found.at_risk,
                        "events": found.events,
                        "survival": survival,
                        "std_error": survival * found.se,
                        "conf_low": np.exp(-(found.value + half)),
                        "conf_high": np.exp(-np.maximum(found.value - half, 0.0)),
                        "privacy_share": (found.se_privacy / found.se) ** 2,
                        "cumulative_hazard": found.value,
                        "hazard_error": found.se,
                    }
                )
            )
        return pd.concat(frames, ignore_index=True)

    def _half_widths(self, found: CumulativeHazard, level: float) -> np.ndarray:
        """Of limits on the scale of the cumulative hazard; Laplace noise has the longest tails."""
        half, known = critical(level) * found.se, np.isfinite(found.se)
        if isinstance(self.budget, Pure):
            tails = Tails("laplace", 1, found.one[known])
            half[known] = tails.half_widths(level, np.diag(found.se[known] ** 2))
        return half

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
        counts, share = (Column("at risk"), Column("events")), Column("privacy")
        heads = (*points("time"), *counts, *points("survival", "std err"), share, *limit_columns(0.95))
        frame = self.frame
        tables = tuple(
            Table(
                heads,
                tuple(map(_cells, block.itertuples(index=False))),
                1,
                title=str(group),
                aside=f"{level_percent(0.95)} intervals",
            )
            for group, block in frame.groupby("group", sort=False)
        )
        note = "At risk and events are noisy counts, of the interval that ends at the time. std err counts "
        note += "sampling and privacy noise; 'privacy' is the share of its square due to privacy. "
        note += f"'{NOT_ESTIMABLE}': fewer at risk than noise can be told from."
        return Document(
            title=heading(self, "Kaplan-Meier curve"),
            banner=banner(self),
            head=tuple(asked_and_paid(self)),
            tables=tables,
            notes=(note,),
        )

    def plot(self, level: float = 0.95, ax: Axes | None = None) -> Axes:
        """Plot the fraction that survives against time, with bands. Needs matplotlib.

        Parameters
        ----------
        level : float
            Of the bands, point by point.
        ax : matplotlib Axes, optional
            Draw here, such as on ``fit.plot_reliability(...)``.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> fit.plot().figure.savefig("curve.png")
        """
        new = ax is None
        ax = axes(ax)
        for i, (group, block) in enumerate(self.table(level).groupby("group", sort=False)):
            look = style(i) if new else {"color": "0.25", "linestyle": ":"}  # beside lines of a fit
            label = ", ".join(part for part in ("" if new else "Kaplan-Meier", str(group)) if part)
            limits, look = (block["conf_low"], block["conf_high"]), look | {"marker": "."}
            line_with_band(ax, block["time"], block["survival"], limits, label or "all rows", look)
        if new:
            title = f"Kaplan-Meier curve, {level_percent(level)} band"
            ax.set(
                ylabel="survival",
                ylim=(-0.02, 1.02),
                xlim=(0, None),
                title=titled(self, title),
                xlabel=f"time ({self.time_unit})" if self.time_unit else "time",
            )
        if len(ax.get_legend_handles_labels()[1]) > 1:
            legend(ax)
        return ax

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON.

        Returns
        -------
        dict

        Examples
        --------
        >>> fit.to_dict()["times"]
        [500.0, 1000.0]
        """
        return {
            "format": FORMAT,
            **{name: getattr(self, name) for name in TEXTS},
            "times": self.times.tolist(),
            "groups": list(self.groups),
            "counts": self.counts.tolist(),
            "sds": self.sds.tolist(),
            "nobs": self.nobs,
            "budget": self.budget.to_dict(),
            "not_private": self.not_private,
            **({"subset": self.subset} if self.subset else {}),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> CurveFit:
        """Return the curve that `to_dict` described.

        Parameters
        ----------
        content : dict

        Returns
        -------
        CurveFit

        Raises
        ------
        SpecificationError
            If it is none.

        Examples
        --------
        >>> type(fit).from_dict(fit.to_dict()).groups
        ('',)
        """
        check_format(described(content, "a curve").get("format"), FORMAT, "a saved curve")
        return restored(_curve, cls.to_dict, content, "the saved curve is incomplete or was edited")


def _curve(content: Mapping[str, Any]) -> CurveFit:
    """Return the curve, every value as what it must be."""
    fields = {name: value for name, value in content.items() if name != "format"}
    fields |= {name: text(fields[name]) if name == "ledger" else str(fields[name]) for name in TEXTS}
    fields["subset"] = text(fields.get("subset"))
    fields["groups"], fields["nobs"] = tuple(map(str, fields["groups"])), int(fields["nobs"])
    fields["budget"], fields["not_private"] = budget_from_dict(fields["budget"]), bool(fields["not_private"])
    return CurveFit(**fields)


def _cells(row: Any) -> tuple[str, ...]:
    risk = (plain(row.time), str(round(row.at_risk)), str(round(row.events)))
    if np.isnan(row.survival):
        return (*risk, NOT_ESTIMABLE)
    numbers = (f"{row.survival:.4f}", figures(row.std_error), percent(row.privacy_share))
    return (*risk, *numbers, f"{row.conf_low:.4f}", f"{row.conf_high:.4f}")
