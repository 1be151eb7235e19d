"""What many lots say together."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import stats
from tabulate import tabulate

Record = dict[str, Any]
TENTHS = (
    "n",
    "epsilon",
    "n epsilon",
    "d",
    "looseness",
    "response looseness",
    "correlation",
    "rarest level",
    "signal",
    "level",
    "censored",
)
VALUES = ("kind", "dist", "law", "censoring", "extra", "skewed")
HEADS = ("", "fits", "CW %", "bound %", "covered", "flagged %", "lost %", "alarm %", "error", "width")
FORMATS = ("", "", ".2f", ".2f", ".3f", ".1f", ".1f", ".1f", ".2f", ".2f")
LARGE = 1e4  # n epsilon


def wrong(record: Record) -> bool:
    """No caution, and a truth more than two half-lengths from its estimate."""
    return not record["flags"] and any(abs(value) > 2 for value in _numbers(record, "halves"))


def false_alarm(record: Record) -> bool:
    """A caution though everything was estimated and all intervals hold."""
    holds = all(abs(value) <= 1 for value in _numbers(record, "halves"))
    return bool(record["flags"]) and not record["lost"] and holds


def _numbers(record: Record, key: str) -> list[float]:
    return [value for value in record[key] if value is not None]


def line(records: list[Record]) -> list[Any]:
    """The columns of HEADS but the first."""
    count, off = len(records), sum(map(wrong, records))
    quiet = [abs(value) for record in records if not record["flags"] for value in _numbers(record, "halves")]
    errors = [abs(value) for record in records for value in _numbers(record, "errors")]
    widths = [value for record in records for value in _numbers(record, "widths")]
    shares = [
        np.mean([test(record) for record in records])
        for test in (lambda r: bool(r["flags"]), lambda r: r["lost"] > 0, false_alarm)
    ]
    bound = stats.beta.ppf(0.99, off + 1, count - off) if off < count else 1.0
    return [
        count,
        100 * off / count,
        100 * bound,
        np.mean(np.array(quiet) <= 1) if quiet else np.nan,
        *(100 * share for share in shares),
        np.median(errors) / stats.norm.ppf(0.75) if errors else np.nan,
        np.median(widths) if widths else np.nan,
    ]


def table(name: str, groups: Iterable[tuple[str, list[Record]]]) -> str:
    rows = [[label, *line(records)] for label, records in groups if records]
    return f"{name}\n" + tabulate(rows, HEADS, floatfmt=FORMATS, missingval="") + "\n"


def by(records: list[Record], key: Callable[[Record], str]) -> list[tuple[str, list[Record]]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(key(record), []).append(record)
    return sorted(found.items())


def tenths(records: list[Record], key: str) -> list[tuple[str, list[Record]]]:
    """Ten groups of about one size; equal values stay together."""
    values = np.array([float(record[key]) for record in records])
    edges = np.unique(np.quantile(values, np.linspace(0, 1, 11)))
    index = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(len(edges) - 2, 0))
    return [
        (
            f"{edges[j]:.3g} to {edges[min(j + 1, len(edges) - 1)]:.3g}",
            [record for record, group in zip(records, index, strict=True) if group == j],
        )
        for j in range(max(len(edges) - 1, 1))
    ]


def worst(records: list[Record], command: str) -> str:
    """One-line reproductions of the ten fits that are most confidently wrong."""

    def size(record: Record) -> float:
        return max(map(abs, _numbers(record, "halves")), default=0.0)

    quiet = sorted((record for record in records if not record["flags"]), key=size, reverse=True)[:10]
    lines = [
        f"{command} --design {record['seed']}  # {size(record):.1f} half-lengths: {record['route']} "
        f"{record.get('dist', '')} {record.get('law', '')} n={record['n']} d={record['d']} "
        f"epsilon={record['epsilon']:.2g} {record.get('extra', '')}"
        for record in quiet
    ]
    return "The ten worst fits without a caution\n" + "\n".join(lines) + "\n"


def report(records: list[Record], command: str) -> str:
    """All tables."""
    refused = [record for record in records if "refused" in record]
    faults = [record for record in records if "fault" in record]
    fitted = [record for record in records if "halves" in record]
    if not fitted:
        return "nothing was fitted"

    def shown(keys: tuple[str, ...]) -> list[str]:
        return [key for key in keys if key in fitted[0]]

    large = [record for record in fitted if record["n epsilon"] >= LARGE]
    easy = [record for record in large if record["d"] <= 10 and record.get("law") == "right"]
    parts = [
        f"{len(fitted)} fits, {len(refused)} refused, {len(faults)} failed.",
        "CW: no caution, and a truth more than two half-lengths away; bound: upper 99 % bound of its rate.",
        "covered: intervals of fits without a caution. lost: something is not estimable. alarm: a false one,",
        "nothing lost and all intervals hold. error and width: medians, over those without privacy.\n",
        table("all", [("all", fitted)]),
        table("by model and route", by(fitted, lambda r: r["route"])),
        table(f"n epsilon of {LARGE:g} or more", by(large, lambda r: r["route"])),
        table("of these, up to 10 covariates and the right law", by(easy, lambda r: r["route"])),
        *(table(f"by {key}", by(fitted, lambda r, key=key: str(r[key]))) for key in shown(VALUES)),
        *(table(f"by tenths of {key}", tenths(fitted, key)) for key in shown(TENTHS)),
        worst(fitted, command),
    ]
    if refused:
        parts.append("Refused\n" + "\n".join(sorted({record["refused"] for record in refused})))
    parts += [f"Failed: {command} --design {record['seed']}  # {record['fault']}" for record in faults]
    return "\n".join(parts)
