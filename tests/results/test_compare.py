"""Several fits in one table: ours, statsmodels' and maketables'."""

import importlib
import pickle
from dataclasses import replace
from itertools import product

import maketables
import numpy as np
import pytest
from statsmodels.iolib.summary2 import summary_col

import dpstats as dps
from dpstats.errors import SpecificationError
from dpstats.results import Fit
from tests.results.every import EVERY
from tests.results.fits import capacitor, wide
from tests.results.glms import glm
from tests.results.linear import linear

ALL = [fit for fit, _ in EVERY.values()]


def test_compare_lays_fits_side_by_side_with_their_budgets() -> None:
    other = capacitor(dist="loglogistic", budget=dps.zcdp(0.5))
    text = dps.compare(capacitor(), other, linear(0.1)).as_text()
    lines = [" ".join(line.split()) for line in text.splitlines()]
    for line in (
        "(1) (2) (3)",
        "voltage -0.00591 -0.00591",
        "(0.00104) (0.00104)",
        "epsilon 1 1",
        "rho 0.5",
        "Rows 64 64 60",
        "Model survreg survreg ridge",
    ):
        assert line in lines
    assert "rho = 0.5" in text and "alpha = 0.1" in text


def test_compare_has_likelihoods_where_they_were_released() -> None:
    likely = capacitor(loglik=(-321.5, 12.3, 12.3))
    lines = [" ".join(line.split()) for line in dps.compare(likely, linear(0.1)).as_text().splitlines()]
    assert "Loglik -322 (12.30)" in lines and "AIC 651 (24.60)" in lines
    assert "AIC" not in dps.compare(linear(0.1), linear()).as_text()


def test_names_are_never_broken_or_cut() -> None:
    hazards = next(fit for fit in ALL if fit.record.model == "coxph")
    heads = [f"negativebinomial(alpha=0.000{i})" for i in range(4)]
    table = dps.compare(*[hazards] * 4, names=heads)
    for form in (table.as_text(), table.as_csv(), table.as_markdown(), table.as_latex()):
        assert form.count("piecewise constant") == 4
        plain = form.replace("\\", "")
        assert all(plain.count(head) >= 2 for head in heads)  # above the tables and in them
    assert max(map(len, table.as_text().splitlines())) <= 100


def test_an_alpha_that_was_estimated_is_not_shown_as_one_that_was_said() -> None:
    said = glm("poisson", dist="negativebinomial(alpha=0.5)")
    found = glm("poisson", dist="negativebinomial(alpha=0.0001)", excess=(0.4, 0.1, 0.05))
    lines = [line.split() for line in dps.compare(said, found).as_text().splitlines()]
    assert ["Family", "negativebinomial(alpha=0.5)", "negativebinomial"] in lines


def test_compare_keeps_full_numbers() -> None:
    frame = dps.compare(capacitor(), linear(), names=["TTF", "OLS"], level=0.9).frame
    assert list(frame)[:4] == ["fit", "term", "estimate", "std_error"]
    mine = frame[frame["fit"] == "OLS"].reset_index(drop=True).drop(columns="fit")
    assert mine.equals(linear().tidy(conf_int=True, level=0.9))


def test_tables_are_pickled_as_they_are_printed() -> None:
    for table in (
        dps.compare(capacitor(), linear(0.1)),
        capacitor().life({"voltage": 200, "temperature": 170}),
    ):
        again = pickle.loads(pickle.dumps(table))
        assert again.frame.equals(table.frame) and again.as_text() == table.as_text()


@pytest.mark.parametrize("fits", [ALL, [wide()] * 6, [wide(), *ALL[:3]]])
def test_compare_fits_the_page_in_every_format(fits: list[Fit]) -> None:
    table = dps.compare(*fits)
    assert max(map(len, table.as_text().splitlines())) <= 100
    for name in {name for fit in fits for name in fit.names}:
        assert name.replace(" ", "") in table.as_text().replace("\n", "").replace(" ", "")
    assert table.as_latex() and table.as_html() and table.as_markdown() and table.as_csv()


def test_one_fit_without_noise_marks_the_whole_table() -> None:
    private, exposed = capacitor(), capacitor(not_private=True)
    for fits in product((private, exposed), repeat=3):
        found, marked = dps.compare(*fits), exposed in fits
        for text in (found.as_text(), found.as_csv(), found.as_html(), str(found.frame.attrs)):
            assert ("NOT PRIVATE" in text) is marked
        assert found.not_private is marked
    assert "NOT PRIVATE" not in dps.compare(capacitor()).as_text()


@pytest.mark.parametrize(
    "call", [dps.compare, lambda: dps.compare(1), lambda: dps.compare(linear(), names=[])]
)
def test_what_cannot_be_compared_is_refused(call: object) -> None:
    with pytest.raises(SpecificationError):
        call()


def test_statsmodels_summary_col_takes_fits_of_all_models() -> None:
    names = list(EVERY)
    table = summary_col(
        ALL,
        model_names=names,
        stars=True,
        float_format="%.3f",
        include_r2=True,
        info_dict={
            "N": lambda fit: str(fit.nobs),
            "epsilon": lambda fit: str(fit.budget),
            "llf": lambda fit: fit.llf,
        },
    )
    frame = table.tables[0]
    assert list(frame.columns) == names
    for name, (fit, _) in EVERY.items():
        column = frame[name]
        for term, value, se in zip(fit.names, fit.params, fit.bse, strict=True):
            row = list(column.index).index(term)
            assert column.iloc[row].rstrip("*") == f"{value:.3f}" and column.iloc[row + 1] == f"({se:.3f})"
        assert column["N"] == str(fit.nobs) and column["epsilon"] == str(fit.budget)
        assert column["llf"] == ""  # what is not released stays empty
    assert frame.loc["R-squared", "ols"] == f"{float(linear().rsquared):.3f}"
    assert "temperature" in table.as_text() and "temperature" in table.as_latex()


def test_the_plug_in_of_maketables_has_what_it_asks_for() -> None:
    fit = linear()
    table = fit.__maketables_coef_table__
    assert list(table.columns[:4]) == ["b", "se", "t", "p"] and table.index.name == "Coefficient"
    assert table[["ci95l", "ci95u"]].to_numpy() == pytest.approx(fit.conf_int().to_numpy())
    assert fit.__maketables_stat__("N") == 60 and fit.__maketables_stat__("aic") is None
    assert fit.__maketables_stat__("r2") == float(fit.rsquared)
    assert capacitor(not_private=True).__maketables_stat__("budget") == "NOT PRIVATE"


def made() -> str:
    return str(maketables.ETable(ALL).make(type="tex"))


def test_maketables_reads_fits_as_it_reads_those_of_statsmodels() -> None:
    text = made()
    for part in ("quality", "Surv(time, failed)", "temperature", r"-0.029** \\ (0.013)", "Observations & 64"):
        assert part in text


def test_maketables_shows_the_price_where_the_plug_in_comes_first() -> None:
    """In version 0.2.0 the reader of statsmodels' results comes before plug-ins, unless it is taken out."""
    extractors = importlib.import_module("maketables.extractors")
    kept = list(extractors._EXTRACTOR_REGISTRY)
    try:
        extractors.clear_extractors()
        text = made()
    finally:
        extractors._EXTRACTOR_REGISTRY[:] = kept
    assert "Privacy & epsilon = 1, delta = 1e-06" in text and r"-0.029** \\ (0.013)" in text


def test_what_decides_which_rows_weigh_is_told_of_each_fit() -> None:
    part = linear(subset="x > 0", weights="1 + x")
    table = dps.compare(linear(), part)
    for text in (table.as_text(), table.as_markdown(), table.as_latex(), table.as_html(), table.as_csv()):
        told = " ".join(text.split())
        assert told.count("; subset x ") == told.count("; weights 1 + x. ") == 1


def test_cautions_of_each_fit_are_named() -> None:
    doubtful = capacitor(flags=(("law", "failures come at other times"), ("weak", "noise hides")))
    text = " ".join(str(dps.compare(capacitor(), doubtful)).split())
    assert text.count("Caution: ") == 1 and "unit one row. Caution: law, weak (see its summary)" in text


def test_a_function_under_its_two_names_is_one_line() -> None:
    fit, names = glm("gaussian"), ("np.log(hours)", "log(hours)")
    assert names[0] in fit.names
    other = glm("gaussian", names=tuple(name.removeprefix("np.") for name in fit.names))
    table = dps.compare(fit, other)
    (line,) = (line for line in table.as_text().splitlines() if line.strip().startswith(names))
    assert line.split()[0] == names[0]
    value = fit.params[names[0]]
    assert [float(each) for each in line.split()[1:]] == pytest.approx([value] * 2, rel=1e-3)
    assert set(names) <= set(table.frame["term"])


def test_what_coefficients_are_of_is_told_where_it_differs() -> None:
    mixed, alike = dps.compare(capacitor(), glm("poisson")), dps.compare(capacitor(), capacitor())
    text = " ".join(str(mixed).split())
    assert "Coefficients are not of one thing: (1) log time, (2) log mean." in text
    assert "not of one thing" not in str(alike)


def test_fits_are_compared_by_their_ratios() -> None:
    fits = capacitor(), glm("poisson")
    found = dps.compare(*fits, exponentiate=True)
    assert found.frame["estimate"].to_numpy() == pytest.approx(
        np.exp(dps.compare(*fits).frame["estimate"].to_numpy())
    )
    text = " ".join(str(found).split())
    assert "(1) time ratio, (2) rate ratio" in text
    assert f"{np.exp(fits[1].params['sex']):.3f}" in text and f"{fits[1].params['sex']:.3f}" not in text
    with pytest.raises(SpecificationError, match="exponentiate=True needs a link"):
        dps.compare(glm("poisson"), capacitor(dist="sev"), exponentiate=True)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_ratio_beyond_all_numbers_is_infinite_as_in_other_tables() -> None:
    fit = glm("poisson")
    steep = fit._of(replace(fit.record, params=np.full(len(fit.record.params), 800.0)))
    assert "inf" in str(dps.compare(steep, exponentiate=True)).split()
