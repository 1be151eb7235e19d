"""What is not a row-wise function with public bounds is refused, with the offending text and a remedy."""

import re

import pytest

from dpstats.errors import FormulaError, SchemaError, SpecificationError
from dpstats.formula import build_design
from dpstats.formula.grammar import linear_constraint
from dpstats.schema import Schema, bounded, event, levels
from tests.formula.strategies import SCHEMA


@pytest.mark.parametrize(
    "right, words",
    [
        # mixing of rows, side effects and the caller's environment (docs/theory/rows.md#row-wise-formulas)
        ("I(x - np.mean(x))", r"'np.mean\(x\)' is not allowed"),
        ("I(x - x.mean())", r"'x.mean\(\)' is not allowed"),
        ("np.roll(x, 1)", "np.roll"),
        ("np.cumsum(x)", "np.cumsum"),
        ("x.rank()", "x.rank"),
        ("I(x[0] + 0 * x)", r"'x\[0\]' is not allowed"),
        ("pd.cut(x, 3)", "pd.cut"),
        ("x.groupby(g).transform('mean')", "is not allowed"),
        ("I(x == x.max())", "not a single comparison"),
        ("I(x == 0.3)", "not a single comparison .*; == compares a category .*a flag.* is a term by its"),
        ("I(g == 'z')", "'z' is no level of 'g'; they are 'a', 'b', 'c', and are written in quotes"),
        ("I(g == b)", "b is no level of 'g'; they are 'a', 'b', 'c', and are written in quotes"),
        ("I(g > 'a')", "'g' is a category, which has no order: compare it by ==, != or in"),
        ("I(g in 'ab')", "must be a list of values in brackets"),
        ("I(f == 'yes')", "a flag.* is a term by its name"),
        ("I(0 < x < 1)", "not a single comparison"),
        ("I(x > z)", "with a number"),
        ("np.where(np.isclose(x, 53.3), 1e9, 0)", "np.where"),
        ("I((stash.append(x), x)[1])", "is not allowed"),
        ("I(__import__('os').getpid() + x)", "is not allowed"),
        ("I([x for x in z])", "cannot be read|is not allowed"),
        ("I((lambda: x)())", "cannot be read|is not allowed"),
        ("I(x if x else z)", "is not allowed"),
        ("I(x and z)", "is not allowed"),
        ("'x'", "is a text; numbers and variables have no quotation marks"),
        ("x && z", "has a sign of another language; conditions, which stand in subset="),
        ("I(b'x')", "must be a finite number"),
        ("I(True)", "must be a finite number"),
        ("I(1e999 * x)", "must be a finite number"),
        ("I(x // 2)", "is not allowed"),
        ("I(x @ z)", "is not allowed"),
        ("I(f'{x}')", "is not allowed"),
        ("other", "'other' has no public bounds: declare it .* other=bounded"),
        ("xx", "did you mean 'x'"),
        ("Q('no such')", "'no such' has no public bounds"),
        ("eval('x')", "unknown function"),
        ("x\r+ z", "a sign that formulas have not"),
        ("x\u2028", "a sign that formulas have not"),
        ("x %in% g", "x:z for a product, as x %in% z is one"),
        ("np.linalg.norm(x)", "is not allowed"),
        ("Geschl.", r"as a name it is written Q\('Geschl.'\)"),
        # no finite public bound
        ("np.log(t - 10)", "needs values > 0"),
        ("np.log(x)", r"log needs values > 0; the public bounds of x are \[-1, 1\]"),
        ("np.log1p(2 * x)", r"log1p needs values > -1; the public bounds of 2 \* x are \[-2, 2\]"),
        ("np.sqrt(x)", "sqrt needs values >= 0"),
        ("I(1 / x)", "the divisor must not be 0"),
        ("I(x ** -2)", "needs values other than 0"),
        ("I(x ** 0.5)", "needs values >= 0"),
        ("I(2 ** x)", "a power that is not a number"),
        ("np.exp(t)", "not finite"),
        ("I(np.exp(z) ** 9)", "not finite|too wide"),
        ("I(1e30 * z):I(1e30 * t)", "too large for sums of squares"),
        ("I(1e30 * z):I(1e30 * t):I(1e30 * w):I(1e30 * c):I(0 * x)", "too large for sums of squares"),
        # numbers that patsy would take from the data
        ("center(x)", r"private data; give public numbers, for example center\(x, 50\)"),
        ("scale(x)", r"lacks center and scale: .* scale\(x, center=50, scale=10\)"),
        ("standardize(x, center=2)", "lacks scale"),
        ("scale(x, center=0, scale=0)", "a scale above 0"),
        ("scale(x, center=0, scale=x)", "'x' must be a finite number"),
        ("cr(x, df=4)", "knots from the private data"),
        # words of R
        (".", "'.' does not stand for all other variables; name them"),
        ("x + .", "name them, such as x"),
        *(
            (f"{word}(g)", r"declare the variable with levels\(...\) and write its name")
            for word in ("factor", "as.factor", "x + ordered", "as.ordered")
        ),
        ("I(as.numeric(g))", "with bounded"),
        ("I(factor(g))", "levels"),
        ("x:as.factor(g)", "levels"),
        ("s(x)", r"write ns"),
        ("x %in% z", "none here; write x:z"),
        ("TRUE", "write 1 for an intercept"),
        ("x.c", r"has a dot, .* write Q\('x.c'\), and declare it"),
        ("relevel(g, 'b')", r"write C\(name, Treatment\('b'\)\)"),
        ("lag(x)", "make it a column"),
        ("tt(x)", "cut the time"),
        ("rolling(x)", "docs/formula.md lists them"),
        (
            "strata(g)",
            r"'strata\(g\)' is for coxph and survreg; write .* subset=\"g == 'a'\", which leaves",
        ),
        ("cluster(g)", r"not available: standard errors take all rows as independent; schema.unit"),
        ("frailty(g)", "is a random effect, and none is fitted; write the variable"),
        ("(1|g)", r"'\(1 \| g\)' is a random"),
        ("x + (1 + x | g)", "is a random effect"),
        ("ifelse(x > 0, 1, 0)", r"write .* I\(1 \* \(x > 0.5\)\)"),
        ("x + 1 * (x > 0.5)", r"arithmetic with numbers stands in I\(...\)"),
        ("x * z - x:zz", r"takes out 'x:zz', which is no term of it; did you mean 'x:z'"),
        ("x - nosuch", "takes out 'nosuch', which is no term of it; they are x"),
        ("(x + z) ** 2 - x:z - x:z", "takes out 'x:z'"),
        ("surv(t, e)", "and is written Surv"),
        ("x - 40", r"such as I\(x - 40\)"),
        ("pmin(x, 1)", "write minimum"),
        ("poly(I(0 * x), 2)", "needs room between the public bounds of"),
        ("bs(x)", "either df= or knots="),
        ("bs(x, df=3, knots=[0])", "either df= or knots="),
        ("bs(x, df=1)", "needs df of at least 3"),
        ("bs(x, knots=[z])", "must be a finite number"),
        ("bs(x, knots=[0.5, 0.2])", "must increase"),
        ("bs(x, knots=[4])", "knots between its public bounds"),
        ("bs(x, knots=0.5)", "must be a list"),
        ("bs(x, df=4, degree=-1)", "whole number of at least 0"),
        ("bs(x, df=1, degree=0, include_intercept=2)", "True or False"),
        ("bs(x, df=1, degree=0, lower_bound=1, upper_bound=0)", "lower bound below its upper"),
        ("bs(x, knots=[], degree=0)", "has no column"),
        ("bs(x, df=1000)", "more than 100 columns"),
        ("I(bs(x, df=4))", "a term of its own"),
        ("ns(x)", "either df= or knots="),
        ("ns(x, df=4, degree=2)", "the parameters are x, df, knots, include_intercept"),
        ("ns(x, knots=[4])", "knots between its public bounds"),
        ("ns(x, df=1000)", "more than 100 columns"),
        ("I(ns(x, df=4))", "a term of its own"),
        ("poly(x, 0)", "a whole number of at least 1"),
        ("poly(x, 1.5)", "a whole number of at least 1"),
        ("poly(x, 2, raw=TRUE)", r"for powers write x \+ I\(x \*\* 2\)"),
        ("poly(x, 1000)", "more than 100 columns"),
        ("poly(g, 2)", "'g' is a category"),
        ("I(poly(x, 2))", "a term of its own"),
        ("poly(clip(x, 0.5, 0.5), 2)", "reversed|room between"),
        ("cut(x, 3)", "must be a list"),
        ("cut(x, [0.5, 0.1])", "must increase"),
        ("cut(x, [-0.5, 3])", "breaks between the public bounds"),
        ("cut(x, [])", "breaks between the public bounds"),
        ("clip(x, 1, 0)", "reversed"),
        # categories
        ("I(g)", "'g' is a category"),
        ("g + np.log(g)", "'g' is a category"),
        ("C(x)", "declare x with levels"),
        ("C(g, Treatment('zz'))", "names 'zz', which is no level; they are 'a', 'b'"),
        ("C(g, Treatment(7))", "cannot be coded: specified level 7 is out of range"),
        ("C(g, Sum())+C(g, Foo)", "'Foo' is not a contrast"),
        ("C(g, Poly(scores=[2, 1, 3]))", "must increase"),
        ("C(g, levels=['a', 'b'])", "must list the declared levels"),
        ("C(g, levels=['a', 'b', 'z'])", "must list the declared levels"),
        ("C(g, colour=2)", "the parameters are data, contrast, levels"),
        # grammar
        ("x ** 2", r"write I\(x \*\* 2\)"),
        ("z + np.log(t) ** 2", r"means just np.log\(t\)\); write I\(np.log\(t\) \*\* 2\)"),
        ("g + (Q('x')**2)", r"write I\(Q\('x'\) \*\* 2\)"),
        ("1 / x", r"write I\(1 / x\)"),
        ("0.5 / np.log(t)", r"write I\(0.5 / np.log\(t\)\)"),
        ("I(x ^ 2)", r"write I\(x \*\* 2\)$"),
        ("x * 2", "arithmetic with numbers stands in"),
        ("x +", "nothing follows the . at its end"),
        ("x%in%z", "none here; write x:z"),
        ("!x", "! is R's: .* is Surv\\(time, censored=x\\), and in subset= write not x"),
        ("splines::bs(x, 3)", "without its package; write bs for splines::bs"),
        ("stats:::poly(x)", "write poly for stats::poly"),
        ("d$x", r"without its table; write x for d\$x"),
        ("x + '", "a quotation mark that is not closed"),
        ("(x", "cannot be read"),
        ("oil [C]?", r"write a name that has blanks or signs as Q\('name'\)"),
        ("0", "no column"),
        ("I(0 * x) - 1", "every column .* is 0"),
        ("I(1e-200 * x) - 1", "too narrow for sums of squares, .* smaller unit"),
        ("np.log(x, 2)", "too many arguments"),
        ("np.log(x=z, y=3)", "the parameters are x"),
        ("np.log(t, x=t)", "gives x twice"),
        ("np.log()", "lacks its argument x"),
        ("lgo(t)", "did you mean 'log'"),
        ("offset(g)", "'g' is a category"),
        ("offset(x > 0)", "write 1 \\* "),
        ("offset(np.log(x))", "log needs values > 0"),
        ("offset(xx)", "did you mean 'x'"),
        ("offset(1e99 * t)", "too wide for sums of squares"),
        ("offset(x, z)", "too many arguments"),
        ("offset()", "lacks its argument x"),
        ("offset(x):g", r"'offset\(x\)' is part of offset\(x\):g: .* write \+ offset\(x\)"),
        ("z * offset(np.log(t))", r"part of z:offset\(np.log\(t\)\): an offset has the coefficient 1"),
        ("I(2 * offset(x))", r"uses offset\(\) inside an expression; write offset\(...\) as a term"),
        ("offset(offset(x))", r"uses offset\(\) inside an expression"),
        ("offset(x) - 1", "no column on the right"),
        ("weights(x)", "weights are an argument of the model, weights='w'"),
        ("Surv(t, e)", "belongs on the left"),
        ("I(-(x > 0))", "is true or false"),
        ("I((x > 0) + (z > 1))", "combines two comparisons"),
    ],
)
def test_the_right_side(right, words):
    with pytest.raises(FormulaError, match=words):
        build_design(f"y ~ {right}", SCHEMA)


@pytest.mark.parametrize(
    "right, names",
    [
        ("x * z - x:z", 3),
        ("z:x + z - x:z - 1", 1),
        ("(x + z) ** 2 - (x + z)", 2),
        ("x - 1", 1),
        ("x + 0 - 1", 1),
    ],
)
def test_a_term_that_is_there_can_be_taken_out(right, names):
    assert len(build_design(f"y ~ {right}", SCHEMA).names) == names


def test_letters_in_another_order_are_meant_first():
    schema = Schema(y=bounded(0, 1), time=bounded(0, 1), temp=bounded(0, 1))
    with pytest.raises(FormulaError, match="did you mean 'temp'"):
        build_design("y ~ tmep", schema)


@pytest.mark.parametrize("term", ["I(1 * (x > 0.5))", "I(1 * (0 < x) * (x < 1))"])
def test_comparisons_are_numbers_as_the_errors_tell(term):
    assert build_design(f"y ~ {term}", SCHEMA).names == ("Intercept", term)


@pytest.mark.parametrize(
    "formula, words",
    [
        ("~ x", "needs one response on the left"),
        ("x", "needs one response on the left.*it has no ~, and with ~ 1 at its end"),
        ("y + x ~ z", "needs one response on the left"),
        ("y:x ~ z", "needs one response on the left"),
        ("g ~ x", "'g' is a category"),
        ("I(y > 9) ~ x", "is 0 everywhere"),
        ("I(3) ~ x", "depends on a variable"),
        ("np.log(y) ~ x", "log needs values > 0"),
        ("I(0 * y) ~ x", "is 0 everywhere"),
        ("Surv(1 + 0 * t, e) ~ x", "is 1 everywhere"),
        (
            "Surv(t, e, f) ~ x",
            r"'e' is declared as .* and stands for a time; the order is Surv\(time, event\)",
        ),
        ("Surv(begin, t, e) ~ x", "'begin' has no public bounds: declare it in the schema"),
        ("Surv(e, t, e) ~ x", "'e' is declared as .* and stands for a time"),
        ("Surv(x, e, t) ~ x", "'e' is declared as .* and stands for a time"),
        ("Surv(t, x, z) ~ x", r"for an event indicator .* the order is Surv\(entry, time, event\)"),
        ("Surv(t, t, e) ~ x", "no row is ever watched: 't' is both its entry and its end"),
        ("Surv(log(t), e, entry=log(t)) ~ x", "is both its entry and its end"),
        ("Surv(t + 1000, t, e) ~ x", "no row is ever watched: the entry 't \\+ 1000' is at least"),
        ("Surv(g, t, e) ~ x", "'g' is a category"),
        ("Surv(x, t, e, entry=z) ~ x", "gives entry twice"),
        ("Surv(x, t, censored=e) ~ x", r"write Surv\(time, e\)"),
        ("Surv(3, e) ~ x", "a time that depends on a variable"),
        ("Surv(t, x) ~ x", r"x=event\(failed=..., censored=...\); .* all failed is Surv\(time, entry=...\)"),
        ("Surv(t, dead) ~ x", "'dead' has no public bounds"),
        ("Surv(t, x > 0) ~ x", "must be a variable declared as event"),
        ("Surv(t, censored=e) ~ x", r"write Surv\(time, e\)"),
        ("Surv(t, event=e, censored=e) ~ x", "needs an event indicator of one kind"),
        ("Surv(t, e, 1, 2) ~ x", "too many arguments"),
        (3, "a formula is a text"),
    ],
)
def test_the_left_side(formula, words):
    with pytest.raises(FormulaError, match=words):
        build_design(formula, SCHEMA)


def test_a_design_needs_a_schema_and_a_sensible_size():
    with pytest.raises(SchemaError, match="dps.Schema"):
        build_design("y ~ x", [("y", bounded(0, 1)), ("x", bounded(0, 1))])
    assert build_design("y ~ x", {"y": bounded(0, 1), "x": bounded(0, 1)}).names == ("Intercept", "x")
    many = Schema(t=bounded(1, 9), e=event(), **{name: levels(*map(str, range(20))) for name in "abc"})
    with pytest.raises(FormulaError, match="makes 8000 strata, more than 4096"):
        build_design("Surv(t, e) ~ 1 + strata(a, b, c)", many, baseline=True)
    with pytest.raises(FormulaError, match="columns, more than 4096"):
        build_design("y ~ " + ":".join(f"bs({v}, df=50)" for v in "xzw"), SCHEMA)
    for deep in ("(" * 500 + "x" + ")" * 500, "x" + " + x" * 5000, "-" * 3000 + "x"):
        with pytest.raises(FormulaError, match="nested more than 100|cannot be read"):
            build_design(f"y ~ I({deep})", SCHEMA)
        with pytest.raises(FormulaError):
            build_design(f"I({deep}) ~ x", SCHEMA)


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ " + " + ".join(f"x{i}" for i in range(3000)),
        "y ~ x + " + "(" * 400,
        "y + " * 2000 + "x",
        "y ~ I(x" + " + x" * 90 + " + 1 / x)",
        "y ~ 0" + " + 0" * 2000,
    ],
)
def test_a_long_formula_is_not_repeated_whole(formula):
    with pytest.raises(FormulaError) as caught:
        build_design(formula, SCHEMA)
    assert len(str(caught.value)) < 600


def test_a_unit_of_privacy_is_no_covariate() -> None:
    with pytest.raises(FormulaError, match="'serial' names the unit of privacy, and cannot be a covariate"):
        build_design("y ~ x + C(serial)", SCHEMA.unit("serial", max_rows=3))


def test_a_logarithm_of_what_may_be_0_names_the_remedy() -> None:
    schema = Schema(y=bounded(0, 1), income=bounded(0, 1e5))
    with pytest.raises(
        FormulaError,
        match=r"declare a lower bound above 0.*, or write np\.log1p of a covariate, but of no exposure",
    ):
        build_design("y ~ np.log(income)", schema)


def test_a_formula_comes_first() -> None:
    with pytest.raises(FormulaError, match="it comes first: dps.ols"):
        build_design({"x": [1.0]}, "x ~ y")


@pytest.mark.parametrize(
    ("formula", "name"),
    [("x ~ x + z", "x"), ("log(y) ~ log(y)", "y"), ("y ~ log(y) + z", "y"), ("y ~ y:z", "y")]
    + [("Surv(y, e) ~ y + z", "y"), ("Surv(x, y, e) ~ z + e", "e"), ("y ~ z + offset(y)", "y")],
)
def test_a_response_is_not_explained_by_itself(formula: str, name: str) -> None:
    schema = Schema(x=bounded(0, 1), y=bounded(1, 2), z=bounded(0, 1), e=event())
    with pytest.raises(FormulaError, match=f"^'{name}' is the response of .* and explains itself"):
        build_design(formula, schema)
    for change in ("I(y - x) ~ x", "Surv(x, y, e) ~ x"):  # a change by its beginning, a life by its entry
        assert build_design(change, schema).names == ("Intercept", "x")


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("Surv(Hours Run, failed) ~ x", r"as a name it is written Q\('Hours Run'\)"),
        ("Surv(time, failed, type='counting') ~ x", r"write Surv\(entry, time, event\)"),
        ("time ~ (x + z)^2", r"such as \(x \+ z\)\*\*2"),
        ("time ~ (x-32)*5/9", r"such as I\(\(x - 32\) \* 5 / 9\)"),
        ("time ~ z - 1 + 2*x", r"such as I\(2 \* x\)"),
        ("time ~ x + bs(z, df=3) + 1/x", r"write I\(1 / x\)"),
    ],
)
def test_slips_are_answered_with_what_to_write(formula: str, words: str) -> None:
    schema = Schema(time=bounded(1, 9), failed=event(), x=bounded(1, 9), z=bounded(1, 9))
    with pytest.raises(FormulaError, match=words):
        build_design(formula, schema)


def test_a_hypothesis_of_no_coefficient_says_so() -> None:
    design = build_design("time ~ x", Schema(time=bounded(1, 9), x=bounded(1, 9)))
    with pytest.raises(SpecificationError, match="'temp=0': 'temp' is no coefficient; write it like"):
        linear_constraint("temp=0", design.names)
    for text in ("temp=0, " + "x = 0, " * 60, "temp=0,\nx = 0"):
        with pytest.raises(SpecificationError, match="cannot be read") as error:
            linear_constraint(text, design.names)
        assert "temp" not in str(error.value)


def test_a_name_with_brackets_is_not_taken_for_a_function() -> None:
    schema = Schema({"Temp (C)": bounded(0, 90), "y": bounded(0, 1)})
    with pytest.raises(FormulaError, match=r"write Q\('Temp \(C\)'\) for the variable"):
        build_design("y ~ Temp (C)", schema)


@pytest.mark.parametrize("name", ["Last [%]", "Flow [l/h]", "Temp (C)"])
def test_of_a_name_with_blanks_or_brackets_nothing_else_is_said(name: str) -> None:
    schema = Schema({name: bounded(1, 90), "y": bounded(0, 1), "x": bounded(0, 1)})
    for formula, subset in ((f"y ~ x + offset(np.log({name}))", None), ("y ~ x", f"{name} > 1")):
        with pytest.raises(
            FormulaError, match=rf"^write Q\({re.escape(repr(name))}\) for the variable: its name"
        ):
            build_design(formula, schema, None, subset)


@pytest.mark.parametrize("name", ["temp-c", "1x", "a:b", "2021", "Temp/°C", "x%", "a b-c", "x**2"])
def test_names_with_signs_are_told_how_they_are_written(name: str) -> None:
    schema = Schema({name: bounded(0, 90), "y": bounded(0, 1), "z": bounded(0, 1)})
    for formula, subset in ((f"y ~ {name}", None), ("y ~ z", f"{name} > 1")):
        with pytest.raises(FormulaError, match=re.escape(f"write Q({name!r}) for the variable")):
            build_design(formula, schema, None, subset)
    with pytest.raises(FormulaError, match="did you mean|declared are") as error:
        build_design(f"y ~ Q({name!r}) + w", schema)
    assert "for the variable" not in str(error.value)


def test_a_variable_has_not_the_name_of_the_constant_column():
    with pytest.raises(FormulaError, match="is the name of the constant column"):
        build_design("y ~ Intercept", {"y": bounded(0, 1), "Intercept": bounded(0, 1)})


@pytest.mark.parametrize("pi", ["pi", "np.pi", "math.pi"])
def test_pi_is_a_number_that_is_written(pi: str) -> None:
    with pytest.raises(FormulaError, match=r"is written as a number, as in sin\(2 \* 3.14159265"):
        build_design(f"y ~ sin(2 * {pi} * x / 365)", Schema(y=bounded(0, 1), x=bounded(0, 365)))
