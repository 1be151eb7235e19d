"""What holds private rows, and what leaves code that reads them, or shows an object, when it fails."""

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import getattr_static, isfunction
from traceback import clear_frames, walk_tb
from typing import Any, NoReturn, ParamSpec, TypeVar

import numpy as np

from dpstats._lacking import say_what_is_lacking

_FORGETS = "_forgets"  # on a function that `forgetting` has wrapped, which is enough once

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
    interrupts: tuple[type[BaseException], ...] = ()
    try:
        with np.errstate(all="ignore"):
            return compute()
    except Exception as error:
        if shown:
            raise
        if isinstance(error, passed) and is_own(error):
            failure = type(error)(*error.args)
    except BaseException as error:  # an interrupt keeps its type, so that it still stops the program
        interrupts = _interrupts(error)
    del compute  # it leads to the rows, and this frame hangs on the traceback
    if interrupts:
        raise _stop(interrupts[0])
    raise failure


def forgetting(make: Callable[P, T]) -> Callable[P, T]:
    """Have no frame of this package keep the arguments of `make`, data among them, when it raises.

    Otherwise an exception that is kept would keep the data, and one that is logged with the values of local
    variables would show them. What the caller's own frames hold is the caller's.

    Nor does numpy say anything in `make`, whatever the caller has set by ``np.seterr``: what underflows
    depends on releases, and to raise it would lose a result that was paid for.
    """

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        before = sys.exception()
        try:
            with np.errstate(all="ignore"):
                return make(*args, **kwargs)
        except BaseException as error:
            say_what_is_lacking(error, make)
            _forget(error, before)
            del args, kwargs, before
            raise

    setattr(made, _FORGETS, True)
    return made


def forgetting_each(make: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
    """Have what `make` iterates over forget as it does, for it raises long after `make` has returned.

    Whether the cause is an error, an interrupt or what the caller throws in. Of a generator that only returns
    what another yields, none but its own frame is left when it fails, and that is emptied here.
    """
    make = forgetting(make)

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        try:
            return _forgetting(make(*args, **kwargs))
        except BaseException:
            del args, kwargs
            raise

    return made


def _forgetting(made: Iterator[T]) -> Iterator[T]:
    before = sys.exception()
    try:
        yield from made
    except BaseException as error:
        _forget(error, before)
        del made, before
        raise


def forgetful(kind: type[T], change: Callable[..., Any] = forgetting) -> type[T]:
    """Have the constructor and all public methods and properties of a class forget as `forgetting` says.

    Or make another `change` to them, which has to forget, too.
    """
    for name in dir(kind):
        member = getattr_static(kind, name)
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        function = member.fget if isinstance(member, property) else function
        is_ours = isfunction(function) and function.__module__.startswith(f"{__package__}.")
        is_public = name == "__init__" or not name.startswith("_")
        if is_ours and is_public and not hasattr(function, _FORGETS):
            forgets = change(function)
            setattr(kind, name, forgets if function is member else type(member)(forgets))
    return kind


def _forget(error: BaseException, before: BaseException | None) -> None:
    """Empty the frames of an error and of those that led to it, but not of one that the caller handles."""
    known = {id(before)}
    left: list[BaseException | None] = [error]
    while left:
        one = left.pop()
        if one is not None and id(one) not in known:
            known.add(id(one))
            clear_frames(one.__traceback__)
            inner = one.exceptions if isinstance(one, BaseExceptionGroup) else ()
            left += [one.__cause__, one.__context__, *inner]


def _interrupts(error: BaseException) -> tuple[type[BaseException], ...]:
    """The types of what stops a program in an exception or in a group of them."""
    if isinstance(error, BaseExceptionGroup):
        return tuple(kind for one in error.exceptions for kind in _interrupts(one))
    return () if isinstance(error, Exception) else (type(error),)


def _stop(kind: type[BaseException]) -> BaseException:
    """An interrupt of this type without words, not by its __init__, which may want arguments.

    One that is nothing without its words, which may show rows, becomes a KeyboardInterrupt.
    """
    try:
        return kind.__new__(kind)
    except Exception:
        return KeyboardInterrupt()


def is_own(error: Exception) -> bool:
    """Whether this package raised it."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).startswith(f"{__package__}.")


def always_shown(describe: Callable[[T], str]) -> Callable[[T], str]:
    """Have a ``__repr__`` say that the object is not complete, instead of raising.

    Debuggers, and tracebacks that show local variables, ask the objects that were being made when a mistake
    was found. Such an object lacks attributes, has some of a wrong type, or is a ledger whose file is
    refused.
    """

    @wraps(describe)
    def shown(self: T) -> str:
        try:
            return describe(self)
        except Exception:
            return f"<{type(self).__name__}, not complete>"

    return shown
