"""Base of every kind of fit: one record, read-only, and reasons for what is not there."""

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError
from inspect import getattr_static
from typing import Any, ClassVar, NoReturn, TypeVar, cast

from dpstats._private import forgetful
from dpstats._stored import Stored
from dpstats.budget import Budget
from dpstats.formula import Design
from dpstats.results.cautions import touching
from dpstats.results.document import marked
from dpstats.results.notreleased import LIKELIHOODS, NOT_RELEASED, Reason, lacks, missing, refusal
from dpstats.results.record import Record, Setting
from dpstats.schema import Schema

T = TypeVar("T")


def _said(ask: Callable[..., T]) -> Callable[..., T]:
    """Have a method of a fit mark what it returns, and say below a table which cautions touch it."""
    return marked(ask, lambda fit, asked: touching(fit.record, asked))


class ModelNames:
    """Names of a model's variables, where statsmodels' tools look for them; no data are behind them."""

    __slots__ = ("endog_names", "exog_names", "formula")

    def __init__(self, record: Record) -> None:
        self.formula = record.formula
        self.endog_names = record.formula.split("~")[0].strip()
        self.exog_names = list(record.names)

    def __getattr__(self, name: str) -> NoReturn:
        raise missing(name, self)


class Offered:
    """A method or value that only those fits of a kind have of whose record `when` is true."""

    def __init__(self, member: Any, when: Callable[[Record], bool]) -> None:
        self.member, self.when, self.__doc__ = member, when, member.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, fit: "Released | None", owner: type | None = None) -> Any:
        if fit is not None and not self.when(fit.record):
            raise fit._refusal(self.name)
        return self.member.__get__(fit, owner)


def method_where(when: Callable[[Record], bool]) -> Callable[[T], T]:
    """Decorator of a method that only some fits of a kind have."""

    def offered(function: T) -> T:
        return cast(T, Offered(_said(cast(Any, function)), when))

    return offered


def value_where(when: Callable[[Record], bool]) -> Callable[[Callable[[Any], T]], T]:
    """Decorator of a property that only some fits of a kind have."""

    def offered(function: Callable[[Any], T]) -> T:
        return cast(T, Offered(property(_said(function)), when))

    return offered


def of_record(name: str, says: str) -> Any:
    """A property of a fit: the value that its record has under this name."""

    def value(fit: "Released") -> Any:
        return getattr(fit.record, name)

    value.__doc__ = says
    return property(value)


class Released(Stored):
    """A read-only view of a `Record`.

    A subclass names the models whose fits it is of; ``Fit(model=..., ...)`` makes one of that kind.
    """

    __slots__ = ("record",)
    record: Record

    _kinds: "ClassVar[dict[str, type[Released]]]" = {}
    _needs: ClassVar[Reason]  # what else a fit has to be, to have what only this kind has
    _refused: ClassVar[Mapping[str, Reason]] = {
        "sigma": ("was not released by this {model} fit", "dps.ols and dps.survreg release it."),
        "moments": (
            "of the columns were not released by this {model} fit ({method})",
            "dps.describe releases them, and fits with an intercept that look for their columns; of a fit "
            "without some terms, the fit before drop or update has them.",
        ),
        "dispersion": (
            "was not released by this {model} fit ({dist})",
            "dps.glm with family 'gamma' or 'poisson' releases it; that of a binomial family is 1, and "
            "that of a Gaussian one is the square of sigma.",
        ),
    }
    _format, _called = "dpstats.fit/1", "a saved fit"
    _edited = "the saved fit is incomplete or was edited"
    _unreadable = (
        "holds no fit; dps.load reads files written by fit.save(path), and dpstats ledger show a ledger"
    )
    names: tuple[str, ...] = of_record("names", "Names of the coefficients.")
    formula: str = of_record("formula", "The formula of the fit.")
    schema: Schema = of_record("schema", "What was declared public about the variables.")
    design: Design = of_record("design", "The data-free design, rebuilt from formula, schema and weights.")
    nobs: int | None = of_record("nobs", "Number of rows, where that is public.")
    budget: Budget = of_record("budget", "Budget that the fit spent.")
    settings: Mapping[str, Setting] = of_record("settings", "Constants that are part of the estimand.")
    guarantees: tuple[tuple[str, str], ...] = of_record(
        "guarantees", "Guarantees of a fit from contributions, of the model and of one message; else empty."
    )
    messages: Mapping[str, int] | None = of_record(
        "messages", "Messages of a fit from contributions, accepted and rejected by reason; else None."
    )
    flags: tuple[tuple[str, str], ...] = of_record(
        "flags", "Cautions found from released numbers: (code, message)."
    )
    not_private: bool = of_record("not_private", "True for fits made without, or with known, noise.")

    def __init_subclass__(cls, models: tuple[str, ...] = ()) -> None:
        super().__init_subclass__()
        forgetful(cls, _said)
        Released._kinds.update(dict.fromkeys(models, cls))

    def __init__(self, **released: Any) -> None:
        object.__setattr__(self, "record", Record(**released))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to {name!r}: a fit is a record of what was released")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete {name!r}: a fit is a record of what was released")

    def __dir__(self) -> list[str]:
        members = ((name, getattr_static(type(self), name, None)) for name in super().__dir__())
        return [name for name, each in members if not isinstance(each, Offered) or each.when(self.record)]

    def __getattr__(self, name: str) -> Any:
        raise self._refusal(name)

    def _refusal(self, name: str) -> AttributeError:
        """Return why the fit lacks `name`: not released, of another kind of fit, or of none."""
        if name in LIKELIHOODS and hasattr(self, LIKELIHOODS[name]):
            return lacks(self, name, f": write fit.{LIKELIHOODS[name]}")
        own = (vars(kind).get("_refused", {}) for kind in type(self).__mro__)
        reasons: Mapping[str, Reason] = ChainMap(*map(dict, own), NOT_RELEASED)
        if name not in reasons:
            others = [kind for kind in self._kinds.values() if hasattr(kind, name)]
            if name.startswith("_") or hasattr(type(self), name) or not others:
                return missing(name, self)
            always = [kind for kind in others if not isinstance(getattr_static(kind, name), Offered)]
            reasons = {name: (always or others)[0]._needs}
        reason, instead = (words.format(**self._words()) for words in reasons[name])
        return refusal(name, reason, instead)

    def _words(self) -> dict[str, str]:
        """Words of this fit for the reasons that a kind gives."""
        return {"model": self.record.model, "dist": self.record.dist, "method": self.record.method}

    @property
    def model(self) -> ModelNames:
        """Names only, for tools made for statsmodels; ``fit.model.endog`` and the like are not released."""
        return ModelNames(self.record)
