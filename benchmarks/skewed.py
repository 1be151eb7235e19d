"""`ols` on lines of skewed covariates, against least squares on the same rows: how long intervals are.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/skewed.py --fits 210 \\
        | tee benchmarks/results/skewed.txt

Lines are exact, or with --saturating effects level off. One covariate has the law of the row of the table, up
to two others any of these or a normal one; 10,000 to 300,000 rows, epsilon .5 to 5, bounds up to 30 times too
wide.
"""

import argparse
from typing import Any

import numpy as np
from lots.exact import least_squares
from provenance import header
from tabulate import tabulate

import dpstats as dps
from dpstats.testing import SeededNoise, noise

LAWS = {
    "lognormal(.5)": lambda draw, n: draw.lognormal(0, 0.5, n),
    "lognormal(.7)": lambda draw, n: draw.lognormal(0, 0.7, n),
    "lognormal(1.2)": lambda draw, n: draw.lognormal(0, 1.2, n),
    "exponential": lambda draw, n: draw.exponential(1, n),
    "gamma(.5)": lambda draw, n: draw.gamma(0.5, 1, n),
    "Pareto(3)": lambda draw, n: draw.pareto(3, n),
    "zero-inflated": lambda draw, n: draw.exponential(1, n) * (draw.random(n) < 0.2),
    "normal": lambda draw, n: draw.normal(size=n),
}
SKEWED = list(LAWS)[:-1]
Z95 = 1.959964


def levelled(x: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """An effect of x that levels off, or does not, of variance 1."""
    edge = np.quantile(np.abs(x), draw.uniform(0.8, 0.9999))
    shapes = np.clip(x, -edge, edge), np.tanh(x / edge), np.sign(x) * np.log1p(np.abs(x) / edge), x
    effect = shapes[draw.integers(len(shapes))]
    return np.asarray(effect / effect.std())


def one(seed: int, saturating: bool) -> dict[str, Any]:
    """Widths over those of least squares, and errors against it in half-lengths."""
    draw = np.random.default_rng([991, seed])
    n, epsilon, law = (
        int(10 ** draw.uniform(4, 5.5)),
        10 ** draw.uniform(-0.3, 0.7),
        SKEWED[seed % len(SKEWED)],
    )
    others = [str(draw.choice([*SKEWED, *["normal"] * len(SKEWED)])) for _ in range(draw.integers(3))]
    columns = [LAWS[each](draw, n) for each in (law, *others)]
    effects = [levelled(x, draw) if saturating else x / x.std() for x in columns]
    mean, explained = draw.normal(size=len(columns)) @ np.array(effects), draw.uniform(0.05, 0.95)
    y = mean + draw.normal(size=n) * mean.std() * np.sqrt(1 / explained - 1)
    names = [f"x{j}" for j in range(len(columns))]
    data, loose = dict(zip([*names, "y"], [*columns, y], strict=True)), 10 ** draw.uniform(0, 1.5)
    bounds = {
        k: dps.bounded(min(0.0, float(v.min()) * loose), float(v.max()) * loose) for k, v in data.items()
    }
    with noise(SeededNoise(seed)):
        fit = dps.ols("y ~ " + " + ".join(names), data, dps.Schema(**bounds)).fit(dps.approx(epsilon, 1e-6))
    exact, cov = least_squares(np.column_stack([np.ones(n), *columns]), y, None)
    low, high = fit.conf_int().to_numpy().T[:, 1:]
    half, sds = (high - low) / 2, np.sqrt(np.diag(cov))[1:]
    off = np.abs(fit.params.to_numpy() - exact)[1:] / half
    return dict(law=law, n=n * epsilon, width=half / sds / Z95, off=off, flagged=bool(fit.flags))


def row(label: str, fits: list[dict[str, Any]]) -> list[Any]:
    """What a group of fits says."""
    widths, off = (np.concatenate([fit[key] for fit in fits]) for key in ("width", "off"))
    wrong = [not fit["flagged"] and fit["off"].max() > 2 for fit in fits]
    flagged = [fit["flagged"] for fit in fits]
    shares = [100 * np.mean(each) for each in (wrong, flagged)]
    return [label, len(fits), np.median(widths), np.quantile(widths, 0.9), np.mean(off <= 1), *shares]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=210)
    parser.add_argument("--first", type=int, default=90_000, help="seed of the first fit")
    parser.add_argument("--saturating", action="store_true", help="effects level off")
    asked = parser.parse_args()
    fits = [one(seed, asked.saturating) for seed in range(asked.first, asked.first + asked.fits)]
    large = [fit for fit in fits if fit["n"] >= 1e5]
    groups = {"all": fits, "n epsilon < 100,000": [fit for fit in fits if fit["n"] < 1e5], "more": large}
    groups |= {f"{law}, more": [fit for fit in large if fit["law"] == law] for law in SKEWED}
    heads = ["", "fits", "width", "nine in ten", "least squares held", "CW %", "flagged %"]
    print(header() + "\n")
    print(tabulate([row(*each) for each in groups.items() if each[1]], heads, floatfmt=".2f"))


if __name__ == "__main__":
    main()
