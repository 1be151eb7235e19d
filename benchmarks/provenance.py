"""The first lines of a table of results: the command, and the state of the code."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CODE = ("dpstats/estimators", "dpstats/families", "dpstats/curator", "dpstats/models")


def header() -> str:
    """Command and commits; an estimator that differs from its commit is said to."""
    words = " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    changed = " with local changes" if _git("status", "--porcelain", "--", *CODE) else ""
    commit, estimator = _git("log", "-1", "--format=%h"), _git("log", "-1", "--format=%h", "--", *CODE)
    return f"command: OMP_NUM_THREADS=1 PYTHONPATH=. {words}\ncommit {commit}, estimator {estimator}{changed}"


def _git(*words: str) -> str:
    run = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.strip()
