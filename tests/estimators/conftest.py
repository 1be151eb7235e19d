"""Fixtures of tests that compare fits without noise with exact ones."""

import pytest

from dpstats.curator import products


@pytest.fixture
def floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are rounded to a grid that is hardly coarser than floats, as are products, all summed in order."""
    monkeypatch.setattr(products, "_BITS", 45)
    monkeypatch.setattr(products, "_PRODUCT_BITS", 90)
