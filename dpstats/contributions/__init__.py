"""Input perturbation, the server's side: plans and messages, and never a record."""

from dpstats.contributions.totals import Rejected, Totals, hidden_minimum, total

__all__ = ["Rejected", "Totals", "hidden_minimum", "total"]
