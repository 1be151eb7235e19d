"""Linear fits: sigma, R-squared, and every ridge penalty from one release."""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from statsmodels.iolib.summary2 import summary_col

from dpstats.cli import main
from dpstats.errors import NotReleased, SpecificationError
from dpstats.moments import LinearMoments
from dpstats.moments.noisy import NormalEquations
from dpstats.moments.parts import Clipping, Untold
from dpstats.moments.solution import wider
from dpstats.moments.spread import clipped_with_mean, score_covariance
from dpstats.moments.tails import _clipped_exponential, _tail_rate, power_variance
from dpstats.results import NOT_RELEASED, Fit
from tests.results.fits import USE, capacitor
from tests.results.linear import AT, BUDGET, NAMES, linear, moments, rows
from tests.results.test_record import reachable

Z = 1.959963984540054


def ridge(alpha: float) -> np.ndarray:
    """Of the rows, by its definition: (1 / 2n) |y - Xb|^2 + alpha / 2 |b without intercept|^2."""
    x, y = rows()
    n, d = x.shape
    return np.linalg.solve(x.T @ x / n + alpha * np.diag([0, 1, 1, 1]), x.T @ y / n)


def test_without_noise_sigma_and_rsquared_are_those_of_ols() -> None:
    x, y = rows()
    ols, fit = sm.OLS(y, x).fit(), linear(noise=0.0)
    assert fit.params.to_numpy() == pytest.approx(ols.params)
    assert float(fit.sigma) == pytest.approx(np.sqrt(ols.scale))
    assert float(fit.rsquared) == pytest.approx(1 - ols.scale / (ols.scale + ols.ess / len(y)))
    adjusted = float(fit.rsquared_adj)
    assert abs(adjusted - ols.rsquared_adj) < 0.15 * abs(adjusted - ols.rsquared)
    assert (fit.sigma.privacy_share, fit.rsquared.privacy_share) == (0, 0)


def test_limits_are_those_of_ratios_and_the_lower_one_of_sigma_of_noise_of_its_square() -> None:
    """Sampling errs in proportion to sigma, and noise is added to its square, however small that is."""
    fit = linear()
    sigma, left = fit.sigma, 1 - float(fit.rsquared)
    value, se = float(sigma), sigma.std_error
    assert sigma.conf_high == pytest.approx(value * np.exp(Z * se / value))
    by_sampling = value**2 * (1 - np.exp(-2 * Z * se * np.sqrt(1 - sigma.privacy_share) / value))
    by_noise = 2 * Z * value * se * np.sqrt(sigma.privacy_share)
    assert sigma.conf_low == pytest.approx(np.sqrt(value**2 - np.hypot(by_sampling, by_noise)))
    factor = np.exp(Z * fit.rsquared.std_error / left)
    limits = [1 - fit.rsquared.conf_high, 1 - fit.rsquared.conf_low]
    assert limits == pytest.approx([left / factor, left * factor])
    assert 0 < sigma.privacy_share < 1 and 0 < fit.rsquared.privacy_share < 1
    assert repr(fit.rsquared).startswith("R-squared 0.")


@settings(max_examples=60, deadline=None)
@given(st.floats(0, 30), st.floats(-2, 2), st.floats(0.01, 20), st.floats(0.5, 0.999))
def test_limits_stay_in_range_whatever_the_noise_did(
    noise: float, turn: float, square: float, level: float
) -> None:
    wild = moments(noise, square=square, cross=turn * np.array([1.0, -1, 2, 0]))
    fit = linear(linear=wild)
    low, high = fit.design.response.bounds
    most = (high - low) / 2  # residuals about a mean in these bounds spread no more
    for value, largest in ((fit.sigma, most), (fit.rsquared, 1)):
        assert 0 <= value.conf_low <= value.conf_high <= largest
        excludes = value.conf_high - value.conf_low < 0.9994 * largest
        if np.isfinite(value.std_error):
            assert value.conf_low <= float(value) <= value.conf_high
        else:
            assert not excludes and np.isnan(float(value)) and "not estimable" in repr(value)
        assert excludes <= np.isfinite(value.std_error)
    assert max(map(len, str(fit.summary(level)).splitlines())) <= 100


def test_doubt_about_the_weights_of_rows_is_part_of_both_errors() -> None:
    """A relative error of the residual variance, of which sigma has half."""
    sure, doubtful = moments(0.002), moments(0.002, doubt=0.1)
    value, se, _ = sure.sigma()
    assert doubtful.sigma().se == pytest.approx(np.hypot(se, 0.1 / 2 * value))
    value, se, _ = sure.rsquared()
    assert doubtful.rsquared().se == pytest.approx(np.hypot(se, 0.1 * value * (1 - value)))


def _told(fourth: float, limit: float | None, n: int) -> LinearMoments:
    """Moments of residuals up to a limit whose fourth powers were released."""
    known = moments().released
    meat = known.square * known.gram
    return moments(n=n, limit=limit, fourth=fourth, noise_fourth=1e-9, meat=meat, noise_meat=1e-9)


def test_what_clipping_is_thought_to_take_of_the_variance_is_uncertain() -> None:
    """By three times as much: without noise, and with so many rows that nothing else is."""
    n = 10**12
    short, whole = (_told(8.0, limit, n) for limit in (4.0, None))
    value, se, _ = short.sigma()
    tail = (value / whole.sigma().value) ** 2 - 1
    assert tail > 0.01 and se == pytest.approx(1.5 * tail * whole.sigma().value ** 2 / value, rel=1e-3)


def test_what_is_beyond_exponential_errors_may_have_the_tail_of_a_power() -> None:
    """Of rows at the limit a share y^-2 may be y times as far: the mean of their squares grows as ln n."""
    limit, kurtosis, n = 4.0, 12.0, 10**6
    _, excess, normal = _tail_rate(limit)
    heavy = (kurtosis - normal) / excess
    share = (kurtosis - normal - excess * heavy**-3.5) / limit**4  # exponential errors need no such rows
    far = np.sqrt(n * share / 0.05)  # a twentieth of a row is left
    y = np.geomspace(1, far, 100_001)
    squares = share * limit**2 * np.trapezoid(y**-2 * 2 * y, y)
    assert power_variance(limit, kurtosis, n) == pytest.approx(squares, rel=1e-3)
    assert power_variance(limit, 3.5, n) == 0


def test_clipping_moves_a_line_of_amounts_along_itself_and_less_the_farther_off_their_bound_is() -> None:
    """By (k - 3) / 2 L^3 and twice that at most; clipped normal residuals have k of nearly 3."""
    known, line = _told(9.0, 4.0, 60), np.array([3.0, 1.0, -0.5, 0.2])
    one, gram = known.frame.constant, known.positive_gram / known.gram_weight
    assert one is not None
    mean, limit = float(one @ gram @ line), 4.0 / math.sqrt(known.released.square / known.mean_weight)
    slopes = line - mean * one
    kurtosis = 9.0 * known.mean_weight / known.released.square**2
    size, spread = 4.0 / limit, math.sqrt(float(slopes @ gram @ slopes))
    lost = size * (kurtosis - _tail_rate(round(limit, 2))[2]) / (2 * limit**3)
    for above in (spread, 50 * spread):
        moved = clipped_with_mean(known, line, np.array([mean - above, mean + 100 * spread]))
        up = min((1 + limit) * spread / above, 2.0)
        assert moved == pytest.approx(lost * up * slopes / spread, rel=1e-6)
    whole = replace(known, clipping=Clipping(None))
    assert not clipped_with_mean(whole, line, np.array([0.0, 1.0])).any()


@pytest.mark.parametrize("limit", [4.5, 5.0])
def test_sigma_is_held_where_errors_have_the_tails_of_t_of_few_degrees(limit: float) -> None:
    """Of 2.4, whose variance is 6, without noise: kurtosis is hardly above that of exponential errors."""
    known, errors, left = moments(), scipy.stats.t(2.4).isf((np.arange(100_000) + 0.5) / 200_000), 1.0
    for _ in range(100):
        clipped = np.minimum(errors, limit * math.sqrt(left))
        left = float(np.mean(clipped**2))
    unit = known.released.square / known.mean_weight
    fourth = float(np.mean(clipped**4)) / left**2 * known.released.square * unit
    found, whole = (_told(fourth, far, 10_000).sigma() for far in (limit * math.sqrt(unit), None))
    truth = whole.value * math.sqrt(6 / left)
    assert truth > 1.2 * whole.value
    assert abs(math.log(truth / found.value)) < Z * found.se / found.value


@pytest.mark.parametrize("error", [0.03, 0.06])
def test_what_a_noisy_eigenvalue_divides_may_be_larger_as_far_as_noise_tells(error: float) -> None:
    """The mean of 1 / (1 + error z)^2, z Laplace, but for values that noise hardly ever has."""
    square, _ = scipy.integrate.quad(
        lambda z: math.exp(-math.sqrt(2) * abs(z)) / math.sqrt(2) / (1 + error * z) ** 2,
        *(-8, 8),
        points=[0],
    )
    assert wider(np.array([error]))[0] ** 2 - 1 == pytest.approx(square - 1, rel=0.01)


@pytest.mark.parametrize("limit", [1.5, 2.0, 4.0, 12.0])
def test_what_clipping_leaves_of_exponential_errors_is_its_integral(limit: float) -> None:
    for power, found in zip((2, 4), _clipped_exponential(limit), strict=True):
        inside, _ = scipy.integrate.quad(lambda e, power=power: e**power * math.exp(-e - 1), -1.0, limit)
        assert found == pytest.approx(inside + limit**power * math.exp(-limit - 1), rel=1e-12)


def test_all_kurtosis_that_noise_does_not_explain_may_be_of_such_rows_where_nobody_released_it() -> None:
    limit, n = 4.0, 10**6
    _, excess, normal = _tail_rate(limit)
    alike = (normal + 0.4 + excess / 2, 0.4), (normal + excess / 2, 0.0)
    first, second = (power_variance(limit, kurtosis, n, noise) for kurtosis, noise in alike)
    share = excess / 2 / limit**4
    assert first == pytest.approx(second) == pytest.approx(share * limit**2 * np.log(20 * n * share))
    assert power_variance(limit, normal + 0.4, n, 0.4) == power_variance(limit, normal + excess / 2, n) == 0


def test_a_kurtosis_of_which_nobody_tells_is_as_uncertain_as_one_that_noise_hides() -> None:
    """Sigma and R squared of clipped residuals say so."""
    unknown, hidden = moments(limit=3.0), moments(limit=3.0, fourth=0.0, noise_fourth=1e9)
    for found, other in ((unknown.sigma(), hidden.sigma()), (unknown.rsquared(), hidden.rsquared())):
        assert found.se == pytest.approx(other.se)
    assert unknown.sigma().se > 1.5 * moments().sigma().se


def test_limits_of_sigma_reach_what_such_a_tail_holds() -> None:
    heavy, light = (_told(fourth, 4.0, 10**6) for fourth in (20, 8))
    assert np.exp(1.96 * heavy.sigma().se / heavy.sigma().value) > np.sqrt(5)
    assert light.sigma().se < 0.1 * light.sigma().value


def test_rsquared_is_told_by_fitted_values_or_by_the_response_whichever_is_better_known() -> None:
    fitted, variance = moments().rsquared(), moments().sigma().value ** 2
    by_fitted = moments(total=4 * variance, noise_total=2 * variance).rsquared()
    assert by_fitted.value == pytest.approx(fitted.value)
    noisy = moments(noise_gram=0.1, total=4 * variance, noise_total=1e-9)
    assert noisy.rsquared().value == pytest.approx(1 - noisy.sigma().value ** 2 / noisy.released.total)


def test_where_the_two_differ_by_more_than_noise_that_is_part_of_the_error_of_rsquared() -> None:
    fitted, variance = moments().rsquared(), moments().sigma().value ** 2
    total = 4 * variance
    found = moments(total=total, noise_total=0.01 * total).rsquared()
    apart = abs(0.75 - fitted.value) - 1.96 * 0.25 * 0.01
    assert found.value == pytest.approx(fitted.value)
    assert found.se_privacy == pytest.approx(apart, rel=1e-3)
    by_chance = abs(0.75 - fitted.value) / 0.25 / 1.5  # of three such differences one is larger than noise
    same = moments(total=total, noise_total=by_chance * total).rsquared()
    assert (same.value, same.se_privacy) == pytest.approx((fitted.value, fitted.se_privacy))


def test_survreg_says_the_share_of_its_sigma_too() -> None:
    assert capacitor().sigma.privacy_share == pytest.approx(0.52)


@pytest.mark.parametrize("alpha", [0.0, 0.003, 0.5, 40])
def test_every_penalty_comes_from_the_same_release(alpha: float) -> None:
    fit = linear(noise=0.0).at_alpha(alpha)
    assert fit.params.to_numpy() == pytest.approx(ridge(alpha))
    assert fit.alpha == alpha and fit.budget == BUDGET and fit.record.ledger == linear().record.ledger
    assert float(fit.sigma) == float(linear(noise=0.0).sigma), "the error is that of the unpenalised fit"


def test_another_penalty_and_back_is_the_same_fit() -> None:
    fit = linear(0.1)
    other = fit.at_alpha(2).at_alpha(0)
    assert (fit.record.model, other.record.model) == ("ridge", "ols")
    assert (fit.record.charged_alpha, other.record.charged_alpha) == (None, 0.1)
    assert other.at_alpha(0.1).to_dict() == fit.to_dict()
    alike = linear(2).to_dict()
    assert {**alike, "charged_alpha": 0.1} == fit.at_alpha(2).to_dict()
    assert "release and budget shared with alpha = 0.1" in repr(other)


def test_what_no_penalty_finds_is_found_once_and_nobody_changes_it() -> None:
    own = moments(noise=0.002)
    found = own.solve()
    assert own.solve() is found
    for array in (found.params, found.cov, found.cov_privacy):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    other = replace(own, released=replace(own.released, cross=2 * own.released.cross))
    assert (other.solve().params != found.params).any()


def test_scores_are_compared_once_for_coefficients_and_the_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[LinearMoments] = []

    def counted(own: LinearMoments, fit: NormalEquations) -> np.ndarray:
        asked.append(own)
        return score_covariance(own, fit)

    monkeypatch.setattr("dpstats.moments.linear.score_covariance", counted)
    own = moments(noise=0.002, meat=np.eye(4), noise_meat=0.01)
    assert own.solve() and own.root.any() and own.sigma() and own.rsquared()
    assert asked == [own]


def test_what_is_known_beside_the_equations_leaves_them_as_they_were_solved() -> None:
    own = moments(noise=0.002, limit=3.0)
    solved, positive = own.normal_equations(), own.positive_gram
    known = own.knowing(clipping=Clipping()).moved(np.ones(4))
    assert known.normal_equations() is solved and known.positive_gram is positive
    assert known.clipping.limit is None and (known.frame.origin != own.frame.origin).any()


def test_cautions_follow_the_penalty() -> None:
    whole = ("law", "of the whole release")
    noisy = linear(noise=0.38, flags=[whole, ("weak", "of alpha = 0")])
    for alpha in (0, 100):
        assert noisy.at_alpha(alpha).flags == (whole, *linear(alpha, noise=0.38).flags)
    assert "weak" in dict(noisy.at_alpha(0).flags) and noisy.at_alpha(100).flags == (whole,)


def test_no_penalty_helps_where_no_row_is_seen() -> None:
    drowned = linear(noise=0.7)
    for alpha in (0, 100):
        fit = drowned.at_alpha(alpha)
        assert "nothing is estimable" in dict(fit.flags)["not_estimable"]
        assert np.isinf(fit.bse).all()


@pytest.mark.parametrize("alpha", [-1, np.nan, np.inf, "1", None])
def test_penalties_that_make_no_sense_are_refused(alpha: object) -> None:
    with pytest.raises(SpecificationError, match="alpha must be a finite number"):
        linear().at_alpha(alpha)
    with pytest.raises(SpecificationError):
        linear().ridge_path([0.1, alpha])


def test_the_path_is_the_fits_at_its_penalties() -> None:
    fit = linear()
    frame = fit.ridge_path([0, 0.1, 3], level=0.8).frame
    assert list(frame) == ["alpha", "term", "estimate", "std_error", "conf_low", "conf_high"]
    for alpha, block in frame.groupby("alpha"):
        tidy = fit.at_alpha(alpha).tidy(conf_int=True, level=0.8)
        for name in ("estimate", "std_error", "conf_low", "conf_high"):
            assert list(block[name]) == pytest.approx(list(tidy[name]))
        assert list(block["term"]) == list(NAMES)
    with pytest.raises(SpecificationError, match="alphas is empty"):
        fit.ridge_path([])


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_the_default_path_goes_from_no_effect_to_nothing_left_in_any_unit(unit: float) -> None:
    own = moments().frame
    fit = linear(linear=moments(origin=own.origin * unit, map=own.map * unit, scale=own.scale * unit))
    frame = fit.ridge_path().frame.set_index("term")
    free, alphas = fit.at_alpha(0).params, frame["alpha"].unique()
    for name in NAMES[1:]:
        assert frame["estimate"][name].iloc[0] == pytest.approx(free[name], rel=0.02)
        assert abs(frame["estimate"][name].iloc[-1]) < 0.02 * abs(free[name])
    assert np.diff(np.log10(alphas)) == pytest.approx(0.2) and len(alphas) < 62
    assert alphas[0] == pytest.approx(10.0 ** np.round(np.log10(alphas[0])))


def test_a_path_needs_a_linear_fit_with_something_to_penalise() -> None:
    for method in ("ridge_path", "plot_ridge_path"):
        with pytest.raises(NotReleased, match=f"'{method}' needs the moments of a linear fit"):
            getattr(capacitor(), method)()
    with pytest.raises(NotReleased, match="'at_alpha' needs"):
        capacitor().at_alpha(1)
    with pytest.raises(SpecificationError, match="only an intercept"):
        linear(linear=moments(penalised=np.zeros(4))).ridge_path()
    assert not hasattr(capacitor(), "alpha") and linear().alpha == 0


def test_the_plot_draws_the_path() -> None:
    fit = linear(0.5)
    ax = fit.plot_ridge_path([0.01, 0.1, 1])
    assert ax.get_xscale() == "log"
    lines = {line.get_label(): line for line in ax.get_lines()}
    frame = fit.ridge_path([0.01, 0.1, 1]).frame.set_index("term")
    for name in NAMES[1:]:
        assert list(lines[name].get_ydata()) == list(frame["estimate"][name])
    assert "Intercept" not in lines and list(lines["this fit"].get_xdata()) == [0.5, 0.5]
    assert len(ax.collections) == 3 and ax.get_legend() is not None
    assert "NOT PRIVATE" not in ax.get_title()
    assert linear(not_private=True).plot_ridge_path().get_title().startswith("NOT PRIVATE")


def test_columns_in_different_units_share_the_axis_of_the_plot_across_their_ranges() -> None:
    ax = Figure().add_subplot()
    assert linear().plot_ridge_path([0.1, 1], ax=ax, across_range=True) is ax
    drawn = next(line for line in ax.get_lines() if line.get_label() == "alcohol").get_ydata()
    path = linear().ridge_path([0.1, 1]).frame.set_index("term")["estimate"]["alcohol"]
    assert list(drawn) == pytest.approx(list(7 * path))
    assert "public range" in ax.get_ylabel()


def test_a_plot_that_cannot_be_drawn_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecificationError, match="above 0"):
        linear().plot_ridge_path([0, 1])
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"dpstats\[plot\]"):
        linear().plot_ridge_path()


def test_new_responses_lie_about_predicted_means() -> None:
    fit = linear()
    x = np.array([1.0, *AT.values()])
    assert fit.predict(AT)[0] == pytest.approx(x @ fit.params)
    frame = fit.get_prediction(AT).summary_frame().iloc[0]
    se = np.sqrt(x @ fit.cov_params() @ x)
    spread = np.hypot(se, float(fit.sigma))
    assert frame.to_dict() == pytest.approx(
        {
            "mean": x @ fit.params,
            "mean_se": se,
            "mean_ci_lower": x @ fit.params - Z * se,
            "mean_ci_upper": x @ fit.params + Z * se,
            "obs_ci_lower": x @ fit.params - Z * spread,
            "obs_ci_upper": x @ fit.params + Z * spread,
        }
    )
    assert list(fit.augment(AT))[-4:] == [".fitted", ".se_fit", ".lower", ".upper"]
    with pytest.raises(NotReleased, match="time-to-failure"):
        fit.predict(AT, type="quantile")
    with pytest.raises(NotReleased, match="'obs' needs"):
        capacitor().get_prediction(USE).conf_int(obs=True)


@pytest.mark.parametrize("alpha", [0.0, 0.2, 50])
def test_responses_scatter_more_about_penalised_means(alpha: float) -> None:
    x, y = rows()
    about = np.mean((y - x @ ridge(alpha)) ** 2) + np.mean((y - x @ ridge(0)) ** 2) * 4 / 56
    prediction = linear(alpha, noise=0.0).get_prediction(AT)
    assert prediction.sd_obs == pytest.approx(np.sqrt(about), rel=1e-6)


def test_the_spread_of_a_response_of_unknown_weight_is_not_told() -> None:
    prediction = linear(weights="unused").get_prediction(AT)
    assert prediction.sd_obs is None and "obs_ci_lower" not in prediction.summary_frame()


def test_broom_and_statsmodels_tools_find_what_they_look_for() -> None:
    fit = linear(0.1)
    row = fit.glance().iloc[0]
    assert (row["alpha"], row["model"], row["dist"]) == (0.1, "ridge", "gaussian")
    assert (row["sigma"], row["rsquared"]) == (float(fit.sigma), float(fit.rsquared))
    assert set(fit.tidy()["component"]) == {"location"}
    text = str(summary_col([fit, linear()], include_r2=True))
    assert text.count(f"{float(fit.rsquared):.4f}") == 4 and "nan" not in text
    assert not {"alpha", "sigma", "rsquared"} & set(capacitor().glance())


@pytest.mark.parametrize("name", [name for name in NOT_RELEASED if not name.startswith("rsquared")])
def test_the_rest_stays_refused(name: str) -> None:
    assert not hasattr(linear(), name)


def test_dispersion_is_the_square_of_sigma_not_a_scale() -> None:
    with pytest.raises(NotReleased, match="Use fit.sigma"):
        _ = linear().scale
    with pytest.raises(NotReleased, match="fit.sigma and fit.rsquared"):
        _ = linear().ssr


@pytest.mark.parametrize("name", ["life", "reliability", "mttf", "parameters", "time_ratios"])
def test_survival_words_are_refused(name: str) -> None:
    with pytest.raises(NotReleased, match="needs a time-to-failure model, and this is ols"):
        getattr(linear(), name)()


def test_moments_are_as_read_only_and_as_small_as_the_rest() -> None:
    fit = linear(nobs=1201)
    everything = reachable(fit)
    assert any(item is fit.record.linear.released.gram for item in everything), (
        "the walk must see the moments"
    )
    for item in everything:
        if isinstance(item, np.ndarray):
            assert max(item.shape, default=0) <= len(NAMES) and not item.flags.writeable
        assert not isinstance(item, pd.DataFrame | pd.Series)


def test_moments_of_other_coefficients_are_refused() -> None:
    with pytest.raises(SpecificationError, match="moments are of"):
        linear(linear=moments(origin=np.zeros(3)))


def test_a_file_without_the_fields_of_linear_fits_is_read() -> None:
    content = json.loads(json.dumps(capacitor().to_dict()))
    assert not {"linear", "alpha", "charged_alpha"} & set(content)
    assert Fit.from_dict(content).summary().as_text() == capacitor().summary().as_text()


def test_the_command_line_shows_and_predicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit, path, new = linear(0.1), tmp_path / "wine.fit.json", tmp_path / "new.csv"
    fit.save(path)
    pd.DataFrame([AT]).to_csv(new, index=False)
    assert main(["show", str(path)]) == 0
    assert capsys.readouterr().out == f"{fit.summary()}\n"
    assert main(["predict", str(path), str(new)]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head == "alcohol,sulphates,acidity,response,conf_low,conf_high"
    assert float(row.split(",")[3]) == pytest.approx(float(fit.predict(AT)[0]))
    assert main(["predict", str(path), str(new), "--type", "quantile", "--p", "0.1"]) == 2
    assert "time-to-failure" in capsys.readouterr().err


def test_the_unpenalised_coefficients_are_those_of_another_summary() -> None:
    free = str(linear(0.5).at_alpha(0).summary()).splitlines()
    for name in NAMES:
        row = next(line for line in free if line.startswith(f"{name} "))
        assert row not in str(linear(0.5).summary())


def test_predictions_stay_within_the_public_bounds_of_the_response_and_say_so() -> None:
    fit = linear(params=np.array([30.0, -2.0, 0.0, 0.0]))
    new = {"alcohol": [9.0, 12.0, 15.0], "sulphates": 0.5, "acidity": 7}
    assert fit.predict(new, type="lp").tolist() == [12.0, 6.0, 0.0]
    with pytest.warns(UserWarning, match=r"1 prediction.* bounds of quality, 0 to 10"):
        assert fit.predict(new).tolist() == [10.0, 6.0, 0.0]
    with pytest.warns(UserWarning, match="were moved to them"):
        predicted = fit.get_prediction(new)
    frame = predicted.summary_frame()
    assert predicted.outside == 1 and frame["mean"].tolist() == [10.0, 6.0, 0.0]
    limits = frame.drop(columns="mean_se").to_numpy()
    assert limits.min() == 0 and limits.max() == 10
    assert (frame["mean_ci_lower"] <= frame["mean"]).all() and (frame["mean"] <= frame["mean_ci_upper"]).all()


def test_an_interval_that_lies_beyond_the_bounds_says_nothing() -> None:
    """Both of its limits were moved to one bound: a mean was told without any error."""
    fit = linear(params=np.array([90.0, -2.0, 0.0, 0.0]))
    with pytest.warns(UserWarning, match="its limits are both bounds"):
        frame = fit.get_prediction({"alcohol": 9.0, "sulphates": 0.5, "acidity": 7}).summary_frame()
    assert frame.drop(columns="mean_se").to_numpy().tolist() == [[10.0, 0.0, 10.0, 0.0, 10.0]]


def test_predictions_within_the_bounds_are_left_alone(recwarn: pytest.WarningsRecorder) -> None:
    predicted = linear().get_prediction(AT)
    assert predicted.outside == 0 and not recwarn.list
    assert predicted.predicted_mean == pytest.approx(linear().predict(AT, type="lp"))


@pytest.mark.parametrize("wrong", [{"map": [[0.0] * 4] * 4}, {"total": 0.0}, {"total": -0.0}])
def test_moments_that_no_fit_has_are_refused(wrong: dict[str, object]) -> None:
    """A fit that was saved has a way back to coefficients, and a response that varies."""
    content = json.loads(json.dumps(linear().to_dict()))
    content["linear"] |= wrong
    with pytest.raises(SpecificationError, match="none that a fit could have|incomplete or was edited"):
        Fit.from_dict(content)


def test_a_penalty_counts_the_covariates_of_all_rows() -> None:
    """Where these spread more than weighted rows do, a penalised line lies farther from the means."""
    narrow, alpha = linear().record.linear, 0.5
    assert narrow is not None
    wide = replace(narrow, untold=Untold(whole=3 * narrow.all_rows))
    near, far = (found.residual_sd(alpha) ** 2 - found.residual_sd() ** 2 for found in (narrow, wide))
    assert near > 0 and far == pytest.approx(3 * near)


def test_an_estimate_is_rounded_and_formatted_as_a_number_is() -> None:
    found = linear().rsquared
    assert round(found, 3) == round(found.estimate, 3)
    assert f"{found:.3f}" == f"{found.estimate:.3f}" and f"{found}" == repr(found)


def test_predictions_are_shown_as_their_table() -> None:
    prediction = linear().get_prediction({"alcohol": [9, 10], "sulphates": 0.5, "acidity": 3})
    assert repr(prediction) == prediction.summary_frame().to_string()
