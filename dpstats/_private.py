"""What holds private rows."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["HoldsRows"]


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
