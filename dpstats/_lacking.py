"""What an error says of an argument that was not given, has no name, or is none of the function."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from inspect import signature
from typing import Any

_FORGOTTEN = {
    "budget": "the privacy that is spent, such as dps.approx(epsilon=1, delta=1e-6)",
    "epsilon": "the privacy that is spent, such as 1",
    "delta": "far below 1 / number of rows, such as 1e-6",
    "formula": "a text such as 'y ~ x' or 'Surv(time, event) ~ x'",
    "data": "a frame, a dict of columns or the path of a file",
    "schema": "what is public: a dps.Schema, a dict of declarations, or the path of its .toml file",
    "family": "'binomial', 'poisson', 'negativebinomial', 'gamma' or 'gaussian'",
    "alpha": "the penalty, or 'auto'",
    "upper": "the public upper bound, known without a look at the rows",
    "max_rows": "how many rows of a unit weigh, a public number such as 5",
    "n": "the number of rows",
    "use": "the point of normal use, such as {'temp': 25}",
    "stress": "the point at which units were tested, such as {'temp': 85}",
    "until": "the end of the time that is averaged over, such as until=1000",
}
_RENAMED = {
    **dict.fromkeys(("min", "low", "lo", "lb", "minimum"), ("lower",)),
    **dict.fromkeys(("max", "high", "hi", "ub", "maximum"), ("upper",)),
    **dict.fromkeys(("lam", "lambda_", "penalizer", "penalty", "l2"), ("alpha",)),
    **dict.fromkeys(("conf_level", "confidence", "ci", "CI"), ("level",)),
    **dict.fromkeys(("se", "std_err"), ("se_fit",)),
    **dict.fromkeys(("exog", "X", "x", "at", "df", "data"), ("newdata",)),
    **dict.fromkeys(("delimiter", "separator"), ("sep",)),
    **dict.fromkeys(("distribution", "law", "family"), ("dist",)),
    **dict.fromkeys(("p", "q", "percentile", "quantile", "failed"), ("p", "failed")),
    **dict.fromkeys(("dead", "died", "observed", "event"), ("failed",)),
    **dict.fromkeys(("cens", "alive", "right"), ("censored",)),
    **dict.fromkeys(("time", "t"), ("times",)),
}
"""What an argument of another package may be called here, for the functions that have it."""
_ELSEWHERE = {
    **dict.fromkeys(
        ("epsilon", "eps", "delta", "rho", "mu"),
        "a budget is one argument, such as dps.approx(epsilon=1, delta=1e-6)",
    ),
    **dict.fromkeys(
        ("shape", "beta"),
        "the shape beta of a Weibull distribution is 1 / scale, so that a shape of 2 is scale=0.5 in survreg "
        "and plans of it",
    ),
    "link": "it is of dps.glm(formula, data, schema, 'binomial', link='probit' or 'cloglog')",
    "alpha": "that of counts is said as family='negativebinomial(alpha=0.5)'; a penalty goes with dps.ridge",
    "weights": "this model takes no weights",
    "subset": "this model takes no subset",
    **dict.fromkeys(
        ("seed", "random_state", "rng"),
        "whoever knows the seed of the noise can subtract it, so none is taken",
    ),
    **dict.fromkeys(
        ("robust", "cov_type", "vcov_type", "cluster"),
        "standard errors count privacy noise, and are robust where the release allows",
    ),
    **dict.fromkeys(
        ("missing", "na_action", "dropna"),
        "a row with a missing value weighs nothing and counts in n, so that nothing is dropped",
    ),
    **dict.fromkeys(
        ("maxiter", "max_iter", "tol", "control", "start_params", "init", "disp"),
        "the number of steps follows from the budget and from public numbers",
    ),
    "interval": "fit.get_prediction(newdata).summary_frame(level=0.95) has intervals of the mean, and where "
    "the fit has the sd of its error those of a new response",
    "release": "this model releases nothing beside its fit, and has no release=",
    "strata": "it is a term of the formula of coxph and survreg, as + strata(maker)",
    "ties": "failures at one time count as in Breslow's method",
    "offset": "write it in the formula, as y ~ x + offset(log(w))",
    **dict.fromkeys(("reference", "ref", "baseline"), "the level that is named first is the reference"),
    **dict.fromkeys(
        ("duration_col", "event_col", "entry_col"), "columns are named in the formula, Surv(time, event) ~ x"
    ),
}
"""What stands here for an argument that no function, or only another, has."""
OTHER_NAMES = {
    **dict.fromkeys(("lm", "OLS", "LinearRegression", "linear_model"), "dps.ols(formula, data, schema)"),
    **dict.fromkeys(("Ridge", "lm_ridge"), "dps.ridge(formula, data, schema, alpha)"),
    **dict.fromkeys(("Logit", "LogisticRegression"), "dps.logit(formula, data, schema)"),
    **dict.fromkeys(("probit", "Probit"), "dps.glm(formula, data, schema, 'binomial', link='probit')"),
    **dict.fromkeys(
        ("poisson", "Poisson", "PoissonRegressor"), "dps.glm(formula, data, schema, family='poisson')"
    ),
    **dict.fromkeys(
        ("glm_nb", "negativebinomial", "NegativeBinomial", "NegativeBinomialP"),
        "dps.glm(formula, data, schema, family='negativebinomial')",
    ),
    "GLM": "dps.glm(formula, data, schema, family)",
    **dict.fromkeys(
        ("WeibullAFTFitter", "LogNormalAFTFitter", "LogLogisticAFTFitter", "WeibullFitter", "Fit_Weibull_2P"),
        "dps.survreg(formula, data, schema, dist)",
    ),
    **dict.fromkeys(("CoxPHFitter", "PHReg", "phreg", "coxreg"), "dps.coxph(formula, data, schema)"),
    **dict.fromkeys(
        ("KaplanMeierFitter", "NelsonAalenFitter", "survfit", "SurvfuncRight", "survdiff"),
        "dps.kaplan_meier(formula, data, schema)",
    ),
    **dict.fromkeys(
        ("polr", "clm", "ologit", "oprobit", "OrderedModel"),
        "dps.logit('I(answer >= 4) ~ x', data, schema) of answers that are declared as numbers, for each cut "
        "that matters: no model of ordered answers is fitted",
    ),
    "Surv": "it within the formula, as in dps.survreg('Surv(time, event) ~ x', data, schema)",
    **dict.fromkeys(
        ("read_excel", "read_parquet", "read_table"),
        "the path of a CSV, Parquet or Arrow file as data, or give a frame, such as "
        "pd.read_excel(path, dtype=object)",
    ),
    **dict.fromkeys(
        ("factor", "categorical", "category"), "dps.levels('a', 'b'), with the reference level first"
    ),
    **dict.fromkeys(("epsilon", "budget_", "Budget"), "a budget as dps.approx(epsilon=1, delta=1e-6)"),
    **dict.fromkeys(("numeric", "continuous", "Bounded"), "dps.bounded(lower, upper)"),
}
"""What to write for a name that another package has at its top, to follow "write"."""


def say_what_is_lacking(error: BaseException, function: Callable[..., Any]) -> None:
    """Add to an error about an argument that was not given what it may be, or what stands for it here."""
    if type(error) is not TypeError or len(error.args) != 1:
        return
    _, _, listed = str(error).partition("missing ")
    forgotten = [name for name in re.findall(r"'(\w+)'", listed) if name in _FORGOTTEN]
    unknown = re.search(r"^(.*)\(\) got an unexpected keyword argument '(\w+)'", str(error))
    many = re.search(r"^(.*)\(\) takes .*positional arguments? but", str(error))
    named = [one.name for one in signature(function).parameters.values() if one.kind is one.KEYWORD_ONLY]
    if many and many[1] == function.__qualname__ and named:
        error.args = (f"{error}; the rest is given by name: {', '.join(f'{name}=' for name in named)}",)
    if many and function.__module__ == f"{__package__}.budget.making":
        error.args = (f"{error}; with a delta it is dps.approx(epsilon, delta)",)
    if forgotten:
        error.args = ("; ".join([str(error), *(f"{name} is {_FORGOTTEN[name]}" for name in forgotten)]),)
    if unknown and unknown[1] == function.__qualname__:
        # a method is told without its class, which has another name than what made it
        error.args = (
            f"{function.__name__}{str(error).removeprefix(unknown[1])}; {_instead(unknown[2], function)}",
        )


def _instead(name: str, function: Callable[..., Any]) -> str:
    has = [argument for argument in signature(function).parameters if argument not in ("self", "cls")]
    if name == "alpha" and "level" in has:
        return "it is level=0.95 here, where others write alpha=0.05"
    renamed = [other for other in _RENAMED.get(name, ()) if other in has]
    if renamed:
        return f"it is {renamed[0]}= here"
    if function.__name__.endswith("_ratios"):
        return (
            "a ratio is of one unit of its covariate; of 10 units it is in "
            "fit.tidy(exponentiate=True, units={'x': 10})"
        )
    if function.__name__ == "fit" and name in ("weights", "subset"):
        return f"it goes to the model, as in dps.ols(formula, data, schema, {name}=...)"
    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    close = get_close_matches(name, has, 1)
    meant = f"did you mean {close[0]}=? " if close else ""
    return f"{meant}{function.__name__} takes {', '.join(has)}"
