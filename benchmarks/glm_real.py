"""Private logistic and Poisson regression of real data against maximum likelihood without privacy.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/glm_real.py | tee benchmarks/results/glm_real.txt

Incomes of the census, claims of car insurance with their exposure, and visits to a doctor, with the bounds of
their schemas. Maximum likelihood is of the same rows, moved to the bounds. Noise is seeded. Errors are in its
standard errors (se0): those of the family, or of the sandwich (HC0) for visits, which scatter more than a
Poisson law allows. An interval "covers" if it holds the estimate of maximum likelihood, which has no sampling
error of its own here: the share should be above .95, unless the model is far from the data.
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import statsmodels.api as sm
from clipping import clipped
from provenance import header
from statsmodels.formula import api

import dpstats as dps
from dpstats.results import Fit
from dpstats.testing import SeededNoise, noise

EPSILONS, DELTA = (1.0, 3.0), 1e-6
# of incomes at epsilon = 1: median error in se0, and accuracy lost
WITHIN, ACCURATE = 2.0, 0.003
POISSON = sm.families.Poisson()


@dataclass(frozen=True)
class Study:
    """One model of one table.

    Attributes
    ----------
    data : str
        Name of the data set.
    formula, family : str
    exposure : str, optional
        Column of the data.
    """

    data: str
    formula: str
    family: str
    exposure: str | None = None

    def model(self, source: dps.datasets.Dataset) -> Any:
        if self.family == "binomial":
            return dps.logit(self.formula, source.data, source.schema)
        return dps.glm(self.formula, source.data, source.schema, family=self.family, exposure=self.exposure)

    def exact(self, source: dps.datasets.Dataset) -> Any:
        """Maximum likelihood by statsmodels; standard errors of the sandwich for visits."""
        table = clipped(source.data, source.schema)
        if self.family == "binomial":
            return api.glm(self.formula, table, family=sm.families.Binomial()).fit()
        exposure = None if self.exposure is None else table[self.exposure]
        kind = "nonrobust" if self.exposure else "HC0"
        return api.glm(self.formula, table, family=POISSON, exposure=exposure).fit(cov_type=kind)


STUDIES = {
    "incomes": Study(
        "adult", "income ~ age + education_num + hours_per_week + sex + marital_status", "binomial"
    ),
    "claims": Study(
        "datacar", "numclaims ~ veh_value + veh_age + gender + area + agecat", "poisson", "exposure"
    ),
    "visits": Study(
        "randhie", "mdvis ~ lncoins + idp + lpi + fmde + physlm + disea + hlthg + hlthf + hlthp", "poisson"
    ),
}


def run(name: str, epsilons: list[float], fits: int) -> None:
    study = STUDIES[name]
    source = dps.datasets.load(study.data)
    exact, model = study.exact(source), study.model(source)
    for epsilon in epsilons:
        found = []
        for seed in range(fits):
            with noise(SeededNoise(seed)):
                found.append(model.fit(dps.approx(epsilon, DELTA)))
        report(name, study, exact, epsilon, found)


def report(name: str, study: Study, exact: Any, epsilon: float, found: list[Fit]) -> None:
    order = list(found[0].names)
    target, se0 = exact.params[order].to_numpy(), exact.bse[order].to_numpy()
    params, bse = (np.array([getattr(fit, key).to_numpy() for fit in found]) for key in ("params", "bse"))
    errors, covers = (params - target) / se0, np.abs(params - target) <= 1.96 * bse
    print(f"\n{name}, epsilon = {epsilon:g}: n = {int(exact.nobs):,}, {len(found)} fits")
    codes = sorted({code for fit in found for code, _ in fit.flags})
    shares = [f"{code} {np.mean([code in dict(fit.flags) for fit in found]):.2f}" for code in codes]
    print("; ".join([f"cautions in {np.mean([bool(fit.flags) for fit in found]):.2f} of the fits", *shares]))
    if study.family == "poisson":
        phi = np.median([fit.dispersion.estimate for fit in found])
        told = np.mean([np.isfinite(fit.dispersion.conf_high) for fit in found])
        print(
            f"phi {phi:.2f} in median, told in {told:.2f} of the fits; Pearson's "
            f"{exact.pearson_chi2 / exact.df_resid:.2f}; scores clipped at "
            f"{np.median([fit.settings['C'] for fit in found]):.1f} in median"
        )
    if study.family == "binomial":
        accuracy(exact, params[:, [order.index(term) for term in exact.params.index]], epsilon == 1)
    print(f"{'':38s} {'MLE':>10s} {'se0':>8s} | {'|error|':>7s} {'rmse':>6s} {'median':>6s}  se/se0 | covers")
    size, rmse = np.median(np.abs(errors), axis=0), np.sqrt(np.mean(errors**2, axis=0))
    middle, ratios = np.median(errors, axis=0), np.median(bse, axis=0) / se0
    layout = "{:38s} {:10.4g} {:8.3g} | {:7.2f} {:6.2f} {:6.2f} {:7.2f} | {:6.2f}"
    for row in zip(order, target, se0, size, rmse, middle, ratios, covers.mean(axis=0), strict=True):
        print(layout.format(*row))
    judged = goal(size.max() <= WITHIN) if study.family == "binomial" and epsilon == 1 else ""
    print(
        f"worst median |error| {size.max():.2f} se0{judged}; "
        f"median se/se0 {np.median(ratios):.2f}; covers {covers.mean():.3f}"
    )


def accuracy(exact: Any, params: np.ndarray, judged: bool) -> None:
    """Share of rows whose response is told right at probability one half."""
    design, endog = exact.model.exog, exact.model.endog > 0.5
    best = np.mean((design @ exact.params.to_numpy() > 0) == endog)
    reached = np.array([np.mean((design @ line > 0) == endog) for line in params])
    lost = best - np.median(reached)
    print(
        f"accuracy {best:.4f} by maximum likelihood, {np.median(reached):.4f} in median (worst "
        f"{reached.min():.4f}): {lost:.4f} lost{goal(lost <= ACCURATE) if judged else ''}"
    )


def goal(met: bool) -> str:
    return f" ({'pass' if met else 'FAIL'})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=STUDIES, default=list(STUDIES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--fits", type=int, default=20)
    options = parser.parse_args()
    print(header())
    print(f"delta = {DELTA:g}; |error|, rmse and median are of (private - MLE) / se0")
    for name in options.models:
        run(name, options.epsilons, options.fits)


if __name__ == "__main__":
    main()
