"""Public moment truncation: rows are whitened by public second moments and truncated at a public length.

Cao, Bi and Zhang, "Differentially Private Truncation of Unbounded Data via Public Second Moments"; what is
wrong or wasteful in it, and the corrections, are in docs/theory/pmt.md#what-was-wrong.
"""

from dpstats.estimators.pmt.glm import costs as glm_costs
from dpstats.estimators.pmt.glm import fit_pmt_glm
from dpstats.estimators.pmt.ridge import ETA, PmtFit, costs, fit_pmt

__all__ = ["ETA", "PmtFit", "costs", "fit_pmt", "fit_pmt_glm", "glm_costs"]
