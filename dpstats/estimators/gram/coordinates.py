"""Coordinates of a release of second moments: where rows are nearly white and residuals small."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpstats.curator import Release
from dpstats.estimators.apart import Whereabouts
from dpstats.estimators.engine.finish import to_user
from dpstats.estimators.gram.bounds import (
    NEAR,
    Bounds,
    base_square,
    lost_of_mean,
    moved_share,
    square_of_normal,
)
from dpstats.estimators.gram.tail import NO_TAIL, Tail
from dpstats.estimators.known.level_shares import (
    expected_moments,
    of_levels,
    of_references,
    with_shares,
)
from dpstats.estimators.known.structure import Structure
from dpstats.estimators.matrices import symmetric_power
from dpstats.estimators.row_scale import SURE, Box, RowScale, longest_square, shortened, with_levels
from dpstats.moments import PublicMoments
from dpstats.moments.noisy import SEEN
from dpstats.moments.parts import Expected, Frame, Released
from dpstats.moments.posterior import Posterior, posterior
from dpstats.moments.roots import with_floor
from dpstats.moments.solution import believed, seen_share

# the least that a reference level is taken to hold before a release of moments, over an even share
_LEAST_SHARE = 0.5
# Of the mean square that a column's scale makes: half, or all, hold as many intervals where it has less.
_LESS = 0.5


@dataclass(frozen=True)
class Coordinates:
    """a = W x~ and r = (y~ - line'x~) / sigma, on the scale of x~ and y~.

    Attributes
    ----------
    scale : RowScale
    whitening : array, shape (k, k)
    line : array, shape (k,)
    sigma : float
    prior : array, shape (k, k)
        Covariance of how far the line is off, in units of a and r, up to a factor.
    expected : array, shape (k, k)
        Second moments of a, up to a factor: not the identity where a column is stretched less.
    tail : Tail
        What was counted of residuals beyond their bulk, in units of y~.
    errors : array, shape (k, k), optional
        Of the prior, what noise made of earlier steps, whose size is known.
    told : (float, float)
        Share of the square of sigma that residuals surely have, and how far they were seen, in sigmas.
    """

    scale: RowScale
    whitening: np.ndarray
    line: np.ndarray
    sigma: float
    prior: np.ndarray
    expected: np.ndarray
    tail: Tail = NO_TAIL
    told: tuple[float, float] = (0.0, math.inf)
    errors: np.ndarray | None = None

    @classmethod
    def of_scale(cls, scale: RowScale) -> "Coordinates":
        """The first ones: by the shares of levels, and with some columns stretched less."""
        variances = np.append([1.0] * scale.constant, scale.ratio)
        k, size = len(variances), np.sqrt(variances)
        correlation, unknown = np.eye(k), np.diag(1 / variances) / k
        if Structure.of(scale.alike) is not None:
            moments = expected_moments(scale)
            correlation = with_floor(moments / np.outer(size, size), _LEAST_SHARE / k)
            unknown += of_references(scale, correlation * np.outer(size, size))
        whitening = symmetric_power(with_levels(correlation, base_square(k), scale), -0.5)
        expected = whitening @ (correlation * np.outer(size, size)) @ whitening
        back = np.linalg.inv(whitening)
        return cls(scale, whitening, np.zeros(k), 1.0, back @ unknown @ back, expected, told=scale.told)

    @cached_property
    def structure(self) -> Structure | None:
        """What is public of the moments of rows, where that says anything."""
        return Structure.of(self.scale.alike)

    def obeying(self, gram: np.ndarray) -> np.ndarray:
        """Released second moments of a, less the noise that breaks what is public of them."""
        if self.structure is None:
            return gram
        return self.structure.nearest(gram, self.whitening @ of_levels(self.scale))

    def expecting(self, gram: np.ndarray, noise: float) -> np.ndarray:
        """What is expected of second moments of a, with what released ones tell of the shares of levels."""
        if self.structure is None:
            return self.expected
        return with_shares(self.expected, gram, noise, self.scale, self.whitening)

    @property
    def numbers(self) -> int | None:
        """How many numbers second moments of a are, where not all entries are free."""
        return None if self.structure is None else self.structure.numbers

    def public(self, bounds: Bounds) -> dict[str, Any]:
        """Parameters of a release in these coordinates."""
        return dict(
            self.scale.public(),
            whitening=self.whitening,
            line=self.line,
            sigma=self.sigma,
            radius=bounds.radius,
            limit=bounds.limit,
        )

    @property
    def allowed(self) -> tuple[float, float]:
        """The longest row and the largest residual that the declared bounds allow."""
        return self.farthest, self.widest

    @property
    def reach(self) -> Tail:
        """What was counted of residuals beyond their bulk."""
        return self.tail.over(self.sigma)

    @cached_property
    def farthest(self) -> float:
        """The longest row that the declared bounds allow."""
        return math.sqrt(longest_square(self.whitening, self.scale))

    @cached_property
    def widest(self) -> float:
        """The largest residual that they allow."""
        box = self.scale.row_box
        middle, spread = self.line @ box.center, np.abs(self.line) @ ((box.upper - box.lower) / 2)
        low, high = self.scale.lower[-1] - middle - spread, self.scale.upper[-1] - middle + spread
        return float(max(-low, high)) / self.sigma

    @cached_property
    def found(self) -> Whereabouts:
        """Where the columns lie, with sds of the first stage or, as far as its noise explains more, by these
        coordinates, in which rows apart may have lengthened a column."""
        scale, first = self.scale, int(self.scale.constant)
        back = np.linalg.inv(self.whitening)[first:]
        units = np.append(scale.scale, scale.y_scale)
        most = scale.ratio * (1 + SURE * scale.error)
        sds = np.sqrt(np.clip(np.sum(back**2, axis=1), scale.ratio, most))
        y_sd = max(1.0, float(np.linalg.norm(self.line[first:] @ back)))
        farthest = units * np.maximum(np.abs(scale.lower), np.abs(scale.upper))
        return Whereabouts(
            np.append(scale.center, scale.y_center),
            units * np.append(sds, y_sd),
            farthest * ~np.append(scale.binary, False),
        )

    @cached_property
    def constant(self) -> np.ndarray | None:
        """u with a'u = 1; None without an intercept."""
        return np.linalg.solve(self.whitening, np.eye(len(self.line))[0]) if self.scale.constant else None

    def improved(
        self,
        found: Released,
        limit: float,
        known: Expected | None = None,
        whiten: bool = True,
        ahead: float = math.inf,
    ) -> "Coordinates":
        """Residuals about the line that released second moments give, in coordinates that whiten them.

        Those were clipped at `limit`, which took of their mean square what was counted beyond. What else
        is `known` of the matrix follows from these coordinates, unless it is that of an earlier release.
        Noise `ahead` is that of an entry of the next matrix, over the square of the longest row.
        """
        fresh = known is None
        if known is None:
            found = replace(found, gram=self.obeying(found.gram))
            known = Expected(self.expecting(found.gram, found.noise_gram), self.numbers)
        told = posterior(found, self.open(found.gram, found.noise_gram), known, self.errors)
        delta, one = told.gain @ found.cross, np.eye(len(found.gram))
        shape = one if known.shape is None else known.shape
        error = found.noise_cross**2 * one
        error = error + told.trust * found.noise_gram**2 / 2 * float(delta @ shape @ delta) * shape
        sigma, sure, taken, tail = self._spread(found, told, error, limit)
        whitening = self._whitening(told.gram, found.noise_gram, ahead) if whiten else self.whitening
        line = self.line + self.sigma * self.whitening @ delta
        way = np.linalg.solve(whitening, self.whitening)
        back = np.linalg.inv(way)
        expected, way = back.T @ told.gram @ back, way / sigma
        errors = way @ (told.gain @ error @ told.gain.T + told.errors) @ way.T
        # weights and limits change from one release to the next, and move the line within its sampling error
        prior = errors + way @ (told.left - told.errors) @ way.T + one / found.n
        seen = sure / sigma**2, limit / sigma
        made = Coordinates(
            self.scale, whitening, line, self.sigma * sigma, prior, expected, tail, seen, errors
        )
        return made._clipped(limit / sigma, taken / sigma**2) if fresh else made

    def _spread(
        self, found: Released, told: Posterior, error: np.ndarray, limit: float
    ) -> tuple[float, float, float, Tail]:
        """Of residuals about the line that `told` leads to: their size, and what is known of their square.

        That is what they surely have of it, and what a limit took; and rows beyond it, as they were counted.
        `error` is the covariance of the noise of the step.
        """
        delta, noise = told.gain @ found.cross, found.noise_square
        tail = self.reach.clipped(found.square, SURE * noise, limit, self.told)
        left = found.square - 2 * float(delta @ found.cross) + float(delta @ told.gram @ delta)
        sure = max(left - SURE * noise, 0.0)
        # what residuals surely have, and a near limit leaves not of them, as it would of normal ones
        usual = float(square_of_normal(limit)) * (limit <= NEAR)
        taken = max(self.told[0] * usual - found.square - SURE * noise, 0.0)
        # what the noise of delta seems to explain is added
        left = max(left, 0.0) + max(tail.beyond(limit), taken) + 2 * float(np.sum(told.gain * error))
        sigma = math.sqrt(max(left, 2 * noise, 1e-6)) if noise < 0.5 else 1.0
        return sigma, sure, taken, tail.over(1 / self.sigma)

    def _clipped(self, limit: float, taken: float) -> "Coordinates":
        """With what a limit of residuals may have moved the line by.

        Along the constant what exponential ones lose, e^-(limit + 1). A share `taken` of their square is that
        of rows beyond, whose means lose taken / 2 limit at most, along whatever they go with.
        """
        if limit >= self.widest:
            return self
        k = len(self.line)
        more = moved_share(k) * (taken / (2 * limit)) ** 2 * np.eye(k)
        if self.constant is not None:
            more += float(lost_of_mean(limit)) ** 2 * np.outer(self.constant, self.constant)
        return replace(self, prior=self.prior + more)

    def open(self, gram: np.ndarray, noise: float) -> np.ndarray:
        """The prior, with what columns of few values that are not alike may explain of the response.

        A column that held one value, as far as the first stage told, has a scale that others may reach. If
        this release tells that it surely varies, and has surely less than half of the mean square of that
        scale, earlier ones may not have told so, and slopes by these are of noise.

        Where noise hid that numbers cancel each other, whitening raised what they do together, and the prior
        knows each by itself: effects of any size that the residuals allow are as likely there as elsewhere.
        """
        back = np.linalg.inv(self.whitening)[:, int(self.scale.constant) :][:, ~self.scale.varies]
        square, least = np.sum(back * (gram @ back), axis=0), SEEN * noise * np.sum(back**2, axis=0)
        opened = (square > least) & (square + least < _LESS)
        few = (back * opened / (len(gram) * np.maximum(square, least))) @ back.T
        values, vectors = np.linalg.eigh(self.expected)
        hidden, known = (np.sum(vectors * (part @ vectors), axis=0) for part in (self.cancelled, self.prior))
        lacking = np.maximum(1 - values, 0.0) * hidden / len(gram) - known
        return self.prior + (vectors * np.maximum(lacking, 0.0)) @ vectors.T + few

    @cached_property
    def cancelled(self) -> np.ndarray:
        """Directions along which numbers cancel each other, as the difference of two alike does; (k, k).

        Each by 1 - 1 / a, where a is what they do alone: whitening has left 1 of it. Numbers of which it is
        not known that they vary count for nothing, nor do columns of splines, whose coefficients are heights
        of a curve.
        """
        ways = (
            np.sqrt(self.scale.ratio * self.scale.numbers)[:, None]
            * self.whitening[int(self.scale.constant) :]
        )
        alone, vectors = np.linalg.eigh(ways.T @ ways)
        return np.asarray((vectors * (1 - 1 / np.maximum(alone, 1.0))) @ vectors.T)

    @property
    def _edge(self) -> float:
        """Size of noise as an operator, over the sd of a diagonal entry."""
        k = len(self.line)
        return math.sqrt(2 * k if self.numbers is None else 4 * self.numbers / (k + 1))

    def _whitening(self, gram: np.ndarray, noise: float, ahead: float) -> np.ndarray:
        """Of second moments in these coordinates, of which noise of this sd hides small eigenvalues.

        Or rounding does, where hardly any noise is.
        """
        k = len(gram)
        size = max(float(np.trace(gram)) / k, noise / math.sqrt(k))
        floored = with_floor(gram, min(noise * self._edge, size))
        back = np.linalg.inv(self.whitening)
        square = with_levels(with_floor(back @ floored @ back, 0.0), base_square(k), self.scale)
        if len(self.scale.heights):
            square = self._with_heights(square, gram, noise, ahead)
        return symmetric_power(square, -0.5, k * np.finfo(float).eps * float(np.trace(square)))

    def _with_heights(self, square: np.ndarray, gram: np.ndarray, noise: float, ahead: float) -> np.ndarray:
        """`square`, raised so that no row of a spline is weighted away, if noise then hides none of them.

        A row of length l by what was surely seen of `gram` holds 1 / l^2 of the rows at most, and is an
        eigenvalue of so much of the square of the longest row once it is as short as that.
        """
        first, k = int(self.scale.constant), len(gram)
        rows = self.scale.typical(self.scale.heights)[:, 1 - first :]
        values, vectors = np.linalg.eigh(gram)
        surely = values * seen_share(values, believed(np.full(k, noise)))
        along = (rows @ self.whitening @ vectors) ** 2
        lengths = np.sum(along / np.maximum(surely, np.finfo(float).eps), axis=1)
        if (lengths > 1 / (self._edge * ahead)).any():
            return square
        return shortened(square, rows, np.full(len(rows), first + base_square(k)))

    def to_user(self) -> Frame:
        """The way back to the user's coefficients."""
        back, first = self.to_params(), np.eye(len(self.line))[0]
        origin = back @ self.line
        origin[0] += self.scale.y_center
        return Frame(
            origin=origin,
            map=self.sigma * back @ self.whitening,
            scale=self.sigma * self.scale.y_scale,
            constant=self.constant,
            penalised=1.0 - first * self.scale.constant,
        )

    def to_params(self) -> np.ndarray:
        """What takes a line to coefficients of the design's columns, but for the centre of y; (k, k)."""
        scale = self.scale
        return to_user(scale.center, scale.scale, scale.constant, scale.y_scale)


def second_moments(release: Release, bounds: Bounds, rows: int) -> Released:
    """Of a a', a r and r^2 per row that counts, from a release of z z' with z = (a, c r)."""
    matrix, sd = release.values[0] / rows, release.sd / rows
    c = bounds.radius / bounds.limit
    square = float(matrix[-1, -1]) / c**2
    return Released(rows, matrix[:-1, :-1], matrix[:-1, -1] / c, square, sd, sd / math.sqrt(2) / c, sd / c**2)


def public_coordinates(public: PublicMoments, box: Box, constant: bool) -> Coordinates:
    """From moments of public rows; precision suffers if they differ, privacy not.

    See docs/theory/linear.md#public-moments.
    """
    first, n, p = int(constant), public.n, len(public.names)
    means = public.xx[0, 1:] if constant else np.zeros(p)
    squares = np.diag(public.xx)[first:] - means**2
    scales = np.sqrt(np.maximum(squares, 1e-8 * np.maximum(box.half[:-1] ** 2, 1e-300)))
    y_center = float(public.xy[0]) if constant else 0.0
    y_scale = math.sqrt(max(public.yy - y_center**2, 1e-8 * float(box.half[-1]) ** 2))
    center, spread = np.append(means, y_center), np.append(scales, y_scale)
    scale = RowScale(
        center=means,
        scale=scales,
        y_center=y_center,
        y_scale=y_scale,
        log=False,
        fraction=1.0,
        fraction_sd=0.0,
        binary=box.binary,
        ratio=np.ones(p - first),
        error=np.zeros(p - first),
        shares=np.zeros((p - first, 0)),
        places=np.zeros((p - first, 0)),
        lower=(box.lower - center) / spread,
        upper=(box.upper - center) / spread,
        constant=constant,
        levels=box.levels,
        alike=box.alike,
        within=box.within,
        splines=box.splines,
        varies=np.ones(p - first, dtype=bool),
    )
    to_scale = np.diag(1 / np.append([1.0] * first, scales))
    if constant:
        to_scale[1:, 0] = -means / scales
    gram = to_scale @ public.xx @ to_scale.T
    cross = to_scale @ (public.xy - y_center * public.xx[:, 0] * first) / y_scale
    gram = with_floor(gram * n / max(n - p - 1, 1), 1e-8 * float(np.trace(gram)) / p)
    line = np.linalg.solve(with_floor(gram * max(n - p - 1, 1) / n, 1e-8), cross)
    residual = max(1 - float(line @ cross), 1e-6) * n / max(n - p, 1) * (1 + p / n)
    white, one = symmetric_power(gram, -0.5), np.eye(p)
    return Coordinates(scale, white, line, math.sqrt(residual), one * p / n, one)
