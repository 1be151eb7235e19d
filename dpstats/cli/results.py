"""``dpstats show | table | life | plot | compare``: what follows from saved fits, in six formats."""

import argparse
import dataclasses
import inspect
import json
import re
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpstats._arguments import warn
from dpstats.cli.files import new_file, public_table, write
from dpstats.cli.parser import FORMATS
from dpstats.cli.predict import rows_of
from dpstats.errors import NotReleased, SpecificationError
from dpstats.results import CurveFit, Description, Fit, compare, load
from dpstats.results.document import Document, Shown
from dpstats.results.intervals import Estimate
from dpstats.results.table import Column, Table, figures
from dpstats.results.wald import WaldTest
from dpstats.schema import Levels

_FORMAT_OF = {suffix: name for name, suffix in FORMATS.items()}
PICTURES = (".png", ".pdf", ".svg")
DPI = 150  # of a picture in dots: a figure of 7.5 inches is as wide as most screens show at once
_NO_TABLES = ("save", "load", "to_dict", "from_dict", "record", "design", "schema", "model", "document")
_MARKS = re.compile(r":\w+:(?=`)|`+")  # those of reStructuredText
_POINTS = ("newdata", "fleet")  # what methods call new units
_OF_NAMES = ("use", "stress", "units")  # what is by name: --with use=temp=30,load=2

Saved = Fit | CurveFit | Description


def show(options: argparse.Namespace) -> None:
    """Print the table of a saved fit."""
    fit, more = load(options.fit), _per(options)
    if more and not isinstance(fit, Fit):
        raise SpecificationError("--units is of coefficients, and this has none; leave it out")
    _write(fit, options, more)


def _per(options: argparse.Namespace) -> dict[str, Any]:
    pairs = [word.partition("=") for word in options.units or ()]
    if not all(equals for _, equals, _ in pairs):
        raise SpecificationError("--units takes words such as balance=1000")
    return {"units": {name: _value(text) for name, _, text in pairs}} if pairs else {}


def table(options: argparse.Namespace) -> None:
    """Print what a method of a fit returns, or which there are."""
    fit = load(options.fit)
    if options.what is None:
        return _write("\n".join(_offered(fit)), options)
    if options.what in _NO_TABLES or options.what.startswith(("_", "plot")):
        raise SpecificationError(
            f"{options.what!r} is no table; dpstats table FIT lists them, and dpstats plot draws"
        )
    _write(_called(fit, options.what, options, _words(options)), options)


def life(options: argparse.Namespace) -> None:
    """Print lives of new units."""
    failed = options.failed[0] if options.failed and len(options.failed) == 1 else options.failed
    _write(_called(load(options.fit), "life", options, {} if failed is None else {"failed": failed}), options)


def plot(options: argparse.Namespace) -> None:
    """Draw to a file."""
    fit, kind = load(options.fit), options.kind
    if kind is None:
        points = options.at or options.new
        kind = "" if not isinstance(fit, Fit) else "life" if points and hasattr(fit, "life") else "coef"
    words, name = _words(options), f"plot_{kind}" if kind else "plot"
    if kind and not hasattr(type(fit), name):
        kinds = [each.removeprefix("plot_") for each in dir(fit) if each.startswith("plot_")]
        raise SpecificationError(
            f"there is no plot of this name; of this fit there are {', '.join(kinds) or 'no others'}"
            + f"; a variable of a description is --with variable={kind}" * isinstance(fit, Description)
        )
    with _styled(options.style):
        each = isinstance(fit, Description) and "variable" not in words
        figure = _of_each(fit, options) if each else _called(fit, name, options, words).figure
        if options.out.suffix.lower() in PICTURES:  # another picture costs nothing
            options.out.unlink(missing_ok=True)
        with new_file(options.out, PICTURES):
            figure.savefig(options.out, dpi=DPI)


def _of_each(found: Saved, options: argparse.Namespace) -> Any:
    """A figure with all variables of a description, one below the other."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(found.names), squeeze=False, layout="constrained")
    figure.set_figheight(figure.get_figheight() * (1 + len(found.names)) / 2)
    for name, ax in zip(found.names, axes.flat, strict=True):
        _called(found, "plot", options, {"variable": name, "ax": ax})
    return figure


def _styled(name: str | None) -> AbstractContextManager[None]:
    """A style of matplotlib, whose own words say that there is none of this name."""
    if name is None:
        return nullcontext()
    import matplotlib.style

    return matplotlib.style.context(name)


def compared(options: argparse.Namespace) -> None:
    """Print fits side by side."""
    fits: list[Any] = [load(path) for path in options.fits]
    level = {} if options.level is None else {"level": options.level}
    _write(compare(*fits, names=options.names, **level, **_per(options)), options)


def _offered(fit: Saved) -> list[str]:
    """Names of what there is, each with the first line of what it says of itself."""
    names = [
        name for name in dir(fit) if not name.startswith(("_", "plot", "as_")) and name not in _NO_TABLES
    ]
    told = {name: inspect.getdoc(inspect.getattr_static(type(fit), name, None)) or "" for name in names}
    return [f"{name:24}{_MARKS.sub('', text.partition(chr(10))[0])}" for name, text in told.items() if text]


def _called(fit: Saved, name: str, options: argparse.Namespace, given: dict[str, Any]) -> Any:
    """What a method returns, with the arguments that options and words give it; or a value.

    Raises
    ------
    SpecificationError
        For a name or an argument that there is not, or one that is lacking; and as the method does.
    """
    try:
        member = getattr(fit, name)
    except NotReleased:
        raise
    except AttributeError as error:
        raise SpecificationError(f"{error}; dpstats table FIT lists what there is") from None
    if not callable(member) or isinstance(member, Shown):
        return member
    known = inspect.signature(member).parameters
    given = given | _units(fit, options, known)
    given |= {each: value for each in ("level", "clip") if (value := getattr(options, each)) is not None}
    if unknown := [each for each in given if each not in known]:
        raise SpecificationError(f"{name} takes no {unknown[0]}; it takes {', '.join(known) or 'nothing'}")
    empty = inspect.Parameter.empty
    if lacking := [each for each, one in known.items() if one.default is empty and each not in given]:
        raise SpecificationError(f"{name} needs {lacking[0]}: --with {lacking[0]}=...")
    new = next((given[each] for each in _POINTS if each in given), None)
    try:
        with rows_of(options.new, new) if options.new else nullcontext():
            return member(**given)
    except NotReleased:
        if not isinstance(fit, Fit) or "newdata" not in known or "newdata" in given:
            raise
    at = ",".join(f"{covariate}=..." for covariate in fit.record.covariates)
    raise SpecificationError(f"{name} needs new units, which are public: --at {at} or --new FILE")


def _units(fit: Saved, options: argparse.Namespace, known: Any) -> dict[str, Any]:
    """New units by the name that a method has for them."""
    if not (options.at or options.new):
        return {}
    if options.at and options.new:
        raise SpecificationError("new units come from --at or from --new, not from both")
    name = next((each for each in _POINTS if each in known), _POINTS[0])
    if options.new:
        return {name: public_table(options.new, options, fit.schema if isinstance(fit, Fit) else {})}
    return {name: [_point(fit, text) for text in options.at]}


def _point(fit: Saved, text: str) -> dict[str, Any]:
    """A unit such as ``temp=30,maker=HGST``."""
    pairs = [word.partition("=") for word in text.split(",")]
    if not all(equals and name.strip() for name, equals, _ in pairs):
        raise SpecificationError(
            f"--at takes values by name, such as temp=30.5,maker=HGST, not {text!r}; "
            "names and levels that have a comma go into a file, --new FILE"
        )
    if any(re.search(r"\s\S+\s*=", value) for _, _, value in pairs):  # a name may have a blank
        raise SpecificationError(
            f"--at has commas between its values, such as temp=30.5,maker=HGST, and {text!r} lacks one"
        )
    schema = fit.schema if isinstance(fit, Fit) else {}
    levels = [name for name in schema if isinstance(schema[name], Levels)]
    return {
        name.strip(): value.strip() if name.strip() in levels else _value(value) for name, _, value in pairs
    }


def _words(options: argparse.Namespace) -> dict[str, Any]:
    """Arguments such as ``times=10,100``, ``hypothesis="temp = 0"`` and ``use=temp=30``."""
    found: dict[str, Any] = {}
    for word in options.arguments or ():
        name, equals, text = word.partition("=")
        if not equals:
            raise SpecificationError(f"--with takes words such as times=10,100, not {word!r}")
        if name in _POINTS:
            raise SpecificationError(
                f"new units are given by --at NAME=VALUE,... or --new FILE, not by {name}="
            )
        if name in _OF_NAMES:
            found[name] = {
                key: _value(value) for key, _, value in (p.partition("=") for p in text.split(","))
            }
        elif name == "points":
            found[name] = load(Path(text))
        elif "," in text and "=" not in text:
            found[name] = [_value(part) for part in text.split(",")]
        else:
            found[name] = _value(text)
    return found


def _value(text: str) -> Any:
    """A number, true or false; else the text."""
    try:
        value = json.loads(re.sub(r"^(-?)\.(?=\d)", r"\g<1>0.", text.strip()))
    except ValueError:
        return text.strip()
    return value if isinstance(value, bool | int | float) else text.strip()


def _write(result: Any, options: argparse.Namespace, more: dict[str, Any] | None = None) -> None:
    """Write a result to the screen or to a file, as the options say; `more` is of the table of a fit."""
    level = 0.95 if options.level is None else options.level
    wanted = options.format or _FORMAT_OF.get(options.out.suffix.lower() if options.out else "", "text")
    for said in getattr(result, "cautions", ()) if wanted in ("json", "csv") else ():
        warn(said)  # numbers alone have no place for it
    if wanted == "json":
        text = json.dumps(_plain(_content(result, level, more)), indent=1, ensure_ascii=False) + "\n"
    elif wanted == "csv":
        text = _frame(result, level, more).to_csv(index=False)
    elif wanted == "text" and not isinstance(result, Fit | Shown | pd.Series | pd.DataFrame):
        text = f"{result}\n"
    else:
        page, suffix = _page(result, level, more), {"md": "markdown"}.get(wanted, wanted)
        width = getattr(options, "width", None) if wanted == "text" else None
        text = getattr(page, f"as_{suffix}")(*[width] * (width is not None)).rstrip("\n") + "\n"
    write(text, options.out, (FORMATS[wanted],))


def _content(result: Any, level: float, more: dict[str, Any] | None) -> Any:
    records = _frame(result, level, more).to_dict("records")
    if isinstance(result, Fit):
        return {"fit": result.glance().to_dict("records")[0], "coefficients": records}
    return records


def _frame(result: Any, level: float, more: dict[str, Any] | None = None) -> pd.DataFrame:
    """The numbers of a result with all their digits."""
    if isinstance(result, Fit):
        return result.tidy(conf_int=True, level=level, **(more or {}))
    if isinstance(result, CurveFit):
        return result.table(level)
    if isinstance(result, Description):
        return result.tidy(level)
    if isinstance(result, Estimate | WaldTest):
        return pd.DataFrame([{k: v for k, v in dataclasses.asdict(result).items() if k != "banner" or v}])
    for name in ("result_frame", "summary_frame", "frame"):
        if (found := getattr(result, name, None)) is not None:
            frame = found() if callable(found) else found
            return frame.reset_index(names="null") if name != "frame" else frame
    if isinstance(result, pd.Series):
        result = result.to_frame(result.name or "value")
    if isinstance(result, pd.DataFrame):
        own = isinstance(result.index, pd.RangeIndex)
        return result if own else result.reset_index(names=result.index.name or "term")
    if isinstance(result, Document):
        raise SpecificationError("a summary is text; dpstats show FIT has its numbers")
    return pd.DataFrame({"value": [result] if np.ndim(result) == 0 else list(result)})


def _page(result: Any, level: float, more: dict[str, Any] | None = None) -> Shown:
    """A result as it is printed: a fit by its summary."""
    if isinstance(result, Fit | CurveFit):
        return result.summary(level, **(more or {}))
    if isinstance(result, Shown):
        return result
    frame = _frame(result, level)
    numeric = [pd.api.types.is_float_dtype(frame[name]) for name in frame]
    heads = tuple(
        Column(str(name), "." if number else "l") for name, number in zip(frame, numeric, strict=True)
    )
    rows = tuple(
        tuple(figures(value) if number else str(value) for value, number in zip(row, numeric, strict=True))
        for row in frame.itertuples(index=False, name=None)
    )
    return Document(banner=frame.attrs.get("banner", ""), tables=(Table(heads, rows),))


def _plain(value: Any) -> Any:
    """Values of JSON; what is no finite number is null."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int) else str(value)
