"""The first lines of a table of results: the command, and the state of the code."""

import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CODE = (
    "dpstats/estimators",
    "dpstats/families",
    "dpstats/curator",
    "dpstats/models",
    "dpstats/formula",
    "dpstats/moments",
    "dpstats/contributors",
    "dpstats/contributions",
)


def header(**paths: object) -> str:
    """The command, the commit of the benchmark and the one of the estimator.

    Parameters
    ----------
    **paths
        Of this machine; the command shows their names, in capitals, in their place.
    """
    names = {str(path): name.upper() for name, path in paths.items()}
    given = [shlex.quote(names.get(word, word)) for word in sys.argv[1:]]
    words = " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *given])
    commit = _git("log", "-1", "--format=%h")
    return f"command: OMP_NUM_THREADS=1 PYTHONPATH=. {words}\ncommit {commit}, estimator {estimator()}"


def estimator() -> str:
    """Commit at which the code of a fit last changed; "changed" is added where it differs from that."""
    changed = "-changed" if _git("status", "--porcelain", "--", *CODE) else ""
    return _git("log", "-1", "--format=%h", "--", *CODE) + changed


def _git(*words: str) -> str:
    run = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.strip()
