"""The table of survreg_coverage.py: errors against the MLE's, coverage, lengths and flags of every cell."""

import numpy as np
from simulated import Cell

Array = np.ndarray
PARTS = {"slopes": slice(1, -2), "intercept": slice(0, 1), "log sigma": slice(-2, -1), "B10": slice(-1, None)}
JUDGED = ("slopes", "log sigma", "B10")
USABLE, WANTED, HONEST = 2.0, (0.93, 0.98), 0.93
# RMSE ratios to be no worse than: the better of two prototypes, by
# (family, per cent censored, n, epsilon), in the order of JUDGED; nan where neither gives one
NONE = float("nan")
REFERENCE = {
    ("sev", 0, 10_000, 1): (1.35, 1.56, 1.30),
    ("sev", 0, 10_000, 3): (1.14, 1.19, 1.16),
    ("sev", 30, 10_000, 1): (1.30, 1.55, 1.08),
    ("sev", 30, 10_000, 3): (1.09, 1.15, 1.08),
    ("sev", 60, 10_000, 1): (1.38, 1.38, 1.08),
    ("sev", 60, 10_000, 3): (1.11, 1.16, 1.09),
    ("logistic", 0, 10_000, 1): (1.23, 1.29, 1.17),
    ("logistic", 0, 10_000, 3): (1.07, 1.09, 0.99),
    ("logistic", 30, 10_000, 1): (1.31, NONE, NONE),
    ("logistic", 30, 10_000, 3): (1.02, NONE, NONE),
    ("logistic", 60, 10_000, 1): (1.26, 1.27, 2.44),
    ("logistic", 60, 10_000, 3): (1.08, 1.01, 1.28),
    ("sev", 0, 100_000, 1): (1.04, 1.40, NONE),
    ("sev", 0, 100_000, 3): (1.02, 1.06, NONE),
    ("sev", 30, 100_000, 1): (1.14, NONE, NONE),
    ("sev", 30, 100_000, 3): (1.05, NONE, NONE),
    ("sev", 60, 100_000, 1): (1.24, 1.45, NONE),
    ("sev", 60, 100_000, 3): (0.99, 1.24, NONE),
    ("logistic", 0, 100_000, 1): (1.04, NONE, NONE),
    ("logistic", 0, 100_000, 3): (1.02, NONE, NONE),
    ("logistic", 30, 100_000, 1): (1.08, NONE, NONE),
    ("logistic", 30, 100_000, 3): (1.01, NONE, NONE),
    ("logistic", 60, 100_000, 1): (1.03, NONE, NONE),
    ("logistic", 60, 100_000, 3): (1.01, NONE, NONE),
}
KEY = """
ratio    RMSE / RMSE of the MLE of the same samples; [reference], the better figure of the specification
covers   share of 95 % intervals that hold the target, +- its Monte Carlo standard error
worst    of the single coefficients
clear    the same among fits without a flag
honest   share of intervals that hold the target or carry the caution `law` (where errors are of another law)
length   mean finite length / (2 * 1.96 * sd of the estimate)
none     share of fits that give no interval (infinite length)
far      share of intervals that miss by more than twice their length
Target: the truth; where errors are not of the family, the limit of the MLE (2e6 rows).
"""


class Summary:
    """What one cell says of each part.

    Attributes
    ----------
    reps : int
    flagged : float
    ratio, covers, error, clear, honest, length : dict of float, by part
    worst, none, far : float
    """

    def __init__(self, lines: list[dict]) -> None:
        params, bse, mle, target = (
            np.array([line[key] for line in lines]) for key in ("params", "bse", "mle", "target")
        )
        errors, flagged = params - target, np.array([bool(line["flags"]) for line in lines])
        held = np.abs(errors) <= 1.96 * bse
        sd, finite = params.std(axis=0), np.where(np.isfinite(bse), bse, np.nan)
        self.reps, self.flagged = len(lines), float(flagged.mean())
        self.codes = {
            code: np.mean([code in line["flags"] for line in lines])
            for code in sorted({code for line in lines for code in line["flags"]})
        }
        self.settings = np.median([line["settings"] for line in lines], axis=0)

        def each(values: Array) -> dict[str, float]:
            return {part: float(np.mean(values[..., where])) for part, where in PARTS.items()}

        square = {
            part: np.mean(errors[:, where] ** 2) / np.mean((mle - target)[:, where] ** 2)
            for part, where in PARTS.items()
        }
        self.ratio = {part: float(np.sqrt(value)) for part, value in square.items()}
        self.covers = each(held)
        self.error = {part: share_error(held[:, where]) for part, where in PARTS.items()}
        law = np.array(["law" in line["flags"] for line in lines])
        self.honest = each(held | law[:, None])
        self.worst = float(held.mean(axis=0).min())
        self.clear = each(held[~flagged]) if not flagged.all() else dict.fromkeys(PARTS, NONE)
        some = np.isfinite(finite).any()
        self.length = each(np.nanmean(finite, axis=0) / sd) if some else dict.fromkeys(PARTS, NONE)
        self.none = float(np.mean(~np.isfinite(bse)))
        self.far = float(np.mean(np.abs(errors) > 5 * 1.96 * bse))


def share_error(held: Array) -> float:
    """Standard error of a share; coefficients of one fit go together. Never below that of a share of .95."""
    fits = len(held)
    return float(max(held.mean(axis=1).std() / np.sqrt(fits), np.sqrt(0.95 * 0.05 / held.size)))


def report(cells: dict[tuple[Cell, float], list[dict]]) -> None:
    print(KEY)
    complaints = []
    for (cell, epsilon), lines in cells.items():
        if not lines:
            continue
        found = Summary(lines)
        reference = REFERENCE.get((cell.family, cell.censored, cell.n, epsilon), (NONE,) * 3)
        if cell.design != "norm" or not well_specified(cell):
            reference = (NONE,) * 3
        known = dict(zip(JUDGED, reference, strict=True))
        show(cell, epsilon, found, known)
        for complaint in judge(found, known) if well_specified(cell) else judge_law(found):
            complaints.append(f"{cell.name}, epsilon {epsilon:g}: {complaint}")
    low, high = WANTED
    print(f"Required: coverage {low:g} to {high:g} (or within 2 standard errors) where the ratio is below")
    print(f"{USABLE:g}; else flagged, or covering; ratios at most 1.1 times the reference. Where errors are")
    print(f"of another law: covering or flagged `law` in at least {HONEST:g}. Not met:")
    print(*(complaints or ["none"]), sep="\n")


def show(cell: Cell, epsilon: float, found: Summary, reference: dict[str, float]) -> None:
    c, z_l, radius = found.settings
    codes = "".join(f", {code} {share:.2f}" for code, share in found.codes.items())
    print(f"{cell.name}, epsilon {epsilon:g}: {found.reps} fits; c {c:g}, z_l {z_l:.1f}, R {radius:.1f}")
    print(
        f"  flagged {found.flagged:.2f}{codes}; none {found.none:.2f}; far {found.far:.4f}; "
        f"worst {found.worst:.2f}"
    )
    for part in PARTS:
        known = reference.get(part, NONE)
        beside = f"[{known:.2f}]" if known == known else ""
        honest = "" if well_specified(cell) else f"  honest {found.honest[part]:.3f}"
        print(
            f"  {part:10s} ratio {found.ratio[part]:6.2f} {beside:7s} covers {found.covers[part]:.3f} "
            f"+- {found.error[part]:.3f}  clear {found.clear[part]:.3f}{honest}  "
            f"length {found.length[part]:.2f}"
        )


def well_specified(cell: Cell) -> bool:
    """Whether errors are of the family that is fitted."""
    return cell.errors == "true"


def judge(found: Summary, reference: dict[str, float]) -> list[str]:
    """What of the requirements a cell does not meet, beyond Monte Carlo error."""
    complaints = []
    for part in JUDGED:
        covers, error = found.covers[part], found.error[part]
        if found.ratio[part] < USABLE:
            if covers + 2 * error < WANTED[0] or covers - 2 * error > WANTED[1]:
                complaints.append(f"{part} cover {covers:.3f} +- {error:.3f}, ratio {found.ratio[part]:.2f}")
        elif found.flagged < 0.9 and found.clear[part] + 2 * error < HONEST:
            complaints.append(
                f"{part} unusable, ratio {found.ratio[part]:.2f}; flagged {found.flagged:.2f}, "
                f"the others cover {found.clear[part]:.3f}"
            )
        if found.ratio[part] > 1.1 * reference[part]:
            complaints.append(f"{part} ratio {found.ratio[part]:.2f}, reference {reference[part]:.2f}")
    return complaints


def judge_law(found: Summary) -> list[str]:
    """Parts whose intervals miss without the caution that the error law does not hold."""
    return [
        f"{part} honest {found.honest[part]:.3f} +- {found.error[part]:.3f}"
        for part in JUDGED
        if found.honest[part] + 2 * found.error[part] < HONEST
    ]
