"""Do times follow the line of a fit? The looks for bends, and what they move.

See docs/theory/survival.md#whether-times-bend.
"""

import math
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

from dpstats._codes import BENDS
from dpstats.curator import Curator
from dpstats.estimators.bends import standardised
from dpstats.estimators.bent_times import Asked, Bent, Costs, FarLook, SquareLook, WeightedRows, found_by
from dpstats.estimators.engine.finish import to_user
from dpstats.estimators.location_scale.bounds import CUTS, Bounding, Choice
from dpstats.estimators.location_scale.estimate import SurvivalEstimate
from dpstats.estimators.location_scale.event_law import UNSEEN, WHOLE
from dpstats.estimators.location_scale.placement import Placement
from dpstats.estimators.location_scale.problem import LOG_SIGMA_RANGE
from dpstats.estimators.location_scale.strata_layout import Layout
from dpstats.estimators.one_bend import MeanScore
from dpstats.estimators.paired import with_pairs
from dpstats.estimators.row_scale import RowScale
from dpstats.families.martingale import taper
from dpstats.families.score_bounds import Truncation


def straightened(
    curator: Curator,
    bounding: Bounding[Placement],
    choice: Choice,
    whitening: np.ndarray,
    costs: Costs,
    found: SurvivalEstimate,
    layout: Layout | None = None,
) -> SurvivalEstimate:
    """A fit that tells by the caution "bends" if times surely do, and counts what they may as error.

    Parameters
    ----------
    curator : Curator
    bounding : Bounding
    choice : Choice
        Its cut is that of the scores that the look asks for, its radius that of the rows of the fit.
    whitening : array, shape (k, k)
        Of the last scores.
    costs : Costs
        Of the look for bends, and of that at rows far out, if there is one.
    found : SurvivalEstimate
        Its parameters are the location's and the log sigmas.
    layout : Layout, optional
        Of strata, which tie coefficients of standardised columns.
    """
    line = _Line.of(bounding.placement.scale, found, layout)
    asked = _asked(curator.n, bounding, choice, whitening, costs, found, line)
    return _moved(found, found_by(curator, "location_bend", asked), line, bounding.placement)


class _Line(NamedTuple):
    """The line of a fit in standardised columns.

    Attributes
    ----------
    back, way : array, shape (k, p) and (p, k)
        From location coefficients of the fit to those of standardised columns, and from moves of these to
        those of the former.
    gamma : array, shape (k,)
    sigma : array, shape (groups,)
        As far as points of the fit go: an estimate that is all noise may be any number.
    """

    back: np.ndarray
    way: np.ndarray
    gamma: np.ndarray
    sigma: np.ndarray

    @classmethod
    def of(cls, scale: RowScale, found: SurvivalEstimate, layout: Layout | None) -> Self:
        user = to_user(scale.center, scale.scale, True, scale.y_scale) if layout is None else layout.to_user
        p = len(user)
        tied = np.eye(p) if layout is None else layout.tied
        back, way = tied @ np.linalg.inv(user), user @ tied.T
        sigma = np.exp(np.clip(found.params[p:] - math.log(scale.y_scale), *LOG_SIGMA_RANGE))
        return cls(back, way, back @ (found.params[:p] - scale.y_center * np.eye(p)[0]), sigma)

    @property
    def unit(self) -> float:
        """One sigma, of all rows."""
        return float(np.mean(self.sigma**-2.0) ** -0.5)


def _asked(
    n: int,
    bounding: Bounding[Placement],
    choice: Choice,
    whitening: np.ndarray,
    costs: Costs,
    found: SurvivalEstimate,
    line: _Line,
) -> list[Asked]:
    """The looks that are to be made."""
    placement, unit, p = bounding.placement, line.unit, len(line.way)
    scale, family, point = placement.scale, placement.problem.family, np.append(line.gamma, np.log(unit))
    where, quiet = (
        bounding.truncation(each, point)
        for each in (choice, quietest(bounding, replace(choice, floor=-1.0), point))
    )
    heard, whole, near = (
        MeanScore.of(family, cut) for cut in (where.cut, taper(family, WHOLE, -UNSEEN), quiet.cut)
    )
    parts = (each[:p, :p] / unit**2 for each in (found.cov, found.cov_privacy))
    moments = np.linalg.matrix_power(np.linalg.inv(whitening), 2)
    covs, kept = standardised(line.back, *parts), placement.expected.kept(choice.c)
    rows = WeightedRows(line.gamma / unit, moments, covs, scale, n, scale.fraction, kept, choice.radius)
    sigma = line.sigma if placement.problem.strata else line.sigma.item()
    public = dict(**scale.public(), family=family, gamma=line.gamma, sigma=sigma)
    look = SquareLook.along(rows, (heard, whole, heard), found.by_signs).or_line()
    asked = [Asked(look, costs.bend, public | dict(c=choice.c, floor=where.floor), limit_of(where))]
    if costs.far:
        beside, own = FarLook.along(rows, (heard, whole, near)), dict(c=quiet.c, floor=quiet.floor)
        asked += with_pairs(Asked(beside, costs.far, public | own, limit_of(quiet)), costs.pure)
    return asked


def _moved(found: SurvivalEstimate, bent: Bent, line: _Line, placement: Placement) -> SurvivalEstimate:
    """A fit where all rows have it, by what bends move it and what is not known of that."""
    params, moved, p, unit = found.params.copy(), np.zeros_like(found.cov), len(line.way), line.unit
    params[:p] += unit * line.way @ bent.shift
    moved[:p, :p] = unit**2 * line.way @ bent.cov @ line.way.T
    if not placement.problem.known_scale:
        # the rows by which the line is moved lie as far off it, and spread residuals by the square
        square = float((bent.shift**2 + np.diag(bent.cov)) @ np.append(1.0, placement.scale.ratio))
        of_line, of_products = (
            0.5 * math.log1p(each / placement.expected.residual_square) for each in (square, bent.spread)
        )
        # some of what products spread residuals by scores with bounds have heard: half, give or take as much
        params[p:] += of_products / 2
        moved[p:, p:] = of_line**2 + (of_products / 2) ** 2
    # with strata there are other columns than coefficients
    told = bent.problems() if p == len(line.gamma) else (BENDS,) * len(bent.told)
    return replace(found, params=params, looked=True).doubted(moved, *told)


def limit_of(where: Truncation) -> float:
    """Of the score of the location."""
    return max(where.cut.steepest, float(where.cut.integrals(np.array([np.inf])).location[0]))


def quietest(bounding: Bounding[Placement], choice: Choice, point: np.ndarray) -> Choice:
    """The choice with the cut whose scores say most of a bend for their noise."""

    def noise(choice: Choice) -> float:
        return limit_of(bounding.truncation(choice, point)) / bounding.placement.expected.kept(choice.c)

    return min((replace(choice, c=c) for c in CUTS), key=noise)
