"""Coverage of the intervals of `dps.describe` on tables drawn at random, where the truth is known.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/describe.py --tables 160 --workers 2 \\
        | tee benchmarks/results/describe.txt

Tables have 1,000 to 50,000 rows and one to eight numbers of different laws, of which smooth ones are
correlated, beside a factor, a flag and an event; bounds are tight, loose or far off the centre; cells are
missing in some variables, in some tables of two variables together. A table and its noise are seeded by its
number. The truth is that of values moved into their bounds. Beside the coverage stands that of the usual
interval without privacy, of the same rows, for means, sds and
quantiles, these between two of the sorted rows.

The last table is of the median of one column of 5,000 normal values, sd 1, anywhere within [0, 1e6]: how far
it is from the median of the rows. Beside it stands what one count of the rows below a known point costs the
median, if the whole budget went to it: no release that has to find the column, too, can do as well.
"""

import argparse
import itertools
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from provenance import header
from scipy import stats
from tabulate import tabulate

import dpstats as dps
from dpstats.results.description import QUANTILES
from dpstats.testing import SeededNoise, noise


class Values(NamedTuple):
    """A law of a few values with their shares."""

    values: tuple[float, ...]
    shares: tuple[float, ...]

    def ppf(self, p: Any) -> np.ndarray:
        at = np.searchsorted(np.cumsum(self.shares), p, side="right")
        return np.asarray(self.values)[np.minimum(at, len(self.values) - 1)]

    def std(self) -> float:
        mean = np.dot(self.values, self.shares)
        return float(np.sqrt(np.dot(self.shares, (np.asarray(self.values) - mean) ** 2)))

    def support(self) -> tuple[float, float]:
        return self.values[0], self.values[-1]


SMOOTH = {
    "normal": stats.norm(20, 3),
    "log-normal": stats.lognorm(0.75),
    "gamma, shape 0.7": stats.gamma(0.7),
    "t, 5 df": stats.t(5),
    "uniform": stats.uniform(0, 1),
}
DISCRETE = {
    "integers": stats.poisson(3),
    "count": stats.poisson(2),
    "few values": Values((0.0, 3.0, 10.0, 50.0), (0.4, 0.3, 0.2, 0.1)),
    "constant": Values((7.0,), (1.0,)),
    "rare value": Values((7.0, 50.0), (0.997, 0.003)),
}
LAWS = SMOOTH | DISCRETE
BUDGETS = {
    "approx(1, 1e-6)": dps.approx(1, 1e-6),
    "approx(0.5, 1e-6)": dps.approx(0.5, 1e-6),
    "zcdp(0.1)": dps.zcdp(0.1),
    "gdp(0.5)": dps.gdp(0.5),
    "pure(1)": dps.pure(1),
}
POINTS = (np.arange(50_000) + 0.5) / 50_000
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)
SHARES = (0.6, 0.3, 0.1)


class Number(NamedTuple):
    """A column of numbers: its law, bounds, share of missing cells, and loading on the common factor."""

    law: str
    low: float
    high: float
    missing: float
    loading: float

    def of(self, normal: np.ndarray) -> np.ndarray:
        """Values in the bounds, by the normals behind them."""
        return np.clip(LAWS[self.law].ppf(stats.norm.cdf(normal)), self.low, self.high)

    @property
    def declared(self) -> Any:
        return dps.count(int(self.high)) if self.law == "count" else dps.bounded(self.low, self.high)


def drawn(draw: np.random.Generator) -> list[Number]:
    """Columns of a table."""
    found = []
    for law in draw.choice(list(LAWS), draw.integers(1, 9)):
        known = LAWS[law]
        sd = float(known.std()) or 1.0
        width, place = sd * 10 ** draw.uniform(0, 5), draw.uniform()
        least, most = (float(known.ppf(p)) for p in (1e-6, 1 - 1e-6))
        low, high = least - place * width, most + (1 - place) * width
        if known.support()[0] == 0 and draw.uniform() < 0.5:
            low = 0.0
        if law == "count":
            low, high = 0.0, float(np.ceil(12 * 10 ** draw.uniform(0, 3)))
        missing = draw.choice([0.0, draw.uniform(0, 0.3)])
        found.append(Number(law, low, high, missing, draw.uniform(-0.95, 0.95) if law in SMOOTH else 0.0))
    return found


def table(
    numbers: list[Number], n: int, draw: np.random.Generator
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Rows and the schema."""
    common, data, declared = draw.normal(size=n), {}, {}
    together, lacking = draw.uniform() < 0.5, draw.uniform(size=n)
    for j, number in enumerate(numbers):
        own = draw.normal(size=n)
        values = number.of(number.loading * common + np.sqrt(1 - number.loading**2) * own)
        gone = (lacking if together and j < 2 else draw.uniform(size=n)) < number.missing
        data[f"x{j}"], declared[f"x{j}"] = np.where(gone, np.nan, values), number.declared
    data["flag"], declared["flag"] = (draw.uniform(size=n) < 0.02).astype(float), dps.flag()
    data["event"], declared["event"] = (draw.uniform(size=n) < 0.4).astype(float), dps.event()
    data["level"] = draw.choice(["a", "b", "c"], n, p=SHARES)
    declared["level"] = dps.levels("a", "b", "c")
    return data, declared


def correlation(first: Number, second: Number) -> float:
    """Of two columns, by quadrature over the normals behind them."""
    rho = first.loading * second.loading
    x, e = NODES[:, None], NODES[None, :]
    weights = np.outer(WEIGHTS, WEIGHTS) / WEIGHTS.sum() ** 2
    a, b = first.of(np.broadcast_to(x, weights.shape)), second.of(rho * x + np.sqrt(1 - rho**2) * e)
    a, b = a - (weights * a).sum(), b - (weights * b).sum()
    sds = np.sqrt((weights * a**2).sum() * (weights * b**2).sum())
    return float((weights * a * b).sum() / sds) if rho else 0.0


def truths(number: Number) -> dict[str, float]:
    """Quantities of a column by name."""
    values = number.of(stats.norm.ppf(POINTS))
    found = {"missing": number.missing, "mean": values.mean(), "sd": values.std()}
    return found | {head: np.quantile(values, p, method="inverted_cdf") for head, p in QUANTILES.items()}


def plain(values: np.ndarray, quantity: str, truth: float) -> float:
    """Whether the usual interval without privacy holds the truth; nan of other quantities."""
    values = values[~np.isnan(values)]
    sd, n = values.std(), len(values)
    if quantity == "mean":
        return float(abs(values.mean() - truth) <= 1.96 * sd / np.sqrt(n) + 1e-9)
    if quantity == "sd":
        kurtosis = np.mean((values - values.mean()) ** 4) / sd**4 if sd else 1.0
        return float(abs(sd - truth) <= 1.96 * sd * np.sqrt((kurtosis - 1) / 4 / n) + 1e-9)
    if quantity in QUANTILES:
        place, half = (
            QUANTILES[quantity] * n,
            1.96 * np.sqrt(QUANTILES[quantity] * (1 - QUANTILES[quantity]) * n),
        )
        ranks = np.clip([np.floor(place - half) - 1, np.ceil(place + half)], 0, n - 1).astype(int)
        return float(within(truth, *np.sort(values)[ranks]))
    return np.nan


def one(number: int) -> list[dict[str, Any]]:
    """All intervals of one table beside the truth."""
    draw = np.random.default_rng(number)
    numbers, n = drawn(draw), int(10 ** draw.uniform(3, 4.7))
    budget = str(draw.choice(list(BUDGETS)))
    data, declared = table(numbers, n, draw)
    with noise(SeededNoise(number)):
        found = dps.describe(data, dps.Schema(declared), BUDGETS[budget])
    facts = {"table": number, "n": n, "budget": budget}
    records, known = [], {f"x{j}": truths(one) for j, one in enumerate(numbers)}
    known |= {name: {"missing": 0.0} for name in ("flag", "event", "level")}
    known["flag"]["share of 1"], known["event"]["share of 1"] = 0.02, 0.4
    known["level"] |= {f"share of {name}": share for name, share in zip("abc", SHARES, strict=True)}
    for row in found.frame.itertuples():
        if row.quantity == "usable":
            continue
        number_of = numbers[int(row.variable[1:])] if row.variable[0] == "x" else None
        truth, law = known[row.variable][row.quantity], number_of.law if number_of else "factor, flag, event"
        sd = (known[row.variable]["sd"] or 1.0) if number_of and row.quantity != "missing" else 1.0
        records.append(
            facts
            | {
                "law": law,
                "quantity": row.quantity if number_of or row.quantity == "missing" else "share",
                "covered": within(truth, row.conf_low, row.conf_high),
                "half": (row.conf_high - row.conf_low) / 2 / sd,
                "noise": row.privacy_share,
                "plain": plain(data[row.variable], row.quantity, truth) if number_of else np.nan,
            }
        )
    for row in found.correlations().itertuples():
        pair = [numbers[int(name[1:])] for name in (row.first, row.second)]
        if "constant" in [each.law for each in pair]:
            continue
        records.append(
            facts
            | {
                "law": "smooth pair" if all(each.law in SMOOTH for each in pair) else "other pair",
                "quantity": "correlation",
                "covered": within(correlation(*pair), row.conf_low, row.conf_high),
                "half": (row.conf_high - row.conf_low) / 2,
                "noise": row.privacy_share,
                "plain": np.nan,
            }
        )
    return records


def within(truth: float, low: float, high: float) -> bool:
    """But for the rounding of the truth."""
    room = 1e-6 * max(abs(truth), 1e-3)
    return bool(low - room <= truth <= high + room)


def printed(records: pd.DataFrame, by: list[str]) -> str:
    groups = records.groupby(by, sort=False)
    frame = pd.DataFrame(
        {
            "intervals": groups.size(),
            "covered %": 100 * groups["covered"].mean(),
            "without privacy %": 100 * groups["plain"].mean(),
            "median half-width": groups["half"].median(),
            "noise %": 100 * groups["noise"].median(),
        }
    ).reset_index()
    formats = (*[""] * len(by), "d", ".1f", ".1f", ".3g", ".0f")
    return str(
        tabulate(frame, headers=list(frame.columns), floatfmt=formats, showindex=False, missingval="-")
    )


def medians(tables: int, first: int, budget: dps.budget.Budget, n: int = 5000) -> dict[str, Any]:
    """Of a column that is declared a million sds wide."""
    wrong, half, schema = [], [], dps.Schema(x=dps.bounded(0, 1e6))
    for number in range(first, first + tables):
        draw = np.random.default_rng([1, number])
        values = draw.normal(draw.uniform(1e3, 999e3), 1, n)
        with noise(SeededNoise(number)):
            found = dps.describe({"x": values}, schema, budget).frame.set_index("quantity").loc["median"]
        wrong.append(abs(found["estimate"] - np.median(values)))
        half.append((found["conf_high"] - found["conf_low"]) / 2)
    one = np.sqrt(2) / budget.epsilon if isinstance(budget, dps.budget.Pure) else 1 / budget.mu
    return {
        "budget": str(budget),
        "columns": tables,
        "median error": np.median(wrong),
        "90 %": np.quantile(wrong, 0.9),
        "within 2 % of an sd, %": 100 * np.mean(np.array(wrong) <= 0.02),
        "median half-width": np.median(half),
        "sd of one count": one * np.sqrt(2 * np.pi) / n,
    }


def coded(tables: int, first: int, columns: int, n: int, share: float) -> dict[str, Any]:
    """Of a number of which some rows hold a code far away, such as -999, beside other columns."""
    declared = {f"x{j}": dps.bounded(-1000, 1000) for j in range(columns)}
    held = {"mean": 0, "sd": 0}
    for number in range(first, first + tables):
        draw = np.random.default_rng([2, number])
        data = {name: draw.normal(7, 15, n) for name in declared}
        data["x0"] = np.where(draw.uniform(size=n) < share, -999.0, data["x0"])
        with noise(SeededNoise(number)):
            found = dps.describe(data, dps.Schema(declared), dps.zcdp(0.1)).frame
        rows = found[found["variable"] == "x0"].set_index("quantity")
        mean = 7 - share * 1006
        truth = {"mean": mean, "sd": float(np.sqrt((1 - share) * (225 + 49) + share * 999**2 - mean**2))}
        for name, value in truth.items():
            held[name] += within(value, rows.loc[name, "conf_low"], rows.loc[name, "conf_high"])
    return {
        "columns": columns,
        "rows": n,
        "coded %": 100 * share,
        **{f"{name} held %": 100 * each / tables for name, each in held.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--first", type=int, default=0, help="number of the first table, which seeds it")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--medians", type=int, default=100)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.workers) as pool:
        found = pool.map(one, range(options.first, options.first + options.tables), chunksize=4)
        records = pd.DataFrame(list(itertools.chain.from_iterable(found)))
    records = records.sort_values("quantity", kind="stable")
    print(header())
    print(f"{options.tables} tables from {options.first} on; intervals are to cover in 95 %")
    print("half-widths in sds of the variable\n")
    print(printed(records, ["quantity"]), "\n")
    smooth = records["law"].isin([*SMOOTH, "smooth pair", "factor, flag, event"])
    print("Columns of smooth laws, factors, flags and events: no limit of theirs is on an atom of the law")
    print(printed(records[smooth], ["quantity"]), "\n")
    print(printed(records, ["quantity", "law"]), "\n")
    print(printed(records, ["budget"]), "\n")
    print(printed(records.assign(rows=sized(records["n"])), ["rows"]), "\n")
    print("Medians of 5,000 rows, sd 1, declared from 0 to 1e6; in sds")
    rows = [
        medians(options.medians, options.first, budget)
        for budget in (dps.approx(0.5, 1e-6), dps.pure(0.5), dps.pure(1))
    ]
    print(tabulate(rows, headers="keys", floatfmt=".3g"), "\n")
    print(
        "Normal numbers, sd 15, in [-1000, 1000], of the first of which some rows are coded -999; rho = 0.1"
    )
    several = itertools.product((1, 4), (5000, 20_000, 100_000), (0.01, 0.03))
    rows = [coded(options.medians, options.first, *each) for each in several]
    print(tabulate(rows, headers="keys", floatfmt=".3g"))


def sized(n: pd.Series) -> pd.Series:
    """Sizes of tables in groups."""
    sizes = pd.cut(n, [0, 2500, 7500, 20_000, 60_000], labels=["to 2500", "to 7500", "to 20,000", "more"])
    return sizes.astype(str)


if __name__ == "__main__":
    main()
