"""Names that users bring from other packages, and what is written here in their place (docs/habits.md)."""

from __future__ import annotations

import re

Way = tuple[str, str]
"""What to write, to follow "write", and which model's fit has it."""

_ANY, _TIMES, _COX, _CURVE = "a regression", "survreg", "coxph", "kaplan_meier"
_WEIBULL = "survreg with dist='weibull'"
_LEVEL = ("fit.conf_int(level=0.95)", _ANY), ("fit.table(level=0.95)", _CURVE)
_COV = (("fit.cov_params()", _ANY),)
_SE = ("fit.bse", _ANY), ("fit.table(), column std_error", _CURVE)
_ERRORS = (("fit.bse; standard errors count privacy noise, and are robust where the release allows", _ANY),)
_TABLE = (("fit.summary(), which has as_text(), as_html(), as_latex(), as_csv() and as_markdown()", _ANY),)
_AT_HALF = (
    ("fit.predict(newdata, type='median')", _TIMES),
    ("fit.survival(newdata, times=[100]) (0.5 at the median)", _COX),
)
_MEDIAN = (*_AT_HALF, ("fit.median()", _CURVE))
_COUNTS = "glm with family='negativebinomial'"
_SURVIVAL = (
    ("fit.predict(newdata, type='survival', times=[100])", f"{_TIMES} or {_COX}"),
    ("fit.predict([100])", _CURVE),
)
_FAILED = (
    ("1 - fit.predict(newdata, type='survival', times=[100])", f"{_TIMES} or {_COX}"),
    ("1 - fit.predict([100])['survival']", _CURVE),
)
_CUMULATED = (
    ("fit.predict(newdata, type='cumhaz', times=[100])", f"{_TIMES} or {_COX}"),
    ("fit.predict([100])['cumulative_hazard']", _CURVE),
)
_DRAWN = (
    ("fit.plot_reliability(newdata)", _TIMES),
    ("fit.plot_survival(newdata)", _COX),
    ("fit.plot()", _CURVE),
)

HABITS: dict[str, tuple[Way, ...]] = {
    # R and broom
    **dict.fromkeys(("confint", "ci", "confidence_intervals_", "confidence_interval_"), _LEVEL),
    **dict.fromkeys(("vcov", "variance_matrix_", "cov", "covariance_matrix", "vars"), _COV),
    **dict.fromkeys(("coef", "coefs", "coefficients", "coef_", "params_"), (("fit.params", _ANY),)),
    "intercept_": (("fit.params['Intercept']", _ANY),),
    **dict.fromkeys(("se", "std_err", "standard_errors_", "stderr"), _SE),
    "linearHypothesis": (("fit.linear_hypothesis(['x = 0', 'z = 0'])", _ANY),),
    "emmeans": (
        (
            "fit.get_prediction(newdata).summary_frame(); for pairs of levels "
            "fit.t_test_pairwise('x', newdata)",
            _ANY,
        ),
    ),
    **dict.fromkeys(
        ("margins", "avg_slopes", "slopes", "avg_comparisons", "comparisons"),
        (("fit.marginal_effects(newdata, average=True)", _ANY),),
    ),
    **dict.fromkeys(
        ("marginal_means", "avg_predictions", "predictions"),
        (
            (
                "fit.get_prediction(newdata, average=True) for the mean over public rows; differences of "
                "such means are fit.marginal_effects(newdata, 'x', average=True, pairs=True)",
                _ANY,
            ),
        ),
    ),
    "contrast": (("fit.t_test('x - z = 0'), or for levels fit.t_test_pairwise('x')", _ANY),),
    **dict.fromkeys(
        ("pairwise", "contrasts", "pairs"),
        (
            (
                "fit.marginal_effects(newdata, 'x', average=True, pairs=True); on the scale of the link "
                "fit.t_test_pairwise('x')",
                _ANY,
            ),
        ),
    ),
    "Anova": (("fit.wald_test_terms()", _ANY),),
    # statsmodels
    **dict.fromkeys(("cov_type", "get_robustcov_results", "HC0_se", "HC1_se", "HC2_se", "HC3_se"), _ERRORS),
    **dict.fromkeys(("cov_HC0", "cov_HC1", "cov_HC2", "cov_HC3", "normalized_cov_params"), _COV),
    "params_table": (("fit.tidy(conf_int=True)", _ANY), ("fit.table()", _CURVE)),
    # lifelines
    "print_summary": (("print(fit.summary())", _ANY),),
    **dict.fromkeys(("predict_median", "median_survival_time_", "median_"), _MEDIAN),
    "median": _AT_HALF,
    **dict.fromkeys(
        ("predict_percentile", "percentile"),
        (("fit.predict(newdata, type='quantile', p=0.1)", _TIMES), ("fit.quantile(0.1)", _CURVE)),
    ),
    "predict_expectation": (("fit.mttf(newdata)", _TIMES), ("fit.rmst(until=100)", _CURVE)),
    **dict.fromkeys(
        ("predict_survival_function", "survival_function_", "sf", "survival_function_at_times", "surv"),
        _SURVIVAL,
    ),
    **dict.fromkeys(("cdf", "cumulative_density_"), _FAILED),
    **dict.fromkeys(
        ("predict_hazard", "hazard_", "hf"),
        (("fit.predict(newdata, type='hazard', times=[100])", _TIMES),),
    ),
    **dict.fromkeys(("predict_cumulative_hazard", "cumulative_hazard_", "chf", "cumhaz"), _CUMULATED),
    "event_table": (("fit.table()", _CURVE),),
    "hazard_ratios_": (
        ("fit.hazard_ratios()", f"{_COX} or of {_WEIBULL}"),
        ("fit.time_ratios()", _TIMES),
    ),
    "predict_partial_hazard": (("fit.predict(newdata, type='risk')", _COX),),
    **dict.fromkeys(
        ("basehaz", "baseline_hazard_", "baseline_cumulative_hazard_"),
        (("fit.cumulative_hazard(newdata)", _COX),),
    ),
    "baseline_survival_": (("fit.survival(newdata)", _COX),),
    **dict.fromkeys(
        ("zph", "check_assumptions", "proportional_hazard_test"), (("fit.proportional_test()", _COX),)
    ),
    **dict.fromkeys(("theta", "theta_"), (("1 / float(fit.alpha)", _COUNTS),)),
    **dict.fromkeys(("rho_", "beta_", "beta"), (("fit.shape", _WEIBULL),)),
    **dict.fromkeys(("lambda_", "alpha_"), (("fit.eta(newdata)", _WEIBULL),)),
    **dict.fromkeys(("plot_partial_effects_on_outcome", "plot_survival_function"), _DRAWN),
    "plot_cumulative_hazard": (("fit.plot(of='cumhaz')", _CURVE),),
    # pandas and tables
    **dict.fromkeys(("as_latex", "as_html", "as_csv", "as_text", "as_markdown"), _TABLE),
    **dict.fromkeys(("to_latex", "to_html", "to_csv", "to_markdown"), _TABLE),
    **dict.fromkeys(
        ("to_frame", "to_dataframe", "to_df"), (("fit.tidy(conf_int=True)", _ANY), ("fit.frame", _CURVE))
    ),
    "to_json": (("fit.save('fit.json'), or fit.to_dict()", _ANY),),
    "to_pickle": (("fit.save('fit.json')", _ANY),),
    "plot": (("fit.plot_coef()", _ANY),),
    # reliability
    **dict.fromkeys(
        ("b10", "B10", "BX1_lower", "b_life", "blife"),
        (("fit.life(newdata, failed=[0.1])", _TIMES), ("fit.quantile(0.1)", _CURVE)),
    ),
}


def way_of(name: str, owner: object) -> str:
    """What to write in the place of `name`: the first way that `owner` has, or all with their models."""
    ways = HABITS[name]
    own = next((way for way, _ in ways if _has(owner, way)), None)
    return own or ", or ".join(f"{way} of {model}" for way, model in ways)


def _has(owner: object, way: str) -> bool:
    known = getattr(type(owner), "_predicts", ())  # kinds of prediction at new data, which a curve has not
    if any(kind not in known for kind in re.findall(r"type='(\w+)'", way)) or (known and "predict([" in way):
        return False
    return all(hasattr(owner, member) for member in re.findall(r"(?<!')fit\.(\w+)", way))
