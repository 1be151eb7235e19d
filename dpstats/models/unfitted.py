"""What all models have in common before they are fitted."""

from __future__ import annotations

from typing import Any, NoReturn

from dpstats._private import HoldsRows
from dpstats.models.checks import NO_ROWS
from dpstats.rows import Rows


class Unfitted(HoldsRows):
    """A model, of which nothing is released yet."""

    __slots__ = ()
    _rows: Rows

    def __reduce_ex__(self, protocol: Any) -> Any:
        """A model without data holds nothing private."""
        if self._rows is not NO_ROWS:
            return super().__reduce_ex__(protocol)
        return object.__reduce_ex__(self, protocol)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_rows"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _rows=NO_ROWS)

    def __getattr__(self, name: str) -> NoReturn:
        text = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name.startswith("_"):
            raise AttributeError(text)
        if name == "plan":
            raise AttributeError(
                f"{text}: only fits of ols, ridge, logit, glm, survreg and coxph can be planned"
            )
        raise AttributeError(f"{text}; what is estimated is asked of its fit: fit = model.fit(budget)")
