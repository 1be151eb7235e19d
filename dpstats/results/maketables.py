"""What the package maketables asks of a result, for its tables in LaTeX, Word, typst and HTML.

See its PLUGIN_EXTRACTOR_FORMAT.md. Nothing of maketables is imported.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from dpstats.results import inference
from dpstats.results.base import Released

__all__ = ["MakeTables"]


class MakeTables(Released):
    """The plug-in interface of maketables."""

    __slots__ = ()

    @property
    def __maketables_coef_table__(self) -> pd.DataFrame:
        """Coefficients under maketables' names, and the share of privacy noise."""
        record = self.record
        (low90, high90), (low95, high95) = (inference.limits(record, level) for level in (0.9, 0.95))
        return pd.DataFrame(
            {
                "b": record.params, "se": inference.bse(record), "t": inference.z_values(record),
                "p": inference.p_values(record), "ci95l": low95, "ci95u": high95, "ci90l": low90,
                "ci90u": high90, "privacy_share": inference.privacy_share(record),
            },
            index=pd.Index(record.names, name="Coefficient"),
        )  # fmt: skip

    @property
    def __maketables_depvar__(self) -> str:
        """The response."""
        return self.model.endog_names

    @property
    def __maketables_vcov_info__(self) -> dict[str, str]:
        """What standard errors count."""
        return {"vcov_type": "sampling and privacy noise"}

    @property
    def __maketables_default_stat_keys__(self) -> list[str]:
        """Rows below the coefficients."""
        return ["N", "budget"]

    @property
    def __maketables_stat_labels__(self) -> dict[str, str]:
        """Their labels."""
        return {"N": "Observations", "budget": "Privacy"}

    def __maketables_stat__(self, key: str) -> Any:
        """Return a statistic by maketables' name; None where it was not released."""
        record = self.record
        linear = record.linear
        known = {
            "N": record.nobs,
            "budget": "NOT PRIVATE" if record.not_private else str(record.budget),
            "model_type": record.model,
            "r2": None if linear is None else min(max(linear.rsquared().value, 0.0), 1.0),
        }
        return known.get(key)
