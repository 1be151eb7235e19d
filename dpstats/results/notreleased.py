"""Names that a fit does not release, with the reason and what to use instead.

One table feeds ``__getattr__``, the documentation and a parametrised test
(docs/theory/results.md#what-is-refused).
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TypeAlias

from dpstats.errors import NotReleased
from dpstats.results.habits import HABITS, way_of

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
        ),
        (_ROWS, _NEW_DATA),
    ),
    **dict.fromkeys(("llf", "aic", "bic"), (_LIKELIHOOD, _ASK)),
    **dict.fromkeys(
        (
            "llnull",
            "bic_llf",
            "bic_deviance",
            "llf_scaled",
            "info_criteria",
            "prsquared",
            "pseudo_rsquared",
            "log_likelihood_",
            "AIC_",
            "BIC_",
            "AIC",
            "AICc",
            "BIC",
            "loglik",
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
        ("concordance", "concordance_index_", "concordance_index"),
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
        ("rsquared_adj", "ess", "ssr", "centered_tss", "mse_resid", "mse_model"),
        ("is a sum of squares of the private data", "A linear fit has fit.sigma and fit.rsquared."),
    ),
    "rsquared": ("follows from the moments of a linear fit, and this fit has none", "dps.ols releases it."),
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
    "get_margeff": ("averages over the training rows", _POINTS),
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
    close = [] if name.startswith("_") else get_close_matches(name, dir(type(owner)), 1, ALIKE)
    meant = f"; did you mean {close[0]!r}?" if close else ""
    instead = f": write {way_of(name, owner)}" if name in HABITS else meant
    return AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'{instead}")
