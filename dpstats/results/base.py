"""The ground every part of a fit stands on: one record, read-only, and reasons for what is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any, NoReturn

from dpstats.budget import Budget
from dpstats.errors import SpecificationError
from dpstats.formula import Design, build_design
from dpstats.results.notreleased import missing
from dpstats.results.record import Record, Setting
from dpstats.schema import Schema


def design_of(record: Record) -> Design:
    """Rebuild the data-free design from the formula, the schema and the weights.

    Raises
    ------
    SpecificationError
        If the columns differ from those of the fit, as they might after reading a file of another version:
        predictions would pair coefficients with the wrong columns.
    """
    design = build_design(record.formula, record.schema, record.weights)
    expected = record.names[: record.n_location]
    if tuple(design.names) != expected:
        raise SpecificationError(
            f"the formula now gives the columns {tuple(design.names)}, but the fit has {expected}; "
            "use the version of dpstats that made the fit"
        )
    return design


class ModelNames:
    """The names of a model's variables, where statsmodels' tools look for them; no data are behind it."""

    __slots__ = ("endog_names", "exog_names", "formula")

    def __init__(self, record: Record) -> None:
        self.formula = record.formula
        self.endog_names = record.formula.split("~")[0].strip()
        self.exog_names = list(record.names)

    def __getattr__(self, name: str) -> NoReturn:
        raise missing(name, type(self).__name__)


class Released:
    """A read-only view of a `Record`."""

    __slots__ = ("record",)
    record: Record

    def __init__(self, **released: Any) -> None:
        object.__setattr__(self, "record", Record(**released))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to {name!r}: a fit is a record of what was released")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete {name!r}: a fit is a record of what was released")

    def __getattr__(self, name: str) -> Any:
        # Python comes here also after a property raised NotReleased; asking it again gives its own reason.
        attribute = getattr(type(self), name, None)
        if isinstance(attribute, property) and attribute.fget is not None:
            return attribute.fget(self)
        raise missing(name, type(self).__name__)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        return self.record.names

    @property
    def formula(self) -> str:
        """The formula of the fit."""
        return self.record.formula

    @property
    def schema(self) -> Schema:
        """What was declared public about the variables."""
        return self.record.schema

    @property
    def design(self) -> Design:
        """The data-free design, rebuilt from formula, schema and weights."""
        return design_of(self.record)

    @property
    def model(self) -> ModelNames:
        """Names only, for tools made for statsmodels; ``fit.model.endog`` and the like are not released."""
        return ModelNames(self.record)

    @property
    def nobs(self) -> int | None:
        """Number of rows, where that is public."""
        return self.record.nobs

    @property
    def budget(self) -> Budget:
        """What the fit spent."""
        return self.record.budget

    @property
    def settings(self) -> Mapping[str, Setting]:
        """Constants that are part of the estimand."""
        return self.record.settings

    @property
    def guarantees(self) -> tuple[tuple[str, str], ...]:
        """Of a fit from contributions: what is guaranteed of the model and of one message; else empty."""
        return self.record.guarantees

    @property
    def messages(self) -> Mapping[str, int] | None:
        """Of a fit from contributions: messages that were accepted, and rejected by reason; else None."""
        return self.record.messages

    @property
    def flags(self) -> tuple[tuple[str, str], ...]:
        """Cautions found from released numbers: (code, message)."""
        return self.record.flags

    @property
    def not_private(self) -> bool:
        """True for fits made without, or with known, noise."""
        return self.record.not_private
