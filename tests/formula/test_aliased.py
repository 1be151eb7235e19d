"""Columns that no row tells apart are refused by formula and schema, and nearly such ones are not."""

import pytest

import dpstats as dps
from dpstats.formula import build_design, told_apart

SCHEMA = dps.Schema(
    y=dps.bounded(0, 1),
    t=dps.bounded(0.1, 9),
    e=dps.event(),
    n=dps.count(30),
    x=dps.bounded(-1, 1),
    kelvin=dps.bounded(273, 373),
    close=dps.bounded(300, 301),
    year=dps.bounded(1990, 2024),
    pay=dps.bounded(0, 1e6),
    f=dps.flag(),
    h=dps.flag(),
    g=dps.levels("a", "b", "c"),
    many=dps.levels(*map(str, range(16))),
)


def design(right: str, baseline: bool = False):
    left = "Surv(t, e)" if baseline else "y"
    return build_design(f"{left} ~ {right}", SCHEMA, baseline=baseline)


@pytest.mark.parametrize(
    "right, said",
    [
        ("kelvin + I(kelvin - 273.15)", "I(kelvin - 273.15) follows from Intercept, kelvin;"),
        ("poly(x, 2) + x", "x follows from poly(x, 2)[0];"),
        ("x + I(2 * x)", "I(2 * x) follows from x;"),
        ("g + C(g)", "C(g)[T.b] follows from g[T.b]; leave out or change one of the terms g, C(g)"),
        ("g + C(g, Sum)", "C(g, Sum)[S.a] follows from Intercept, g[T.b], g[T.c];"),
        ("f + I(f ** 2)", "I(f ** 2) follows from f;"),
        ("f * h + I(f * h)", "I(f * h) follows from f:h;"),
        ("x + I(0 * x)", "I(0 * x) is always 0; leave out or change I(0 * x)"),
        ("I(0 * x + 5)", "I(0 * x + 5) follows from Intercept; leave out or change I(0 * x + 5)"),
        ("x + I(1 * (x > 3))", "is always 0;"),
        ("x + bs(x, df=5)", "bs(x, df=5)[4] follows from Intercept, x, bs(x, df=5)[0], 3 more;"),
        ("year + I(year ** 2) + poly(year, 2)", "poly(year, 2)[0] follows from Intercept, year;"),
        ("np.log(year) + np.log10(year)", "np.log10(year) follows from np.log(year);"),
        ("g:x + x:C(g)", "x:C(g)[T.b] follows from g[b]:x;"),
        ("- 1 + g + C(g)", "C(g)[T.b] follows from g[b];"),
    ],
)
def test_a_column_that_is_a_sum_of_others_is_refused(right: str, said: str) -> None:
    with pytest.raises(dps.FormulaError) as error:
        told_apart(design(right))
    assert said in str(error.value)
    assert "Intercept" not in str(error.value).split("change")[1]


@pytest.mark.parametrize(
    "right",
    [
        "kelvin",
        "close + np.log(close) + I(1 / close)",
        "year + I(year ** 2) + I(year ** 3) + I(year ** 4)",
        "pay + I(pay ** 2) + I(pay ** 3)",
        "bs(pay, knots=[1, 10, 100])",
        "ns(close, df=6) * g",
        "bs(x, df=20)",
        "cut(pay, [1, 10, 100]) * g",
        "cut(pay, [1, 10, 100]) * cut(kelvin, [273.2])",
        "cut(np.log1p(pay), [1, 2, 3])",
        "I(pay / 1000 > 5)",
        "I(1 * (pay > 1) * (pay < 2))",
        "np.maximum(pay - 5, 0) + np.maximum(pay - 50, 0) + pay + np.clip(pay, 1, 2)",
        "many * g",
        "many:g",
        "many * bs(x, df=6)",
        "kelvin * g * f + I(kelvin ** 2) * g",
        "x + np.exp(x) + np.sin(x) + np.cos(x) + I(x ** 2) + np.abs(x) + np.sign(x)",
        "n + I(n ** 2)",
        "- 1 + g:x",
    ],
)
@pytest.mark.parametrize("baseline", [False, True])
def test_columns_that_nearly_repeat_or_rarely_differ_pass(right: str, baseline: bool) -> None:
    if baseline and right.startswith("-"):
        return
    wanted = design(right, baseline)
    assert told_apart(wanted) is wanted


@pytest.mark.parametrize(
    "right, said",
    [
        (
            "kelvin + I(kelvin - 273.15)",
            "follows from kelvin, a constant, which the baseline hazard takes up;",
        ),
        ("x + I(0 * x + 5)", "follows from a constant, which the baseline hazard takes up;"),
        ("x * g + strata(g)", "g[T.b] follows from a constant"),
        ("x + I(x + f) + strata(f)", "I(x + f) follows from x, a constant"),
    ],
)
def test_a_baseline_takes_up_what_is_constant_in_its_rows(right: str, said: str) -> None:
    with pytest.raises(dps.FormulaError) as error:
        told_apart(design(right, baseline=True))
    assert said in str(error.value)


def test_what_varies_in_strata_passes() -> None:
    told_apart(design("x + f + strata(g)", baseline=True))


@pytest.mark.parametrize(
    "right, subset", [("x + f + strata(g)", "g != 'a'"), ("x + g + strata(f)", "f == 1")]
)
def test_strata_that_a_subset_leaves_out_are_no_column(right: str, subset: str) -> None:
    told_apart(build_design(f"Surv(t, e) ~ {right}", SCHEMA, subset=subset, baseline=True))


def test_a_column_that_is_constant_in_the_strata_of_a_subset_is_named() -> None:
    with pytest.raises(dps.FormulaError, match=r"^no row tells .* schema g\[T.b\] follows from a constant"):
        told_apart(
            build_design(
                "Surv(t, e) ~ x + g + strata(f)", SCHEMA, subset="f == 1 and g == 'b'", baseline=True
            )
        )


def test_a_very_wide_design_is_not_kept_waiting() -> None:
    schema = dps.Schema(y=dps.bounded(0, 1), many=dps.levels(*map(str, range(600))))
    wide = build_design("y ~ many + C(many)", schema)
    assert told_apart(wide) is wide


@pytest.mark.parametrize(
    "make",
    [
        lambda right: dps.ols(f"y ~ {right}", None, SCHEMA),
        lambda right: dps.ridge(f"y ~ {right}", None, SCHEMA, alpha="auto"),
        lambda right: dps.logit(f"f ~ {right}", None, SCHEMA),
        lambda right: dps.glm(f"n ~ {right}", None, SCHEMA, "poisson"),
        lambda right: dps.survreg(f"Surv(t, e) ~ {right}", None, SCHEMA),
        lambda right: dps.survreg(f"Surv(t, e) ~ {right} + strata(g)", None, SCHEMA),
        lambda right: dps.coxph(f"Surv(t, e) ~ {right}", None, SCHEMA),
        lambda right: dps.plan_contributions(f"y ~ {right}", SCHEMA, dps.gdp(1), 10_000),
    ],
)
def test_every_model_that_has_a_coefficient_for_each_refuses_them(make) -> None:
    make("kelvin + x")
    with pytest.raises(dps.FormulaError, match="follows from"):
        make("kelvin + I(kelvin - 273.15)")


def test_a_penalty_tells_them_apart() -> None:
    dps.ridge("y ~ x + I(2 * x)", None, SCHEMA, alpha=0.1)
    dps.svm("f ~ x + I(2 * x)", {"f": [1, 0], "x": [0.5, 0.1]}, SCHEMA, h=0.5)
