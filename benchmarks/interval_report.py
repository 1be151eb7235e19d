"""What cells of simulated fits say: errors against the fit without privacy, coverage, lengths and flags."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from coverage_report import share_error

Array = np.ndarray
Lines = list[dict[str, Any]]
WANTED = (0.93, 0.98)
USABLE = 0.6  # rel up to which coverage has an upper limit too
WORSE = 1.1  # than the reference
FAR = 0.005
KEY = """
error    RMSE of predictions, sqrt((b - beta)' E xx' (b - beta)); of {exact} on the same samples; their ratio;
         [reference], the specification's figure for the cell
rel      median size of the noise of the released matrix over its least eigenvalue, 99 at most; nan if no fit
         says it
flags    share of fits with a caution, by code; none: share of intervals that are infinite
far      share of intervals that miss by more than twice their length
covers   share of 95 % intervals that hold the truth, +- its Monte Carlo standard error
worst    of the single coefficients
clear    the same among fits without a caution
length   median half-length / (1.96 * root mean square error)
privacy  median share of the variance that is privacy noise"""


class Shown(NamedTuple):
    """One cell at one budget.

    Attributes
    ----------
    title : str
    found : Summary
    known : float
        Error that the specification gives, or nan.
    parts : dict of slice
        Where the quantities of each name are.
    beside : str
        More to print of errors.
    """

    title: str
    found: "Summary"
    known: float
    parts: dict[str, slice]
    beside: str = ""


class Summary:
    """What the replications of a cell say.

    Attributes
    ----------
    error, exact, none, far, flagged : float
    codes : dict of float
    held : array of bool, shape (fits, quantities)
    """

    def __init__(self, lines: Lines, exact: str) -> None:
        self.truth, self.estimate, low, high, self.share = (
            np.array([line[key] for line in lines], dtype=float)
            for key in ("truth", "estimate", "low", "high", "share")
        )
        self.reps = len(lines)
        self.error, self.exact = (rms([line[key] for line in lines]) for key in ("error", exact.lower()))
        self.rel = float(np.median([line["rel"] for line in lines]))
        self.half = (high - low) / 2
        self.held = (low <= self.truth) & (self.truth <= high)
        clear = np.array([not line["flags"] for line in lines])
        self.clear = self.held[clear]
        self.codes = {
            code: float(np.mean([code in line["flags"] for line in lines]))
            for code in sorted({code for line in lines for code in line["flags"]})
        }
        self.flagged = float(1 - clear.mean())
        self.none = float(np.mean(~np.isfinite(self.half)))
        beyond = np.maximum(low - self.truth, self.truth - high)
        self.far = float(np.mean(beyond > 4 * self.half))

    @property
    def usable(self) -> bool:
        """By rel, or where that is not known by the cautions."""
        return self.flagged < 0.5 if math.isnan(self.rel) else self.rel <= USABLE

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


def rms(values: Iterable[float]) -> float:
    return float(np.sqrt(np.mean(np.square(list(values)))))


def report(cells: Iterable[Shown], exact: str, notes: str = "") -> None:
    """Print all cells, and what they do not meet.

    Parameters
    ----------
    cells : iterable of Shown
    exact : str
        Name of the fit without privacy; in small letters, the key of its errors.
    notes : str
        More about what is printed.
    """
    print(KEY.format(exact=exact) + notes + "\n")
    complaints, missed, intervals = [], 0.0, 0
    for cell in cells:
        complaints += show(cell, exact)
        missed += cell.found.far * cell.found.held.size
        intervals += cell.found.held.size
    far = missed / max(intervals, 1)
    print(f"far over all cells: {far:.4f} (at most {FAR:g}: {'pass' if far <= FAR else 'FAIL'})")
    low, high = WANTED
    print(f"Wanted: coverage {low:g} to {high:g} where rel is at most {USABLE:g}, elsewhere at least {low:g}")
    print(f"(within 2 standard errors), and errors at most {WORSE:g} times the reference. Not met:")
    print(*(complaints or ["none"]), sep="\n")


def show(cell: Shown, exact: str) -> list[str]:
    """Print a cell; return what it does not meet."""
    title, found, known = cell.title, cell.found, cell.known
    reference = f" [{known:.3f}]" if known == known else ""
    codes = "".join(f", {code} {share:.2f}" for code, share in found.codes.items())
    print(
        f"{title}: {found.reps} fits; error {found.error:.4f}{reference}, {exact} {found.exact:.4f}, "
        f"ratio {found.error / found.exact:.2f}{cell.beside}; rel {np.minimum(found.rel, 99):.2f}"
    )
    print(f"  flagged {found.flagged:.2f}{codes}; none {found.none:.2f}; far {found.far:.4f}")
    complaints = []
    for name, where in cell.parts.items():
        part = found.part(where)
        print(
            f"  {name:10s} covers {part['covers']:.3f} +- {part['error']:.3f}  worst {part['worst']:.2f}  "
            f"clear {part['clear']:.3f}  length {part['length']:5.2f}  privacy {part['privacy']:.2f}"
        )
        short = part["covers"] + 2 * part["error"] < WANTED[0]
        wide = part["covers"] - 2 * part["error"] > WANTED[1] and found.usable
        if short or wide:
            complaints.append(f"{title}: {name} cover {part['covers']:.3f} +- {part['error']:.3f}")
    if found.error > WORSE * known:
        complaints.append(f"{title}: error {found.error:.4f}, reference {known:.3f}")
    return complaints
