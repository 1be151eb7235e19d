"""Second moments of public rows: what a model may know of the covariates and the response for free.

See docs/theory/linear.md#public-moments. Those of the columns of a design alone are what public moment
truncation whitens by (docs/theory/pmt.md#idea).
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dpstats._arguments import frozen, number, numbers
from dpstats._private import always_shown, forgetful
from dpstats._stored import Stored
from dpstats.errors import SpecificationError

# Least eigenvalue of the moments in units where every column has mean square 1; below it they are singular.
_SINGULAR = 1e-10


@dataclass(frozen=True, eq=False)
class PublicColumns:
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
    xx: np.ndarray

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


@forgetful
@dataclass(frozen=True, eq=False)
class PublicMoments(Stored):
    """Mean products of the columns of a design and its response, over public rows.

    They come from :func:`dpstats.public_moments`, from a file, or from a publication. Privacy never rests on
    them; precision does.

    Parameters
    ----------
    formula : str
    names : sequence of str
        Columns of the design.
    n : int
        Number of rows that weigh, more than the columns and one.
    xx : array_like, shape (p, p)
        X'X / n; of weighted rows, X'WX over the sum of weights.
    xy : array_like, shape (p,)
        X'y / n likewise, y without the offset.
    yy : float
        y'y / n likewise.

    Raises
    ------
    SpecificationError
        If these are not the moments of rows that determine a regression; the message names the columns.

    Examples
    --------
    >>> import dpstats as dps
    >>> dps.PublicMoments("y ~ x", ("Intercept", "x"), 100, [[1, 0.5], [0.5, 0.4]], [2, 1.2], 5)
    PublicMoments('y ~ x', 100 public rows, columns Intercept, x)
    """

    _format, _called = "dpstats.moments/1", "public moments"
    _edited = "the public moments hold a value of a wrong type"
    _unreadable = "holds no public moments; their save(path) did not write it"

    formula: str
    names: tuple[str, ...]
    n: int
    xx: np.ndarray
    xy: np.ndarray
    yy: float

    def __post_init__(self) -> None:
        n, yy = int(number("n", self.n)), number("yy", self.yy)
        for name, plain in (("names", tuple(self.names)), ("n", n), ("yy", yy)):
            object.__setattr__(self, name, plain)
        for name, value in (("xx", self.xx), ("xy", self.xy)):
            object.__setattr__(self, name, frozen(numbers(name, value)))
        p = len(self.names)
        if self.xx.shape != (p, p) or self.xy.shape != (p,):
            raise SpecificationError(
                f"public moments of {p} columns need xx of shape ({p}, {p}) and xy of shape ({p},), "
                f"got {self.xx.shape} and {self.xy.shape}"
            )
        if not np.isfinite(np.concatenate([self.xx.ravel(), self.xy, [self.yy]])).all():
            raise SpecificationError("public moments must be finite numbers")
        _ = self.columns  # checked as they are made
        if not self.yy > 0:
            raise silent("the response")
        share = float(self.xy @ np.linalg.solve(self.xx, self.xy)) / self.yy
        if share > 1 + 1e-9:
            raise SpecificationError("xx, xy and yy of public moments are not the moments of any rows")

    @property
    def columns(self) -> PublicColumns:
        """What they say of the columns alone."""
        return PublicColumns(self.names, self.n, self.xx)

    def _plain(self) -> dict[str, Any]:
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        plain = {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()
        }
        return {**plain, "names": list(self.names)}

    @classmethod
    def _built(cls, content: Mapping[str, Any]) -> "PublicMoments":
        missing = [item.name for item in fields(cls) if item.name not in content]
        if missing:
            raise SpecificationError(f"the public moments lack {', '.join(missing)}")
        plain = {item.name: content[item.name] for item in fields(cls)}
        plain["formula"], plain["names"] = str(plain["formula"]), tuple(map(str, plain["names"]))
        return cls(**plain)

    @always_shown
    def __repr__(self) -> str:
        return f"PublicMoments({self.formula!r}, {self.n} public rows, columns {', '.join(self.names)})"
