"""How a wrong argument may be named in a message, warnings, and the checks that many functions make.

A message must not show a private value, and anything but a plain scalar may hold some: a column that is given
where its name is meant, a frame where a schema is meant, the text of a file where its path is meant.

Matplotlib is imported when a plot is asked for, and pyplot never: where the caller has imported it, new
figures are of those that it shows.
"""

import os
import re
import sys
import unicodedata
import warnings
from collections.abc import Collection, Iterable, Mapping
from datetime import date, timedelta
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpstats.errors import DataError, SpecificationError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:
    Axes = Any  # for annotations of modules that draw, none of which imports matplotlib

MOST_SHOWN = 40  # characters of a text, or digits: no word that a person types as an option has more
MOST_OF_EXPRESSION = 300  # characters of one that is repeated, or taken where it needs no ~
_MOST_OF_PATH = 1000  # characters; no path that a person types has more
# what moves the cursor of a terminal, ends a line or turns the order of what follows, and half a surrogate
# pair, as of bytes that were read as another encoding
UNSHOWN = re.compile("[\\0-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
_OURS = __name__.partition(".")[0]
_MOST_OF_NAME = 255  # characters of a file's name that file systems take


def shown(value: Any, most: int = MOST_SHOWN) -> str:
    """A wrong argument as a message may show it: plain scalars as they are typed, all else by its type.

    Parameters
    ----------
    value
        Whatever was given.
    most : int
        Longest text that is shown, in characters.
    """
    kind = type(value)
    if value is None or kind in (bool, float) or (kind is int and abs(value) < 10**MOST_SHOWN):
        return repr(value)
    if kind is str:
        short = len(value) <= most and value.isprintable()
        return repr(value) if short else untyped(value)
    name = f"{'an' if kind.__name__[0].lower() in 'aeiou' else 'a'} {kind.__name__}"
    if kind not in (list, tuple, dict, set):
        return name
    return f"{name} of {len(value)} item{'s' * (len(value) != 1)}"


def untyped(value: Any) -> str:
    """A wrong argument that no person typed, as a message may show it: a text by its length alone."""
    return f"a text of {len(value)} characters" if isinstance(value, str) else shown(value)


def by_type(value: object) -> str:
    """A wrong value of a dict by its type alone: a dict of a single value for each name may be a row."""
    return (
        shown(value)
        if isinstance(value, list | tuple | Mapping)
        else f"one value of type {type(value).__name__}"
    )


def word(name: object) -> str:
    """A wrong name of a dict as a message may show it: a single word, for more may be a cell."""
    if not isinstance(name, str):
        return by_type(name)
    return shown(name) if name.isidentifier() else untyped(name)


def expression_of(name: str, text: object, example: str, error: type[SpecificationError]) -> str:
    """An argument that is an expression over columns, on one line.

    Raises
    ------
    SpecificationError
        Of the kind `error`, for anything else, such as the column itself.
    """
    if not isinstance(text, str) or not is_line(text):
        raise error(
            f"{name} is a text such as {example}, not {untyped(text)}: keep it as a column of the "
            "data, declare it in the schema, and give its name"
        )
    return text


def brief(text: str) -> str:
    """A formula as a message may repeat it, of a long one the beginning."""
    return repr(text if len(text) <= MOST_OF_EXPRESSION else f"{text[:MOST_OF_EXPRESSION]} ...")


def is_line(text: str) -> bool:
    """Whether a text is one that a person may have typed, not that of a file."""
    return len(text) <= MOST_OF_EXPRESSION and text.isprintable()


def is_shown(text: str) -> bool:
    """Whether a text of one line or several has no character that a terminal does not show as it is."""
    return not UNSHOWN.search(re.sub(r"\r?\n|\t", "", text))


def truth(name: str, value: object) -> bool:
    """An argument that is True or False.

    Raises
    ------
    SpecificationError
        If it is not.
    """
    if not isinstance(value, int | np.bool_) or value not in (0, 1):
        raise SpecificationError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def told(path: Path, suffixes: Collection[str]) -> str:
    """A path that is not there as a message may repeat it: with a suffix that is known, lest it be a cell."""
    return str(path) if path.suffix.lower() in suffixes else "of the name that was given"


def plain(value: object) -> object:
    """A scalar of numpy as Python's own, such as a person types; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def among(value: object, known: Collection[object]) -> bool:
    """Whether a value is one of a few options, which are texts, truth values or None.

    A frame is asked nothing: it would compare its cells with each option.
    """
    return (value is None or isinstance(value, str | bool)) and value in known


def near(given: object, known: Iterable[str], least: float = 0.6) -> str:
    """Ask for the options that misspelt texts are like, to follow an error; empty where none is.

    The texts are not shown. How alike two must be is in difflib's measure.
    """
    close = ", ".join(map(repr, alike(given, known, least)))
    return f"; did you mean {close}?" if close else ""


def folded(text: str) -> str:
    """A text without capitals, accents, blanks and punctuation, by which spellings are alike."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKD", text)).casefold()


def spelt_as(text: str, known: Iterable[str]) -> str | None:
    """The first of the texts that is this one in another spelling, or itself; None if there is none."""
    return next((one for one in known if folded(one) == folded(text)), None)


def alike(given: object, known: Iterable[str], least: float = 0.6) -> list[str]:
    """The options that texts are like, of one text or of as many as a person types, which are no options."""
    spelling_of, several, found = {one.casefold(): one for one in known}, listed(given)[:MOST_SHOWN], []
    texts = {one.casefold() for one in several if isinstance(one, str)}
    for text in sorted(one for one in texts if spelling_of.get(one) not in several):
        close = get_close_matches(text, spelling_of, cutoff=least)
        close.sort(key=lambda one: sorted(one) != sorted(text))  # letters in another order first
        found += [spelling_of[one] for one in close[:1]]
    return list(dict.fromkeys(found))


def listed(value: Any) -> tuple[Any, ...]:
    """The items of an argument that is one name or several; what is neither is an item, to be refused."""
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    return tuple(value) if several else (value,)


def path_of(name: str, path: object, error: type[SpecificationError] = SpecificationError) -> Path:
    """An argument that is a path.

    Raises
    ------
    SpecificationError
        Of the kind `error`, unless it is a path, or a text that can be one.
    """
    if isinstance(path, str | os.PathLike):
        text = os.fspath(path)
        if isinstance(text, str) and len(text) <= _MOST_OF_PATH and not {"\n", "\r", "\0"} & set(text):
            if all(len(part) <= _MOST_OF_NAME for part in Path(text).parts):
                return Path(os.path.expanduser(text))
    raise error(f"{name} must be the path of a file, not {untyped(path)}")


def number(name: str, value: Any, error: type[SpecificationError] = SpecificationError) -> float:
    """An argument that is a number, or the text of one.

    Raises
    ------
    SpecificationError
        Of the kind `error`, if it is anything else. The message shows no text: it may be a cell.
    """
    found = None
    try:
        found = float(value) if np.ndim(value) == 0 else None
    except Exception:
        pass  # the exception may quote a cell
    if found is None:
        raise error(f"{name} must be a number, not {'a text' if isinstance(value, str) else shown(value)}")
    return found


def count(name: str, value: Any) -> int:
    """A number of rows or messages.

    Raises
    ------
    SpecificationError
        If it is no whole number, or below 0.
    """
    found = number(name, value)
    if isinstance(value, bool | np.bool_) or not (found >= 0 and found.is_integer()):
        raise SpecificationError(f"{name} must be a whole number of at least 0, got {shown(value)}")
    return int(value)


# what to give for values of which numpy makes numbers that depend on how they are stored
UNITLESS = {
    "dates": ", which have no unit; give days since one origin, ({0} - origin) / pd.Timedelta('1D')",
    "durations": ", which have no unit; give their number, such as {0} / pd.Timedelta('1D')",
}
_NO_NUMBERS = {
    "booleans": (bool, np.bool_),
    "durations": (timedelta, np.timedelta64),
    "dates": (date, np.datetime64),
}


def _held(values: Any) -> str:
    """In a word, values that are no numbers although numpy makes some of them; empty for others."""
    array = np.asarray(values, object if isinstance(values, list | tuple) else None)
    kinds = set(map(type, array.flat)) if array.dtype == object else {array.dtype.type}
    return next((word for word, types in _NO_NUMBERS.items() if any(issubclass(k, types) for k in kinds)), "")


def numbers(
    name: str, values: Any, error: type[SpecificationError] = SpecificationError, flags: bool = False
) -> np.ndarray:
    """An argument that is a number or an array of numbers, as an array of floats; of booleans, if `flags`.

    Raises
    ------
    SpecificationError
        Of the kind `error`, if it holds anything else. The message shows none of it.
    DataError
        Of dates and durations.
    """
    array, held = None, ""
    try:
        held = _held(values)
        array = np.asarray(values, dtype=float)
    except Exception:
        pass  # the exception may quote a cell
    if held and not (flags and held == "booleans"):
        raise (DataError if held in UNITLESS else error)(
            f"{name} must be a number or a sequence of numbers, not {held}"
            + UNITLESS.get(held, "").format(name)
        )
    if array is None:
        several = isinstance(values, Iterable) and not isinstance(values, str)
        more = ", of which an item is no number; 1,000 is written 1000" * several
        raise error(f"{name} must be a number or a sequence of numbers, not {shown(values)}{more}")
    return array


def refuse_twice(names: Iterable[str], columns: Iterable[object]) -> None:
    """Refuse columns of which there are more than one.

    Raises
    ------
    DataError
    """
    there = list(map(str, columns))
    if twice := [name for name in names if there.count(name) > 1]:
        raise DataError(f"the data have more than one column {twice[0]!r}; keep one, or rename")


def frozen(values: Any, dtype: type = float) -> np.ndarray:
    """A copy of numbers, floats by default, to which nobody writes."""
    array: np.ndarray = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


def beside(ax: Axes) -> dict[str, Any]:
    """Where a legend stands: beside axes that are alone in their figure, as it hides nothing there."""
    alone = len(ax.figure.axes) == 1
    return {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0} if alone else {}


def axes(ax: Axes | None, height: float = 4.5) -> Axes:
    """Return `ax`, or the axes of a new figure, which ``plt.show()`` shows if the caller has imported pyplot.

    Parameters
    ----------
    ax : matplotlib Axes, optional
    height : float
        Of a new figure that is 7.5 inches wide; of another, as a style of matplotlib has it, in proportion.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    SpecificationError
        If `ax` is something else.
    """
    try:
        import matplotlib.figure
        from matplotlib.axes import Axes
    except ImportError:
        raise ImportError('plots need matplotlib: pip install "dpstats[plot]"') from None
    if isinstance(ax, Axes):
        return ax
    if ax is not None:
        raise SpecificationError(
            f"ax must be axes of matplotlib, such as plt.gca(), not {shown(ax)}; leave "
            "it out for a new figure"
        )
    from dpstats._figure import ShownAxes, ShownFigure

    usual, now = (each["figure.figsize"] for each in (matplotlib.rcParamsDefault, matplotlib.rcParams))
    width = 7.5 if list(now) == list(usual) else float(now[0])
    pyplot = sys.modules.get("matplotlib.pyplot")
    make = ShownFigure if pyplot is None else partial(pyplot.figure, FigureClass=ShownFigure)
    new = make(figsize=(width, height * width / 7.5), layout="constrained").add_subplot(axes_class=ShownAxes)
    new.spines[["top", "right"]].set_visible(False)  # as in papers
    return new


def warn(message: str) -> None:
    """Warn of what the code does that called this package, at its line."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
