"""A disk without room."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

LONGEST = 300  # bytes of a file; a saved fit has more


@contextmanager
def full_disk() -> Iterator[None]:
    """No file grows beyond `LONGEST`: what is beyond fails as it does where a disk is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LONGEST, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
