"""The case study of the location-scale paper: lives of turbofans from their first 150 cycles.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/cmapss.py | tee benchmarks/results/cmapss.txt

Fit to 94 engines, tested on 37. The error is |predicted - true| / true of the life
in cycles, its median over engines; over fits the median and the 10 and 90 % points. Predicted is the median
life. "wear" is the public projection of vignettes/cmapss.md. The constant is the mean life of the 94.
"""

import argparse

import numpy as np
import pandas as pd
from censored_mle import censored_mle
from provenance import header

import dpstats as dps
from dpstats.testing import SeededNoise, noise

RANGES = {"s4": (30.0, 1), "s17": (7.5, 1), "s20": (0.75, -1)}
SCHEMA = dps.Schema(life=dps.bounded(150, 500), wear=dps.bounded(0, 0.5))
EPSILONS = (1.0, 3.0, 5.0, 10.0)


def wear(data: pd.DataFrame, since_start: bool) -> pd.Series:
    """Mean of three sensors in units of half their range, wear upwards; optionally less its own start."""
    found = pd.Series(0.0, index=data.index)
    for sensor, (half, sign) in RANGES.items():
        late = (data[f"{sensor}_135"] + data[f"{sensor}_150"]) / 2
        early = (data[f"{sensor}_15"] + data[f"{sensor}_30"]) / 2
        found += sign * (late - early * since_start) / half / 3
    return found


def error(params: np.ndarray, x: pd.Series, life: pd.Series) -> float:
    """Of the median life."""
    predicted = np.exp(params[0] + params[1] * x + np.exp(params[2]) * np.log(np.log(2)))
    return float(np.median(np.abs(predicted - life) / life))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fits", type=int, default=30)
    fits = parser.parse_args().fits
    data = dps.datasets.load("cmapss_signals").data
    train, test = (data[data["split"] == split].reset_index(drop=True) for split in ("train", "test"))
    print(header())
    constant = np.median(np.abs(train["life"].mean() - test["life"]) / test["life"])
    print(f"{len(train)} and {len(test)} engines; constant predictor {constant:.3f}")
    for since_start in (False, True):
        x = wear(train, since_start)
        exog, log_life = np.column_stack([np.ones(len(x)), x]), np.log(train["life"].to_numpy())
        params = censored_mle(exog, log_life, np.ones(len(x)), "sev")[0]
        what = "risen since the first 30 cycles" if since_start else "at cycles 121 to 150"
        print(f"MLE, not private, wear {what}: {error(params, wear(test, since_start), test['life']):.3f}")
    model = dps.survreg("Surv(life) ~ wear", train.assign(wear=wear(train, True)), SCHEMA)
    x = wear(test, True)
    print("\nepsilon  method      error (10 %, 90 %)      beats the constant  intervals: slope, log sigma")
    for epsilon in EPSILONS:
        budgets = {"newton": dps.approx(epsilon, 1e-6), "functional": dps.pure(epsilon)}
        for method, budget in budgets.items():
            errors, given = [], []
            for seed in range(fits):
                with noise(SeededNoise(seed)):
                    fit = model.fit(budget, method=method)
                errors.append(error(fit.params.to_numpy(), x, test["life"]))
                given.append(np.isfinite(fit.bse.to_numpy()[1:]))
            low, high = np.quantile(errors, [0.1, 0.9])
            slope, sigma = np.mean(given, axis=0)
            print(
                f"{epsilon:7g}  {method:10s}  {np.median(errors):.3f} ({low:.3f}, {high:.3f})"
                f"   {np.mean(np.array(errors) < constant):14.0%}   {slope:18.0%} {sigma:8.0%}"
            )


if __name__ == "__main__":
    main()
