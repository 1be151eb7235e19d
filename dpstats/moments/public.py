"""Second moments of public rows: what a model may know of the covariates and the response for free.

See docs/theory/linear.md#public-moments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dpstats._arguments import number, numbers
from dpstats._private import forgetful
from dpstats._repr import always_shown
from dpstats._stored import Stored, check_format, described, restored
from dpstats.errors import SpecificationError
from dpstats.moments.columns import ColumnMoments, silent

Array = np.ndarray

FORMAT = "dpstats.moments/1"


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

    _unreadable = "holds no public moments; their save(path) did not write it"

    formula: str
    names: tuple[str, ...]
    n: int
    xx: Array
    xy: Array
    yy: float

    def __post_init__(self) -> None:
        n, yy = int(number("n", self.n)), number("yy", self.yy)
        for name, plain in (("names", tuple(self.names)), ("n", n), ("yy", yy)):
            object.__setattr__(self, name, plain)
        for name, value in (("xx", self.xx), ("xy", self.xy)):
            array = np.array(numbers(name, value))
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        self._check_form()
        _ = self.columns  # checked as they are made
        self._check_response()

    def _check_form(self) -> None:
        p = len(self.names)
        if self.xx.shape != (p, p) or self.xy.shape != (p,):
            raise SpecificationError(
                f"public moments of {p} columns need xx of shape ({p}, {p}) and xy of shape ({p},), "
                f"got {self.xx.shape} and {self.xy.shape}"
            )
        if not np.isfinite(np.concatenate([self.xx.ravel(), self.xy, [self.yy]])).all():
            raise SpecificationError("public moments must be finite numbers")

    def _check_response(self) -> None:
        if not self.yy > 0:
            raise silent("the response")
        share = float(self.xy @ np.linalg.solve(self.xx, self.xy)) / self.yy
        if share > 1 + 1e-9:
            raise SpecificationError("xx, xy and yy of public moments are not the moments of any rows")

    @property
    def columns(self) -> ColumnMoments:
        """What they say of the columns alone."""
        return ColumnMoments(self.names, self.n, self.xx)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; :meth:`from_dict` is its inverse."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        plain = {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()
        }
        return {"format": FORMAT, **plain, "names": list(self.names)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> PublicMoments:
        """The moments that `to_dict` described.

        Raises
        ------
        SpecificationError
            If they are not public moments, were written by a newer version, or are incomplete.
        """
        check_format(described(content, "public moments").get("format"), FORMAT, "public moments")
        missing = [item.name for item in fields(cls) if item.name not in content]
        if missing:
            raise SpecificationError(f"the public moments lack {', '.join(missing)}")
        return restored(_moments, cls.to_dict, content, "the public moments hold a value of a wrong type")

    @always_shown
    def __repr__(self) -> str:
        return f"PublicMoments({self.formula!r}, {self.n} public rows, columns {', '.join(self.names)})"


def _moments(content: Mapping[str, Any]) -> PublicMoments:
    plain = {item.name: content[item.name] for item in fields(PublicMoments)}
    plain["formula"], plain["names"] = str(plain["formula"]), tuple(map(str, plain["names"]))
    return PublicMoments(**plain)
