"""A total budget on disk: what was spent on a data set, on what, when; charged before noise is drawn."""

from dpstats.ledger.default import DEFAULT
from dpstats.ledger.ledger import Ledger, use_ledger
from dpstats.ledger.report import Report
from dpstats.ledger.store import Entry

current, uncharged = DEFAULT.current, DEFAULT.uncharged

__all__ = ["Entry", "Ledger", "Report", "current", "uncharged", "use_ledger"]
