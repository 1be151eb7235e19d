"""What the curator needs of a block of rows and of a design, and arrays to work in."""

from __future__ import annotations

from typing import Protocol

import numpy as np

__all__ = ["Block", "PublicDesign", "Scratch"]


class Block(Protocol):
    """Rows of a design: exog (B, p) in Fortran order, response (B,), and which rows are valid."""

    @property
    def exog(self) -> np.ndarray: ...
    @property
    def time(self) -> np.ndarray: ...
    @property
    def event(self) -> np.ndarray: ...
    @property
    def ok(self) -> np.ndarray: ...


class PublicDesign(Protocol):
    """What a statistic may know of the design."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def has_intercept(self) -> bool: ...


class Scratch:
    """Arrays that are allocated once and reused for every block of the same size.

    Fresh arrays of a megabyte cost a page fault for every 4 kB, more than the arithmetic on them.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def __call__(self, name: str, *shape: int) -> np.ndarray:
        """An array of this shape with arbitrary contents, the same one for the same name and shape."""
        array = self._arrays.get(name)
        if array is None or array.shape != shape:
            array = self._arrays[name] = np.empty(shape)
        return array
