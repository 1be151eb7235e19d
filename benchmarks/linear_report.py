"""The table of linear_coverage.py: errors against least squares, coverage, lengths and flags of each cell."""

import math
from typing import Any

import numpy as np
from coverage_report import share_error
from linear_simulated import Cell

Array = np.ndarray
PARTS = {"slopes": slice(1, -2), "intercept": slice(0, 1), "sigma": slice(-2, -1), "R2": slice(-1, None)}
WANTED = (0.93, 0.98)
# spec/linear_glm.md C6 without public moments, by (design, n, d, mu): prediction RMSE of its three stages
PREDICTION = {
    ("cond1", 1_000, 5, 1): 0.098, ("cond1", 10_000, 5, 0.3): 0.030,
    ("cond1000", 1_000, 5, 1): 0.114, ("cond1000", 10_000, 5, 0.3): 0.030,
    ("cond1000", 1_000, 10, 1): 0.16,
    ("cond1000", 10_000, 10, 0.3): 0.073, ("cond1000", 10_000, 10, 1): 0.036,
}  # fmt: skip
# spec/linear_glm.md D with the moments of 200 public rows: RMSE / that of least squares, by (n, mu)
PUBLIC = {(1_000, 0.3): 2.9, (1_000, 1): 1.27, (10_000, 1): 1.05}
KEY = """
error    RMSE of predictions, sqrt((b - beta)' E xx' (b - beta)); of OLS on the same samples; their ratio;
         [reference], the specification's figure for the cell
rel      median size of the noise of the released matrix over its least eigenvalue, 99 at most
flags    share of fits with a caution, by code; none: share of intervals that are infinite
far      share of intervals that miss by more than twice their length
covers   share of 95 % intervals that hold the truth, +- its Monte Carlo standard error; sigma is that of all
         errors, clipped or not, R2 the population's
worst    of the single coefficients
clear    the same among fits without a caution
length   median half-length / (1.96 * root mean square error)
privacy  median share of the variance that is privacy noise
"""


class Summary:
    """What one cell says.

    Attributes
    ----------
    error, ols, none, far, flagged : float
    codes : dict of float
    held : array of bool, shape (fits, quantities)
    """

    def __init__(self, lines: list[dict[str, Any]]) -> None:
        self.truth, self.estimate, low, high, self.share = (
            np.array([line[key] for line in lines], dtype=float)
            for key in ("truth", "estimate", "low", "high", "share")
        )
        self.reps = len(lines)
        self.error, self.ols = (_rms([line[key] for line in lines]) for key in ("error", "ols"))
        self.rel = float(np.median([line["rel"] for line in lines]))
        self.half = (high - low) / 2
        self.held = (low <= self.truth) & (self.truth <= high)
        clear = np.array([not line["flags"] for line in lines])
        self.clear = self.held[clear]
        self.codes = {code: float(np.mean([code in line["flags"] for line in lines]))
                      for code in sorted({code for line in lines for code in line["flags"]})}
        self.flagged = float(1 - clear.mean())
        self.none = float(np.mean(~np.isfinite(self.half)))
        beyond = np.maximum(low - self.truth, self.truth - high)
        self.far = float(np.mean(beyond > 4 * self.half))

    def part(self, where: slice) -> dict[str, float]:
        held, errors = self.held[:, where], (self.estimate - self.truth)[:, where]
        half = np.median(self.half[:, where], axis=0)
        with np.errstate(invalid="ignore"):
            lengths = half / (1.96 * np.sqrt(np.mean(errors**2, axis=0)))
        return {
            "covers": float(held.mean()),
            "error": share_error(held),
            "worst": float(held.mean(axis=0).min()),
            "clear": float(self.clear[:, where].mean()) if len(self.clear) else math.nan,
            "length": float(lengths.mean()),
            "privacy": float(np.nanmedian(self.share[:, where])),
        }


def _rms(values: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def report(cells: dict[tuple[Cell, float], list[dict[str, Any]]], public: int, pure: bool) -> None:
    print(KEY)
    complaints = []
    for (cell, mu), lines in cells.items():
        if lines:
            found = Summary(lines)
            known = math.nan if pure else reference(cell, mu, found, public)
            complaints += show(f"{cell.name}, {'epsilon' if pure else 'mu'} {mu:g}", found, known)
    low, high = WANTED
    print(f"Wanted: coverage {low:g} to {high:g} where rel is at most .6, elsewhere at least {low:g},")
    print("within 2 standard errors; error at most 1.1 times the reference. Not met:")
    print(*(complaints or ["none"]), sep="\n")


def reference(cell: Cell, mu: float, found: Summary, public: int) -> float:
    """Error of the specification for this cell; nan where it gives none."""
    if cell.errors != "normal" or cell.half != 4:
        return math.nan
    if public:
        plain = public == 200 and cell.design == "cond1" and cell.d == 5
        return PUBLIC.get((cell.n, mu), math.nan) * found.ols if plain else math.nan
    return PREDICTION.get((cell.design, cell.n, cell.d, mu), math.nan)


def show(title: str, found: Summary, known: float) -> list[str]:
    """Print a cell; return what it does not meet."""
    beside = f" [{known:.3f}]" if known == known else ""
    codes = "".join(f", {code} {share:.2f}" for code, share in found.codes.items())
    print(f"{title}: {found.reps} fits; error {found.error:.4f}{beside}, OLS {found.ols:.4f}, "
          f"ratio {found.error / found.ols:.2f}; rel {min(found.rel, 99):.2f}")
    print(f"  flagged {found.flagged:.2f}{codes}; none {found.none:.2f}; far {found.far:.4f}")
    complaints = []
    for name, where in PARTS.items():
        part = found.part(where)
        print(f"  {name:10s} covers {part['covers']:.3f} +- {part['error']:.3f}  worst {part['worst']:.2f}  "
              f"clear {part['clear']:.3f}  length {part['length']:5.2f}  privacy {part['privacy']:.2f}")
        short = part["covers"] + 2 * part["error"] < WANTED[0]
        wide = part["covers"] - 2 * part["error"] > WANTED[1] and found.rel <= 0.6
        if short or wide:
            complaints.append(f"{title}: {name} cover {part['covers']:.3f} +- {part['error']:.3f}")
    if found.error > 1.1 * known:
        complaints.append(f"{title}: error {found.error:.4f}, reference {known:.3f}")
    return complaints
