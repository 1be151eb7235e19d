"""What tests of wild data run in: nothing may be said beside the result."""

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator

import numpy as np


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Warnings are errors, and nothing may be printed or logged."""
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    logging.getLogger().addHandler(handler)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
            np.errstate(all="warn"),
        ):
            warnings.simplefilter("error")
            yield
    finally:
        logging.getLogger().removeHandler(handler)
    assert said.getvalue() == ""
