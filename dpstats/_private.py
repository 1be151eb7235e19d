"""What holds private rows, and what leaves the code that reads them when it fails."""

from __future__ import annotations

from collections.abc import Callable
from traceback import walk_tb
from typing import NoReturn, TypeVar

import numpy as np

__all__ = ["HoldsRows", "protected"]

T = TypeVar("T")


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
        raise interrupt.__new__(interrupt)  # not its __init__, which may want arguments
    raise failure


def _is_own(error: Exception) -> bool:
    """Whether this package raised it."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith(f"{__package__}.")
