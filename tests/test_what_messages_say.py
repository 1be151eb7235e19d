"""Messages that left whoever read them without the next step."""

from pathlib import Path

import numpy as np
import pytest

import dpstats as dps
from dpstats.cli import main
from dpstats.testing import NoNoise, noise
from tests.results.fits import capacitor

SCHEMA = dps.Schema(
    y=dps.bounded(-9, 9), x=dps.bounded(1, 9), site=dps.levels("a", "b"), new=dps.levels("u", "v")
)


@pytest.fixture(scope="module")
def fit() -> dps.Fit:
    rng = np.random.default_rng(1)
    rows = {"y": rng.normal(size=400), "x": rng.uniform(1, 9, 400)}
    rows |= {"site": rng.choice(["a", "b"], 400), "new": rng.choice(["u", "v"], 400)}
    with noise(NoNoise()):
        return dps.ols("y ~ site * new + np.log(x)", rows, SCHEMA).fit(dps.approx(1, 1e-6))


def test_a_value_where_a_term_is_not_defined_is_named_by_its_variable(fit: dps.Fit) -> None:
    with pytest.raises(dps.SpecificationError, match="row 1: a value of x lies outside its public bounds"):
        fit.predict({"x": [2.0, -1.0], "site": "a", "new": "u"})


def test_a_hypothesis_about_a_term_is_told_what_tests_terms(fit: dps.Fit) -> None:
    with pytest.raises(dps.SpecificationError, match=r"; wald_test_terms\(\) tests whole terms"):
        fit.wald_test("site:new = 0")
    assert "site:new" in str(fit.wald_test_terms())


def test_units_of_a_function_are_refused_by_their_name(fit: dps.Fit) -> None:
    with pytest.raises(dps.SpecificationError, match=r"got 'np.log\(x\)'; the coefficient of a func"):
        fit.summary(units={"np.log(x)": 10})


def test_a_pure_epsilon_beside_gaussian_noise_is_told_what_is_cheaper(tmp_path: Path) -> None:
    gaussian = dps.Ledger(tmp_path / "gaussian.ledger", total=dps.gdp(1.5))
    with pytest.raises(
        dps.BudgetError, match=r"would fit; beside Gaussian noise .* approx or gdp is cheaper"
    ):
        gaussian.charge(dps.pure(3), formula="", method="own")
    pure = dps.Ledger(tmp_path / "pure.ledger", total=dps.pure(1.5))
    with pytest.raises(dps.BudgetError, match="would fit$"):
        pure.charge(dps.pure(3), formula="", method="own")


def test_the_command_line_says_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    capacitor().save("fit.json")
    told = [
        main(["table", "fit.json", "conf_int", "--with", f"level={each}"]) or capsys.readouterr().out
        for each in (".9", "0.9")
    ]
    assert told[0] == told[1]
    at = ["--at", "voltage=250,temperature=175"]
    assert main(["life", "fit.json", *at, "--failed", "10"]) == 2
    assert capsys.readouterr().err.endswith("; got 10.0\n")
    Path("new.csv").write_text("voltage;temperature\n1,5;2,5\n")
    assert main(["predict", "fit.json", "new.csv"]) == 2
    assert "as where another sign separates them: --sep ';'" in capsys.readouterr().err
    Path("s.toml").write_text('x = {kind = "flag"}\n')
    Path("odd.csv").write_text(",x\n1,1\n")
    assert main(["schema", "check", "s.toml", "odd.csv"]) == 0
    assert "in a formula: a column without a name\n" in capsys.readouterr().out
