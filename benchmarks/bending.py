"""How far weighting moves lines of real tables, over what linear models take a square to move them by.

    python benchmarks/bending.py --lines 600 | tee benchmarks/results/bending.txt

A line is a response and covariates of a table, drawn at random. Rows longer than R weigh R^2 / |a|^2, as in
docs/theory/linear.md#bending; nothing is private here. Of the lines that surely bend, by more than 3 standard
errors of the product of residual and square, the slope along the line is compared with that of least squares.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lots.real import DATA, tables
from provenance import header

from dpstats.estimators.gram.bounds import base_square

Array = np.ndarray
LENGTHS, MOST_ROWS, MOST_COLUMNS, WORST = (1.0, 1.5, 2.0, 3.0), 20_000, 12, 1e3
LIMIT, EDGE, LEFT, SURE = 4.0, 2.0, 0.5, 3.0
SHARES = (0.01, 0.1, 0.2, 0.4, 0.7, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of tables")
    options = parser.parse_args()
    rng, found = np.random.default_rng(options.seed), []
    known = tables(options.data)
    for _ in range(options.lines):
        drawn = draw(rng, known)
        if drawn is not None:
            found.append(compared(rng, *drawn))
    frame = pd.DataFrame([each for each in found if each])
    print(header(data=options.data))
    print(
        f"{len(found)} lines, of which {len(frame)} surely bend. Shift of the slope along the line over the"
    )
    print("coefficient of the square times u (u / p)^1/2, at most 1; u, p: shares of variance and weight")
    print("that rows have lost.\n")
    for title, groups in (("R over the usual", frame["length"]), ("u", pd.cut(frame["u"], SHARES))):
        table = frame.groupby(groups, observed=True)["ratio"].quantile([0.25, 0.5, 0.75, 0.9, 0.95]).unstack()
        print(
            table.assign(lines=frame.groupby(groups, observed=True).size())
            .rename_axis(title)
            .round(2)
            .to_string()
        )
        print()
    print(frame["ratio"].quantile([0.25, 0.5, 0.75, 0.9, 0.95]).round(2).to_string())


def draw(rng: np.random.Generator, known: dict[str, pd.DataFrame]) -> tuple[Array, Array] | None:
    """Standardised columns, the first of ones, and response; none if there are too few or they are tied."""
    rows = known[str(rng.choice(list(known)))]
    rows = rows.iloc[rng.permutation(len(rows))[:MOST_ROWS]]
    numbers = [name for name in rows if rows[name].dtype.kind == "f" and rows[name].nunique() > 5]
    if not numbers:
        return None
    response = str(rng.choice(numbers))
    others = [name for name in rows if name != response]
    chosen = rng.permutation(others)[: round(min(len(others), MOST_COLUMNS) ** rng.uniform())]
    x = pd.get_dummies(rows[list(chosen)], drop_first=True).to_numpy(float)
    x = x[:, x.std(axis=0) > 0]
    if not x.shape[1] or len(x) < 5 * x.shape[1] + 100:
        return None
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    y = rows[response].to_numpy(float)
    return None if np.linalg.cond(x) > WORST else (np.column_stack([np.ones(len(x)), x]), y / y.std())


def compared(rng: np.random.Generator, x: Array, y: Array) -> dict[str, Any] | None:
    """Shares that are lost, and the shift of a line with rows of some length, if it surely bends."""
    n, k = x.shape
    length = float(rng.choice(LENGTHS))
    whitening = np.eye(k)
    for _ in range(50):
        weight = np.minimum(1.0, base_square(k) * length**2 / np.sum((x @ whitening) ** 2, axis=1))
        gram = (x * weight[:, None]).T @ x / n
        values, vectors = np.linalg.eigh(gram)
        whitening = (vectors / np.sqrt(np.maximum(values, 1e-9))) @ vectors.T
    line = np.linalg.solve(gram, (x * weight[:, None]).T @ y / n)
    slopes, left = np.append(0.0, line[1:]), y - x @ line
    sd = float(np.sqrt(np.average(left**2, weights=weight)))
    along = gram @ slopes - gram[0] @ slopes / gram[0, 0] * gram[0]
    spread = float(np.sqrt(max(slopes @ along / gram[0, 0], 0.0)))
    if sd < 1e-3 or spread < 1e-3 * sd:
        return None
    t = np.clip(x @ slopes / spread, -EDGE, EDGE)
    product = np.clip(left / sd, -LIMIT, LIMIT) * (t**2 - EDGE**2 / 2)
    found, square = float(product.mean()), float((product**2).mean())
    if abs(found) < SURE * np.sqrt(square / n):
        return None
    lost = 1 - float(weight.mean())
    more = float(slopes**2 @ np.maximum(1 - np.diag(gram) / gram[0, 0], 0.0))
    u = max(lost, more / (more + spread**2))
    if u < SHARES[0]:
        return None
    apart = np.linalg.lstsq(x, y, rcond=None)[0] - line
    moved = abs(float(apart @ along)) / np.sqrt(gram[0, 0]) / spread / sd
    share = min(u * np.sqrt(u / max(lost, 1e-4)), 1.0)
    return {"length": length, "u": u, "ratio": moved / (share * abs(found) / (LEFT * square))}


if __name__ == "__main__":
    main()
