"""Writing JSON that holds one object, and reading it back, refused unless it is whole."""

import errno
import json
import math
import os
import re
import secrets
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self, TypeVar, cast

import numpy as np

from dpstats._arguments import frozen, is_shown, path_of, shown
from dpstats.errors import SpecificationError

T = TypeVar("T")

_LARGEST = 10**300  # of the integers that are read: each of them is a float, too


class Stored(ABC):
    """What is kept in a file of JSON, of public or released values alone; a pickle holds the same."""

    __slots__ = ()
    _unreadable: ClassVar[str]  # completes a message about a file that holds no such object
    _format: ClassVar[str]  # name and newest version, such as "dpstats.fit/3"
    _called: ClassVar[str]  # in messages, such as "a saved fit"
    _edited: ClassVar[str]  # what to say of one that lacks something, or has it of another type

    @abstractmethod
    def _plain(self) -> dict[str, Any]:
        """Return all that it is made of, as plain values."""

    @classmethod
    @abstractmethod
    def _built(cls, content: Mapping[str, Any]) -> Any:
        """Return what `_plain` described, every value as what it must be."""

    def to_dict(self) -> dict[str, Any]:
        """Return what `save` writes, as plain values.

        Returns
        -------
        dict

        Examples
        --------
        >>> fit.to_dict()["not_private"]
        False
        """
        return {"format": self._format, **self._plain()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Any:
        """Return what `to_dict` described; of a fit, of the kind that its model has.

        Parameters
        ----------
        content : dict

        Returns
        -------
        object of this class

        Raises
        ------
        SpecificationError
            If it describes none, was written by a newer version, is incomplete, or was edited.

        Examples
        --------
        >>> type(fit).from_dict(fit.to_dict()).budget == fit.budget
        True
        """
        check_format(described(content, cls._called).get("format"), cls._format, cls._called)
        try:
            made = cls._built(content)
            same = made.to_dict() == dict(content) and _all_shown(content)
        except SpecificationError:
            raise
        except Exception:
            same = False
        if not same:
            raise SpecificationError(cls._edited)
        return made

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write a file of JSON, exact to the last bit. It holds no private value and may be shared.

        Parameters
        ----------
        path : str or Path
            Ends in .json.
        overwrite : bool
            Whether to replace a file that exists, which may hold something that was paid for or published.

        Raises
        ------
        SpecificationError
            If the file exists and may not be replaced, or cannot be written.

        Examples
        --------
        >>> fit.save("fit.json")
        >>> fit.save("fit.json", overwrite=True)
        """
        written = json.dumps(self.to_dict(), indent=1, allow_nan=False, ensure_ascii=False)
        write_text(path, written, overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        object of this class

        Raises
        ------
        SpecificationError
            If there is no such file, or it holds something else or more, or was edited.

        Examples
        --------
        >>> fit.save("kept.json")
        >>> type(fit).load("kept.json").budget == fit.budget
        True
        """
        return cast(Self, cls.from_dict(read_object(path, cls._unreadable)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_dict, (self.to_dict(),)


@dataclass(frozen=True, eq=False)
class Arrays:
    """A record of numbers and of arrays, to which nobody writes, and which a file holds as plain values."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray | list):
                object.__setattr__(self, item.name, frozen(value))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, infinities as texts, of all that is known; `from_dict` reads them back."""
        known = {item.name: value for item in fields(self) if (value := getattr(self, item.name)) is not None}
        return {
            name: plain_numbers(value) if isinstance(value, np.ndarray) else value
            for name, value in known.items()
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """The record that `to_dict` described."""
        return cls(**content)


def read_object(path: str | Path, refusal: str) -> dict[str, Any]:
    """The object that a JSON file holds.

    Raises
    ------
    SpecificationError
        With its path and `refusal`, if it holds none: no text, no JSON, numbers that are not finite, too
        deep; and if there is no such file, or it may not be read.
    """
    found = path_of("path", path)
    try:
        written = found.read_text(encoding="utf-8")
        content = json.loads(written, parse_constant=_refused, parse_float=_finite, parse_int=_small)
    except OSError as error:
        raise SpecificationError(
            f"path: {found} cannot be read ({error.strerror}); give a file that save(path) wrote"
        ) from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise SpecificationError(f"{found} {refusal}")
    return content


def write_text(path: str | Path, written: str, overwrite: bool, suffix: str = ".json") -> None:
    """Write a file of JSON or TOML as a whole: where that fails, what was there is there still.

    Raises
    ------
    SpecificationError
        If its name does not end in `suffix`, it cannot be written, or it exists and `overwrite` is not True:
        results were paid for.
    """
    found = path_of("path", path)
    if found.suffix.lower() != suffix:
        raise SpecificationError(
            f"path: {found} does not end in {suffix}, and {suffix[1:].upper()} is what is written; give a "
            "name that does"
        )
    try:
        _replace(found, written + "\n", new=overwrite is not True)
    except FileExistsError:
        raise SpecificationError(
            f"path: {found} exists and may hold something that was paid for; choose "
            "another name, or say overwrite=True"
        ) from None
    except OSError as error:
        raise SpecificationError(
            f"path: {found} cannot be written ({error.strerror}); {_remedy(error)}"
        ) from None


def _replace(path: Path, written: str, new: bool) -> None:
    """Put a file in its place when it is on the disk; of a link, the place is that to which it leads."""
    if not new and path.exists():
        path = path.resolve()
        if not path.is_file():  # a device or a pipe is written to, and not replaced
            path.write_text(written, encoding="utf-8")
            return
    draft = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with draft.open("x", encoding="utf-8") as out:
            out.write(written)
            out.flush()
            os.fsync(out.fileno())
        if new:
            path.open("x").close()  # takes the name, for a replacement asks nobody
        else:
            with suppress(OSError):
                shutil.copymode(path, draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _remedy(error: OSError) -> str:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "give a file in a folder that exists"
    if isinstance(error, PermissionError | IsADirectoryError) or error.errno == errno.EROFS:
        return "give a file in a folder that you may write to"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "make room, or give a file on another disk"
    return "save it again when that is mended"


def check_format(found: object, wanted: str, what: str) -> None:
    """Refuse what is of another kind, or of a newer version.

    Parameters
    ----------
    found : object
        What stands in the place of the format.
    wanted : str
        Name and newest version, such as ``"dpstats.fit/3"``.
    what : str
        In words, such as ``"a saved fit"``.

    Raises
    ------
    SpecificationError
    """
    name, _, newest = wanted.partition("/")
    version = re.fullmatch(re.escape(name) + "/([0-9]{1,9})", str(found))
    if not version:
        raise SpecificationError(f"not {what}: its format is {shown(found)}, not {wanted!r}")
    if int(version[1]) > int(newest):
        raise SpecificationError(
            f"{what} of format {shown(found)}, newer than {wanted!r}; upgrade dpstats to read it"
        )


def described(content: object, what: str) -> Mapping[str, Any]:
    """What a ``from_dict`` was given, if it is a dict.

    Raises
    ------
    SpecificationError
        If it is not.
    """
    if not isinstance(content, Mapping):
        raise SpecificationError(f"{what} is made from a dict, as to_dict() gives it, not {shown(content)}")
    return content


def _all_shown(value: Any) -> bool:
    """Whether all texts in plain values can be printed as they are."""
    if isinstance(value, Mapping):
        return all(map(_all_shown, (*value, *value.values())))
    if isinstance(value, list | tuple):
        return all(map(_all_shown, value))
    return not isinstance(value, str) or is_shown(value)


def text(value: Any) -> str | None:
    """A text, or None where there is none."""
    return None if value is None else str(value)


def plain_numbers(array: np.ndarray) -> list[Any]:
    """Lists of floats; infinities and NaN as the texts "inf", "-inf" and "nan"."""
    return [plain_numbers(item) if np.ndim(item) else plain_number(float(item)) for item in array]


def plain_number(value: Any) -> Any:
    """The same of what may be such a float."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _refused(word: str) -> NoReturn:
    raise ValueError("not a number of JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("not a finite number")
    return number


def _small(digits: str) -> int:
    number = int(digits)
    if abs(number) > _LARGEST:
        raise ValueError("not an integer that a float can hold")
    return number
