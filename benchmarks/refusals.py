"""Of the lottery's fits, which a rule of public numbers would have refused, and which were of use.

    PYTHONPATH=. python benchmarks/refusals.py tuned.jsonl fresh.jsonl \\
        | tee benchmarks/results/refusals.txt

Files are those that benchmarks/refusals_frontier.py draws, or benchmarks/lottery.py keeps: of a fit, how many
coefficients it lost. A fit is of use if it has an interval for any. Multiples were chosen on tuned.jsonl.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lots.designs import draw_design, draw_ordinary
from provenance import header

from dpstats.models import worth

LEAST = {
    "ols gaussian": worth.LINEAR,
    "ols pure": worth.PURE_LINEAR,
    "logit gaussian": worth.SCORES,
    "poisson gaussian": worth.COUNTS,
    "gamma gaussian": worth.SCORES,
    "logit pure": worth.PURE_LOGIT,
    "survreg gaussian": worth.TIMES,
    "survreg pure": worth.PURE_TIMES,
}
UNIT = 3  # rows of a unit of privacy, where there is one


def judged(path: Path) -> list[dict[str, Any]]:
    """What the rule says of each fit of a file, and what became of it."""
    draw = draw_ordinary if path.name.startswith("ordinary") else draw_design
    found = []
    for text in path.read_text().splitlines():
        record = json.loads(text)
        if "lost" not in record or record["route"] not in LEAST:
            continue
        design, k = draw(record["seed"]), len(record["names"])
        size = design.epsilon if design.kind == "pure" else design.budget.mu
        wanted = LEAST[record["route"]].needed(k) * (UNIT if design.extra == "units" else 1)
        found.append(
            {
                "route": record["route"],
                "file": path.stem,
                "lost": record["lost"] == k,
                "share": record["lost"] / k,
                "refused": design.n * size < wanted,
            }
        )
    return found


def table(frame: pd.DataFrame) -> pd.DataFrame:
    """Shares by route and file."""
    rows = []
    for (file, route), some in [*frame.groupby(["file", "route"]), *_all(frame)]:
        usable = some["refused"] & ~some["lost"]
        rows.append(
            {
                "file": file,
                "route": route,
                "fits": len(some),
                "all lost": int(some["lost"].sum()),
                "of these refused": round(float(some["refused"][some["lost"]].mean()), 2),
                "usable and refused": round(float(usable.mean()), 4),
                "lost in these": round(float(some["share"][usable].mean()), 2) if usable.any() else np.nan,
            }
        )
    return pd.DataFrame(rows)


def _all(frame: pd.DataFrame) -> list[tuple[tuple[str, str], pd.DataFrame]]:
    return [((file, "all"), some) for file, some in frame.groupby("file")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    frame = pd.DataFrame([one for path in options.files for one in judged(path)])
    print(header(**{f"file{i}": path for i, path in enumerate(options.files)}))
    print(table(frame).to_string(index=False))


if __name__ == "__main__":
    main()
