"""What each statistic sums, against plain numpy; and the pairs of rows that attain its sensitivity."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpstats.budget import gdp
from dpstats.families import SEV
from dpstats.families.martingale import integrands, taper
from dpstats.families.score_bounds import Truncation, score_bounds
from dpstats.families.signs import largest_slope
from dpstats.testing import NoNoise, Recording
from tests.families.laws import EVERY_LAW, LAWS
from tests.made import MadeDesign, MadeRows, made_columns, public_parameters, under

D = 2
COLUMNS = made_columns(300, D, seed=4)
COLUMNS["event"][:5] = np.nan
COLUMNS["x"][7, 1] = np.inf
PUBLIC = public_parameters(D)
BLOCK = MadeDesign(D).read(COLUMNS)
EVENT = BLOCK.event[:, None]
Y = np.where(BLOCK.ok, np.log(np.where(BLOCK.ok, BLOCK.time, 1)), 0)[:, None]
LATE = MadeDesign(D, delayed=True)
WATCHED = COLUMNS | {"entry": COLUMNS["time"] * np.random.default_rng(8).choice([0.0, 0.3, 0.9, 1.2], 300)}
TOLERANCE = dict(rel=1e-4, abs=300 * 2e-5)  # the grid of the lattice, for scales up to 10


def values(name, columns=COLUMNS, d=D, **changes):
    curator = under(NoNoise(), MadeRows(columns), MadeDesign(d), gdp(2))
    return curator.release(name, 1.0, **(public_parameters(d)[name] | changes)).values


def distance(name, d, row, other, **changes):
    """Distance of the exact vectors of two one-row data sets, in released coordinates."""
    exact = []
    for x, time, event in (row, other):
        columns = {"x": np.array([x]), "time": np.array([time]), "event": np.array([event])}
        recording = Recording(NoNoise())
        curator = under(recording, MadeRows(columns), MadeDesign(d, bound=10.0), gdp(2))
        curator.release(name, 1.0, **(public_parameters(d)[name] | changes))
        exact.append(recording.records[0].exact)
    return np.linalg.norm(exact[0] - exact[1])


def test_event_moments():
    first, second, count = values("event_moments")
    a = np.clip(np.hstack([BLOCK.exog[:, 1:], Y / math.log(10) - 1]), -1, 1) * EVENT
    assert first == pytest.approx(a.sum(axis=0), **TOLERANCE)
    assert second == pytest.approx(1.6 * (a**2).sum(axis=0), **TOLERANCE)
    assert count == pytest.approx(1.5 * EVENT.sum(), **TOLERANCE)


def test_event_moments_of_time_itself():
    first, _, _ = values("event_moments", center=[0, 0, 50.0], half=[1, 1, 50.0], log=False)
    assert first[2] == pytest.approx((EVENT[:, 0] * np.clip(BLOCK.time / 50 - 1, -1, 1)).sum(), **TOLERANCE)


@pytest.mark.parametrize("whitening", [None, np.eye(D + 1) + np.tri(D + 1, D + 1, -1) / 2])
def test_event_matrix(whitening):
    """Of rows that are shortened after they were whitened, if they are."""
    (matrix,) = values("event_matrix", whitening=whitening)
    x = np.hstack([np.ones((300, 1)), BLOCK.exog[:, 1:] / 0.5])
    x = x if whitening is None else x @ whitening
    weight = np.minimum(1, 2 / np.linalg.norm(x, axis=1, keepdims=True)) * EVENT
    rows = weight * np.hstack([x, np.clip((Y - math.log(10)) / 0.5, -4, 4)])
    rows *= np.minimum(1, 3 / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))
    assert matrix == pytest.approx(rows.T @ rows, **TOLERANCE)


def scored(public):
    """Residuals, and the pieces of the scores, from the families."""
    x = np.hstack([np.ones((300, 1)), BLOCK.exog[:, 1:] / 0.5]) * BLOCK.ok[:, None]
    z = ((Y[:, 0] - math.log(10)) / 0.5 - x @ public["gamma"]) / public["sigma"]
    return x, np.where(BLOCK.ok, z, 0.0)


def test_location_score():
    public = PUBLIC["location_score"]
    (score,) = values("location_score")
    _, z = scored(public)
    cut = taper(SEV, public["c"])
    psi = cut.integrals(z).location - EVENT[:, 0] * cut.at(z).g
    assert score.item() == pytest.approx(psi[BLOCK.ok].sum(), **TOLERANCE)


def test_location_bend():
    public = PUBLIC["location_score"]
    ways, level, tilt = (
        np.array([[0.2, 1.5, -0.8], [0.0, 0.0, 2.0]]),
        np.array([0.9, 1.1]),
        np.array([0.2, -0.4]),
    )
    curves = dict(ways=ways, level=level, tilt=tilt, edge=1.5, span=1.2)
    curator = under(NoNoise(), MadeRows(COLUMNS), MadeDesign(D), gdp(2))
    found = curator.release("location_bend", 1.0, **public, curves=curves).values
    x, z = scored(public)
    cut = taper(SEV, public["c"])
    psi = cut.integrals(z).location - EVENT[:, 0] * cut.at(z).g
    t = np.clip(x @ ways.T, -1.5, 1.5)
    q = t**2 - level - tilt * t
    v = (psi[:, None] * q * np.minimum(1, 1.2 / np.linalg.norm(q, axis=1))[:, None])[BLOCK.ok]
    kappa = math.sqrt(11) / (2 * 1.2 * float(cut.integrals(np.array([np.inf])).location[0]))
    assert found[0].ravel() == pytest.approx(v.sum(axis=0), **TOLERANCE)
    assert found[1].item() == pytest.approx(kappa * (v**2).sum(), **TOLERANCE)


def test_rows_far_out_are_held_against_scores_as_far_as_they_are():
    public, ways = PUBLIC["location_score"], np.array([[0.0, 1.5, -0.8], [0.0, 0.0, 2.0]])
    curator = under(NoNoise(), MadeRows(COLUMNS), MadeDesign(D), gdp(2))
    found = curator.release("location_bend", 1.0, **public, curves=dict(ways=ways, near=0.4, edge=1.1)).values
    x, z = scored(public)
    cut = taper(SEV, public["c"])
    psi = cut.integrals(z).location - EVENT[:, 0] * cut.at(z).g
    t = x @ ways.T
    q = np.sign(t) * np.clip(np.abs(t) - 0.4, 0, 0.7)
    v = psi[:, None] * q * np.minimum(1, 0.7 / np.maximum(np.linalg.norm(q, axis=1), 1e-9))[:, None]
    assert found[0].ravel() == pytest.approx(v[BLOCK.ok].sum(axis=0), **TOLERANCE)


def test_products_of_two_forms_are_held_against_scores_and_grow_no_more_from_1_on():
    public, ways = PUBLIC["location_score"], np.array([[0.0, 1.5, -0.8], [0.0, 0.0, 2.0], [0.5, 1.0, 0.0]])
    pairs = np.array([[0, 1], [2, 1]])
    curves = dict(ways=ways, pairs=pairs, edge=1.1)
    curator = under(NoNoise(), MadeRows(COLUMNS), MadeDesign(D), gdp(2))
    found = curator.release("location_bend", 1.0, **public, curves=curves).values
    x, z = scored(public)
    cut = taper(SEV, public["c"])
    psi = cut.integrals(z).location - EVENT[:, 0] * cut.at(z).g
    t = np.clip(x @ ways.T, -1.1, 1.1)
    v = (psi[:, None] * np.clip(t[:, pairs[:, 0]] * t[:, pairs[:, 1]], -1, 1))[BLOCK.ok]
    kappa = math.sqrt(11) / (2 * math.sqrt(2) * float(cut.integrals(np.array([np.inf])).location[0]))
    assert found[0].ravel() == pytest.approx(v.sum(axis=0), **TOLERANCE)
    assert found[1].item() == pytest.approx(kappa * (v**2).sum(), **TOLERANCE)


@pytest.mark.parametrize("c", [1.34, 3.0, 24.0])
def test_martingale_score(c):
    """At c = 3 and 24 some events lie beyond the end of the taper: they weigh 0 there and count elsewhere."""
    where = PUBLIC["martingale_score"]["where"]
    where = Truncation(SEV, c, where.pivots, where.limits)
    public = PUBLIC["martingale_score"] | dict(where=where, gamma=np.array([-1.5, 0.2, 0.1]))
    location, log_sigma, matrix = values("martingale_score", **public)
    x_tilde, z = scored(public)
    assert ((z > math.log(c)) & (EVENT[:, 0] > 0)).sum() > 5
    pivot = np.clip(x_tilde @ public["pivot"], *where.pivots)
    pieces = integrands(taper(SEV, c), z, pivot, *where.limits)
    x = x_tilde @ public["whitening"]
    norm = np.linalg.norm(x, axis=1)
    weight = np.where(BLOCK.ok, np.minimum(1, (2.0 / np.where(norm > 0, norm, 1)) ** 2), 0)
    bounds, held = score_bounds(where, 0.7), EVENT[:, 0] * pieces.taper
    psi = pieces.location_compensator - held * pieces.location
    chi = pieces.log_sigma_compensator - held * pieces.log_sigma
    v = np.column_stack([x * pieces.location[:, None], 2.0 * bounds.log_sigma_unit * pieces.log_sigma])
    tau, kappa = bounds.matrix_weight / 2.0, 2.0 * bounds.log_sigma_weight
    assert location.ravel() == pytest.approx((weight * psi) @ x, rel=1e-4, abs=300 * 1e-4)
    assert log_sigma.item() == pytest.approx(kappa * (weight * chi).sum(), rel=1e-4, abs=300 * 1e-4)
    assert matrix == pytest.approx(tau * (v.T * (weight * held)) @ v, rel=1e-4, abs=300 * 1e-4)


def test_martingale_score_of_rows_of_which_one_number_is_read():
    """W of one row: what the intercept's row of a whitening of k gives, with all other entries left out."""
    public = PUBLIC["martingale_score"] | dict(radius=9.0)
    lead = np.eye(D + 1)
    location, log_sigma, matrix = values("martingale_score", **(public | dict(whitening=lead[:1])))
    whole = values("martingale_score", **(public | dict(whitening=lead)))
    both = np.ix_([0, -1], [0, -1])
    assert location.shape == (1, 1) and matrix.shape == (2, 2)
    assert location.item() == pytest.approx(whole[0].ravel()[0], **TOLERANCE)
    assert log_sigma == pytest.approx(whole[1], rel=1e-4, abs=300 * 1e-4)
    assert matrix == pytest.approx(whole[2][both], rel=1e-4, abs=300 * 1e-4)


SCALE = {name: PUBLIC["event_matrix"][name] for name in ("center", "scale", "y_center", "y_scale", "log")}
W = np.array([[0.0, 1.0, 0.3], [0.0, -0.2, 0.8]])
SIGNS = dict(SCALE, gamma=np.array([0.2, 0.3, -0.4]), sigma=0.8, whitening=W, radius=1.0)


@EVERY_LAW
def test_sign_score_and_its_sizes(family):
    """Rows before and beyond their medians, events and censored ones, shortened and not."""
    rows = under(NoNoise(), MadeRows(COLUMNS), MadeDesign(D), gdp(2))
    public = SIGNS | dict(family=family)
    (score,) = rows.release("sign_score", 1.0, **public).values
    (sizes,) = rows.release("sign_sizes", 1.0, **public, longest=1.5).values
    x_tilde, z = scored(public)
    x, on = x_tilde @ W.T, BLOCK.ok
    hazard = -np.log(family.sf(z))
    failed = (EVENT[:, 0] > 0) & (hazard < math.log(2))
    psi = np.where(failed, -1, np.minimum(np.exp(hazard), 2) - 1)
    assert failed.sum() > 20 and (on & (psi > 0) & (psi < 1)).sum() > 20 and (on & (psi == 1)).sum() > 20
    length = np.linalg.norm(x, axis=1)
    weight = np.minimum(1, 1 / np.maximum(length, 1e-9))
    assert (on & (length < 1)).sum() > 20 and (on & (length > 1.5)).sum() > 20
    assert score.ravel() == pytest.approx((weight * psi * on) @ x, **TOLERANCE)
    h = np.where(failed & on, np.exp(hazard), 0)
    most = largest_slope(family)
    slope = np.minimum(h * family.log_hazard_slope(z) / most, 1) * weight * length
    slope *= np.minimum(length, 1.5) / 1.5
    assert sizes == pytest.approx([slope.sum(), np.sum((h * weight * length) ** 2) / 4], **TOLERANCE)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_sign_score_of_rows_that_enter_late():
    rows = under(NoNoise(), MadeRows(WATCHED), LATE, gdp(2))
    (score,) = rows.release("sign_score", 1.0, **SIGNS, family=SEV).values
    block = LATE.read(WATCHED)
    on = block.ok
    x_tilde = np.hstack([np.ones((300, 1)), block.exog[:, 1:] / 0.5])
    y = np.log([block.time, block.entry])
    z, entry = ((y - math.log(10)) / 0.5 - x_tilde @ SIGNS["gamma"]) / SIGNS["sigma"]
    x = x_tilde @ W.T
    hazard = np.exp(z) - np.exp(entry)
    psi = np.where((block.event > 0) & (hazard < math.log(2)), -1, np.minimum(np.exp(hazard), 2) - 1)
    weight = np.minimum(1, 1 / np.maximum(np.linalg.norm(x, axis=1), 1e-9))
    assert score.ravel() == pytest.approx((weight * psi * on)[on] @ x[on], **TOLERANCE)


def test_designs_without_an_intercept_use_all_their_columns():
    columns = {**COLUMNS, "x": COLUMNS["x"][:, :1]}
    with_one = under(NoNoise(), MadeRows(columns), MadeDesign(1), gdp(2))
    without = under(NoNoise(), MadeRows(columns), MadeDesign(1, has_intercept=False), gdp(2))
    public = public_parameters(1)["event_matrix"]
    released = [curator.release("event_matrix", 1.0, **public).values[0] for curator in (with_one, without)]
    assert (released[0] == released[1]).all()


BIG_TIME, SMALL_TIME = 100.0, 1.0  # their logs are the ends of the box of the made response


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_event_moments_attain_their_sensitivity(d):
    """Opposite corners from k = 6 on (4 k > 3.56 k + 2.25), a corner against a censored row before."""
    k, corner = d + 1, (np.ones(d), BIG_TIME, 1.0)
    opposite, censored = (-np.ones(d), SMALL_TIME, 1.0), (np.ones(d), BIG_TIME, 0.0)
    attained = distance("event_moments", d, corner, opposite if 4 * k > 3.56 * k + 2.25 else censored)
    assert attained == pytest.approx(math.sqrt(max(4 * k, 3.56 * k + 2.25)), rel=1e-5)


def test_event_matrix_attains_its_sensitivity():
    """x~ = (1, u) with |x~| >= R1 and y~ = 4, against a row orthogonal to it of the same length."""
    middle = math.log(10)
    public = dict(radius=4.0, limit=3.0, scale=[1.0], center=[0.0], y_center=middle, y_scale=middle / 4)
    attained = distance("event_matrix", 1, ([3.0], BIG_TIME, 1.0), ([5.0], SMALL_TIME, 1.0), **public)
    assert attained == pytest.approx(math.sqrt(2) * 9, rel=1e-3)  # (1, 3, 4).(1, 5, -4) = 0, up to the weight


@pytest.mark.parametrize("family", [law for law in LAWS if law.bounded])
def test_location_score_attains_its_sensitivity(family):
    """An event before any hazard against a row beyond the cut."""
    public = dict(
        y_center=math.log(10), y_scale=math.log(10) / 40, family=family, gamma=np.zeros(2), sigma=1.0
    )
    early, late = ([0.0], SMALL_TIME, 1.0), ([0.0], BIG_TIME, 0.0)
    attained = distance("location_score", 1, early, late, **public)
    top = 0.75 * 3 if family is SEV else taper(family, 3.0).integrals(np.array([99.0])).location[0]
    assert attained == pytest.approx(1 + top, rel=1e-5)


@pytest.mark.parametrize(
    ("places", "curve", "most"),
    [
        ((0.0, 2.0), dict(level=[1.0], tilt=[0.0], edge=1.5, span=1.0), 1.0),
        ((-2.0, 2.0), dict(near=0.5, edge=1.5), 1.0),
        ((-2.0, 2.0), dict(pairs=[(0, 1)] * 3, edge=1.5), math.sqrt(3)),
    ],
)
def test_location_bend_attains_its_sensitivity(
    places: tuple[float, float], curve: dict[str, Any], most: float
) -> None:
    """Two rows beyond the cut, one in the middle of a column and one beyond its edge, or both far out.

    Or such that all products are 1 in one and -1 in the other.
    """
    middle = math.log(10)
    curves = dict(curve, ways=np.array([[0.0, 1.0], [1.0, 0.0]])[: 1 + ("pairs" in curve)])
    public = PUBLIC["location_score"] | dict(center=[0.0], scale=[1.0], gamma=np.zeros(2), sigma=1.0)
    public |= dict(y_center=middle, y_scale=middle / 40, curves=curves)
    found = []
    for x in places:
        row = {"x": np.array([[x]]), "time": np.array([BIG_TIME]), "event": np.zeros(1)}
        recording = Recording(NoNoise())
        curator = under(recording, MadeRows(row), MadeDesign(1, bound=10.0), gdp(2))
        curator.release("location_bend", 1.0, **public)
        found.append(recording.records[0].exact)
    top = float(taper(SEV, public["c"]).integrals(np.array([np.inf])).location[0])
    assert np.linalg.norm(found[0] - found[1]) == pytest.approx(2 * most * top, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("event_moments", dict(half=[1.0, 1.0, 0.0]), "must be positive"),
        ("event_moments", dict(center=[0.0, 0.0]), "one for each covariate"),
        ("event_matrix", dict(limit=math.inf), "positive and finite"),
        ("event_matrix", dict(scale=[1.0, math.nan]), "2 finite numbers"),
        ("martingale_score", dict(radius=0.0), "radius must be positive"),
        ("martingale_score", dict(sigma=math.inf), "sigma must be positive"),
        ("sign_score", dict(radius=0.0), "radius must be positive"),
        ("sign_score", dict(sigma=math.nan), "sigma must be positive"),
        ("sign_sizes", dict(longest=0.9), "longest must be finite and at least the radius"),
        ("sign_sizes", dict(longest=math.inf), "longest must be finite and at least the radius"),
    ],
)
def test_public_parameters_are_checked(name, change, message):
    with pytest.raises(ValueError, match=message):
        values(name, **change)


def late(name, **changes):
    """Sums where rows enter late; and x~, z, z at the entry, and event of the rows that are watched."""
    public = PUBLIC[name] | changes
    released = under(NoNoise(), MadeRows(WATCHED), LATE, gdp(2)).release(name, 1.0, **public).values
    block = LATE.read(WATCHED)
    x, y = np.hstack([np.ones((300, 1)), block.exog[:, 1:] / 0.5]), np.log([block.time, block.entry])
    z, entry = ((y - math.log(10)) / 0.5 - x @ public["gamma"]) / public["sigma"]
    on = block.ok
    return released, (x[on], z[on], np.maximum(entry[on], -1000), block.event[on])


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_scores_of_rows_that_enter_late():
    (score,), (_, z, entry, event) = late("location_score")
    cut = taper(SEV, 3.0)
    assert (entry == -1000).sum() > 20 and 50 < len(z) < 240
    psi = cut.integrals(z).location - cut.integrals(entry).location - event * cut.at(z).g
    assert score.item() == pytest.approx(psi.sum(), **TOLERANCE)

    where = PUBLIC["martingale_score"]["where"]
    where = Truncation(SEV, 3.0, where.pivots, where.limits, delayed=True)
    (location, log_sigma, matrix), (x_tilde, z, entry, event) = late("martingale_score", where=where)
    public, bounds = PUBLIC["martingale_score"], score_bounds(where, 0.7)
    pivot = np.clip(x_tilde @ public["pivot"], *where.pivots)
    now, then = (integrands(cut, at, pivot, *where.limits) for at in (z, entry))
    x = x_tilde @ public["whitening"]
    weight = np.minimum(1, (2.0 / np.linalg.norm(x, axis=1)) ** 2)
    held = event * now.taper
    psi = now.location_compensator - then.location_compensator - held * now.location
    chi = now.log_sigma_compensator - then.log_sigma_compensator - held * now.log_sigma
    v = np.column_stack([x * now.location[:, None], 2.0 * bounds.log_sigma_unit * now.log_sigma])
    assert location.ravel() == pytest.approx((weight * psi) @ x, rel=1e-4, abs=300 * 1e-4)
    kappa = 2.0 * bounds.log_sigma_weight
    assert log_sigma.item() == pytest.approx(kappa * (weight * chi).sum(), rel=1e-4, abs=300 * 1e-4)
    information = bounds.matrix_weight / 2.0 * (v.T * (weight * held)) @ v
    assert matrix == pytest.approx(information, rel=1e-4, abs=300 * 1e-4)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_failures_are_expected_between_entry_and_end_only():
    gamma = PUBLIC["location_score"]["gamma"]
    steps = np.array([[1.0, -0.5, 0.7], [-0.4, 1.0, -0.6]])
    shape = dict(gamma=gamma, sigma=0.8, family=SEV, edges=(0.1, 0.5, 4.0), contrasts=steps)
    scale = ("center", "scale", "y_center", "y_scale", "log")
    shape |= {name: PUBLIC["event_matrix"][name] for name in scale}
    rows = under(NoNoise(), MadeRows(WATCHED), LATE, gdp(2))
    found = rows.release("hazard_contrasts", 1.0, **shape).values[0]
    _, (_, z, entry, event) = late("location_score")
    lower, upper = np.array([0, 0.1, 0.5]), np.array([0.1, 0.5, 4.0])
    stays = np.clip(np.exp(z)[:, None], lower, upper) - np.clip(np.exp(entry)[:, None], lower, upper)
    zone = (np.exp(z)[:, None] > lower) & (np.exp(z)[:, None] <= upper)
    assert found == pytest.approx(steps @ (event[:, None] * zone - stays).sum(axis=0), **TOLERANCE)


def test_the_bounds_of_the_scores_must_allow_for_entries():
    curator = under(NoNoise(), MadeRows(WATCHED), LATE, gdp(2))
    with pytest.raises(ValueError, match="must allow for the entries"):
        curator.release("martingale_score", 1.0, **PUBLIC["martingale_score"])


def test_late_entries_attain_the_bound_of_the_scores():
    """With one pivot, the largest log sigma score is that of a row that enters at the dip of the compensator,
    z = m - 1, and stays to the end. One from the start has less.
    """
    where = Truncation(SEV, 8.0, (1.0, 1.0), (-1.2, 3.0), delayed=True)
    cut, m = taper(SEV, 8.0), np.ones(2)
    rows = integrands(cut, np.array([cut.stop, cut.stop]), m, *where.limits, np.array([0.0, -1000.0]))
    dip, start = rows.log_sigma_compensator
    bounds, from_start = (score_bounds(at, 0.7) for at in (where, replace(where, delayed=False)))
    assert dip > start + 0.18
    assert dip <= bounds.chi <= 1.01 * dip and from_start.chi < dip


def test_a_single_column_moves_its_truncated_square_by_as_much_as_is_declared() -> None:
    """Spaces that are searched have an intercept, and so two columns or more."""
    shape = dict(center=np.zeros(1), scale=np.ones(1), y_center=0.0, y_scale=1.0, log=False, constant=False)
    public = dict(shape, whitening=np.eye(1), line=np.zeros(1), sigma=1.0, radius=0.5, limit=2.0)
    design, sums = MadeDesign(1, has_intercept=False), []
    for value in (1.0, 0.0):
        columns = made_columns(5, 1)
        columns["x"][0] = value
        curator = under(NoNoise(), MadeRows(columns), design, gdp(2.0))
        sums.append(curator.release("truncated_gram", 1.0, **public).values[0])
    moved = float(np.abs(sums[0] - sums[1]).max())
    declared = curator.sensitivity("truncated_gram", **public)
    assert moved == pytest.approx(0.25) and moved <= declared < 1.01 * moved
