"""Noisy second moments of a linear regression as released, and the normal equations that they give.

See docs/theory/linear.md#one-joint-release.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dpstats._codes import UNUSABLE, problems_at
from dpstats.errors import SpecificationError
from dpstats.moments.parts import Clipping, Earlier, Frame, Released, Untold, Weighting
from dpstats.moments.posterior import covariance_by_shaped_noise, denoised, posterior
from dpstats.moments.roots import with_floor
from dpstats.moments.solution import believed, hidden, seen_share, wider

# Rows are not seen to be there if their number, or mean weight, is below so many sds of its noise
SEEN = 3.0
_MANY = 0.05  # share of the rows, surely beyond which it is said that some have no weight
# A line that residuals are about, and that no prior is known of, came from releases with at least this many
# times the noise of the last: the largest share of a budget before the last is half of that
_BEFORE = 2.0
# Noise of a matrix that took all steps to a line moved that line too: E z^6 / E z^4, z normal, of the square
# of what it moves in the third step over that of fresh noise
_SAME = 5.0

_Moments = TypeVar("_Moments", bound="NoisyMoments")


def lacking(share: float, sd: float) -> tuple[str, ...]:
    """Tell what part of the rows surely has no weight: "unusable:17", in a hundred.

    Parameters
    ----------
    share, sd : float
        Rows that were counted, per row, and the noise of that.
    """
    return problems_at(UNUSABLE, [round(100 * min(1 - share, 1))]) if 1 - share > _MANY + SEEN * sd else ()


def read_only(kept: Iterable[object]) -> None:
    """Let nobody write to arrays that a fit keeps, for all that it answers rests on them."""
    for item in kept:
        if isinstance(item, np.ndarray):
            item.setflags(write=False)


class NormalEquations(NamedTuple):
    """The solution of (M_aa + P) delta = M_ar - p as far as noise lets it be told.

    Attributes
    ----------
    delta : array, shape (d,)
    gram : array, shape (d, d)
        M_aa without its noise, as far as that can be told.
    inverse : array, shape (d, d)
        Of M_aa + P with its eigenvalues raised to the size of its noise.
    gain : array, shape (d, d)
        What takes M_ar to delta.
    guess : array, shape (d, d)
        Covariance of what noise hides of delta.
    before : array, shape (d, d), optional
        Covariance of delta before the release, where that is known.
    rel, vectors : array, shape (d,) and (d, d)
        Size of the noise of the matrix over its eigenvalues, or of noise along its eigenvectors if that is
        more; and these, in columns.
    fitted : float
        By how much the mean square of residuals seems smaller for the noise that delta follows.
    wider : array, shape (d, d), optional
        What the errors of eigenvalues make of an error of delta, where no prior tells how large it may be.
    """

    delta: np.ndarray
    gram: np.ndarray
    inverse: np.ndarray
    gain: np.ndarray
    guess: np.ndarray
    rel: np.ndarray
    vectors: np.ndarray
    fitted: float
    before: np.ndarray | None = None
    wider: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class NoisyMoments:
    """Noisy moments per row, the way back to the user's coefficients, and what is known and not known beside.

    A file holds the names of all parts side by side.
    """

    released: Released
    frame: Frame
    earlier: Earlier = Earlier()
    weighting: Weighting = Weighting()
    clipping: Clipping = Clipping()
    untold: Untold = Untold()

    @classmethod
    def of(cls: type[_Moments], content: Mapping[str, Any]) -> _Moments:
        """Moments whose parts have these values, each under its own name."""
        names = [{item.name for item in fields(kind)} & content.keys() for kind in _PARTS]
        if len(content) > sum(map(len, names)):
            raise TypeError("moments have no such value")
        parts = zip(_PARTS, names, strict=True)
        return cls(*(kind(**{name: content[name] for name in own}) for kind, own in parts))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; :meth:`from_dict` is its inverse."""
        values = [pair for item in fields(self) for pair in vars(getattr(self, item.name)).items()]
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in values
            if value is not None and value is not False
        }

    @classmethod
    def from_dict(cls: type[_Moments], content: Mapping[str, Any]) -> _Moments:
        """The moments that `to_dict` described.

        Raises
        ------
        SpecificationError
            If they are none that a fit could have: of other shapes, or of sizes whose squares and quotients
            are no floats.
        """
        plain: dict[str, Any] = {
            name: value if name in (*_ARRAYS, *_COUNTS) else float(value) for name, value in content.items()
        }
        made = cls.of({**plain, "guessed": bool(plain.get("guessed"))})
        sizes = {name: np.abs(np.ravel(value)).max(initial=0) for name, value in plain.items()}
        divisors = [plain[name] for name in _POSITIVE if name in plain]
        divisors += [abs(plain["total"])] if "total" in plain else []
        shapes = [(np.shape(plain[name]), axes) for name, axes in _ARRAYS.items() if name in plain]
        if (
            any(shape != (len(made.frame.origin),) * axes for shape, axes in shapes)
            or not all(size <= _MOST ** (2 if name in _IN_UNITS else 1) for name, size in sizes.items())
            or not min(divisors) >= 1 / _MOST**2
            or not made.frame.map.any(axis=1).all()
        ):
            raise SpecificationError("the moments of a saved fit are none that a fit could have")
        return made

    @cached_property
    def gram_weight(self) -> float:
        """Mean weight of rows in `gram`."""
        if self.frame.constant is None:
            return self.weighting.share * self.weighting.kept
        return float(np.clip(self.frame.constant @ self.released.gram @ self.frame.constant, 0.05, 1.0))

    @property
    def mean_weight(self) -> float:
        """Mean weight of rows in `cross` and `square`."""
        return self.weighting.weight * self.gram_weight

    @property
    def seen(self) -> bool:
        """Whether noise leaves it to be seen that there is any row that weighs."""
        found, one = self.released, self.frame.constant
        if found.rows is not None or one is None:
            return found.rows is None or found.rows > SEEN
        weight, noise = (float(one @ part @ one) for part in (found.gram, self.noise_shape))
        return weight > SEEN * found.noise_gram * noise

    @property
    def noise_shape(self) -> np.ndarray:
        """S of the noise of `gram`; the identity where it is the same in all directions."""
        return np.eye(len(self.released.gram)) if self.earlier.shape is None else self.earlier.shape

    @property
    def noise_size(self) -> float:
        """Size of the noise of `gram` as an operator."""
        return max(self.released.noise_gram * math.sqrt(2 * len(self.released.gram)), 1e-12)

    def normal_equations(self, alpha: float = 0.0) -> NormalEquations:
        """Those of a penalty, solved; where there is a prior, of no penalty, but for `rel`."""
        return self._equations(alpha) if alpha else self._free

    @cached_property
    def _free(self) -> NormalEquations:
        """Those of no penalty, which nearly everything asks for."""
        found = self._equations(0.0)
        read_only(found)
        return found

    def bending(self: _Moments, more: np.ndarray) -> _Moments:
        """Moments of the same line, which may be off by so much more; what was solved stays."""
        bend = more if self.untold.bend is None else self.untold.bend + more
        return self.knowing(untold=replace(self.untold, bend=bend))

    def moved(self: _Moments, by: np.ndarray) -> _Moments:
        """Moments of the line that lies so far from this one; what was solved stays."""
        return self.knowing(frame=replace(self.frame, origin=self.frame.origin + self.frame.map @ by))

    def knowing(self: _Moments, **parts: Any) -> _Moments:
        """Moments with other parts, of which the equations are not made, or an origin; what was solved stays.

        Such as say nothing where noise left numbers that floats do not hold.
        """
        found = replace(self, **parts)
        origin, bend = found.frame.origin, found.untold.bend
        if not np.isfinite([origin] if bend is None else [origin, *bend]).all():
            found = replace(self, untold=replace(self.untold, blind=np.ones(len(origin))))
        vars(found).update({name: vars(self)[name] for name in _SOLVED & vars(self).keys()})
        return found

    def _equations(self, alpha: float) -> NormalEquations:
        (penalty, pull), size, told = self._penalty(alpha), self.noise_size, self.released
        values, vectors = np.linalg.eigh(told.gram + penalty)
        rel = size / np.maximum(values, 1e-12)
        if self.earlier.prior is None:
            inverse = (vectors / np.maximum(values, size)) @ vectors.T
            delta, fitted = inverse @ (told.cross - pull), len(values) * told.noise_cross**2
            guess, wide, along = self._unseen(delta, np.maximum(values, size), values, vectors)
            found = delta, told.gram, inverse, inverse, guess, np.maximum(rel, along), vectors, fitted
            return NormalEquations(*found, wider=wide)
        after = posterior(told, self.earlier.prior, self.earlier.known, self.earlier.errors)
        own, axes = np.linalg.eigh(told.gram)
        inverse, delta = (axes / np.maximum(own, size)) @ axes.T, after.gain @ told.cross
        gram, gain, left, before, *_, unseen = after
        of_seen = left
        if unseen is not None:
            of_seen, rel, vectors = left - unseen.left, unseen.rel, unseen.vectors
        fitted = told.noise_cross**2 * float(2 * np.trace(gain) - np.sum(gain * (gram @ gain)))
        fitted -= float(np.sum(gram * of_seen))
        if self.earlier.cancelled is not None and not alpha:
            sizes = believed(np.full(len(own), told.noise_gram))
            share, open_ = (np.sum(axes * (part @ axes), axis=0) for part in (self.earlier.cancelled, before))
            left = left + hidden(own, axes, sizes, share * open_)
            rel = np.where(seen_share(own, sizes) < 1, rel / np.maximum(1 - share, 1e-12), rel)
        return NormalEquations(delta, gram, inverse, gain, left, rel, vectors, fitted, before)

    def of_columns(self: _Moments, way: np.ndarray) -> _Moments:
        """Moments of the same lines by other columns, to whose coefficients `way` takes the user's."""
        if (way == np.eye(len(way))).all():
            return self
        blind, error = self.untold.blind, self.untold.whole_error
        if blind is not None:
            blind = ((way != 0) @ blind > 0).astype(float)
        if error is not None:
            columns = np.linalg.inv(way).T ** 2
            if self.frame.constant is not None:
                columns[1:, 0] = 0.0  # what a number counts from moves no covariance
            error = np.sqrt(columns @ error**2 @ columns.T)
        frame = replace(self.frame, origin=way @ self.frame.origin, map=way @ self.frame.map)
        return replace(self, frame=frame, untold=replace(self.untold, blind=blind, whole_error=error))

    @property
    def back(self) -> np.ndarray:
        """What takes a row in the coordinates of the moments to one of the design, from the right."""
        return np.asarray(self.inverse * self.frame.scale)

    @cached_property
    def inverse(self) -> np.ndarray:
        """Of `map`.

        Where columns lie far from 0 against their spread, rounding leaves nothing of the constant in the row
        of the intercept; but what it is in the coordinates of the moments is known.
        """
        frame, first = self.frame, int(self.frame.constant is not None)
        slopes = frame.map[first:]
        size = np.maximum(np.linalg.norm(slopes, axis=1), np.finfo(float).tiny)
        found = np.linalg.pinv(slopes / size[:, None]) / size
        if frame.constant is not None:
            one = frame.constant / frame.scale
            found = np.column_stack([one, found - np.outer(one, frame.map[0] @ found)])
        read_only([found])
        return found

    @property
    def all_rows(self) -> np.ndarray:
        """Mean of a a' over rows none of which was shortened, as far as that is known."""
        return self.positive_gram / self.gram_weight if self.untold.whole is None else self.untold.whole

    @cached_property
    def positive_gram(self) -> np.ndarray:
        """The nearest positive semi-definite matrix to `gram`, but for rounding."""
        found = with_floor(self.released.gram, 0.0)
        read_only([found])
        return found

    def _unseen(
        self, delta: np.ndarray, raised: np.ndarray, values: np.ndarray, vectors: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What noise hides along eigenvectors, what errors of eigenvalues make of errors, `rel` along them.

        Noise of a shape is larger along some directions than its size as an operator tells. Without one rows
        are as their bounds have them: along what noise hides they may vary by anything less, and delta is
        bounded by what of the response it can explain alone, which leaves nothing of a line. What is found
        there is noise, a guess as well: were the eigenvalue smaller, delta would be as much larger.
        """
        size, most = self.noise_size, max(self.released.square, 0.05)
        along = self.released.noise_gram * np.sum(vectors * (self.noise_shape @ vectors), axis=0)
        longer, sizes = wider(along / raised), believed(along)
        wide = (vectors * longer) @ vectors.T
        if self.earlier.shape is None:
            sizes = np.maximum(sizes, size)
            unseen = np.where(seen_share(values, sizes) < 1, np.inf, 0.0)
            most = most + longer**2 / raised * np.sum(vectors * (self.noise_at(delta) @ vectors), axis=0)
            return hidden(values, vectors, sizes, most / raised), wide, unseen
        guess = hidden(values, vectors, sizes, most + (_BEFORE * self.released.noise_cross / size) ** 2)
        return guess, wide, sizes / np.maximum(values, 1e-12)

    def _penalty(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Of delta, in units of r squared: its matrix and its gradient at delta = 0."""
        strength = alpha * self.gram_weight / self.frame.scale**2
        penalised = self.frame.penalised
        shrunk = penalised[:, None] * self.frame.map
        return strength * shrunk.T @ shrunk, strength * shrunk.T @ (penalised * self.frame.origin)

    @cached_property
    def _noisy_share(self) -> float:
        """Of the variance of noise of `gram`, what is left where that is shrunk; all, where nothing tells."""
        if self.earlier.prior is None:
            return 1.0
        return denoised(self.released.gram, self.released.noise_gram, *self.earlier.known)[1]

    def noise_at(self, delta: np.ndarray) -> np.ndarray:
        """Covariance of the privacy noise of M_ar - M_aa delta."""
        again = 1.0 if self.earlier.shape is None else _SAME * self._noisy_share
        second = again * np.outer(delta, delta)
        by_gram = covariance_by_shaped_noise(self.released.noise_gram, self.noise_shape, second)
        return np.asarray(self.released.noise_cross**2 * np.eye(len(delta)) + by_gram)


_PARTS = (Released, Frame, Earlier, Weighting, Clipping, Untold)
_ARRAYS = dict(  # axes
    gram=2,
    cross=1,
    origin=1,
    map=2,
    penalised=1,
    blind=1,
    constant=1,
    meat=2,
    prior=2,
    errors=2,
    first=2,
    shape=2,
    cancelled=2,
    whole=2,
    whole_error=2,
    expected=2,
    bend=2,
    open_ended=2,
    together=2,
)
_COUNTS = ("n", "numbers")
_SOLVED = {"_free", "positive_gram", "inverse"}  # what follows from moments and what takes them to the user
_POSITIVE = ("n", "scale", "weight", "share", "kept", "unit")
_IN_UNITS = ("origin", "map", "scale", "total", "noise_total", "whole_error")  # of the user; others have none
_MOST = 1e50  # of a moment without a unit, none of which comes near; its sixth power is a float
