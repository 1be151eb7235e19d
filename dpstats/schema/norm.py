"""How long several numbers of one row are together, at most."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpstats._arguments import shown
from dpstats.errors import SchemaError
from dpstats.schema.variables import Bounded, Count, Variable, _number


@dataclass(frozen=True)
class Norm:
    """The Euclidean length of some variables of a row; a longer row is shortened to it.

    Attributes
    ----------
    columns : tuple of str
    radius : float
        In the variables' own units.
    """

    columns: tuple[str, ...]
    radius: float
    kind: ClassVar[str] = "norm"

    def __post_init__(self) -> None:
        columns: object = self.columns
        texts = isinstance(columns, list | tuple) and all(isinstance(name, str) for name in columns)
        if not texts or len(self.columns) < 2:
            raise SchemaError(
                "a norm needs the names of two variables or more, such as norm('x', 'z', radius=1), not "
                f"{shown(columns)}"
            )
        if len(set(self.columns)) < len(self.columns):
            raise SchemaError(f"a norm names a variable twice: {', '.join(self.columns)}")
        radius = _number(self.radius, "the radius of a norm")
        if not 1e-100 < radius < 1e100:
            raise SchemaError(f"the radius of a norm must be positive, not {radius:g}")
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "radius", radius)

    def read(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of its variables that are among `names`."""
        return tuple(name for name in self.columns if name in names)

    def stretch(self, values: Mapping[str, np.ndarray], names: Sequence[str]) -> np.ndarray:
        """Length of each row over the radius, for those of its variables that are in `names`."""
        with np.errstate(all="ignore"):  # a square beyond all numbers is a length beyond the radius
            return np.sqrt(sum((values[name] / self.radius) ** 2 for name in self.read(names)))

    def shorten(self, values: MutableMapping[str, np.ndarray], names: Sequence[str]) -> None:
        """Shorten, in place, the rows that are longer than the radius.

        They keep their direction. A row's numbers decide about that row alone, and values between bounds
        that hold 0 stay between them, as each is multiplied by the same number from 0 to 1.
        """
        if self.read(names):
            factor = 1 / np.maximum(self.stretch(values, names), 1.0)
            for name in self.read(names):
                np.multiply(values[name], factor, out=values[name])

    def __str__(self) -> str:
        return f"norm of {', '.join(self.columns)}"


def check_norms(norms: Sequence[Norm], variables: Mapping[str, Variable]) -> None:
    """Refuse norms of what is no number, or cannot be shortened within its bounds, or is in two norms.

    Raises
    ------
    SchemaError
    """
    seen: set[str] = set()
    for norm in norms:
        for name in norm.columns:
            if name not in variables:
                raise SchemaError(f"the {norm} needs {name!r} to be declared; declare it as bounded()")
            variable = variables[name]
            if not isinstance(variable, Bounded | Count):
                raise SchemaError(f"{name!r} is declared as {variable.kind}; a norm is of numbers")
            lower, upper = variable.bounds
            if not lower <= 0 <= upper:
                raise SchemaError(
                    f"{name!r} lies between {lower:g} and {upper:g}; a norm is the distance from 0, which "
                    "must lie within the bounds: subtract a public centre from the column first"
                )
            if name in seen:
                raise SchemaError(f"{name!r} is in two norms; keep one")
            seen.add(name)
