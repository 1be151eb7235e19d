"""What holds private rows, and what leaves the code that reads them when it fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from traceback import clear_frames, walk_tb
from typing import NoReturn, ParamSpec, TypeVar

import numpy as np

__all__ = ["HoldsRows", "forgetting", "protected"]

T = TypeVar("T")
P = ParamSpec("P")


class HoldsRows:
    """Lives and dies with the program: it is not written to a file or sent to another process.

    pickle, joblib, cloudpickle, multiprocessing and the module copy all ask `__reduce_ex__` first. A copy in
    memory would do no harm, but there is no use for one either, so that it is refused with the rest.
    """

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} holds private rows, and is not pickled or copied with them; fit where "
            "the data are, and pickle or save the fit, which holds none"
        )


def protected(
    compute: Callable[[], T],
    failure: Exception,
    passed: tuple[type[Exception], ...] = (),
    shown: bool = False,
) -> T:
    """What `compute` gives. No exception that leaves here has seen a frame with rows or an exact sum.

    Parameters
    ----------
    compute : callable
        Reads rows.
    failure : Exception
        Raised in the place of an exception, whose text may quote rows.
    passed : tuple of exception types
        Those that this package raises from public facts alone: such an exception leaves as a new one with its
        words, unless other code raised it.
    shown : bool
        Whether exceptions leave as they are, because the rows are not private.
    """
    interrupt: type[BaseException] | None = None
    try:
        with np.errstate(all="ignore"):
            return compute()
    except Exception as error:
        if shown:
            raise
        if isinstance(error, passed) and _is_own(error):
            failure = type(error)(*error.args)
    except BaseException as error:  # an interrupt keeps its type, so that it still stops the program
        interrupt = type(error)
    del compute  # it leads to the rows, and this frame hangs on the traceback
    if interrupt is not None:
        raise _stop(interrupt)
    raise failure


def forgetting(make: Callable[P, T]) -> Callable[P, T]:
    """Have no frame of this package keep the arguments of `make`, data among them, when it raises.

    Otherwise an exception that is kept would keep the data, and one that is logged with the values of local
    variables would show them. What the caller's own frames hold is the caller's.
    """

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return make(*args, **kwargs)
        except BaseException as error:
            seen: BaseException | None = error
            while seen is not None:
                clear_frames(seen.__traceback__)
                seen = seen.__context__
            del args, kwargs
            raise

    return made


def _stop(kind: type[BaseException]) -> BaseException:
    """An interrupt of this type without words, not by its __init__, which may want arguments.

    One that is nothing without its contents, as a group of exceptions, whose words and frames may show rows,
    becomes a KeyboardInterrupt.
    """
    try:
        return kind.__new__(kind)
    except Exception:
        return KeyboardInterrupt()


def _is_own(error: Exception) -> bool:
    """Whether this package raised it."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith(f"{__package__}.")
