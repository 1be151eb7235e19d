"""Plans of three fits, for tests that ask nothing of medians over twelve to 60 of them."""

import pytest

from dpstats.planning import trials

FITS = 3


def few_fits(patched: pytest.MonkeyPatch) -> None:
    """Plan by so many fits, of as many rows each as before."""
    patched.setattr(trials, "_SECONDS", trials._SECONDS * FITS / trials._FEWEST)
    patched.setattr(trials, "_FEWEST", FITS)
    patched.setattr(trials, "_MOST", FITS)
