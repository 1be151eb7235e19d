"""Names that a fit does not have: why it does not release them, or what is written here in their place.

The table of what is not released feeds ``__getattr__``, the documentation and a parametrised test
(docs/theory/results.md#what-is-refused). That of habits has names which users bring from other packages
(docs/habits.md).
"""

import re
from typing import TypeAlias

from dpstats._arguments import near
from dpstats.errors import NotReleased

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
    **dict.fromkeys(("n", "nrow"), (("fit.nobs", _ANY),)),
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
            (
                "fit.logrank() for all groups together; of two that of another fit, whose schema declares "
                "these alone: schema.replace(x=dps.levels('a', 'b')); or t_test_pairwise('x') of a coxph fit",
                _CURVE,
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
    **dict.fromkeys(
        (
            "predict_expectation",
            "mean",
            "rmean",
            "mean_life",
            "mean_survival_time",
            "MTTF",
            "mtbf",
            "MTBF",
        ),
        (("fit.mttf(newdata)", _TIMES), ("fit.rmst(until=100)", _CURVE)),
    ),
    **dict.fromkeys(
        (
            "predict_survival_function",
            "survival_function_",
            "sf",
            "survival_function_at_times",
            "surv",
            "survival",
            "reliability",
        ),
        _SURVIVAL,
    ),
    **dict.fromkeys(("cdf", "cumulative_density_"), _FAILED),
    **dict.fromkeys(
        ("predict_hazard", "hazard_", "hf"),
        (("fit.predict(newdata, type='hazard', times=[100])", _TIMES),),
    ),
    **dict.fromkeys(
        ("predict_cumulative_hazard", "cumulative_hazard_", "cumulative_hazard", "chf", "cumhaz"), _CUMULATED
    ),
    "event_table": (("fit.table()", _CURVE),),
    "hazard_ratios_": (
        ("fit.hazard_ratios()", f"{_COX} or of {_WEIBULL}"),
        ("fit.time_ratios()", _TIMES),
    ),
    "predict_partial_hazard": (("fit.predict(newdata, type='risk')", _COX),),
    **dict.fromkeys(
        ("basehaz", "baseline_hazard", "baseline_hazard_", "baseline_cumulative_hazard_"),
        (("fit.cumulative_hazard(newdata)", _COX),),
    ),
    "baseline_survival_": (("fit.survival(newdata)", _COX),),
    **dict.fromkeys(
        ("zph", "cox_zph", "check_assumptions", "proportional_hazard_test"),
        (("fit.proportional_test()", _COX),),
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
    "savefig": (
        ("fit.plot_coef().figure.savefig('coef.png')", _ANY),
        ("fit.plot().figure.savefig('curve.png')", _CURVE),
    ),
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


ALIKE = 0.8  # of two names in difflib's measure: one letter in five is another
_ROWS = "holds one value per training row, so a private fit does not release it"
_LIKELIHOOD = "needs the log-likelihood of the private data, which was not released"
_DATA = "is the private training data"
_COUNTED = "counts private rows, and a count of them is private even where the number of rows is public"
_SEARCH = "depends on the private data through the path of the optimiser"

_NEW_DATA = "For public rows use fit.predict(newdata), fit.augment(newdata) or fit.residuals(newdata, y)."
_ASK = (
    "Ask for it when fitting survreg, or a binomial or Poisson family: release=['loglik'] spends part of the "
    "budget. For hypotheses use fit.wald_test('x = 0')."
)
_WALD = "For hypotheses use fit.wald_test('x = 0')."
_DISPERSION = "A gamma or Poisson fit has fit.dispersion."
_POINTS = (
    "Over public rows use fit.marginal_effects(newdata, average=True); at the released means, "
    "fit.marginal_effects(at='mean')."
)
_FLAGS = "What could be judged from released numbers is in fit.flags."
_FAILURES = "A fit of times to failure by noisy Newton has fit.nevents."
_DECLARED = "What is public about the data is in fit.schema and fit.formula."

Reason: TypeAlias = tuple[str, str]
"""Why a fit lacks something, completing the sentence "'name' ...", and what to use instead, a sentence."""

LIKELIHOODS = {
    **dict.fromkeys(("loglik", "logLik", "log_likelihood", "log_likelihood_"), "llf"),
    **dict.fromkeys(("AIC", "AIC_"), "aic"),
    **dict.fromkeys(("BIC", "BIC_"), "bic"),
}
"""What other packages call members that a fit has if it released its log-likelihood."""

NOT_RELEASED: dict[str, Reason] = {
    **dict.fromkeys(
        (
            "resid",
            "resid_pearson",
            "resid_deviance",
            "resid_response",
            "resid_working",
            "resid_anscombe",
            "resid_dev",
            "resid_generalized",
            "wresid",
            "fittedvalues",
            "mu",
            "linear_predictors",
            "get_influence",
            "outlier_test",
            "hat_matrix_diag",
            "cooks_distance",
            "get_distribution",
            "plot_diagnostics",
        ),
        (_ROWS, _NEW_DATA),
    ),
    **dict.fromkeys(("llf", "aic", "bic", *LIKELIHOODS), (_LIKELIHOOD, _ASK)),
    **dict.fromkeys(
        (
            "llnull",
            "bic_llf",
            "bic_deviance",
            "llf_scaled",
            "info_criteria",
            "prsquared",
            "pseudo_rsquared",
            "pseudo_r2",
            "AICc",
            "loglik2",
            "log_likelihood_ratio_test",
        ),
        (_LIKELIHOOD, _WALD),
    ),
    **dict.fromkeys(
        ("deviance", "null_deviance", "pearson_chi2"),
        ("sums over the private rows, and the sum was not released", _DISPERSION),
    ),
    **dict.fromkeys(
        ("concordance", "concordance_index_", "concordance_index", "roc_auc", "auc"),
        (
            "compares each private row with every other, and was not released",
            "With public rows, compare fit.predict(newdata) with their responses.",
        ),
    ),
    **dict.fromkeys(
        ("vif", "variance_inflation_factor"),
        (
            "follows from correlations of the private columns",
            "A linear fit has fit.moments.correlations(), and fit.bse counts what collinearity costs.",
        ),
    ),
    "pred_table": (
        "counts private rows by response and prediction",
        "With public rows, compare fit.predict(newdata) with their responses.",
    ),
    **dict.fromkeys(
        ("ess", "ssr", "centered_tss", "mse_resid", "mse_model"),
        ("is a sum of squares of the private data", "A linear fit has fit.sigma and fit.rsquared."),
    ),
    **dict.fromkeys(
        ("rsquared", "rsquared_adj"),
        (
            "follows from the moments of a linear fit, and this fit has none",
            "dps.ols releases it; of what drop() or update() left, fit the formula anew.",
        ),
    ),
    **dict.fromkeys(
        (
            "f_test",
            "fvalue",
            "f_pvalue",
            "llr",
            "llr_pvalue",
            "score_test",
            "compare_lr_test",
            "compare_f_test",
            "anova",
        ),
        ("compares likelihoods or sums of squares of the private data, which were not released", _WALD),
    ),
    **dict.fromkeys(
        ("data", "endog", "exog", "frame", "durations", "event_observed", "model_frame"),
        (_DATA, _DECLARED),
    ),
    **dict.fromkeys(
        (
            "converged",
            "mle_retvals",
            "fit_history",
            "n_iter",
            "n_iter_",
            "iterations",
            "condition_number",
            "eigenvals",
        ),
        (_SEARCH, _FLAGS),
    ),
    **dict.fromkeys(("nevents", "n_events", "ncensored", "n_censored"), (_COUNTED, _FAILURES)),
    **dict.fromkeys(("n_missing", "n_dropped", "n_clipped"), (_COUNTED, _DECLARED)),
    **dict.fromkeys(
        ("random_state", "seed", "noise"),
        ("would let anyone subtract the noise", "The size of the noise is in fit.bse_privacy."),
    ),
    "scale": (
        "means the dispersion in statsmodels, sigma in survreg and eta in lifelines, so it is not used here",
        "Use fit.sigma (statsmodels' scale of a linear fit is its square), fit.dispersion (its scale of a "
        "GLM), fit.shape, fit.eta(newdata) or fit.parameters().",
    ),
    **dict.fromkeys(("get_margeff", "margeff"), ("averages over the training rows", _POINTS)),
    "cov_robust": (
        "needs the outer product of the private scores, which was not released",
        "fit.cov_params() counts sampling and privacy noise.",
    ),
    **dict.fromkeys(
        ("predict_proba", "predict_log_proba"),
        (
            "is the prediction of a model of probabilities",
            "Use fit.predict(newdata), of a fit of dps.logit(...).",
        ),
    ),
    "summary2": ("is another layout of the same numbers", "Use fit.summary()."),
    "remove_data": ("has nothing to remove: a fit holds no data", "fit.save(path) is safe to share."),
}


def refusal(name: str, reason: str, instead: str) -> NotReleased:
    """Return the exception in its one form: what, why, what instead.

    Parameters
    ----------
    name : str
        The attribute or method asked for.
    reason : str
        Completes the sentence "'name' ...".
    instead : str
        A sentence naming the remedy.
    """
    return NotReleased(f"'{name}' {reason}. {instead}")


def missing(name: str, owner: object) -> AttributeError:
    """Return the exception for an attribute `owner` does not have: from a table, or Python's own."""
    if name in NOT_RELEASED:
        return refusal(name, *NOT_RELEASED[name])
    meant = (
        ""
        if name.startswith("_")
        else near(name, [each for each in dir(type(owner)) if each[0] != "_"], ALIKE)
    )
    return lacks(owner, name, f": write {way_of(name, owner)}" if name in HABITS else meant)


def lacks(owner: object, name: str, instead: str) -> AttributeError:
    """Return Python's exception for an attribute that `owner` does not have, with what follows it."""
    return AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'{instead}")
