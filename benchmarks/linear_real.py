"""Private linear regression of real data against least squares without privacy.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/linear_real.py | tee benchmarks/results/linear_real.txt

Power plant, white wine and wages, with the bounds of their schemas; without public data, and with the moments
of a public tenth of the rows, the private ones then being the other nine tenths. Least squares is of the same
rows, moved to the bounds. Noise and the choice of the tenth are seeded. Errors are in its standard errors
(se0). An interval "covers" if it holds its estimate, which has no sampling error of its own here: the share
should be above .95, unless the model is far from the data.
"""

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from clipping import clipped
from provenance import header
from statsmodels.formula import api

import dpstats as dps
from dpstats.results import Fit
from dpstats.testing import SeededNoise, noise

MODELS = {
    "ccpp": "PE ~ AT + V + AP + RH",
    "wine": "quality ~ fixed_acidity + volatile_acidity + citric_acid + residual_sugar + chlorides"
    " + free_sulfur_dioxide + total_sulfur_dioxide + density + pH + sulphates + alcohol",
    "cps1988": "np.log(wage) ~ education + experience + I(experience**2) + ethnicity + smsa + region"
    " + parttime",
}
MUS = (0.3, 1.0, 3.0)
# a prototype without public data: R2 and the range of the ratio of standard errors
REFERENCE = {
    ("ccpp", 0.3): "R2 .929, se/se0 1.42",
    ("ccpp", 1.0): "R2 .929, se/se0 1.09",
    ("ccpp", 3.0): "R2 .929, se/se0 1.02",
    ("wine", 0.3): "R2 .26, se/se0 5 to 12",
    ("wine", 1.0): "R2 .279, se/se0 5 to 12",
    ("wine", 3.0): "R2 .280, se/se0 5 to 12",
}


@dataclass(frozen=True)
class Study:
    """One table, cut into private and public rows.

    Attributes
    ----------
    formula : str
    schema : Schema
    private, public : DataFrame
        The second one is empty where there are no public rows.
    """

    formula: str
    schema: dps.Schema
    private: pd.DataFrame
    public: pd.DataFrame

    @classmethod
    def of(cls, name: str, share: float) -> "Study":
        source = dps.datasets.load(name)
        chosen = np.random.default_rng(0).random(len(source.data)) < share
        return cls(MODELS[name], source.schema, source.data[~chosen], source.data[chosen])

    def model(self) -> "dps.models.LinearModel":
        moments = None
        if len(self.public):
            moments = dps.public_moments(self.formula, self.public, self.schema)
        return dps.ols(self.formula, self.private, self.schema, public=moments)


def run(name: str, share: float, mus: list[float], fits: int) -> None:
    study = Study.of(name, share)
    exact = api.ols(study.formula, clipped(study.private, study.schema)).fit()
    model = study.model()
    for mu in mus:
        found = []
        for seed in range(fits):
            with noise(SeededNoise(seed)):
                found.append(model.fit(dps.gdp(mu)))
        report(name, study, exact, mu, found)


def report(name: str, study: Study, exact: "api.ols", mu: float, found: list[Fit]) -> None:
    order = list(found[0].names)
    target, se0 = exact.params[order].to_numpy(), exact.bse[order].to_numpy()
    params, bse = (np.array([getattr(fit, key).to_numpy() for fit in found]) for key in ("params", "bse"))
    errors = (params - target) / se0
    covers = np.abs(params - target) <= 1.96 * bse
    design = pd.DataFrame(exact.model.exog, columns=exact.model.exog_names)[order].to_numpy()
    endog = exact.model.endog
    reached = [1 - np.var(endog - design @ line) / np.var(endog) for line in params]
    rel = np.median([fit.record.linear.solve(0.0).rel for fit in found])
    public = f", {len(study.public):,} public rows" if len(study.public) else ""
    beside = REFERENCE.get((name, mu)) if not public else None
    print(
        f"\n{name}, mu = {mu:g}: n = {len(study.private):,}{public}; rel {rel:.2f}"
        + (f" [{beside}]" if beside else "")
    )
    codes = sorted({code for fit in found for code, _ in fit.flags})
    shares = [f"{code} {np.mean([code in dict(fit.flags) for fit in found]):.2f}" for code in codes]
    print("; ".join([f"cautions in {np.mean([bool(fit.flags) for fit in found]):.2f} of the fits", *shares]))
    released = np.array([fit.rsquared.estimate for fit in found])
    held = np.mean([fit.rsquared.conf_low <= exact.rsquared <= fit.rsquared.conf_high for fit in found])
    print(
        f"R2 of least squares {exact.rsquared:.3f}; of the private lines on the same rows "
        f"{np.median(reached):.3f} (worst {np.min(reached):.3f}); as released {np.median(released):.3f}, "
        f"its interval covers {held:.2f}"
    )
    sigma = np.array([fit.sigma.estimate for fit in found])
    print(f"sigma {np.sqrt(exact.scale):.4f}; as released {np.median(sigma):.4f}")
    print(f"{'':22s} {'OLS':>11s} {'se0':>9s} | {'rmse':>6s} {'median':>6s}  se/se0 | covers")
    rmse, middle = np.sqrt(np.mean(errors**2, axis=0)), np.median(errors, axis=0)
    ratios = np.median(bse, axis=0) / se0
    layout = "{:22s} {:11.5g} {:9.3g} | {:6.2f} {:6.2f} {:7.2f} | {:6.2f}"
    for row in zip(order, target, se0, rmse, middle, ratios, covers.mean(axis=0), strict=True):
        print(layout.format(*row))
    print(
        f"se/se0: median {np.median(ratios):.2f}, {ratios.min():.2f} to {ratios.max():.2f}; "
        f"covers {covers.mean():.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--mus", nargs="+", type=float, default=list(MUS))
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--shares", nargs="+", type=float, default=[0.0, 0.1], help="of public rows")
    options = parser.parse_args()
    print(header())
    print(f"{options.fits} fits a table; mu = .3, 1, 3 are epsilon = 1.3, 5, 18 at delta = 1e-6")
    for name in options.models:
        for share in options.shares:
            run(name, share, options.mus, options.fits)


if __name__ == "__main__":
    main()
