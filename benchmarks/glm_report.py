"""The table of glm_coverage.py, and what prototypes had in its cells."""

import math

from glm_simulated import Cell
from interval_report import Lines, Shown, Summary, rms
from interval_report import report as report_cells

# A prototype without public moments, by (family, n, d, mu) of the design "cond1000": RMSE over that of
# maximum likelihood, T0 = 5 of T = 10
RATIOS = {
    ("logit", 1_000, 5, 1): 0.220 / 0.188,
    ("logit", 10_000, 10, 0.3): 0.119 / 0.086,
    ("poisson", 10_000, 5, 0.3): 0.021 / 0.012,
}
# Another, by (n, slopes): RMSE of one coefficient by maximum likelihood, and by the better of its
# errors at mu = .3, 1, 3; nan where it gives none
NONE = math.nan
ERM = {
    (1_000, 5): (0.120, 0.30, 0.139, 0.119),
    (1_000, 20): (0.126, 0.30, 0.209, 0.133),
    (10_000, 5): (0.040, 0.047, NONE, NONE),
    (10_000, 10): (0.037, 0.056, 0.038, 0.039),
    (10_000, 20): (0.037, 0.067, 0.037, 0.033),
    (100_000, 10): (0.012, 0.013, NONE, NONE),
    (100_000, 20): (0.012, NONE, 0.012, NONE),
}
ERM_MUS = (0.3, 1.0, 3.0)
NOTES = """
rival    error of objective_newton.py on the same samples, ready matrix, and the share of its intervals that
hold
         the truth
In the design "erm", errors are root mean squares over the coefficients."""


def report(cells: dict[tuple[Cell, float], Lines], public: int) -> None:
    shown = []
    for (cell, mu), lines in cells.items():
        if lines:
            found = Summary(lines, "MLE")
            known = math.nan if public else reference(cell, mu, found)
            shown.append(Shown(f"{cell.name}, mu {mu:g}", found, known, parts(cell), rival(lines)))
    report_cells(shown, "MLE", NOTES)


def parts(cell: Cell) -> dict[str, slice]:
    found = {"slopes": slice(1, cell.d), "intercept": slice(0, 1)}
    return found | ({"dispersion": slice(cell.d, None)} if cell.family == "gamma" else {})


def rival(lines: Lines) -> str:
    if "rival" not in lines[0]:
        return ""
    held = sum(line["rival_held"] for line in lines) / len(lines)
    return f", rival {rms(line['rival'] for line in lines):.4f} (covers {held:.3f})"


def reference(cell: Cell, mu: float, found: Summary) -> float:
    """Error of the specification for this cell; nan where it gives none."""
    if cell.law != "own" or cell.half != 4:
        return math.nan
    if cell.design == "erm" and mu in ERM_MUS:
        exact, *private = ERM.get((cell.n, cell.d - 1), (NONE, NONE, NONE, NONE))
        # its tables are of few samples, some of them better than maximum likelihood
        return max(private[ERM_MUS.index(mu)] / exact, 1.0) * found.exact
    if cell.design == "cond1000":
        return RATIOS.get((cell.family, cell.n, cell.d, mu), math.nan) * found.exact
    return math.nan
