"""Public maps of a row: x~ = (1, (x - center) / scale) and y~ = (y - offset - y_center) / y_scale.

The numbers of a map are public: declared bounds, or moments released earlier. Its arrays have one
contiguous row for each coordinate, shape (k, B), because blocks store columns.
"""

import functools
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dpstats.curator.blocks import Block, PublicDesign, Scratch
from dpstats.curator.products import RowProducts, predictor, squared_norms
from dpstats.families import Family
from dpstats.families.between import Between, between

# a residual before which no family collects any hazard, to the last bit; finite, as 0 * inf is not 0
NEVER = -1000.0


def response(block: Block, log: bool, out: np.ndarray) -> np.ndarray:
    """The response on the model's scale, shape (B,): log time, or time."""
    return np.log(block.time, out=out) if log else np.positive(block.time, out=out)


def on_scale(times: np.ndarray, log: bool, out: np.ndarray) -> np.ndarray:
    """Any times on the model's scale, in `out`; the logarithm of one at 0 or before is -inf."""
    np.copyto(out, times)
    return np.log(np.maximum(out, 0.0, out=out), out=out) if log else out


def events(block: Block, scratch: Scratch) -> np.ndarray:
    """1 for a valid row with an event, else 0; shape (B,)."""
    return np.logical_and(block.event == 1.0, block.ok, out=scratch("events", len(block.ok)))


def weights_of(block: Block, weighted: bool) -> np.ndarray:
    """The weight of each row, 0 of one that is not valid; shape (B,)."""
    return np.where(block.ok, block.weight, 0.0) if weighted else block.ok


def weighed(values: np.ndarray, block: Block, weighted: bool, root: bool = False) -> np.ndarray:
    """The same of rows, shape (..., B), times their weights or the roots of these, in place."""
    if weighted:
        np.multiply(values, np.sqrt(block.weight) if root else block.weight, out=values)
    return values


def shorten(columns: np.ndarray, length: float, scratch: Scratch) -> np.ndarray:
    """What brings each vector ``columns[:, i]`` to at most `length`: min(1, length / norm), shape (B,)."""
    norm = squared_norms(columns, scratch)
    np.sqrt(norm, out=norm)
    np.divide(length, norm, out=norm)
    return np.minimum(norm, 1.0, out=norm)


class Watched(NamedTuple):
    """Residuals of rows, shape (B,) each.

    Attributes
    ----------
    z : ndarray
        Until when a row was watched, or is known to have lived.
    event : ndarray
        1 for a valid row that failed there, else 0.
    entry : ndarray or None
        Since when it was watched, see `Map.entries`.
    known : Between or None
        Of a design with intervals, when it failed.
    """

    z: np.ndarray
    event: np.ndarray
    entry: np.ndarray | None
    known: Between | None


@dataclass(frozen=True)
class Map:
    """Affine map of the covariates and the response of a row.

    Parameters
    ----------
    design : PublicDesign
        Its intercept column, if any, is left out of x: x~ has its own leading 1, unless `constant` is False.
    center, scale : array_like, shape (d,)
        For the d non-intercept columns; scale positive.
    y_center, y_scale : float
        For the response on the model's scale; y_scale positive.
    log : bool
        Whether the response is log time.
    constant : bool
        Whether x~ begins with a 1.
    apart : bool
        Whether the response stays as it is, and its offset apart, as where the mean is not on the scale of
        the linear predictor.
    """

    design: PublicDesign
    center: np.ndarray
    scale: np.ndarray
    y_center: float
    y_scale: float
    log: bool
    constant: bool = True
    apart: bool = False
    first: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", int(self.design.has_intercept))
        width = len(self.design.names) - self.first
        for name in ("center", "scale"):
            values = np.asarray(getattr(self, name), dtype=np.float64)
            if values.shape != (width,) or not np.isfinite(values).all():
                raise ValueError(f"{name} must hold {width} finite numbers, one for each covariate")
            object.__setattr__(self, name, values)
        if not ((self.scale > 0).all() and np.isfinite(self.y_center) and 0 < self.y_scale < np.inf):
            raise ValueError("scale and y_scale must be positive, y_center finite")

    @property
    def k(self) -> int:
        """Number of coordinates of a row x~, with the constant if there is one."""
        return len(self.center) + self.constant

    @property
    def unit(self) -> np.ndarray:
        """What x~ is to be multiplied with for `centred`, shape (k,)."""
        return np.append(np.ones(int(self.constant)), self.scale)

    def whitened(self, whitening: np.ndarray) -> RowProducts:
        """What takes rows from :meth:`centred` to W x~, by the transpose of W, shape (k, k).

        Raises
        ------
        ValueError
            For another shape.
        """
        way = np.asarray(whitening, dtype=float)
        if way.shape != (self.k, self.k):
            raise ValueError(f"whitening must have {self.k} columns")
        return RowProducts(way.T / self.unit, self.unit)

    def x(self, block: Block, scratch: Scratch) -> np.ndarray:
        """x~ of each row, shape (k, B); a reused array. Rows that are not ok are all zero."""
        out = self._centred(block, scratch)
        return np.multiply(out, (1 / self.unit)[:, None], out=out)

    def centred(self, block: Block, scratch: Scratch) -> np.ndarray:
        """unit x~ of each row, for whom it is to be multiplied with numbers anyway; not to be changed."""
        return scratch.kept("centred", block, self._about, functools.partial(self._centred, block))

    def filled(
        self, products: RowProducts, centred: np.ndarray, block: Block, out: np.ndarray, scratch: Scratch
    ) -> np.ndarray:
        """Fill `out` by products of rows from :meth:`centred`; how large each is, as `RowProducts.filled`."""
        make = functools.partial(products.rounded, centred, span=self._span(block))
        rounded = scratch.kept("rounded", block, (self._about, products.grids), make)
        return products.filled(rounded, out, scratch)

    def _span(self, block: Block) -> tuple[np.ndarray, np.ndarray] | None:
        """The least and largest entry of each column of :meth:`centred`, if they follow from the block's."""
        if not block.ok.all():  # exog is 0 there, and not at the center
            return None
        constant = np.ones(int(self.constant))
        lower, upper = (np.append(constant, entries[self.first :] - self.center) for entries in block.span)
        return lower, upper

    @functools.cached_property
    def _about(self) -> tuple[object, ...]:
        """What :meth:`centred` depends on, beside the block."""
        return self.center.tobytes(), self.constant

    def _centred(self, block: Block, scratch: Scratch) -> np.ndarray:
        columns = block.exog.T[self.first :]
        out = scratch("x", self.k, columns.shape[1])
        covariates = out[1:] if self.constant else out
        if self.constant:
            out[0] = block.ok
        np.subtract(columns, self.center[:, None], out=covariates)
        return _switched_off(out, block)

    def y(self, block: Block, scratch: Scratch) -> np.ndarray:
        """y~ of each row, shape (B,); a reused array. Rows that are not ok are zero."""
        out = scratch("y", 1, len(block.ok))
        response(block, self.log, out[0])
        return self._scaled(out, block)

    def _scaled(self, out: np.ndarray, block: Block) -> np.ndarray:
        if self.design.offset_bounds != (0.0, 0.0) and not self.apart:
            np.subtract(out, block.offset, out=out)
        np.subtract(out, self.y_center, out=out)
        np.multiply(out, 1 / self.y_scale, out=out)
        return _switched_off(out, block)[0]

    def residuals(
        self, centred: np.ndarray, block: Block, scratch: Scratch, gamma: np.ndarray, sigma: float
    ) -> np.ndarray:
        """z = (y~ - gamma'x~) / sigma of each row, shape (B,), for rows from :meth:`centred`."""
        return (self.y(block, scratch) - self._line(centred, block, scratch, gamma)) / sigma

    def watched(  # noqa: PLR0913 - a row, where it is read, and the family
        self,
        centred: np.ndarray,
        block: Block,
        scratch: Scratch,
        gamma: np.ndarray,
        sigma: float | np.ndarray,
        family: Family,
    ) -> Watched:
        """When each row was watched, for rows from :meth:`centred`.

        A row of a positive time that enters at 0 or before has no delay; its residual is `NEVER`, and so is
        the lower end of one that is left-censored.
        """
        line = self._line(centred, block, scratch, gamma)
        if self.design.intervals:
            assert block.ends is not None
            known = between(family, *(self._times(end, block, scratch, line, sigma) for end in block.ends))
            failed = np.logical_and(known.seen, block.ok, out=scratch("events", len(block.ok)))
            return Watched(known.z, failed, None, known)
        z = (self.y(block, scratch) - line) / sigma
        entry = self._times(block.entry, block, scratch, line, sigma) if self.design.delayed else None
        return Watched(z, events(block, scratch), entry, None)

    def _line(self, centred: np.ndarray, block: Block, scratch: Scratch, gamma: np.ndarray) -> np.ndarray:
        """gamma'x~ of each row, shape (B,); the next release is often about the same. Not to be changed."""
        return scratch.kept(
            "line",
            block,
            (self._about, self.unit.tobytes(), gamma.tobytes()),
            lambda _: predictor(gamma / self.unit, centred, scratch),
        )

    def _times(
        self, times: np.ndarray, block: Block, scratch: Scratch, line: np.ndarray, sigma: float | np.ndarray
    ) -> np.ndarray:
        """Residuals of times other than the response, shape (B,), none before `NEVER`."""
        out = scratch("times", 1, len(block.ok))
        on_scale(times, self.log, out[0])
        return np.maximum((self._scaled(out, block) - line) / sigma, NEVER)


def _switched_off(columns: np.ndarray, block: Block) -> np.ndarray:
    if not block.ok.all():
        columns[:, ~block.ok] = 0.0
    return columns
