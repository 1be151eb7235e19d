"""What a study says of R's fits without privacy is what maximum likelihood finds on the same rows."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpstats as dps

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from censored_mle import censored_mle

STUDY = (Path(__file__).parents[1] / "vignettes" / "drives.md").read_text("utf-8")
MAKERS = ("HGST", "Seagate", "WDC", "other")
TENTH = np.log(-np.log(0.9))  # a SEV error of which a tenth is less


@pytest.fixture(scope="module")
def drives() -> pd.DataFrame:
    data = dps.datasets.load("hdfail").data
    word = data["model"].str.split().str[0]
    maker = word.mask(word.str.startswith("ST"), "Seagate").replace("Hitachi", "HGST")
    return data.assign(
        maker=maker.where(maker.isin(MAKERS[:3]), "other"),
        temp=data["temp"].clip(10, 50) - 25,
        time=data["time"].clip(1, 12_000),
    )


def weibull(rows: pd.DataFrame, columns: list[pd.Series]) -> np.ndarray:
    """Coefficients with log sigma last."""
    exog = np.column_stack([np.ones(len(rows)), *columns])
    return censored_mle(exog, np.log(rows["time"].to_numpy()), rows["status"].to_numpy() == 1, "sev")[0]


def said(pattern: str) -> list[float]:
    found = re.search(pattern, re.sub(r"\s+", " ", STUDY))
    assert found is not None
    return [float(number.replace(",", "")) for number in found.groups()]


def test_lives_of_makers_by_one_fit(drives: pd.DataFrame) -> None:
    fit = weibull(drives, [drives["temp"], *(drives["maker"] == maker for maker in MAKERS[1:])])
    lives = np.exp(fit[0] + np.array([0, *fit[2:5]]) + np.exp(fit[-1]) * TENTH)
    stated = said(
        r"lives of ([\d,]+) \(HGST\), ([\d,]+) \(Seagate\), ([\d,]+) \(WDC\) and ([\d,]+) days \(other\)"
    )
    assert np.allclose(lives, stated, atol=0.6)


def test_shapes_and_lives_of_makers_one_by_one(drives: pd.DataFrame) -> None:
    fits = [
        weibull(rows, [rows["temp"]]) for rows in (drives[drives["maker"] == maker] for maker in MAKERS[:3])
    ]
    shapes = said(r"shapes of ([\d.]+) \(HGST\), ([\d.]+) \(Seagate\) and ([\d.]+) \(WDC\)")
    assert np.allclose([np.exp(-fit[-1]) for fit in fits], shapes, atol=0.06)
    lives = said(r"and B10 lives of ([\d,]+), ([\d,]+) and ([\d,]+) days: the order")
    assert np.allclose([np.exp(fit[0] + np.exp(fit[-1]) * TENTH) for fit in fits], lives, atol=0.6)


def test_failures_of_one_model(drives: pd.DataFrame) -> None:
    seagate = drives[(drives["maker"] == "Seagate") & (drives["status"] == 1)]
    alone = (seagate["model"] == "ST3000DM001").sum()
    assert said(r"is behind ([\d,]+) of Seagate's ([\d,]+) failures") == [alone, len(seagate)]
