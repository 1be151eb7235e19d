"""The table of linear_coverage.py, and what a prototype had in its cells."""

import math

from interval_report import Lines, Shown, Summary
from interval_report import report as report_cells
from linear_simulated import Cell

PARTS = {"slopes": slice(1, -2), "intercept": slice(0, 1), "sigma": slice(-2, -1), "R2": slice(-1, None)}
# C6 without public moments, by (design, n, d, mu): prediction RMSE of its three stages
PREDICTION = {
    ("cond1", 1_000, 5, 1): 0.098,
    ("cond1", 10_000, 5, 0.3): 0.030,
    ("cond1000", 1_000, 5, 1): 0.114,
    ("cond1000", 10_000, 5, 0.3): 0.030,
    ("cond1000", 1_000, 10, 1): 0.16,
    ("cond1000", 10_000, 10, 0.3): 0.073,
    ("cond1000", 10_000, 10, 1): 0.036,
}
# D with the moments of 200 public rows: RMSE / that of least squares, by (n, mu)
PUBLIC = {(1_000, 0.3): 2.9, (1_000, 1): 1.27, (10_000, 1): 1.05}
NOTES = "\nsigma is that of all errors, clipped or not, R2 the population's"


def report(cells: dict[tuple[Cell, float], Lines], public: int, pure: bool) -> None:
    shown = []
    for (cell, mu), lines in cells.items():
        if lines:
            found = Summary(lines, "OLS")
            known = math.nan if pure else reference(cell, mu, found, public)
            shown.append(Shown(f"{cell.name}, {'epsilon' if pure else 'mu'} {mu:g}", found, known, PARTS))
    report_cells(shown, "OLS", NOTES)


def reference(cell: Cell, mu: float, found: Summary, public: int) -> float:
    """Error of the specification for this cell; nan where it gives none."""
    if cell.errors != "normal" or cell.half != 4:
        return math.nan
    if public:
        plain = public == 200 and cell.design == "cond1" and cell.d == 5
        return PUBLIC.get((cell.n, mu), math.nan) * found.exact if plain else math.nan
    return PREDICTION.get((cell.design, cell.n, cell.d, mu), math.nan)
