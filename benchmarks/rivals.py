"""Private regressions against published rivals: slopes on simulated designs and real tables.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/rivals.py CENSUS --peer-python PYTHON \\
        | tee benchmarks/results/rivals.txt

The designs are those of rival_designs.py, CENSUS is the file of the 1980 census that README.md names, and
PYTHON that of an environment with diffprivlib, see rival_peer.py; without it diffprivlib is left out. The
rivals are written down in rival_methods.py. Settings of those that have some are the best of a grid for each
design and epsilon, chosen by the errors shown here: an oracle that costs them nothing.

All get the same rows, moved to the same public bounds, and spend approx(epsilon, 1e-6) for neighbours that
differ in one row replaced; "dpstats, pure" and diffprivlib spend a pure epsilon, which buys less. The rivals
get rows that are centred and scaled by their bounds, and are told the greatest norm that a row can have.

The error of a fit is the root mean square, over slopes, of their distance in standard errors without privacy:
from the truth of the population, and from the fit without privacy on the same rows, which is what privacy
adds. Slopes and not predictions are compared because all methods estimate the same ones. Tables show medians
of the replications, in which one wild fit of a rival counts for little; "not private" has about 1 from the
truth, and "no slopes" is a line without slopes. "against" is the ratio of the medians of dpstats and the best
rival, with its 95 % bootstrap interval.
"""

from __future__ import annotations

import argparse
import itertools
import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from provenance import header
from replications import WORK, Lines, Task, replicate_all
from rival_designs import NAMES, REAL, Case, case
from rival_methods import DELTA, LOGIT_RIVALS, RIVALS
from rival_peer import by_diffprivlib, versions

import dpstats as dps
from dpstats.testing import SeededNoise, noise

EXACT, NOTHING, OURS, PURE, PEER = "not private", "no slopes", "dpstats", "dpstats, pure", "diffprivlib"
LINEAR = [name for name in RIVALS if name != "least squares"]
LOST = "not estimable"
BOOTSTRAPS = 2000
MEASURES = ("from the truth", "from the fit without privacy")
Found = dict[tuple[str, str, float], Lines]


@dataclass(frozen=True)
class Cell:
    """One method on one design."""

    design: str
    method: str

    @property
    def name(self) -> str:
        return f"{self.design}-{self.method}".replace(" ", "_").replace(",", "")


def methods_of(design: str, peer: bool) -> list[str]:
    logit = design in REAL and REAL[design][0] == "logit"
    return [EXACT, NOTHING, OURS, PURE, *(LOGIT_RIVALS if logit else LINEAR), *[PEER] * peer]


def one(census: Path, python: str | None, task: Task[Cell]) -> dict[str, Any]:
    """Errors of each setting of a method, and of ours the share of slopes without an interval."""
    cell, epsilon, rep, _ = task
    given = case(cell.design, rep, census)
    seed = zlib.crc32(f"{cell.name}-{epsilon:g}-{rep}".encode())
    if cell.method in (OURS, PURE):
        budget = dps.approx(epsilon, DELTA) if cell.method == OURS else dps.pure(epsilon)
        return _ours(given, budget, seed)
    if cell.method == EXACT:
        return {"": given.errors(given.exact[0][1:])}
    rows, endog, length = given.scaled()
    if cell.method == NOTHING:
        lines = {"": np.zeros(rows.shape[1])}
    elif cell.method == PEER:
        assert python
        lines = by_diffprivlib(python, given, epsilon, seed)
    else:
        method = (LOGIT_RIVALS if given.model == "logit" else RIVALS)[cell.method]
        mu = dps.approx(epsilon, DELTA).mu
        lines = method(rows, endog, length, mu, np.random.default_rng(seed))
    return {setting: given.errors(given.slopes(line)) for setting, line in lines.items()}


def _ours(given: Case, budget: dps.Budget, seed: int) -> dict[str, Any]:
    model = (dps.ols if given.model == "ols" else dps.logit)(given.formula, given.data, given.schema)
    with noise(SeededNoise(seed)):
        fit = model.fit(budget)
    lost = float(np.mean(~np.isfinite(fit.bse.to_numpy()[1:])))
    return {"": given.errors(fit.params.to_numpy()[1:]), LOST: lost}


def errors(lines: Lines, measure: int) -> np.ndarray:
    """Of each replication, at the setting that is best in median."""
    settings = [setting for setting in lines[0] if setting not in ("rep", LOST)]
    by_setting = np.array([[line[setting][measure] for line in lines] for setting in settings])
    return np.asarray(by_setting[np.argmin(np.median(by_setting, axis=1))])


def against(ours: np.ndarray, best: np.ndarray) -> tuple[float, float, float]:
    """Ratio of medians, and its 95 % interval by resampling replications."""
    rng = np.random.default_rng(0)
    draws = [np.median(rng.choice(found, size=(BOOTSTRAPS, len(found))), axis=1) for found in (ours, best)]
    low, high = np.quantile(draws[0] / draws[1], [0.025, 0.975])
    return float(np.median(ours) / np.median(best)), float(low), float(high)


def report(found: Found, designs: list[str], epsilons: list[float], peer: bool) -> None:
    columns = list(dict.fromkeys(method for design in designs for method in methods_of(design, peer)))
    for epsilon, measure in itertools.product(epsilons, range(len(MEASURES))):
        print(f"\nepsilon = {epsilon:g}: median error {MEASURES[measure]}")
        print(f"{'':12s}" + "".join(f"{method:>15s}" for method in columns) + "   against")
        for design in designs:
            by = {
                method: errors(found[design, method, epsilon], measure) for method in methods_of(design, peer)
            }
            line = [_cell(np.median(by[method])) if method in by else " " * 15 for method in columns]
            lost = _lost(found[design, OURS, epsilon])
            print(f"{design:12s}{''.join(line)}   {judged(by)}{lost}")


def _cell(value: float) -> str:
    return f"{value:15.2f}" if value < 1e4 else f"{value:15.0e}"


def judged(by: dict[str, np.ndarray]) -> str:
    """dpstats against the best rival."""
    rivals = [found for method, found in by.items() if method not in (EXACT, NOTHING, OURS, PURE)]
    ratio, low, high = against(by[OURS], min(rivals, key=np.median))
    said = "ahead" if high < 1 else "BEHIND" if low > 1 else "even"
    return f"{ratio:.2f} ({low:.2f} to {high:.2f}) {said}"


def _lost(lines: Lines) -> str:
    share = float(np.mean([line[LOST] for line in lines]))
    return f", {share:.0%} of ours not estimable" if share else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("census", type=Path)
    parser.add_argument("--peer-python", help="the Python that has diffprivlib")
    parser.add_argument("--designs", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.3, 1.0, 3.0])
    parser.add_argument("--reps", type=int, default=20)
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    peer = options.peer_python is not None
    print(header(CENSUS=options.census, PYTHON=options.peer_python))
    print(f"{options.reps} replications; {versions(options.peer_python) if peer else 'without diffprivlib'}")
    cells = [Cell(design, method) for design in options.designs for method in methods_of(design, peer)]
    run = partial(one, options.census, options.peer_python)
    lines = replicate_all(run, cells, options.epsilons, options, "rivals")
    found = {(cell.design, cell.method, epsilon): part for (cell, epsilon), part in lines.items()}
    report(found, options.designs, options.epsilons, peer)


if __name__ == "__main__":
    main()
