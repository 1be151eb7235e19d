"""diffprivlib's regressions, for rivals.py, in an environment of their own, see README.md.

Its Python runs this file, which has no dpstats there: for each line of JSON that it is given, the fits of
one table, as a line of JSON. Noise is seeded. diffprivlib gets the scaled rows without their constant, and is
told the bounds of each column and of the response, or the greatest norm of a row. It says that it spends a
pure epsilon. Of linear regression that is 1.09 epsilon: 1/11 goes to the means of the columns, 1/11 to that
of the response and 10/11 to the rest. Of logistic regression its noise proves less privacy than it says, if
any: it takes the norm of a row where the square belongs, and does not penalise the intercept.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rival_designs import Case

Array = np.ndarray
RIDGES = (0.01, 0.1, 1.0, 10.0)  # C of a logistic regression, of which an oracle takes the best


def by_diffprivlib(python: str, given: Case, epsilon: float, seed: int) -> dict[str, Array]:
    """Lines of the scaled rows, the constant first, one for each setting."""
    process, (rows, endog, length) = _process(python), given.scaled()
    assert process.stdin and process.stdout
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(path, exog=rows[:, 1:], endog=endog, reach=given.reach[1:])
        asked = {"path": str(path), "model": given.model, "length": length, "epsilon": epsilon, "seed": seed}
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    return {setting: np.array(line) for setting, line in json.loads(answer).items()}


@functools.cache
def _process(python: str) -> subprocess.Popen[str]:
    """One for each worker: it ends with its input."""
    command = [python, "-W", "ignore", __file__]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def versions(python: str) -> str:
    asked = "import diffprivlib, sklearn; print(diffprivlib.__version__, sklearn.__version__)"
    run = subprocess.run([python, "-W", "ignore", "-c", asked], capture_output=True, text=True, check=True)
    return "diffprivlib {} on scikit-learn {}".format(*run.stdout.split())


def _fits(
    model: str, exog: Array, endog: Array, reach: Array, length: float, epsilon: float, seed: int
) -> dict[str, Any]:
    from diffprivlib.models import LinearRegression, LogisticRegression

    if model == "ols":
        bounds: dict[str, Any] = {"bounds_X": (-reach, reach), "bounds_y": (-1.0, 1.0)}
        fits = {"": LinearRegression(epsilon=epsilon, random_state=seed, **bounds)}
    else:
        longest = float(np.sqrt(length**2 - 1))  # without the constant
        fits = {
            f"C {ridge:g}": LogisticRegression(epsilon=epsilon, data_norm=longest, C=ridge, random_state=seed)
            for ridge in RIDGES
        }
    lines = {}
    for setting, fit in fits.items():
        fit.fit(exog, endog)
        lines[setting] = [float(np.ravel(fit.intercept_)[0]), *map(float, np.ravel(fit.coef_))]
    return lines


if __name__ == "__main__":
    for text in sys.stdin:
        asked = json.loads(text)
        with np.load(asked.pop("path")) as arrays:
            print(json.dumps(_fits(**arrays, **asked)), flush=True)
