"""Linear regression from a few releases of second moments, each in better coordinates than the last.

spec/linear_glm.md E1, with three changes. The first release is of means and mean squares alone, whose noise
is smaller than that of a matrix; columns of rare 0/1 values are not stretched until their rows are weighted
away; and the matrix of r^2 a a' and the mean of r^4 are released with the last second moments, nearly free,
so that standard errors hold when errors differ in spread.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpstats.curator import Curator, Release
from dpstats.estimators.gram.bounds import FOURTH, MEAT, Bounds, choose_bounds, pilot_bounds
from dpstats.estimators.gram.coordinates import Coordinates, public_coordinates, second_moments
from dpstats.estimators.gram.plan import Plan
from dpstats.estimators.gram.pure import fit_pure
from dpstats.estimators.row_scale import Box, row_scale
from dpstats.moments import LinearMoments, PublicMoments


@dataclass(frozen=True)
class LinearFit:
    """What a linear fit released.

    Attributes
    ----------
    moments : LinearMoments
    radius, limit : float or None
        Length in sds beyond which rows count less, and residual in sds beyond which it is clipped; None where
        the declared bounds allow nothing beyond.
    """

    moments: LinearMoments
    radius: float | None
    limit: float | None


def fit_gram(
    curator: Curator, box: Box, constant: bool, plan: Plan, public: PublicMoments | None = None
) -> LinearFit:
    """Release the second moments of a linear regression.

    Parameters
    ----------
    curator : Curator
    box : Box
        Declared bounds of the covariates and, last, of the response less the offset.
    constant : bool
        Whether the model has an intercept.
    plan : Plan
    public : PublicMoments, optional
        Moments of public rows, which stand in for all but the last release.
    """
    release = fit_pure if plan.pure else _gaussian
    moments, place, bounds = release(curator, box, constant, plan, public)
    return LinearFit(
        moments,
        bounds.radius if bounds.radius < place.farthest else None,
        bounds.limit if bounds.limit < place.widest else None,
    )


def _gaussian(
    curator: Curator, box: Box, constant: bool, plan: Plan, public: PublicMoments | None
) -> tuple[LinearMoments, Coordinates, Bounds]:
    place = public_coordinates(public, box, constant) if public else _first(curator, box, constant, plan)
    k = len(place.line)
    for cost in plan.pilots:
        bounds = pilot_bounds(k, place.farthest, place.widest)
        release = curator.release("residual_moments", cost, **place.public(bounds))
        place = place.improved(*second_moments(release, bounds))
    mu = curator.cost_per_row(plan.final)
    bounds = choose_bounds(curator.n, mu, k, place.farthest, place.widest)
    release = curator.release(
        "residual_moments", plan.final, meat=MEAT, meat_limit=bounds.meat_limit, fourth=FOURTH,
        **place.public(bounds),
    )  # fmt: skip
    return _moments(release, place, bounds), place, bounds


def _first(curator: Curator, box: Box, constant: bool, plan: Plan) -> Coordinates:
    assert plan.moments is not None
    moments = curator.release("event_moments", plan.moments, center=box.center, half=box.half, log=False)
    return Coordinates.of_scale(row_scale(moments, box, False, constant))


def _moments(release: Release, place: Coordinates, bounds: Bounds) -> LinearMoments:
    gram, cross, square, noise = second_moments(release, bounds)
    meat = bounds.meat_limit**2 / (MEAT * bounds.radius**2) / release.n
    fourth = bounds.limit**4 / (FOURTH * bounds.radius**2) / release.n
    return LinearMoments(
        n=release.n, gram=gram, cross=cross, square=square,
        noise_gram=noise.gram, noise_cross=noise.cross, noise_square=noise.square,
        meat=release.values[1] * meat, noise_meat=release.sd * meat,
        fourth=float(release.values[2][0, 0]) * fourth, noise_fourth=release.sd * fourth,
        limit=bounds.limit, **place.to_user(),
    )  # fmt: skip
