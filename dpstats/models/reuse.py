"""Fits and descriptions that charged a ledger are kept beside it, and ``reuse=`` finds them again at no cost.

What is kept was released, and is shown to anyone who sees the fit. Which fit it is follows from what was
asked, all of it public: never from a value of the data. So who changes data without changing their number of
rows has to declare a version (docs/ledger.md).
"""

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from copy import copy
from functools import cached_property, partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from dpstats._arguments import is_line, listed, shown, warn
from dpstats._stored import check_format, read_object, write_text
from dpstats.budget import Budget
from dpstats.curator import Curator
from dpstats.errors import BudgetError, SpecificationError
from dpstats.formula.grammar import parse_formula
from dpstats.formula.spelling import spelt
from dpstats.ledger import Ledger, current
from dpstats.models.skeleton import Plannable, Unfitted
from dpstats.results import CurveFit, Description, Fit

FORMAT = "dpstats.kept/1"
FOLDER = ".fits"  # after the name of the ledger's file
UNREADABLE = "is not a fit that was kept as it is; remove the file, and the fit is paid for again"
_TRUTHS = ("true", "false", "yes", "no", "on", "off", "none", "y", "n", "t", "f")  # no names of versions
_NOT_ASKED = ("ledger", "force")  # these change no release
# words, texts in quotes, and signs of a formula: what is between them is not read
_SIGNS = re.compile(
    r"""'{3}(?:\\.|[^\\])*?'{3}|"{3}(?:\\.|[^\\])*?"{3}|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\w+|[^\w\s]"""
)

P = ParamSpec("P")
K = TypeVar("K", Fit, CurveFit, Description)


def reusable(kind: type[K]) -> Callable[[Callable[P, K]], Callable[P, K]]:
    """Have a model's ``fit`` keep fits beside the ledgers that they charge, and return them if asked to.

    Parameters
    ----------
    kind : type
        Of its fits.
    """

    def decorated(fit: Callable[P, K]) -> Callable[P, K]:
        signature = inspect.signature(fit)

        @wraps(fit)
        def fitted(*args: P.args, **kwargs: P.kwargs) -> K:
            if len(args) > 2 and isinstance(args[2], float | int) and not isinstance(args[2], bool):
                raise BudgetError("a budget is one value, such as fit(dps.approx(epsilon=1, delta=1e-6))")
            try:
                given = signature.bind(*args, **kwargs)
            except TypeError:
                return fit(*args, **kwargs)  # it says what is wrong
            given.apply_defaults()
            model, asked = given.arguments["self"], dict(given.arguments)
            kept = _Kept(model, asked, _version(asked["reuse"]))
            if asked["reuse"] is False:
                _warn_of_repeat(kept)
            elif (found := _found(kind, kept)) is not None:
                return found
            if kept.version:
                given.arguments["ledger"] = kept.book
            made = fit(*given.args, **given.kwargs)
            _keep(made, kept)
            return made

        return fitted

    return decorated


def _version(reuse: object) -> str:
    """The version of the data that was declared; empty where none was."""
    if isinstance(reuse, bool):
        return ""
    if isinstance(reuse, str) and reuse and is_line(reuse) and reuse.strip().casefold() not in _TRUTHS:
        return reuse
    raise SpecificationError(
        "reuse must be True or False, without quotes, or the version of the data on one line, such as "
        f"'2026-11', got {shown(reuse)}"
    )


class _Kept:
    """Where a fit is kept and all that says which it is: read once, before the fit and after it.

    Parameters
    ----------
    model : Unfitted
    asked : dict
        The arguments of its ``fit``.
    version : str
        Of the data.
    """

    def __init__(self, model: Unfitted, asked: Mapping[str, Any], version: str) -> None:
        self.model, self.asked, self.version = model, asked, version
        self._begun: str | None = None

    @cached_property
    def charged(self) -> Any:
        """The ledger as it was given, or the current one; None where nothing is charged."""
        return current() if self.asked["ledger"] is None else self.asked["ledger"]

    @cached_property
    def book(self) -> Ledger:
        """The ledger that the fit charges, whose charges name the version of the data."""
        book = copy(self.charged) if isinstance(self.charged, Ledger) else Ledger(self.charged)
        book.version = self.version
        return book

    @property
    def described(self) -> dict[str, Any]:
        """All that decides which fit it is, as JSON reads it again, or as an earlier version kept it."""
        if self._begun is None and (first := next(iter(self.book.entries()), None)):
            self._begun = f"{first.at}, {first.formula}"  # by this fit, perhaps
        earlier, read = self._with_beginning
        return earlier if self._file(earlier).exists() else read

    @property
    def _with_beginning(self) -> list[dict[str, Any]]:
        return [asked | {"ledger begun": self._begun} for asked in self._written_and_read]

    @property
    def latest(self) -> str | None:
        """The version of the data of which the same was kept last, empty for none; None where none was."""
        if self.path.exists():
            return self.version
        same = self._with_beginning
        files = [file for folder in self._folders for file in folder.glob("*.json") if file.is_file()]
        for file in sorted(files, key=lambda file: file.stat().st_mtime, reverse=True):
            with suppress(OSError, SpecificationError, KeyError, TypeError):  # of a file that is none of ours
                asked = read_object(file, UNREADABLE)["asked"]
                if asked | {"version": self.version} in same:
                    return str(asked["version"])
        return None

    @cached_property
    def _written_and_read(self) -> list[dict[str, Any]]:
        """All of it but the ledger's beginning: as it is written, and what of that is read.

        Blanks are not, nor variables of the schema that neither formula nor weights nor subset have, nor how
        an expression is written. A formula is what patsy makes of it: the response, terms in any order, and
        the columns that code them. What strata, curves and vectors estimate stands in the order of terms,
        and is told by the text. What is described is told by its names.
        """
        model, design = self.model, self.model.design
        about = {
            "dataset": self.book.dataset,
            "version": self.version,
            "rows": model._rows.n,
            "model": type(model).__name__,
            "formula": design.formula,
            "schema": design.schema.to_dict(),
            "weights": design.weights,
            "subset": design.subset,
            **({"subset compares": "cells as written"} if design.subset else {}),
            "budget": self.asked["budget"].to_dict(),
            **model._stated(),
            **{
                name: sorted({*map(str, listed(value))}) if name == "release" else value
                for name, value in self.asked.items()
                if name not in ("self", "budget", "reuse", *_NOT_ASKED)
            },
        }
        meant, (left, *right) = partial(spelt, schema=design.schema), design.formula.split("~", 1)
        whole = "~".join([meant(left), *right]) if right else f"describe: {', '.join(sorted(design.names))}"
        read: dict[str, Any] = {
            name: " ".join(_SIGNS.findall(whole if name == "formula" else meant(about[name] or "")))
            for name in ("formula", "weights", "subset")
        }
        if isinstance(model, Plannable) and not model.design.strata_terms:
            sides = [[[*map(meant, term)] for term in side] for side in parse_formula(design.formula)]
            read["formula"] = [sides[0], sorted(sides[1]), sorted(model.design.names)]
        tables = {
            name: table
            for name, table in about["schema"].items()
            if name in design.variables or name not in design.schema  # the unit of privacy, and norms
        }
        return json.loads(json.dumps([about, about | read | {"schema": tables}], default=_plain))

    @property
    def path(self) -> Path:
        """Of the file."""
        return self._file(self.described)

    def _file(self, described: dict[str, Any]) -> Path:
        name = hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:32]
        files = [folder / f"{name}.json" for folder in self._folders]
        return next((file for file in files if file.exists()), files[0])

    @property
    def _folders(self) -> list[Path]:
        """Beside the ledger's file, wherever a link to it stands, and beside the link."""
        places = (self.book.path.resolve(), self.book.path)
        return [place.with_name(place.name + FOLDER) for place in places]


def _found(kind: type[K], kept: _Kept) -> K | None:
    """The fit that was kept, if there is one and the fit that is asked for would be private."""
    if kept.charged is None:
        raise SpecificationError(
            "reuse= returns a fit that a ledger was charged for, and there is none; give ledger=, or name "
            "one with dps.use_ledger(path)"
        )
    model, budget = kept.model, kept.asked["budget"]
    if not isinstance(budget, Budget) or Curator(model._rows, model.design, budget).not_private:
        return None
    model._rows.hold()
    path = kept.path
    if not path.exists():
        if not kept.version:  # a new version is meant to be paid for
            _warn_of_repeat(kept)
        return None
    content = read_object(path, UNREADABLE)
    check_format(content.get("format"), FORMAT, "a fit that was kept")
    if content.get("asked") != kept.described:
        raise SpecificationError(f"{path} {UNREADABLE}")
    fit = kind.from_dict(content["fit"])
    assert isinstance(fit, kind)
    about = f"nothing was spent: this is what {kept.book.dataset!r} was charged for before"
    if kept.version:
        warn(f"{about}, of the version {kept.version!r} of the data")
    else:
        warn(
            f"{about}. If values have changed since, leave out reuse=True; in Python a text in its place "
            "declares a version of the data"
        )
    return fit


def _warn_of_repeat(kept: _Kept) -> None:
    """Say that this fit was paid for before: by a cell of a notebook that ran again, perhaps."""
    if not isinstance(kept.asked["budget"], Budget) or kept.charged is None:
        return
    book, n = kept.book, kept.model._rows.n  # of data that are read but once, any error of them is told here
    with suppress(OSError, SpecificationError):
        if (version := kept.latest) is not None:
            of = f" and the version {version!r} of the data" if version else ""
            warn(
                f"{book.dataset!r} was charged for the same before, of {n} rows with the same arguments{of}. "
                f"Unless the data have changed, its budget is spent once more; reuse={version or True!r} "
                "returns the one that was kept beside the ledger, at no cost"
            )


def _keep(fit: Fit | CurveFit | Description, kept: _Kept) -> None:
    """Keep a fit beside the ledger that it charged; one that cannot be written is paid for again.

    It was paid for, so that nothing here may end in an error in the place of the fit.
    """
    if kept.charged is None or fit.not_private:
        return
    with suppress(Exception):
        path = kept.path
        path.parent.mkdir(exist_ok=True)
        content = {"format": FORMAT, "asked": kept.described, "fit": fit.to_dict()}
        write_text(path, json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False), overwrite=True)


def _plain(value: object) -> object:
    """What an array or another sequence holds. By anything else one fit could be taken for another."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Iterable):
        return list(value)
    raise SpecificationError(f"a fit that is kept is not told by {shown(value)}; leave out reuse=")
