"""Names that users bring from other packages, and what is written here in their place (docs/habits.md)."""

from __future__ import annotations

_LEVEL = "fit.conf_int(level=0.95)"
_ERRORS = "fit.bse; standard errors count privacy noise, and are robust where the release allows"
_TABLE = "fit.summary(), which has as_text(), as_html(), as_latex(), as_csv() and as_markdown()"

HABITS: dict[str, str] = {
    # R and broom
    **dict.fromkeys(("confint", "ci", "confidence_intervals_", "confidence_interval_"), _LEVEL),
    **dict.fromkeys(("vcov", "variance_matrix_", "cov", "covariance_matrix"), "fit.cov_params()"),
    **dict.fromkeys(("coef", "coefs", "coefficients", "coef_", "params_"), "fit.params"),
    "intercept_": "fit.params['Intercept']",
    **dict.fromkeys(("se", "std_err", "standard_errors_", "stderr"), "fit.bse"),
    "vars": "fit.cov_params()",
    "linearHypothesis": "fit.linear_hypothesis(['x = 0', 'z = 0'])",
    "emmeans": "fit.get_prediction(newdata).summary_frame(); for pairs of levels "
    "fit.t_test_pairwise('x', newdata)",
    "margins": "fit.marginal_effects(newdata, average=True)",
    "Anova": "fit.wald_test_terms()",
    # statsmodels
    **dict.fromkeys(("cov_type", "get_robustcov_results", "HC0_se", "HC1_se", "HC2_se", "HC3_se"), _ERRORS),
    **dict.fromkeys(
        ("cov_HC0", "cov_HC1", "cov_HC2", "cov_HC3", "normalized_cov_params"), "fit.cov_params()"
    ),
    "params_table": "fit.tidy(conf_int=True)",
    # lifelines
    "print_summary": "print(fit.summary())",
    "predict_median": "fit.predict(newdata, type='median') of a time to failure",
    "predict_percentile": "fit.predict(newdata, type='quantile', p=0.1) of a time to failure",
    "predict_expectation": "fit.mttf(newdata) of a time to failure",
    **dict.fromkeys(
        ("predict_survival_function", "survival_function_", "sf", "survival_function_at_times"),
        "fit.predict(newdata, type='survival', times=[100]) of a time to failure",
    ),
    **dict.fromkeys(
        ("cdf", "cumulative_density_"),
        "1 - fit.predict(newdata, type='survival', times=[100]) of a time to failure",
    ),
    **dict.fromkeys(
        ("predict_hazard", "hazard_", "hf"),
        "fit.predict(newdata, type='hazard', times=[100]) of a time to failure",
    ),
    **dict.fromkeys(
        ("predict_cumulative_hazard", "cumulative_hazard_", "chf"),
        "fit.predict(newdata, type='cumhaz', times=[100]) of a time to failure",
    ),
    **dict.fromkeys(("median_survival_time_", "median_"), "fit.predict(newdata, type='median')"),
    "hazard_ratios_": "fit.hazard_ratios() of a Weibull fit or of coxph, and fit.time_ratios() of survreg",
    "predict_partial_hazard": "fit.predict(newdata, type='risk') of coxph",
    **dict.fromkeys(
        ("basehaz", "baseline_hazard_", "baseline_cumulative_hazard_"),
        "fit.cumulative_hazard(newdata) of coxph",
    ),
    "baseline_survival_": "fit.survival(newdata) of coxph",
    **dict.fromkeys(
        ("zph", "check_assumptions", "proportional_hazard_test"), "fit.proportional_test() of coxph"
    ),
    **dict.fromkeys(("rho_", "beta_"), "fit.shape of a Weibull fit"),
    **dict.fromkeys(("lambda_", "alpha_"), "fit.eta(newdata) of a Weibull fit"),
    **dict.fromkeys(
        ("plot_partial_effects_on_outcome", "plot_survival_function"),
        "fit.plot_reliability(newdata) of a time to failure",
    ),
    # pandas and tables
    **dict.fromkeys(("as_latex", "as_html", "as_csv", "as_text", "as_markdown"), _TABLE),
    **dict.fromkeys(("to_latex", "to_html", "to_csv", "to_markdown"), _TABLE),
    **dict.fromkeys(("to_frame", "to_dataframe", "to_df"), "fit.tidy(conf_int=True)"),
    "to_json": "fit.save('fit.json'), or fit.to_dict()",
    "to_pickle": "fit.save('fit.json')",
    "plot": "fit.plot_coef()",
    # reliability
    **dict.fromkeys(("b10", "B10", "BX1_lower", "b_life", "blife"), "fit.life(newdata, failed=[0.1])"),
}
"""Name -> what to write, to follow "write"."""
