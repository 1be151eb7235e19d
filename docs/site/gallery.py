"""Draws docs/gallery/*.png: one of each plot of the package, under seeded noise, for ``make pictures``."""

import tempfile
from pathlib import Path

import matplotlib
import matplotlib.style

matplotlib.use("agg")

from matplotlib.axes import Axes

import dpstats as dps
from dpstats import testing

GALLERY = Path(__file__).parents[1] / "gallery"
BUDGET = dps.approx(epsilon=1, delta=1e-6)


def survival() -> dict[str, Axes]:
    """Plots of times to failure."""
    drives = dps.datasets.load("hdfail")
    fit = dps.survreg("Surv(time, status) ~ temp + rsc + rer + psc", drives.data, drives.schema).fit(BUDGET)
    warned = drives.schema.replace(rsc=dps.levels("0", "1"))
    curves = dps.kaplan_meier("Surv(time, status) ~ rsc", drives.data, warned).fit(BUDGET)
    whole = dps.survreg("Surv(time, status) ~ 1", drives.data, drives.schema).fit(BUDGET)
    all_of_them = dps.kaplan_meier("Surv(time, status) ~ 1", drives.data, drives.schema).fit(BUDGET)
    quiet = {"temp": 25, "rsc": 0, "rer": 0, "psc": 0}
    points = [quiet, quiet | {"rsc": 1}]
    fleet = {"age": [0, 365, 730], "units": [4000, 6000, 5000]} | {
        name: [at] * 3 for name, at in quiet.items()
    }
    return {
        "forecast": fit.forecast(fleet, horizon=730, periods=8, units="units").plot(),
        "plot_coef": fit.plot_coef(),
        "plot_reliability": fit.plot_reliability(points),
        "plot_hazard": fit.plot_hazard(points),
        "plot_life": whole.plot_life(points=all_of_them),
        "curves": curves.plot(),
        "cumulative": curves.plot(of="cumhaz", steps=True),
    }


def hazards() -> dict[str, Axes]:
    """The plot of a regression of hazards."""
    drives = dps.datasets.load("hdfail")
    fit = dps.coxph("Surv(time, status) ~ temp + rsc", drives.data, drives.schema).fit(BUDGET)
    return {"plot_survival": fit.plot_survival([{"temp": 25, "rsc": 0}, {"temp": 25, "rsc": 1}])}


def linear() -> dict[str, Axes]:
    """Plots of linear and logistic fits, and of a description."""
    plant, people = dps.datasets.load("ccpp"), dps.datasets.load("adult")
    look = dps.describe(plant.data, plant.schema, dps.approx(0.5, 1e-6), columns=["AT", "PE"])
    fit = dps.ols("PE ~ AT + V + AP + RH", plant.data, plant.schema).fit(BUDGET)
    odds = dps.logit("income ~ age + education_num + hours_per_week + sex", people.data, people.schema)
    return {
        "plot_ridge_path": fit.plot_ridge_path(),
        "look": look.plot("AT"),
        "plot_coef_across": (people_fit := odds.fit(BUDGET)).plot_coef(across_range=True),
        "plot_coef_ratios": people_fit.plot_coef(across_range=True, exponentiate=True),
    }


def budgets() -> dict[str, Axes]:
    """Plots of a plan and of a ledger."""
    plant = dps.datasets.load("ccpp")
    model = dps.ols("PE ~ AT + V", plant.data, plant.schema)
    about = {"PE": (450, 20), "AT": (20, 8), "V": (55, 12), ("PE", "AT"): -0.9}
    ahead = dps.plan(dps.ols("PE ~ AT + V", None, plant.schema), BUDGET, n=9_500, covariates=about)
    with tempfile.TemporaryDirectory() as folder:
        ledger = dps.Ledger(f"{folder}/plant.ledger", total=dps.approx(epsilon=3, delta=1e-6))
        for epsilon in (0.5, 1, 1.5):
            model.fit(dps.approx(epsilon, 1e-6), ledger=ledger)
        return {"plan": ahead.plot(), "ledger": ledger.plot()}


def paper() -> Axes:
    """A plot in the style of papers."""
    drives = dps.datasets.load("hdfail")
    fit = dps.survreg("Surv(time, status) ~ temp + rsc", drives.data, drives.schema).fit(BUDGET)
    return fit.plot_reliability([{"temp": temp, "rsc": 0} for temp in (20, 30, 40)])


def main() -> None:
    with testing.noise(testing.SeededNoise(1)), matplotlib.style.context("dpstats.paper"):
        paper().figure.savefig(GALLERY / "paper.png", dpi=120, metadata={"Software": None})
    with testing.noise(testing.SeededNoise(1)):
        drawn = survival() | linear() | budgets() | hazards()
    for name, axes in drawn.items():
        axes.figure.savefig(GALLERY / f"{name}.png", dpi=90, metadata={"Software": None})


if __name__ == "__main__":
    main()
