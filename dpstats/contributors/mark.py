"""Which plan a message is for, and that its noise was secure."""

from __future__ import annotations

from dpstats.curator.noise import current


def mark(plan_hash: str) -> str:
    """The hash that a message carries and the server expects.

    With the noise of :mod:`dpstats.testing` it is marked, so that a server counts such messages as of another
    plan unless it is under test itself.
    """
    return plan_hash if current().private else f"test:{plan_hash}"
