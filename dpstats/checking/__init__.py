"""The data holder's own look at what a fit would read. NOT PRIVATE: exact counts, and cells."""

from dpstats.checking.check import DataCheck, check

__all__ = ["DataCheck", "check"]
