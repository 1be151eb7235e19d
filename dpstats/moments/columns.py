"""Second moments of the columns of a design over public rows: what public moment truncation whitens by.

See docs/theory/pmt.md#idea.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpstats.errors import SpecificationError

Array = np.ndarray

# Least eigenvalue of the moments in units where every column has mean square 1; below it they are singular.
_SINGULAR = 1e-10


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """Mean products of the columns of a design over public rows.

    Parameters
    ----------
    names : sequence of str
        Columns of the design.
    n : int
        Number of rows that weigh, more than the columns and one.
    xx : array_like, shape (p, p)
        X'X / n; of weighted rows, X'WX over the sum of weights.

    Raises
    ------
    SpecificationError
        If these are not the moments of rows that determine a regression; the message names the columns.
    """

    names: tuple[str, ...]
    n: int
    xx: Array

    def __post_init__(self) -> None:
        p = len(self.names)
        if self.xx.shape != (p, p) or not np.isfinite(self.xx).all():
            raise SpecificationError(f"public moments of {p} columns need finite xx of shape ({p}, {p})")
        if not np.allclose(self.xx, self.xx.T, rtol=1e-9, atol=0.0):
            raise SpecificationError("xx of public moments must be symmetric")
        if self.n <= p + 1:
            raise SpecificationError(
                f"public moments of {p} columns need more than {p + 1} rows that weigh, got {self.n}; "
                "give more public rows, or fit without public="
            )
        self._check_rank()

    def _check_rank(self) -> None:
        squares = np.diag(self.xx)
        for name, square in zip(self.names, squares, strict=True):
            if not square > 0:
                raise silent(name)
        sizes = np.sqrt(squares)
        values, vectors = np.linalg.eigh(self.xx / np.outer(sizes, sizes))
        if values[0] < _SINGULAR:
            parts = zip(self.names, np.abs(vectors[:, 0]), strict=True)
            tied = ", ".join(name for name, share in parts if share > 0.1)
            raise SpecificationError(
                f"the public rows do not tell {tied} apart: their moments are singular; give other public "
                "rows, or fit without public="
            )


def silent(name: str) -> SpecificationError:
    """What to say of a column that is 0 throughout."""
    return SpecificationError(
        f"{name} is 0 in every public row, so that these say nothing of it; give other public rows, or fit "
        "without public="
    )
