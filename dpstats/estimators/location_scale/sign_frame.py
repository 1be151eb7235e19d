"""What a fit by signs knows before its steps: the shape of the covariates, and the size of its score.

See docs/theory/survival.md#slopes-by-the-signs-of-residuals.
"""

import functools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpstats.curator import Curator
from dpstats.estimators.engine.plan import Plan
from dpstats.estimators.location_scale.bounds import CUTS, Bounding, Choice
from dpstats.estimators.location_scale.events import EventSquares
from dpstats.estimators.location_scale.placement import PlacedByFamily
from dpstats.estimators.location_scale.problem import SurvivalProblem, sigma_of
from dpstats.estimators.location_scale.sign_tuning import TUNING
from dpstats.estimators.matrices import by_precision, symmetric_power
from dpstats.estimators.row_scale import SURE, RowScale
from dpstats.families.signs import largest_slope, sizes
from dpstats.moments.normal_rows import normal_squares


@dataclass(frozen=True)
class StructuredMoments(EventSquares):
    """Moments of which noise leaves little: correlations that stand out.

    Attributes
    ----------
    axes : array, shape (d, d)
        Orthonormal directions along which covariates vary as they do, in columns.
    relative : array, shape (d,)
        Noise of the variance along each, against what it is taken for; 0 if nothing stands out.
    structured : bool
        Whether anything stands out.
    hidden : float
        Size of what noise may be, as an operator norm, over the variance that a direction is taken to have,
        where it is largest; standard errors may be half of what they should be beyond the root of 3/4.
    """

    axes: np.ndarray
    relative: np.ndarray
    structured: bool
    hidden: float


@dataclass(frozen=True)
class SignFrame:
    """What stays as the steps go: released and public numbers only.

    Attributes
    ----------
    bounding : Bounding
    choice : Choice
        Bounds of the scores of intercept and log sigma.
    shape : StructuredMoments
    whitening : array, shape (d, k)
        Leaves the intercept out.
    radius : float
    slope, square : float
        Of the score, per row and covariate: -dE / d location in sigmas, and variance.
    """

    bounding: Bounding[PlacedByFamily]
    choice: Choice
    shape: StructuredMoments
    whitening: np.ndarray
    radius: float
    slope: float
    square: float

    def public(self, point: np.ndarray) -> dict[str, Any]:
        """Parameters of a release of signs at (gamma, log sigma) `point`."""
        return dict(
            self.bounding.placement.scale.public(),
            family=self.bounding.placement.problem.family,
            gamma=point[:-1],
            sigma=sigma_of(point),
            whitening=self.whitening,
            radius=self.radius,
        )

    @property
    def ratio(self) -> np.ndarray:
        """Variance of each covariate as it is whitened, (d,); the whitening of correlations has it in."""
        scale = self.bounding.placement.scale
        return np.where(scale.unknown | self.shape.structured, 1.0, scale.ratio * _kept(scale))

    @property
    def residual_square(self) -> float:
        return self.bounding.placement.expected.residual_square

    @functools.cached_property
    def back(self) -> np.ndarray:
        """From slopes to whitened ones, times this on the right."""
        return np.linalg.inv(self.whitening[:, 1:])


def framed(curator: Curator, problem: SurvivalProblem, plan: Plan, scale: RowScale) -> SignFrame:
    """Release the shape of the covariates; the sizes of the score are those that the family expects."""
    events, d = _shape(curator, plan.cost("shape"), scale), len(scale.center)
    level, n = curator.cost_per_row(plan.cost("level")) / problem.units, curator.n * problem.units
    bounding = Bounding(PlacedByFamily(problem, scale, events), level, n)
    covariates = symmetric_power(events.floored[1:, 1:] / events.fraction, -0.5)
    once, twice = _kept_rows(d)
    # between all rows watched to the same hazard and rows that leave at any
    usual = np.mean([sizes(problem.family, events.fraction), sizes(problem.family, 1.0)], axis=0)
    usual = usual * events.fraction
    return SignFrame(
        bounding,
        _choice(bounding),
        events,
        np.column_stack([np.zeros(d), covariates]),
        math.sqrt(TUNING.radius * d),
        float(usual[0] * once),
        float(usual[1] * twice),
    )


def _shape(curator: Curator, mu: float, scale: RowScale) -> StructuredMoments:
    """Correlations of the covariates; eigenvalues that noise can make of one are taken for their mean."""
    d, f = len(scale.center), scale.fraction
    square = TUNING.radius * (d + 1)
    release = curator.release(
        "event_matrix", mu, **scale.public(), radius=math.sqrt(square), limit=math.sqrt(square + 1)
    )
    matrix, noise = release.values[0][1:-1, 1:-1] / release.n, release.sd / release.n
    size = max(float(np.trace(matrix)) / d, TUNING.least_trace * TUNING.radius * f)
    off, relative = (matrix - np.diag(np.diag(matrix))) / size, noise / size
    shared, vectors = np.linalg.eigh(off)
    alike, hidden = _alike(shared, relative)
    if alike.all():
        return StructuredMoments(f, f * np.eye(d + 1), np.eye(d), np.zeros(d), False, hidden)
    shared[alike], blind = shared[alike].mean(), vectors[:, alike]
    # how much each column varies, which is on the diagonal, the first stage tells of as well
    usual = scale.ratio * _kept(scale)
    usual /= usual.mean()
    own = by_precision(
        np.diag(matrix) / size, relative, usual, np.hypot(TUNING.structure, scale.error) * usual
    )
    values, vectors = np.linalg.eigh((vectors * shared) @ vectors.T + np.diag(own))
    values = np.maximum(values * d / values.sum(), max(TUNING.least_eigenvalue, 0.5 * relative))
    moments = np.eye(d + 1)
    moments[1:, 1:] = (vectors * values) @ vectors.T
    # of what a direction is taken to vary: where noise may be most of it, standard errors rest on that
    least = np.linalg.eigvalsh(blind.T @ moments[1:, 1:] @ blind).min(initial=math.inf)
    hidden = float(max(hidden / least, SURE * np.max(relative / values)))
    return StructuredMoments(f, f * moments, vectors, relative / values, True, hidden)


def _alike(values: np.ndarray, noise: float) -> tuple[np.ndarray, float]:
    """Which eigenvalues may be one that noise has spread, of which entries of the matrix have this sd; (d,).

    And how far it may have spread them: one is not spread.

    What stands out is taken off one by one, on either side: of columns that nearly repeat each other one
    stands out below. The least of all may be that of a difference of columns.
    """
    alike = np.ones(len(values), bool)
    while True:
        off, m = np.where(alike, np.abs(values - values[alike].mean()), 0.0), int(alike.sum())
        # what noise spreads so many by in 99 of 100 draws, by 20,000 of 2 to 20
        most = noise * (math.sqrt(2 * m) + 1 - 1.7 / m) * (m > 1)
        if off.max() <= most:
            return alike, most
        alike[np.argmax(off)] = False


def _choice(bounding: Bounding[PlacedByFamily]) -> Choice:
    """Narrow bounds, at the cut at which noise moves intercept and log sigma least."""
    point, usual = bounding.placement.start, bounding.placement.expected

    def noise(choice: Choice) -> float:
        where = bounding.truncation(choice, point)
        bounds, law = bounding.bounds(where), usual.watched()
        inverse = np.linalg.inv(law.left(where.cut).matrix)
        return bounds.sensitivity * float(np.linalg.norm(inverse @ np.diag([1, 1 / bounds.log_sigma_weight])))

    return min((replace(bounding.first(point), c=c) for c in CUTS), key=noise)


def sized(curator: Curator, mu: float, frame: SignFrame, point: np.ndarray) -> SignFrame:
    """With the sizes as released and as expected, by precision."""
    d, radius, family = len(frame.whitening), frame.radius, frame.bounding.placement.problem.family
    longest = math.sqrt(TUNING.longest * d)
    release = curator.release("sign_sizes", mu, longest=longest, **frame.public(point))
    units = np.array([largest_slope(family) * radius * longest, (2 * radius) ** 2]) / d / release.n
    guess = np.array([frame.slope, frame.square])
    found = by_precision(release.values[0] * units, release.sd * units, guess, TUNING.size_sd * guess)
    slope, square = np.maximum(found, TUNING.least_size * guess)
    return replace(frame, slope=float(slope), square=float(square))


def _kept(scale: RowScale) -> np.ndarray:
    """What weights leave of the second moments of 0/1 columns, over what they leave of normal ones, (d,).

    Rows of a rare value are long, and their direction says little of the other columns.
    """
    d = len(scale.center)
    ends = np.array([scale.lower[:-1], scale.upper[:-1]])
    weights = np.minimum(1.0, math.sqrt(TUNING.radius * d) / np.sqrt(d - 1 + ends**2))
    # shares of the two values, by their mean of 0; each adds its share times its square
    parts = np.abs(ends[::-1]) * ends**2
    kept = np.sum(parts * weights, axis=0) / np.maximum(parts.sum(axis=0), 1e-300)
    return np.where(scale.binary, np.minimum(kept / _kept_rows(d)[0], 1.0), 1.0)


@functools.lru_cache(maxsize=64)
def _kept_rows(d: int) -> tuple[float, float]:
    """What weights w = min(1, R / |x|) leave of the second moments of normal rows, once and squared."""
    lengths = normal_squares(d, 2000) / d
    weights = np.minimum(1, np.sqrt(TUNING.radius / lengths))
    return float(np.mean(weights * lengths)), float(np.mean(weights**2 * lengths))
