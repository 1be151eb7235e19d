"""The only code that sees rows and lets anything out."""

from dpstats.curator.curator import Curator
from dpstats.curator.release import Minimum, Release

__all__ = ["Curator", "Minimum", "Release"]
