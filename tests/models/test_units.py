"""Tables of counts give survreg the coefficients and standard errors of tables with a row for each unit."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpstats as dps
from dpstats.testing import NoNoise, noise

LARGE = dps.zcdp(1e9)
MOST = 40
DECLARED = dict(
    time=dps.bounded(1, 300),
    failed=dps.event(),
    load=dps.bounded(-4, 4),
    maker=dps.levels("a", "b", "c"),
)
SCHEMA = dps.Schema(DECLARED, units=dps.count(MOST))


DRAWS: dict[str, Any] = {
    "weibull": lambda draw, n: np.log(draw.exponential(size=n)),
    "lognormal": lambda draw, n: draw.normal(size=n),
    "loglogistic": lambda draw, n: draw.logistic(size=n),
}


def made(dist: str = "weibull", n: int = 12_000) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Units, with times of failure that are rounded, and the same as a table of counts."""
    draw = np.random.default_rng(4)
    load, maker = draw.choice([-1.5, -0.5, 0.5, 1.5], n), draw.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    line = 4 + 0.4 * load + 0.3 * (maker == "b") - 0.5 * (maker == "c")
    life, end = np.exp(line + 0.6 * DRAWS[dist](draw, n)), draw.choice([40.0, 100.0, 200.0], n)
    seen = np.exp(np.round(np.log(life) * 10) / 10)
    each = pd.DataFrame(dict(time=np.where(life <= end, seen, end), failed=1 * (life <= end), load=load))
    each["maker"] = maker
    counted = each.groupby([*each], as_index=False).size().rename(columns={"size": "units"})
    full = counted.loc[counted.index.repeat(counted["units"] // MOST)].assign(units=MOST)
    return each, pd.concat([full, counted.assign(units=counted["units"] % MOST)], ignore_index=True)


def fitted(data: pd.DataFrame, budget: Any = LARGE, **more: Any) -> Any:
    return dps.survreg("Surv(time, failed) ~ load + maker", data, SCHEMA, **more).fit(budget)


@pytest.mark.parametrize("dist", DRAWS)
def test_units_are_rows(dist: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for where the zones of the check lie, whose doubt is left out here."""
    for sds in ("_USUAL", "_CLEAR"):
        monkeypatch.setattr(f"dpstats.estimators.location_scale.checks.{sds}", 1e9)
    each, counted = made(dist)
    with noise(NoNoise()):
        weighted, rows = fitted(counted, dist=dist, weights="units"), fitted(each, dist=dist)
    np.testing.assert_allclose((weighted.params - rows.params) / rows.bse, 0, atol=0.01)
    sampling = [np.sqrt(np.diag(fit.record.cov - fit.record.cov_privacy)) for fit in (weighted, rows)]
    np.testing.assert_allclose(*sampling, rtol=0.01)
    assert weighted.nevents.estimate == pytest.approx(rows.nevents.estimate, rel=1e-9)
    assert weighted.nobs == len(counted) and "Weights    units" in str(weighted.summary())
