"""Small sizes of what is read at a time, so that a short table has several pieces."""

from dataclasses import replace

import pytest

from dpstats.rows import sizes


def resize(monkeypatch: pytest.MonkeyPatch, **changes: int) -> None:
    """Have rows read, looked at or kept by other sizes than usual, until the test ends."""
    monkeypatch.setattr(sizes, "SIZES", replace(sizes.SIZES, **changes))
