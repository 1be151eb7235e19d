"""The only code that sees rows and lets anything out."""

from dpstats.curator.curator import Curator
from dpstats.curator.release import Release

__all__ = ["Curator", "Release"]
