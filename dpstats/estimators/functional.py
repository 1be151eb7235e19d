"""Location-scale regression by the functional mechanism (docs/theory/functional.md).

One release, the line it gives, and how uncertain that is: by fits of made-up releases of its moments. All of
these follow from released and public numbers, so that they are post-processing.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy

from dpstats._codes import LOST, NOISY, WEAK, problems_at
from dpstats.curator import Curator, Release
from dpstats.estimators.engine.finish import Estimate, to_user, weak
from dpstats.estimators.matrices import covariance_by_free_entries, noise_edge
from dpstats.estimators.row_scale import Box
from dpstats.families import Family

# fewer usable rows than n by this many sds of their noisy count are believed
_BELIEVED = 4.0
# noise on the residual variance, as a share of it, beyond which it hides sigma
_HIDDEN = 0.8
# a standard error of a bootstrap then has an error of 5 % by chance, 1 / sqrt(2 x 200)
DRAWS = 200


@dataclass(frozen=True)
class Moments:
    """The noisy sum of a a', and the sds of its noise.

    Attributes
    ----------
    matrix, sds : array, shape (k + 1, k + 1)
        Of k = d + 1 location terms and, last, the response.
    rows : int
        Public number of rows.
    of_q : float, optional
        Weight of q in the likelihood, where the release has it: twice the number of rows, with noise.
    """

    matrix: np.ndarray
    sds: np.ndarray
    rows: int
    of_q: float | None = None

    @classmethod
    def of(cls, release: Release) -> "Moments":
        """From the statistic "functional_weights"."""
        return cls(release.values[0], release.sds[0], release.n)

    @property
    def n(self) -> float:
        """Rows that count: all, unless so many less were counted that noise cannot be the reason."""
        count, sd = float(self.matrix[0, 0]), float(self.sds[0, 0])
        return self.rows if count > self.rows - _BELIEVED * sd else max(count, 1.0)

    @property
    def mean(self) -> np.ndarray:
        """Of (u, v), in the box."""
        return np.clip(self.matrix[0, 1:] / self.n, -1.0, 1.0)

    @property
    def covariance(self) -> np.ndarray:
        """Of (u, v), noise and all."""
        return self.matrix[1:, 1:] / self.n - np.outer(self.mean, self.mean)

    @property
    def edge(self) -> float:
        """About the largest eigenvalue that noise alone gives the covariance of u."""
        d = len(self.matrix) - 2
        if not d:
            return 0.0
        mean = self.mean[:-1]
        return noise_edge(self.sds[1:-1, 1:-1]) * (1 + float(mean @ mean)) / self.n


@dataclass(frozen=True)
class LeastSquares:
    """Least squares of v on (1, u); sigma and intercept by the moments of the family.

    See docs/theory/functional.md.

    Attributes
    ----------
    params : array, shape (k + 1,)
        Intercept, slopes, log sigma.
    gram : array, shape (d, d)
        Covariance of u, with eigenvalues raised to the noise's edge.
    square : float
        Variance of the residuals, raised to what noise can tell from 0.
    square_noise : float
        sd of the noise on it.
    hidden : array, shape (d, d)
        Projection on the directions of u whose variance noise may have made.
    """

    params: np.ndarray
    gram: np.ndarray
    square: float
    square_noise: float
    hidden: np.ndarray

    @property
    def unseen(self) -> int:
        """Number of these directions."""
        return round(float(np.trace(self.hidden)))


def least_squares(moments: Moments, family: Family) -> LeastSquares:
    """Slopes from the covariance; directions that noise may have made are damped.

    Parameters
    ----------
    moments : Moments
    family : Family
    """
    covariance, center = moments.covariance, moments.mean
    values, vectors = np.linalg.eigh(covariance[:-1, :-1])
    edge = moments.edge
    raised = np.maximum(values, max(edge, 1e-12))
    slopes = vectors @ (vectors.T @ covariance[:-1, -1] / raised)
    square = float(covariance[-1, -1] - slopes @ covariance[:-1, -1])
    # sd of the noise on the mean square residual of a line with these slopes
    direction = np.concatenate([[-moments.mean[-1] + slopes @ moments.mean[:-1]], -slopes, [1.0]])
    by_noise = covariance_by_free_entries(moments.sds, np.outer(direction, direction))
    noise = math.sqrt(float(direction @ by_noise @ direction)) / moments.n
    square = min(max(square, noise, 1e-12), 1.0)
    sigma = math.sqrt(square) / family.sd
    intercept = center[-1] - slopes @ center[:-1] - sigma * family.mean
    weak = vectors[:, values < edge]
    return LeastSquares(
        np.array([intercept, *slopes, math.log(sigma)]),
        (vectors * raised) @ vectors.T,
        square,
        noise,
        weak @ weak.T,
    )


@dataclass(frozen=True, kw_only=True)
class FunctionalEstimate(Estimate):
    """Intercept, slopes, log sigma, for the response on the model's scale.

    Attributes
    ----------
    moments : Moments
        As released.
    scale : float
        Of the Laplace noise on a coordinate.
    """

    moments: Moments
    scale: float


def fit_functional(
    curator: Curator, box: Box, log: bool, family: Family, epsilon: float
) -> FunctionalEstimate:
    """Release the weights once and solve them.

    Parameters
    ----------
    curator : Curator
        With a pure budget.
    box : Box
        Declared bounds of the covariates and, last, of the response on the model's scale.
    log : bool
        Whether the response is log time.
    family : Family
        Whose log density is flat at 0.
    epsilon : float
        Cost.
    """
    release = curator.release("functional_weights", epsilon, center=box.center, half=box.half, log=log)
    scale = release.sd / math.sqrt(2)
    return solved(Moments.of(release), scale, box, family, lambda of: least_squares(of, family).params)


def solved(
    moments: Moments, scale: float, box: Box, family: Family, solve: Callable[[Moments], np.ndarray]
) -> FunctionalEstimate:
    """What `solve` makes of moments with Laplace noise of this scale, and how uncertain that is."""
    line = least_squares(moments, family)
    exact, noisy = bootstrap(moments, line, family, solve)
    sampling, privacy = np.cov(exact.T), np.cov((noisy - exact).T)
    guess = _weak(line, moments, family.mean)
    user = _to_user(box)
    cov_privacy = user @ (privacy + guess) @ user.T
    cov = cov_privacy + user @ sampling @ user.T
    problems = [NOISY] * (line.unseen > 0) + [*problems_at(LOST, [len(cov) - 1])] * _sigma_lost(line)
    problems += problems_at(WEAK, weak(user @ guess @ user.T, cov))
    if _sigma_lost(line):
        cov[-1, :], cov[:, -1], cov[-1, -1] = 0.0, 0.0, np.inf
    params = on_user_scale(solve(moments), box)
    result = FunctionalEstimate(params, cov, cov_privacy, tuple(problems), moments=moments, scale=scale)
    return result.hopeless() if 0 < line.unseen == len(line.gram) else result


def _weak(line: LeastSquares, moments: Moments, mean: float) -> np.ndarray:
    """Prior variance of what noise hides.

    Each hidden direction of u might explain the whole response. A hidden sigma lies anywhere below the one
    that noise allows, and the intercept holds `mean` times it.
    """
    d = len(line.gram)
    variance = np.zeros((d + 2, d + 2))
    if line.hidden.any():
        total = line.square + float(line.params[1:-1] @ line.gram @ line.params[1:-1])
        lift = np.vstack([-moments.mean[:-1], np.eye(d), np.zeros(d)])
        variance = lift @ line.hidden @ lift.T * (total / moments.edge)
    if _sigma_lost(line):
        variance[0, 0] += (mean * math.exp(line.params[-1])) ** 2 / 3
    return variance


def _sigma_lost(line: LeastSquares) -> bool:
    return line.square_noise > _HIDDEN * line.square


def _to_user(box: Box) -> np.ndarray:
    """Matrix from params in the box to the user's."""
    reach = box.half[:-1] * math.sqrt(max(len(box.half) - 1, 1))
    slopes = to_user(box.center[:-1], reach, True, float(box.half[-1]))
    return np.asarray(scipy.linalg.block_diag(slopes, 1.0))


def on_user_scale(params: np.ndarray, box: Box) -> np.ndarray:
    """Params in the box, as the user's."""
    shift = np.zeros(len(params))
    shift[0], shift[-1] = box.center[-1], math.log(box.half[-1])
    return _to_user(box) @ params + shift


def bootstrap(
    moments: Moments, line: LeastSquares, family: Family, solve: Callable[[Moments], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Solve made-up moments without noise and with it.

    Parameters
    ----------
    moments : Moments
        As released; the made-up ones have their noise.
    line : LeastSquares
        The truth of the made-up data.
    family : Family
    solve : callable
        From moments to an estimate.

    Returns
    -------
    exact, noisy : array, shape (DRAWS, k + 1)
        Row by row of the same data.
    """
    draw, exact, noisy = np.random.default_rng(0), [], []
    for _ in range(DRAWS):
        sample = _sample(moments, line, family, draw)
        exact.append(solve(replace(moments, matrix=sample, sds=np.zeros_like(moments.sds))))
        # Laplace noise, each entry of the triangle drawn once
        upper = np.triu(draw.laplace(size=moments.sds.shape) * moments.sds / math.sqrt(2))
        noisy.append(solve(replace(moments, matrix=sample + (upper + np.triu(upper, 1).T))))
    return np.array(exact), np.array(noisy)


def _sample(moments: Moments, line: LeastSquares, family: Family, draw: np.random.Generator) -> np.ndarray:
    """The sum of a a' of n rows with normal u, and the line with errors of the family.

    The errors enter by their sums (1, u)'e and e'e, which are normal about what they are given u, up to terms
    that vanish with n; n is never so small in a fit that is not refused.
    """
    n, d = max(round(moments.n), 2), len(line.gram)
    design = np.empty((d + 1, d + 1))
    root = np.linalg.cholesky(line.gram)
    center = moments.mean[:-1] + root @ draw.normal(size=d) / math.sqrt(n)
    design[0, 0], design[0, 1:], design[1:, 0] = n, n * center, n * center
    half = root @ _wishart_root(n - 1, d, draw)
    design[1:, 1:] = half @ half.T + n * np.outer(center, center)
    square = line.square
    coefficients = line.params[:-1].copy()
    coefficients[0] += family.mean * math.sqrt(square) / family.sd
    errors, squares = _errors(design, n, square, family, draw)
    cross = design @ coefficients + errors
    total = coefficients @ design @ coefficients + 2 * coefficients @ errors + squares
    matrix = np.empty((d + 2, d + 2))
    matrix[:-1, :-1], matrix[-1, :-1], matrix[:-1, -1], matrix[-1, -1] = design, cross, cross, total
    return matrix


def _errors(
    design: np.ndarray, n: int, square: float, family: Family, draw: np.random.Generator
) -> tuple[np.ndarray, float]:
    """(1, u)'e and e'e for errors of mean 0, variance `square` and the shape of the family."""
    values, vectors = np.linalg.eigh(design)
    sums = vectors @ (np.sqrt(np.maximum(values, 0.0)) * draw.normal(size=len(design))) * math.sqrt(square)
    of_sum = family.skewness * math.sqrt(square) * float(sums[0])  # regression of e'e on the sum of e
    rest = n * square**2 * max(family.kurtosis + 2 - family.skewness**2, 0.0)
    return sums, max(n * square + of_sum + math.sqrt(rest) * draw.normal(), 0.0)


def _wishart_root(freedom: int, d: int, draw: np.random.Generator) -> np.ndarray:
    """A lower triangle T with T T' of the standard Wishart law (Bartlett)."""
    root = np.tril(draw.normal(size=(d, d)), -1)
    np.fill_diagonal(root, np.sqrt(draw.chisquare(np.maximum(freedom - np.arange(d), 1))))
    return root
