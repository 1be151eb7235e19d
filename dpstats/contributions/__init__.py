"""Input perturbation, the server's side: plans and messages, and never a record."""

from dpstats.contributions.final import hidden_minimum
from dpstats.contributions.totals import Rejected, Totals, total

__all__ = ["Rejected", "Totals", "hidden_minimum", "total"]
