"""What is not released is refused by the fit of every model, and what needs other data says so."""

from typing import Any

import pytest

from dpstats.errors import NotReleased
from dpstats.results import NOT_RELEASED, Fit
from tests.results.every import EVERY, OF_TIME

LINEAR = ("ols", "ridge")
# docs/theory/results.md#what-is-refused, by statsmodels', R's and lifelines' names
WANTED = (
    "resid fittedvalues mu wresid get_influence hat_matrix_diag cooks_distance outlier_test llf aic bic "
    "deviance pearson_chi2 concordance f_test compare_lr_test anova scale fit_history converged n_iter data "
    "endog exog remove_data get_margeff random_state nevents summary2 "
    "pseudo_r2 roc_auc margeff"
).split()
ROWWISE = ("predict", "get_prediction", "augment", "residuals", "simulate")


@pytest.mark.parametrize("model", EVERY)
def test_every_name_is_refused_by_every_model(model: str) -> None:
    fit, _ = EVERY[model]
    for name in NOT_RELEASED:
        if name in ("rsquared", "rsquared_adj") and model in LINEAR:
            continue
        assert not hasattr(fit, name)
        with pytest.raises(NotReleased, match=f"^'{name}' .*[.] .*[.]$"):
            getattr(fit, name)


def test_the_names_of_the_specification_are_in_the_table() -> None:
    assert set(WANTED) <= set(NOT_RELEASED)


@pytest.mark.parametrize("model", EVERY)
def test_training_rows_are_never_used(model: str) -> None:
    for name in ROWWISE:
        with pytest.raises(NotReleased, match=f"^'{name}'"):
            getattr(EVERY[model][0], name)()


@pytest.mark.parametrize("name", [name for name in OF_TIME if name != "hazard_ratios"])
def test_what_follows_from_a_distribution_is_refused_where_there_is_none(name: str) -> None:
    with pytest.raises(NotReleased, match="needs a distribution of the time, and coxph has none"):
        getattr(EVERY["coxph"][0], name)()


@pytest.mark.parametrize("model", [model for model in EVERY if not model.startswith(("survreg", "coxph"))])
def test_words_of_times_to_failure_are_refused_by_other_models(model: str) -> None:
    for name in OF_TIME:
        with pytest.raises(
            NotReleased, match="needs a (time-to-failure model|regression of hazards|binomial model)"
        ):
            getattr(EVERY[model][0], name)()


@pytest.mark.parametrize("model", EVERY)
def test_every_model_has_everything_that_is_free(model: str) -> None:
    """The words of the specification that need no more than coefficients and a point."""
    fit, at = EVERY[model]
    k = len(fit.names)
    calls: list[tuple[Any, int]] = [
        (fit.params, k),
        (fit.bse, k),
        (fit.bse_privacy, k),
        (fit.privacy_share, k),
        (fit.tvalues, k),
        (fit.pvalues, k),
        (fit.conf_int(joint=True), k),
        (fit.cov_params(), k),
        (fit.tidy(conf_int=True), k),
        (fit.glance(), 1),
        (fit.predict(at), 1),
        (fit.get_prediction(at).summary_frame(), 1),
        (fit.augment(at), 1),
        (fit.t_test(f"{fit.names[1]} = 0").summary_frame(), 1),
    ]
    for found, rows in calls:
        assert len(found) == rows
    assert fit.wald_test(f"{fit.names[1]} = 0").df == 1
    assert fit.summary().as_text() and repr(fit).count("\n") == 4
    assert Fit.from_dict(fit.to_dict()).to_dict() == fit.to_dict()
