"""What all models have in common before they are fitted."""

from __future__ import annotations

from typing import NoReturn

from dpstats._private import HoldsRows


class Unfitted(HoldsRows):
    """A model, of which nothing is released yet."""

    __slots__ = ()

    def __getattr__(self, name: str) -> NoReturn:
        text = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name.startswith("_"):
            raise AttributeError(text)
        if name == "plan":
            raise AttributeError(f"{text}: only fits of ols, ridge, logit, glm and survreg can be planned")
        raise AttributeError(f"{text}; what is estimated is asked of its fit: fit = model.fit(budget)")
