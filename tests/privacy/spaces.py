"""For each registered statistic: public parameters, and the box of rows where its worst pair is searched."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dpstats.curator.statistics import REGISTRY, Statistic
from dpstats.families import LOGISTIC, LOGISTIC_LOSS, NORMAL, SEV, Family, huber_hinge
from dpstats.families.bounded_score import BoundedScore
from dpstats.families.glm import (
    BINOMIAL,
    CLOGLOG,
    GAMMA,
    GAUSSIAN,
    POISSON,
    PROBIT,
    GlmFamily,
    negative_binomial,
)
from dpstats.families.score_bounds import Truncation
from tests.families.laws import LAWS
from tests.made import MadeBlock, MadeDesign

Build = Callable[[int], dict[str, Any]]
NONE = (0.0, 0.0)  # limits of a score that is not released
_FINE = 7  # strata change so often as a row is watched one unit longer
CONTRASTS = ((1.0, -0.8, 0.4), (-0.6, 1.0, -0.9))


def shape(d: int) -> dict[str, Any]:
    return dict(center=np.zeros(d), scale=np.ones(d), y_center=0.0, y_scale=1.0, log=False)


def skewed(k: int) -> np.ndarray:
    """A matrix that turns and stretches rows."""
    return np.eye(k) + np.tri(k, k, -1) / 2


class Space(NamedTuple):
    """Public parameters by the number of covariates, half-width of the box to search, share to be reached.

    Where rows may enter late, their entry is searched too, and where failures may lie between two times, from
    when on they may. Covariates beyond `blank` are missing values. Of several strata, rows are of any. Where
    rows are `weighted`, they have any weight up to 1, and where they are `shifted`, any offset in the box.
    """

    public: Build
    half: float
    reach: float = 0.99
    ranges: float = 0.99  # of each range and of the head, where they are declared
    delayed: bool = False
    blank: float = math.inf
    intervals: bool = False
    strata: int = 1
    weighted: bool = False
    shifted: bool = False

    def statistic(self, name: str, d: int) -> Statistic:
        offset = self.half if self.shifted else 0.0
        options: dict[str, Any] = dict(intervals=self.intervals, strata=self.strata)
        options |= dict(weights="w" if self.weighted else None, offset_bounds=(-offset, offset))
        made = REGISTRY[name](MadeDesign(d, delayed=self.delayed, **options), **self.public(d))
        if self.blank < math.inf or self.intervals or self.strata > 1 or self.weighted or self.shifted:
            factors = made.factors
            made.factors = lambda block, scratch: factors(self._changed(block), scratch)  # type: ignore[method-assign]
        return made

    @property
    def plain(self) -> bool:
        """Whether rows are all there and alike in all but covariates, response and event."""
        return not (self.delayed or self.intervals or self.strata > 1 or self.blank < math.inf)

    def _changed(self, block: Any) -> MadeBlock:
        if self.shifted:
            return replace(block, offset=2 * (block.time - block.entry) - self.half)
        if self.weighted:
            return replace(block, weight=(block.time - block.entry) / self.half)
        if self.strata > 1:
            number = np.floor(_FINE * (block.time - block.entry)).astype(int)
            return replace(block, stratum=number % self.strata)
        return self._blanked(block) if self.blank < math.inf else between(block)

    def _blanked(self, block: Any) -> MadeBlock:
        exog = np.where(np.abs(block.exog) > self.blank, np.nan, block.exog)
        return replace(block, exog=np.asfortranarray(exog))


def between(block: Any) -> MadeBlock:
    """Rows that failed between their entry and their time, or not until their time."""
    failed = block.event > 0.5
    ends = np.where(failed, block.entry, block.time), np.where(failed, block.time, np.inf)
    return replace(block, ends=ends)


def score(family: Family, c: float, floor: float = -math.inf) -> Build:
    row = dict(family=family, c=c, floor=floor)
    return lambda d: dict(shape(d), **row, gamma=np.full(d + 1, 0.3), sigma=0.8)


def martingale(
    family: Family,
    c: float,
    limits: tuple[float, float],
    radius: float,
    share: float,
    floor: float = -math.inf,
    delayed: bool = False,
) -> Build:
    """Pivots run over [-1, 2], and rows are longer than the radius at the corners."""

    def public(d: int) -> dict[str, Any]:
        where = Truncation(family, c, (-1.0, 2.0), limits, floor, delayed)
        gamma, pivot = np.full(d + 1, 0.2), np.linspace(1.0, -1.0, d + 1)
        whitening = np.eye(d + 1) + 0.3 * np.ones((d + 1, d + 1)) / (d + 1)
        return dict(
            shape(d),
            where=where,
            gamma=gamma,
            sigma=0.7,
            pivot=pivot,
            whitening=whitening,
            radius=radius,
            matrix_share=share,
        )

    return public


def of_strata(build: Build, sigma: tuple[float, ...] = (0.7, 0.7, 1.5, 1.5)) -> Build:
    """The same with a sigma and a pivot for each stratum."""

    def public(d: int) -> dict[str, Any]:
        found = build(d)
        pivot, stretch = np.resize([-0.2, 0.3], len(sigma)), 1 / np.array(sigma)
        own = dict(
            where=replace(found["where"], pivots=(-0.2, 0.3), strata=True), sigma=np.array(sigma), pivot=pivot
        )
        return found | own | {"stretch": stretch}

    return public


def alone(*case: Any, **more: Any) -> Build:
    """Without a share for the matrix."""
    build = martingale(*case, 1.0, **more)
    return lambda d: {name: at for name, at in build(d).items() if name != "matrix_share"}


def known(build: Build) -> Build:
    """The same with a known scale."""

    def public(d: int) -> dict[str, Any]:
        found = build(d)
        where = replace(found["where"], pivots=(0.0, 0.0), limits=(0.0, 0.0), known_scale=True)
        return found | {"where": where}

    return public


def inspected(build: Build) -> Build:
    """The same for rows that may have failed between two times."""

    def public(d: int) -> dict[str, Any]:
        found = build(d)
        return found | {"where": replace(found["where"], intervals=True)}

    return public


def level(family: Family, c: float, floor: float = -math.inf) -> Build:
    """Rows that hold nothing but a 1, whatever their covariates: W is one row."""

    def public(d: int) -> dict[str, Any]:
        where, lead = Truncation(family, c, (-1.0, 2.0), (-4.0, 1.0), floor=floor), np.eye(1, d + 1)
        gamma, pivot = np.full(d + 1, 0.2), 0.4 * lead[0]
        return dict(
            shape(d),
            where=where,
            gamma=gamma,
            sigma=0.7,
            pivot=pivot,
            whitening=lead,
            radius=1.0,
            matrix_share=0.4,
        )

    return public


def rivals(*families: Family) -> Build:
    """The first is the narrowest, so that failures far off are less likely under it."""
    sigmas = np.linspace(0.4, 0.6, len(families))

    def public(d: int) -> dict[str, Any]:
        params = np.tile(np.append(0.3, np.full(d, 0.1 / max(d, 1))), (len(families), 1))
        return dict(params=params, sigmas=sigmas, families=families, log=False, limit=0.1)

    return public


def signs(family: Family, **more: float) -> Build:
    """W leaves the intercept out; rows are longer than the radius at the corners, and at a tenth of them."""

    def public(d: int) -> dict[str, Any]:
        whitening = np.column_stack([np.zeros(d), np.eye(d) + 0.3 * np.ones((d, d)) / d])
        gamma = np.append(0.3, np.full(d, 0.1 / max(d, 1)))
        row = dict(
            family=family, gamma=gamma, sigma=0.7, whitening=whitening, radius=math.sqrt(max(d, 1) / 2)
        )
        return dict(shape(d), **row, **{name: at * math.sqrt(d) for name, at in more.items()})

    return public


def contrasts(family: Family, *steps: tuple[float, ...], edges: tuple[float, ...] = (0.1, 0.5, 1.5)) -> Build:
    row = dict(family=family, sigma=1.0, edges=edges, contrasts=steps)
    return lambda d: dict(shape(d), **row, gamma=np.zeros(d + 1))


def along(build: Build, radius: float) -> Build:
    """The same contrasts, the last of which goes along whitened rows."""
    return lambda d: dict(build(d), whitening=(np.eye(d + 1) + 0.2)[1:], radius=radius)


def hazards(c: float, radius: float, share: float, half: float) -> Build:
    """Rows of full length have a risk of e^12 or e^-12, and nearly all of c in the first piece or the second.

    They may fail in the third, in which there is hardly any hazard, or collect the rest of c in the last.
    """

    def public(d: int) -> dict[str, Any]:
        beta = np.full(d, 12 * 1.3 / math.sqrt(d) / radius)
        each = 0.98 * c * np.exp([-12.0, 12.0])
        grid = dict(edges=half * np.linspace(-1, 1, 5), hazards=(*each, 1e-9, 1e9), pieces=(0, 1, 2, 3))
        row = dict(center=np.zeros(d), scale=np.ones(d), beta=beta, radius=radius)
        return dict(row, **grid, c=c, whitening=np.eye(d) + 0.3 * np.ones((d, d)) / d, matrix_share=share)

    return public


def trends(c: float, radius: float, middle: float, half: float) -> Build:
    """The same rows."""
    build = hazards(c, radius, 1.0, half)
    return lambda d: (
        {name: at for name, at in build(d).items() if name != "matrix_share"} | {"middle": middle}
    )


def of_ways(ways: np.ndarray, span: float) -> dict[str, Any]:
    """Curves that are nothing in the middle, and at the edge longer than the span; along each way alone."""
    alike = np.ones(len(ways))
    return dict(curves=dict(ways=ways, level=alike, tilt=0.3 * alike, edge=2.0, span=span))


def beyond(ways: np.ndarray, span: float) -> dict[str, Any]:
    """How far out rows are along each way, beyond as much as the span."""
    return dict(curves=dict(ways=ways, near=span, edge=2 * span))


def paired(ways: np.ndarray, span: float) -> dict[str, Any]:
    """The product of the first way and the last, twice."""
    return dict(curves=dict(ways=ways, pairs=[(0, len(ways) - 1)] * 2, edge=1.5 * span))


def bent_location(build: Build, *columns: int, span: float, curves: Any = of_ways) -> Build:
    """Squares, or other curves, of these columns, as far as there are any, of x~."""

    def public(d: int) -> dict[str, Any]:
        return dict(build(d), **curves(2.0 * np.eye(d + 1)[[at for at in columns if at <= d]], span))

    return public


def bent_hazards(c: float, *columns: int, span: float, curves: Any = of_ways) -> Build:
    """The same of rows of which half have a hazard of c."""

    def public(d: int) -> dict[str, Any]:
        build = hazards(c, 1.0, 1.0, 3.0)(d)
        return {
            name: build[name] for name in build if name not in ("matrix_share", "whitening", "radius")
        } | dict(
            beta=np.append(np.zeros(d - 1), 0.4),
            **curves(2.0 * np.eye(d)[[at for at in columns if at < d]], span),
        )

    return public


ANGLES = ((1.0, 0.0, 0.0), (0.0, 0.8, 0.6), (0.0, 0.0, 1.0))


def pilot(radius: float, limit: float, **more: Any) -> Build:
    """Some pilot fit; in two dimensions and more, rows of full length reach any angle."""

    def public(d: int) -> dict[str, Any]:
        whitening = np.eye(d + 1) + 0.3 * np.ones((d + 1, d + 1)) / (d + 1)
        line = np.linspace(0.5, -0.5, d + 1)
        return dict(shape(d), whitening=whitening, line=line, sigma=0.8, radius=radius, limit=limit, **more)

    return public


SCATTERED = negative_binomial(0.7)


def lengths(*edges: float) -> Build:
    """Rows near 0 lie along the leading 1, rows far out along any column."""
    return lambda d: dict(shape(d), whitening=np.eye(d + 1), edges=np.array(edges))


def glm(radius: float, start: float, slope: float, bounded: BoundedScore | None = None) -> Build:
    """Linear predictors that differ along one ray, so that parallel rows have any mean."""

    def public(d: int) -> dict[str, Any]:
        whitening = np.eye(d + 1) + 0.1 * np.ones((d + 1, d + 1)) / (d + 1)
        beta = np.append(start, np.full(d, slope / max(d, 1)))
        scale = dict(center=np.zeros(d + 1), scale=np.ones(d + 1))
        row = dict(scale, beta=beta, whitening=whitening, radius=radius)
        return row if bounded is None else dict(row, score=bounded)

    return public


def bend(radius: float, start: float, slope: float, bounded: BoundedScore, alone: bool = False) -> Build:
    """Linear predictors along one ray, far enough for rows beyond both edges."""

    def public(d: int) -> dict[str, Any]:
        row = glm(radius, start, slope, bounded)(d)
        del row["whitening"], row["radius"]
        return dict(row, middle=start, spread=0.5, edge=2.0, alone=alone)

    return public


def curves(chosen: list[int], **more: Any) -> Build:
    """Squares of one column, whose rows reach the whole span, or of two."""

    def public(d: int) -> dict[str, Any]:
        at = [each for each in chosen if each < d]
        alike = np.ones(len(at))
        curve = dict(chosen=np.array(at), unit=0.7 * alike, level=alike, tilt=0.3 * alike, edge=2.0)
        return dict(shape(d), **curve, line=np.linspace(0.5, -0.5, d + 1), sigma=0.8, limit=2.0, **more)

    return public


def tails(start: float, slope: float, bounded: BoundedScore, wider: float) -> Build:
    def public(d: int) -> dict[str, Any]:
        row = glm(1.0, start, slope, bounded)(d)
        del row["whitening"], row["radius"]
        return dict(row, wider=replace(bounded, limit=wider))

    return public


def squares(radius: float, start: float, slope: float, bounded: BoundedScore) -> Build:
    return lambda d: dict(glm(radius, start, slope, bounded)(d), alphas=(0.0, 0.3, 3.0))


def far(
    radius: float, reach: float, start: float, slope: float, bounded: BoundedScore, *ends: float
) -> Build:
    """Rows up to many times the radius, and some that are hardly longer."""
    return lambda d: dict(glm(radius, start, slope, bounded)(d), reach=reach, ends=(0.0, *ends))


def truncated_glm(family: GlmFamily, most: float, slope: float) -> Build:
    def public(d: int) -> dict[str, Any]:
        whitening = np.eye(d + 1) + 0.3 * np.ones((d + 1, d + 1)) / (d + 1)
        beta = np.linspace(slope, -slope, d + 1)
        return dict(shape(d), family=family, whitening=whitening, beta=beta, radius=0.9, most=most)

    return public


def columns(d: int) -> dict[str, Any]:
    return dict(center=np.zeros(d + 1), half=np.ones(d + 1))


def levels(d: int) -> dict[str, Any]:
    """All covariates are levels of one category."""
    return dict(columns(d), levels=[np.arange(d)])


def weighed(build: Build) -> Build:
    """Weights beside them."""
    return lambda d: dict(build(d), weights=True)


def boxes(d: int) -> dict[str, Any]:
    return dict(center=np.zeros(d + 1), half=np.ones(d + 1), log=False)


def reach(**more: float) -> Build:
    """All covariates but the second, where there is one; any `origin` is that of each column."""

    def public(d: int) -> dict[str, Any]:
        chosen = np.arange(d) != 1
        origin = {name: np.full(chosen.sum() + 1, at) for name, at in more.items() if name == "origin"}
        return dict(boxes(d), chosen=chosen) | more | origin

    return public


def cells(left_out: int = -1) -> Build:
    """Of all covariates but one, if it is there."""

    def public(d: int) -> dict[str, Any]:
        chosen = np.arange(d) != left_out
        return dict(chosen=chosen, edges=[np.array([-0.5, 0.0, 0.5])] * int(chosen.sum()))

    return public


def present(d: int) -> dict[str, Any]:
    return dict(chosen=np.ones(d, dtype=bool), center=np.zeros(d), scale=np.ones(d))


def margin(d: int) -> dict[str, Any]:
    """Rows fill the unit ball at the corners of their box. About params of 0 all margins are 0, and every
    bound is attained; bounds about other params are in test_tilt.
    """
    k = d + 1
    row = dict(center=np.zeros(k), scale=np.ones(k), radius=math.sqrt(k), longest=1.0)
    return dict(row, reach=np.full(k, 1 / math.sqrt(k)), loss=LOGISTIC_LOSS, params=np.zeros(k))


def published_margin(d: int) -> dict[str, Any]:
    return dict(margin(d), published=True)


def parted_margin(overlap: int) -> Callable[[int], dict[str, Any]]:
    """Rows in two groups, by the signs of the first covariate and the last, next to where slopes of the hinge
    end; margins are those of the constant alone.
    """

    def public(d: int) -> dict[str, Any]:
        groups = np.zeros((4, d + 1))
        groups[:, 0], groups[:2, 1], groups[2:, d] = 0.5, (1, -1), (1, -1)
        params = np.append(1.4999 * math.sqrt(d + 1), np.zeros(d))
        return dict(margin(d), loss=huber_hinge(0.5), params=params, groups=groups, overlap=overlap)

    return public


def far_margin(d: int) -> dict[str, Any]:
    """Rows in the corners are five times as long as what counts in full, about params that are not 0."""
    return dict(margin(d), reach=np.full(d + 1, 5 / math.sqrt(d + 1)), params=np.full(d + 1, 0.5))


def turned_margin(d: int) -> dict[str, Any]:
    """The same of rows that are turned, and three times as long along one direction as across."""
    k = d + 1
    whitening = 0.5 * np.eye(k) + np.full((k, k), 1.0 / k)
    return dict(far_margin(d), whitening=whitening, reach=np.full(k, 5.0))


SPACES = {
    "column_means": [
        Space(levels, 3.0),
        Space(columns, 1.5),
        *(Space(weighed(build), half, weighted=True) for build, half in ((columns, 1.5), (levels, 3.0))),
    ],
    # rows as long as the radius, and no longer, weigh most; without the large intercept of the first, scores
    # on the wrong side all point one way
    "logistic_score": [Space(glm(20.0, 12.0, 0.0), 30.0, 0.97), Space(glm(9.0, 1.0, 0.2), 15.0, 0.5)],
    "glm_score": [
        Space(glm(20.0, 0.0, 0.6, BoundedScore(POISSON, 2.0, 3.0)), 30.0, 0.97),
        Space(glm(20.0, 0.0, 0.1, BoundedScore(POISSON, 3.0, 2.0, 3.0, 0.5, (-9.0, 9.0))), 30.0, 0.9),
        Space(glm(15.0, 0.5, 0.1, BoundedScore(GAMMA, 3.0, 1.0, 0.0, 0.5)), 25.0, 0.9),
        Space(glm(20.0, 0.0, 0.1, BoundedScore(GAUSSIAN, 3.0, 1.0, 0.0, 1.0)), 30.0, 0.9),
        Space(glm(20.0, 12.0, 0.0, BoundedScore(BINOMIAL, 1.0, 0.25)), 30.0, 0.9),
        Space(glm(20.0, 0.0, 0.6, BoundedScore(PROBIT, 1.0, 0.5)), 30.0, 0.9),
        Space(glm(20.0, 0.0, 0.3, BoundedScore(CLOGLOG, 1.6, 0.6)), 30.0, 0.9),
        Space(glm(20.0, 0.0, 0.1, BoundedScore(SCATTERED, 2.0, 1.2, 3.0, 0.3, (-9.0, 9.0))), 30.0, 0.9),
    ],
    "far_scores": [
        Space(far(3.0, 1.5, 0.0, 0.6, BoundedScore(POISSON, 2.0, 3.0)), 30.0, 0.97),
        Space(far(3.0, 1.5, 0.0, 0.6, BoundedScore(POISSON, 2.0, 3.0), 9.0), 30.0, 0.97),
        Space(far(3.0, 6.0, 0.0, 0.3, BoundedScore(BINOMIAL, 1.0, 0.25)), 30.0, 0.9),
        Space(far(3.0, 6.0, 0.0, 0.3, BoundedScore(CLOGLOG, 1.6, 0.6)), 30.0, 0.9),
        Space(far(4.0, 2.0, 0.5, 0.1, BoundedScore(GAMMA, 3.0, 1.0, 0.0, 0.5)), 25.0, 0.9),
    ],
    "predictor_bend": [
        Space(bend(20.0, 0.0, 0.6, BoundedScore(POISSON, 2.0, 3.0)), 30.0, 0.97, 0.97),
        Space(bend(20.0, 0.0, 0.3, BoundedScore(BINOMIAL, 1.0, 0.25)), 30.0, 0.9, 0.9),
        Space(bend(15.0, 0.5, 0.1, BoundedScore(GAMMA, 3.0, 1.0, 0.0, 0.5)), 25.0, 0.9, 0.9),
        Space(bend(20.0, 0.0, 0.1, BoundedScore(GAUSSIAN, 3.0, 1.0, 0.0, 1.0), True), 30.0, 0.9, 0.9),
    ],
    "column_bends": [
        Space(curves([0, 2], span=2.5), 30.0),
        Space(curves([0], span=2.0), 30.0),
        Space(curves([0, 1, 2], span=9.0), 30.0, 0.3),
    ],
    "score_tails": [
        Space(tails(0.5, 0.1, BoundedScore(GAMMA, 3.0, 1.0, 0.0, 0.5), 6.0), 25.0, 0.95, 0.95),
        Space(tails(0.5, 0.1, BoundedScore(GAMMA, 0.6, 1.0, 0.0, 0.1), 0.8), 25.0, 0.95, 0.95),
        Space(tails(0.0, 0.1, BoundedScore(GAUSSIAN, 1.0, 1.0, 0.0, 1.0), 2.5), 30.0, 0.95, 0.95),
        Space(tails(0.0, 0.3, BoundedScore(POISSON, 2.0, 3.0, 1.0, 0.2), 8.0), 60.0, 0.9, 0.9),
    ],
    "score_squares": [
        Space(squares(40.0, 0.0, 0.3, BoundedScore(POISSON, 4.0, 1e3, 3.0, 0.2, (-12.0, 6.0))), 60.0, 0.97),
        Space(squares(9.0, 0.5, 0.1, BoundedScore(negative_binomial(0.5), 2.0, 1.8, 3.0)), 60.0, 0.95),
    ],
    "event_moments": [Space(boxes, 1.5)],
    "reach_means": [Space(reach(), 1.5)],
    "reach_counts": [
        *(Space(reach(cells=4, origin=at), 1.5) for at in (np.nan, 0.1)),
        Space(reach(cells=4, origin=np.nan, lost=True), 1.5),
        Space(reach(cells=4, origin=0.1, together=True), 1.5),
    ],
    "rows_apart": [
        Space(reach(near=0.5), 1.5),
        Space(lambda d: reach(near=0.5)(d) | dict(line=np.linspace(1, -2, d + 1)), 1.5),
        Space(lambda d: reach(near=0.5, usual=0.3)(d) | dict(line=np.linspace(1, -2, d + 1)), 1.5),
    ],
    "cell_counts": [Space(cells(), 1.5, blank=1.2), Space(cells(left_out=1), 1.5, blank=1.2)],
    "present_moments": [Space(present, 1.5)],
    "present_products": [Space(lambda d: dict(present(d), radius=1.0, limit=1.5), 2.0, 0.8, blank=1.8)],
    "event_matrix": [
        Space(lambda d: dict(shape(d), radius=2.0, limit=3.0), 6.0),
        Space(lambda d: dict(shape(d), radius=3.0, limit=2.0), 6.0),
        Space(lambda d: dict(shape(d), radius=2.0, limit=3.0, whitening=skewed(d + 1)), 6.0),
    ],
    "location_score": [
        *(
            Space(score(family, c), 60.0, delayed=delayed)
            for family, c, delayed in ((SEV, 1.34, False), (SEV, 24.0, True), (LOGISTIC, 2.0, False))
        ),
        Space(score(NORMAL, 1.34, -1.5), 60.0, delayed=True),
        Space(score(LOGISTIC, 2.0), 60.0, intervals=True),
        Space(score(NORMAL, 1.34, -1.5), 60.0, intervals=True),
    ],
    "ball_moments": [Space(lambda d: dict(shape(d), whitening=np.eye(d + 1), radius=2.0), 6.0)],
    "exit_counts": [
        Space(lambda d: dict(edges=(0.0, 1.0)), 1.5),  # times of 0 are searched
        Space(lambda d: dict(edges=(0.0,), groups=d + 1), 0.6),
    ],
    "entry_counts": [Space(lambda d: dict(edges=(-1.0, 0.0, 1.0)), 1.5, delayed=True)],
    "residual_moments": [
        Space(pilot(0.9, 2.0), 60.0, 0.97),
        Space(pilot(0.9, 2.0, meat=0.7, meat_limit=1.0, fourth=0.7), 60.0, 0.97),
        Space(pilot(0.9, 2.0, meat=0.5, meat_limit=1.8, fourth=0.7), 60.0, 0.97),
        Space(pilot(0.9, 2.0, meat=0.7, meat_limit=1.0, fourth=0.7, kept=0.5), 60.0, 0.97),
        Space(
            pilot(0.9, 2.0, meat=0.7, meat_limit=1.0, kept=0.5, edges=(9.0, 20.0), code=ANGLES), 60.0, 0.97
        ),
        Space(
            pilot(
                0.9,
                2.0,
                meat=0.7,
                meat_limit=1.0,
                fourth=0.7,
                kept=0.6,
                edges=(9.0,),
                code=ANGLES[:2],
                light=True,
            ),
            60.0,
            0.97,
        ),
        Space(pilot(0.9, 2.0, meat=0.7, meat_limit=1.0, fourth=0.4, spread=0.2, spread_limit=1.5), 60.0, 0.9),
    ],
    "residual_counts": [
        Space(lambda d: dict(shape(d), line=np.full(d + 1, 0.3), sigma=0.8, edges=np.array([0.5, 2.0])), 3.0)
    ],
    # of rows longer than 1.5 the leading 1 is less than half
    "row_reach": [Space(lengths(0.5), 60.0), Space(lengths(0.5, 1.5), 3.0, 0.95, 0.4)],
    "residual_score": [Space(pilot(0.9, 2.0), 60.0, 0.97)],
    "truncated_gram": [Space(pilot(0.9, 2.0), 60.0, 0.97)],
    "truncated_triangle": [Space(pilot(0.9, 2.0), 60.0, 0.68)],  # the published 2 for sqrt 2
    "truncated_cross": [Space(pilot(0.9, 2.0, whole=whole), 60.0) for whole in (True, False)],
    "truncated_score": [
        Space(truncated_glm(BINOMIAL, 1.0, 0.5), 60.0),
        Space(truncated_glm(POISSON, 5.0, 0.5), 60.0),
    ],
    "truncated_information": [  # the published 2 for sqrt 2; rows at a right angle, of a mean of 1/2
        Space(truncated_glm(BINOMIAL, 0.25, 0.0), 60.0, 0.68),
        Space(truncated_glm(POISSON, 0.5, 0.3), 60.0, 0.68),
    ],
    "log_likelihood": [
        Space(lambda d: dict(params=np.full(d + 1, 0.3), low=-5.0, high=0.4, family=SEV, sigma=0.25), 2.0),
        Space(
            lambda d: dict(params=np.full(d + 1, 0.3), low=-5.0, high=0.4, family=SEV, sigma=0.25),
            2.0,
            0.9,
            intervals=True,
        ),
        Space(lambda d: dict(params=np.full(d + 1, 0.3), low=-5.0, high=0.0, family=BINOMIAL), 60.0),
        Space(lambda d: dict(params=np.full(d + 1, 0.3), low=-9.0, high=0.0, family=POISSON), 60.0),
        Space(
            lambda d: dict(params=np.full(d + 1, 0.3), low=-2.9, high=0.1, usual=-0.1, family=BINOMIAL), 60.0
        ),
    ],
    # rows of one sign or the other: failures far from where they are expected, and near it
    "likelihood_contrasts": [
        Space(rivals(SEV, NORMAL), 8.0),
        Space(rivals(NORMAL, SEV, LOGISTIC), 8.0),
        Space(rivals(SEV, NORMAL), 8.0, intervals=True),
    ],
    # seven coordinates of 1 or -1 are never orthogonal
    **{
        f"margin_{name}": [
            Space(margin, 1.5, 0.9),
            Space(far_margin, 7.5, 0.5, 0.05),
            Space(turned_margin, 7.5, 0.5, 0.05),
            # of the rows that are in two groups, or in more than was said
            *(Space(parted_margin(overlap), 1.5, 0.95, 0.7) for overlap in (2, 1) if name == "sandwich"),
            *[Space(published_margin, 1.5, 0.63)] * (name == "scores"),  # the published 2 for sqrt 2
        ]
        for name in ("scores", "sandwich")
    },
    "margin_curvature": [
        Space(margin, 1.5, 0.9),
        Space(far_margin, 7.5, 0.5, 0.05),
        Space(turned_margin, 7.5, 0.5, 0.05),
        Space(lambda d: dict(far_margin(d), steepest=0.07), 7.5, 0.5, 0.05),
        Space(published_margin, 1.5, 0.63),
    ],
    # of a curvature so small that a row that weighs nothing is farther away in its last entry than others
    "functional_weights": [
        Space(boxes, 1.5, 0.9),
        Space(lambda d: dict(boxes(d), published=0.25), 1.5, 0.5),
    ],
    # the pair that attains it lies at a jump, which a search only approaches
    "hazard_contrasts": [
        *(Space(contrasts(family, *CONTRASTS), 8.0, 0.95, 0.95) for family in LAWS),
        # rows that live beyond the last zone are farthest from early failures; one contrast counts them
        Space(
            contrasts(SEV, (1.0, -0.4, 0.0), (0.6, 0.2, 0.0), (-0.1, 0.1, 0.5), edges=(0.5, 3.0, 7.0)),
            8.0,
            0.95,
            0.95,
        ),
        # rows that enter as the second zone begins and fail as the third does are farthest from others
        Space(contrasts(SEV, (1.0, -1.0, 1.0), edges=(0.5, 1.5, 2.0)), 1.5, 0.95, 0.87, True),
        Space(contrasts(LOGISTIC, *CONTRASTS), 8.0, 0.9, 0.9, intervals=True),
        # rows opposite each other differ by what both have of the last contrast; few lie along an axis
        Space(along(contrasts(SEV, *CONTRASTS), 1.5), 3.0, 0.95, 0.7),
        Space(along(contrasts(NORMAL, *CONTRASTS[::-1]), 0.5), 3.0, 0.95, 0.7, True),
        Space(along(contrasts(LOGISTIC, CONTRASTS[0]), 1.0), 3.0, 0.95, 0.7),
    ],
    # where events count more than censored rows, the pair that attains it lies at a jump, where rows stop
    # being observed: test_hazard_score has it
    "hazard_score": [
        *(
            Space(hazards(c, radius, share, 3 * radius), 3 * radius, reach, delayed=delayed)
            for c, radius, share, reach, delayed in (
                (2.0, 2.0, 0.5, 0.94, False),
                (1.0, 0.5, 0.5, 0.75, False),
                (1.0, 0.5, 3.0, 0.75, True),
                (6.0, 4.0, 0.5, 0.95, True),
                (1.5, 0.3, 1.0, 0.75, True),
            )
        ),
    ],
    "hazard_trend": [
        Space(trends(2.0, 2.0, 0.45, 6.0), 6.0, 0.9),
        Space(trends(1.5, 0.6, 0.6, 1.8), 1.8, 0.9, delayed=True),
    ],
    "location_bend": [
        Space(bent_location(score(SEV, 1.34), 1, span=1.0), 60.0),
        Space(bent_location(score(SEV, 24.0), 1, 2, span=1.0), 60.0, 0.95, delayed=True),
        Space(bent_location(score(NORMAL, 1.34, -1.5), 1, 3, span=1.0), 60.0),
        Space(bent_location(score(LOGISTIC, 2.0), 1, 2, span=1.0), 60.0, intervals=True),
        Space(bent_location(score(NORMAL, 1.34, -1.0), 0, 1, span=0.5, curves=beyond), 60.0),
        Space(bent_location(score(SEV, 1.34), 0, 1, span=1.0, curves=paired), 60.0),
    ],
    "hazard_bend": [
        Space(bent_hazards(2.0, 0, span=1.0), 3.0),
        Space(bent_hazards(1.0, 0, 1, span=1.0), 3.0, delayed=True),
        Space(bent_hazards(1.0, 0, 1, span=1.0, curves=beyond), 3.0),
        Space(bent_hazards(1.0, 0, span=1.0, curves=paired), 3.0),
    ],
    "inspection_counts": [
        Space(
            lambda d: dict(
                shape(d), family=SEV, gamma=np.full(d + 1, 0.3), sigma=0.8, edges=(-1.0, 0.0, 1.0)
            ),
            3.0,
            intervals=True,
        )
    ],
    "martingale_score": [
        *(
            Space(martingale(law, 3.0, (-5.0, 2.0), 3.0, 0.7, -1.2, delayed), 8.0, 0.9, delayed=delayed)
            for law in LAWS
            for delayed in (False, True)
        ),
        Space(martingale(SEV, 1.34, (-12.0, 1.5), 4.0, 1.0), 16.0, 0.9),
        Space(martingale(SEV, 8.0, (-6.0, 2.0), 4.0, 0.4), 16.0, 0.9),
        Space(martingale(LOGISTIC, 5.0, (-5.0, 4.0), 3.0, 0.4, delayed=True), 8.0, 0.9, delayed=True),
        Space(inspected(martingale(SEV, 2.0, (-4.0, 1.0), 2.0, 0.7)), 8.0, 0.9, intervals=True),
        Space(inspected(martingale(LOGISTIC, 5.0, (-5.0, 4.0), 3.0, 0.4)), 8.0, 0.9, intervals=True),
        Space(inspected(martingale(NORMAL, 2.0, (-4.0, 2.0), 3.0, 0.7, -1.2)), 8.0, 0.9, intervals=True),
        # all rows point one way, so that the informations of two are never at a right angle
        Space(level(SEV, 2.0), 8.0, 0.8),
        Space(level(NORMAL, 2.0, -1.2), 8.0, 0.9),
        # a known sigma
        Space(known(martingale(SEV, 2.0, NONE, 2.0, 0.7)), 8.0, 0.9),
        Space(known(martingale(SEV, 8.0, NONE, 4.0, 1.0)), 16.0, 0.9),
        Space(known(martingale(LOGISTIC, 3.0, NONE, 3.0, 0.4)), 8.0, 0.9),
        Space(known(martingale(NORMAL, 2.0, NONE, 3.0, 0.7, -1.2)), 8.0, 0.9),
        Space(known(martingale(SEV, 2.0, NONE, 2.0, 0.7, delayed=True)), 8.0, 0.9, delayed=True),
        Space(known(martingale(NORMAL, 2.0, NONE, 3.0, 0.7, -1.2, True)), 8.0, 0.9, delayed=True),
        Space(inspected(known(martingale(LOGISTIC, 3.0, NONE, 3.0, 0.4))), 8.0, 0.9, intervals=True),
    ],
    "strata_score": [
        Space(of_strata(martingale(SEV, 8.0, (-1.2, 6.0), 2.0, 0.3)), 8.0, 0.88, strata=4),
        Space(
            of_strata(martingale(NORMAL, 2.0, (-4.0, 2.0), 3.0, 0.7, -1.2, True)),
            8.0,
            0.9,
            delayed=True,
            strata=4,
        ),
    ],
    "sign_score": [
        *(Space(signs(family), 8.0) for family in LAWS),
        Space(signs(SEV), 8.0, delayed=True),
    ],
    "sign_sizes": [  # the second is reached just before a jump, which rows at random only approach
        Space(signs(SEV, longest=2.0), 8.0, ranges=0.9),
        Space(signs(LOGISTIC, longest=2.0), 8.0, ranges=0.9),
        # its h h1* is largest early and its h just before the median, never in one row
        Space(signs(NORMAL, longest=2.0), 8.0, 0.72, ranges=0.9),
    ],
    # the cylinder is the product of what location and log sigma attain, not both at once
    "score_alone": [
        Space(alone(SEV, 2.0, (-4.0, 1.0), 2.0), 8.0, 0.75, 0.8),
        Space(alone(SEV, 1.34, (-12.0, 1.5), 4.0), 16.0, 0.75, 0.8),
        Space(alone(LOGISTIC, 3.0, (-5.0, 2.0), 3.0), 8.0, 0.75, 0.8),
        Space(alone(NORMAL, 2.0, (-4.0, 2.0), 3.0, floor=-1.2), 8.0, 0.75, 0.8),
        Space(inspected(alone(SEV, 2.0, (-4.0, 1.0), 2.0)), 8.0, 0.7, 0.75, intervals=True),
        # a known sigma
        Space(known(alone(SEV, 2.0, NONE, 4.0)), 16.0, 0.9),
        Space(known(alone(LOGISTIC, 3.0, NONE, 5.0)), 16.0, 0.9),
        Space(known(alone(NORMAL, 2.0, NONE, 4.0, floor=-1.2)), 16.0, 0.9),
    ],
    "information_sizes": [
        Space(alone(SEV, 2.0, (-4.0, 1.0), 2.0), 8.0, 0.6, 0.3),
        Space(alone(LOGISTIC, 3.0, (-5.0, 2.0), 3.0), 8.0, 0.6, 0.3),
        Space(alone(NORMAL, 2.0, (-4.0, 2.0), 3.0, floor=-1.2), 8.0, 0.6, 0.3),
        Space(inspected(alone(SEV, 2.0, (-4.0, 1.0), 2.0)), 8.0, 0.5, 0.25, intervals=True),
        # a known sigma
        Space(known(alone(SEV, 2.0, NONE, 2.0)), 8.0),
        Space(known(alone(LOGISTIC, 3.0, NONE, 3.0)), 8.0),
        Space(known(alone(NORMAL, 2.0, NONE, 3.0, floor=-1.2)), 8.0),
    ],
}
