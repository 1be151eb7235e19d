"""What a row adds does not depend on where it stands in a block, on the block's size or on its neighbours.

Rows of a bank, wild ones among them, are read in blocks of all sizes and in many orders, and what a statistic
makes of them is compared bit by bit. Every registered statistic is there with every family, loss and scale
that it takes, and with every option of a design.
"""

import dataclasses
import itertools

import numpy as np
import pytest

from dpstats.curator.blocks import Scratch
from dpstats.curator.geometry import Map
from dpstats.curator.lattice import LatticeSum
from dpstats.curator.products import RowProducts
from dpstats.curator.statistics import REGISTRY
from dpstats.families import FAMILIES, LOGISTIC_LOSS, Family, GlmFamily, huber_hinge
from dpstats.families.bounded_score import BoundedScore
from dpstats.formula.block import Block
from dpstats.formula.response import Ends
from tests.families.laws import LAWS
from tests.made import MadeBlock, MadeDesign, exact, vector
from tests.privacy.spaces import SPACES

# rows of one variant of a statistic, and of the others; few of them show the fault that is planted below
BANK, FEWER = 100, 25
SIZES, SOME = (*range(1, BANK + 1), 8191, 16384), (1, 2, 7, 13, 64)
DESIGNS = {
    "plain": {},
    "offset": dict(offset_bounds=(-2.0, 2.0)),
    "weights": dict(weights="w"),
    "late": dict(delayed=True),
    "intervals": dict(intervals=True),
}


KINDS = {Family: LAWS, GlmFamily: tuple(FAMILIES.values())}


def bounded(family):
    return BoundedScore(family, 2.0, min(3.0, family.most_curved), 3.0, 0.5, (-9.0, 9.0))


# by what a statistic is given: what else it could have been given
OTHERS = {
    "log": lambda given: [False, True],
    "score": lambda given: [bounded(family) for family in FAMILIES.values()],
    "loss": lambda given: [LOGISTIC_LOSS, huber_hinge(0.5)],
    "whole": lambda given: [False, True],
    "reach": lambda given: [given, np.minimum(4 * given, 1.0)],
    "floor": lambda given: [-1.2],
    "family": lambda given: KINDS[type(given)],
    "where": lambda given: [dataclasses.replace(given, family=family, floor=-1.2) for family in LAWS],
}


def variants(public):
    """All combinations of what the public parameters could be; alphas are of counts."""
    names = [name for name in OTHERS if name in public]
    for values in itertools.product(*(OTHERS[name](public[name]) for name in names)):
        made = {**public, **dict(zip(names, values, strict=True))}
        if "alphas" not in made or made["score"].family.counts:
            yield made


def bank(d, n=BANK, seed=3):
    """Rows of d covariates: small and large ones, whole numbers, values far beyond the box, invalid rows."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(n, d)) * draw.choice([0.1, 1.0, 30.0, 1e6], (n, 1), p=[0.3, 0.4, 0.2, 0.1])
    x[::5] = np.rint(x[::5])
    time = np.where(draw.uniform(size=n) < 0.2, draw.integers(0, 2, n), np.exp(draw.normal(0, 2, n)))
    event = draw.integers(0, 2, n).astype(float)
    rows = dict(
        exog=np.column_stack([np.ones(n), x]),
        endog=time,
        event=event,
        entry=time * draw.uniform(-0.5, 1, n),
        ok=draw.uniform(size=n) < 0.9,
        offset=draw.normal(size=n),
        weight=draw.uniform(size=n),
        stratum=np.arange(n) % 4,
        lower=time * np.where(event > 0, draw.choice([0.0, 0.5, 1.0], n), 1.0),
        upper=np.where(event > 0, time, np.inf),
    )
    return rows | {"kept": rows["ok"] | (draw.uniform(size=n) < 0.5)}


def block_of(columns):
    """With the ends of its rows, where there are any."""
    rest = dict(columns)
    ends = Ends(rest.pop("lower"), rest.pop("upper"))
    return Block(**rest, ends=ends)


def made_of(statistic, rows, places):
    """What the rows at these places of the bank give to the lattice, one row for each; shape (B, m)."""
    taken = {name: column[places] for name, column in rows.items()}
    exog = np.asfortranarray(taken.pop("exog") * taken["ok"][:, None])
    with np.errstate(all="ignore"):
        factors = statistic.factors(block_of(dict(taken, exog=exog)), Scratch())
    sides = [side for factor in factors for side in factor[:2] if side is not None]
    return np.hstack([np.array(side, dtype=float).reshape(len(side), -1) for side in sides])


def moved(statistic, rows, sizes=SIZES):
    """How often a row is not what it is alone, in blocks of these sizes, mixed or all of one row."""
    n = len(rows["ok"])
    shuffled = np.random.default_rng(1).permutation(n)
    alone = np.vstack([made_of(statistic, rows, [i]) for i in range(n)])
    counted, changes = statistic.counted(block_of(rows)), 0
    for size in sizes:
        for places in (np.resize(np.roll(shuffled, size), size), np.full(size, size % n)):
            found, expected = made_of(statistic, rows, places), alone[places]
            same = (found.view(np.int64) == expected.view(np.int64)) | np.isnan(expected)
            changes += int((~same.all(axis=1) & counted[places]).sum())
    return changes


def sums(statistic, rows):
    """Over one block and over the same again, none of whose arrays may be written to."""
    columns = {name: np.asfortranarray(column).copy("F") for name, column in rows.items()}
    for column in columns.values():
        column.setflags(write=False)
    block = block_of(columns)
    lattice, scratch = LatticeSum(statistic.parts), Scratch()
    with np.errstate(all="ignore"):
        for _ in range(2):
            lattice.add(statistic.factors(block, scratch), statistic.counted(block))
            yield vector(lattice)


@pytest.mark.parametrize("name", SPACES)
def test_a_row_is_the_same_at_every_place(name):
    """Blocks of all sizes for one variant, of some sizes for the others; spaces but the first as they are.

    One variant of a space is tried with every option of a design, the others with one each in turn.
    """
    sizes, n, seen = SIZES, BANK, set()
    # of failures at known times, between two alone, or of rows that enter late alone
    other = {"intervals"} if name.startswith("sign_") else set()
    alone = {"inspection_counts": "intervals", "entry_counts": "late"}.get(name)
    other = set(DESIGNS) - {alone} if alone else other
    for number, space in enumerate(SPACES[name]):
        d = 2 if number % 2 else 9
        public = space.public(d)
        options = [*variants(public)] if not number else [public]
        turns = itertools.cycle(option for option in DESIGNS if option not in other)
        tried = [*itertools.product(options[:1], DESIGNS), *zip(options[1:], turns, strict=False)]
        for public, option in tried:
            if "where" in public and option in ("late", "intervals"):
                allowed = {"delayed" if option == "late" else "intervals": True}
                public = public | dict(where=dataclasses.replace(public["where"], **allowed))
            try:
                statistic = REGISTRY[name](MadeDesign(d, strata=space.strata, **DESIGNS[option]), **public)
            except ValueError:  # a box for each column, that of an offset too; a likelihood with a dispersion
                unlikely = name == "log_likelihood" and public["family"].free_dispersion
                assert unlikely or (name.startswith("column_") and option == "offset") or option in other
                continue
            assert moved(statistic, bank(d, n), sizes) == 0, (option, public)
            once, twice = sums(statistic, bank(d, n))
            assert (2 * once == twice).all()
            sizes, n = SOME, FEWER
            seen.add(option)
    assert seen >= set(DESIGNS) - {"offset"} - other


def test_the_columns_of_an_offset():
    public = dict(center=np.zeros(4), half=np.ones(4))
    for more in ({}, dict(levels=[[0, 1]])):
        statistic = REGISTRY["column_means"](MadeDesign(2, **DESIGNS["offset"]), **public, **more)
        assert moved(statistic, bank(2), SOME) == 0


def backwards_at_the_end(columns, terms):
    """A sum whose last rows are added in another order, as BLAS does it."""
    total, tail = np.add.accumulate(terms, axis=0)[-1], columns.shape[1] % 8
    if tail:
        total[-tail:] = np.add.accumulate(terms[::-1, -tail:], axis=0)[-1]
    return total


@pytest.mark.parametrize("name, d", [("sign_score", 5), ("residual_score", 5), ("log_likelihood", 5)])
def test_another_order_in_the_last_rows_is_seen(monkeypatch, name, d):
    """Planted: each helper in turn sums the last rows of a block backwards."""
    public = SPACES[name][0].public(d)
    statistic = REGISTRY[name](MadeDesign(d), **public)

    def planted(coefficients, columns, scratch):
        return backwards_at_the_end(columns, np.asarray(coefficients)[:, None] * columns)

    module = "dpstats.curator.statistics.loglik" if name == "log_likelihood" else "dpstats.curator.geometry"
    monkeypatch.setattr(f"{module}.predictor", planted)
    assert moved(statistic, bank(d), SOME) > 0
    monkeypatch.undo()
    if name == "residual_score":
        squares = lambda columns, scratch: backwards_at_the_end(columns, columns**2)  # noqa: E731
        monkeypatch.setattr("dpstats.curator.geometry.squared_norms", squares)
        assert moved(statistic, bank(d), SOME) > 0


class Backwards(RowProducts):
    """Planted: the last rows are summed backwards, whether or not that rounds."""

    def __call__(self, columns, out, scratch):
        rounded = (columns + self._shift) - self._shift
        for row, values in zip(self._matrix, out, strict=True):
            values[:] = backwards_at_the_end(rounded, row[:, None] * rounded)
        return out


def in_order(products, columns):
    """Sums in the fixed order, of rounded columns and the rounded matrix."""
    rounded = (columns + products._shift) - products._shift
    return np.array([np.add.accumulate(row[:, None] * rounded, axis=0)[-1] for row in products._matrix])


@pytest.mark.parametrize("k", [1, 2, 7, 10, 30])
def test_products_are_the_sums_in_order(k):
    """Of usual rows, of blocks some of whose rows are long, and of rows next to the longest that are sure."""
    draw = np.random.default_rng(k)
    unit, matrix = 10.0 ** draw.uniform(-3, 6, k), draw.normal(size=(k, k))
    made, planted = (kind(matrix / unit, unit) for kind in (RowProducts, Backwards))
    changed = 0
    for size in (1, 2, 15, 1023):
        usual = draw.normal(size=(k, size)) * unit[:, None]
        long = usual * draw.choice([1.0, 300.0, 1e9], size, p=[0.6, 0.2, 0.2])
        edge = usual / (made._sizes @ np.abs(usual)).max(axis=0) * draw.uniform(0.999, 1.001, size)
        for columns in (usual, long, edge):
            found, expected = made(columns, np.empty((k, size)), Scratch()), in_order(made, columns)
            assert (found == expected).all()
            changed += int((planted(columns, np.empty((k, size)), Scratch()) != expected).sum())
        off = np.abs(made(usual, np.empty((k, size)), Scratch()) - matrix / unit @ usual)
        most = 2.0**-23 * k * np.abs(matrix).sum(axis=1, keepdims=True)
        assert (off <= most * np.maximum(1, np.abs(usual / unit[:, None]).max(axis=0))).all()
    assert changed > 0 or k <= 2


@pytest.mark.parametrize("far", [0.0, 0.3, -1e3, 1e9, 1e18])
def test_columns_about_a_center_lie_on_their_grid(far):
    """Next to what they are, and however far the center is from 0; longer ones are summed in order."""
    draw = np.random.default_rng(5)
    unit, center = 10.0 ** draw.uniform(-3, 3, 4), far * draw.normal(size=4)
    matrix = draw.normal(size=(4, 4)) / unit
    made = RowProducts(matrix, unit, center)
    grid = made._shift[:, 0] / 1.5 / 2.0**52
    columns = center[:, None] + unit[:, None] * draw.normal(size=(4, 500)) * draw.choice([1, 1e8], 500)
    found = made.rounded(columns, Scratch()).columns
    near = np.abs(found) < 2.0**51 * grid[:, None]
    assert (found % grid[:, None] == 0)[near].all()
    off = np.abs(found - (columns - center[:, None]))
    most = grid[:, None] + np.spacing(np.abs(columns)) + np.spacing(np.abs(center[:, None]))
    assert (off <= most)[near].all()
    out = made(columns, np.empty((4, 500)), Scratch())
    assert (out == np.array([np.add.accumulate(row[:, None] * found)[-1] for row in made._matrix])).all()


def test_an_entry_off_its_grid_is_never_taken_for_one_on_it():
    """Half a grid is left of entries of 2^51 grids, and a matrix may give them next to no weight."""
    made = RowProducts(np.array([[1.0, 2.0**-40]]))
    assert made._sizes[-1] == pytest.approx(2.0**-51 / 2.0**-24)


def most_of(matrix, columns, out):
    """Fill `out` by the products, and say how large they are at most."""
    made = RowProducts(matrix)
    return made.filled(made.rounded(columns, Scratch()), out, Scratch())


@pytest.mark.parametrize("k", [1, 3, 20])
def test_no_product_is_larger_than_is_said(k):
    """Of columns about their middle, of narrow ones far from 0 whose products cancel, and of wild rows."""
    draw = np.random.default_rng(k)
    for _ in range(200):
        matrix = draw.normal(size=(k, k))
        matrix[:, -1] -= matrix.sum(axis=1) * draw.choice([0.0, 1.0])
        columns = draw.normal(size=(k, 5)) * draw.choice([1e-6, 1.0, 1e6]) + draw.choice([0.0, 1.0, 1e9])
        out = np.empty((k, 5))
        most = most_of(matrix, columns, out)
        assert (np.abs(out).max(axis=1) <= most).all()
        corners = np.sign(matrix[0]) * columns.std() + columns.mean()
        columns[:, :2] = np.column_stack([corners, 2 * columns.mean() - corners])
        most = most_of(matrix, columns, out)
        assert (np.abs(out).max(axis=1) <= most).all()


@pytest.mark.parametrize("far", [0.0, -1e3, 1e18])
def test_the_ends_of_columns_on_their_grids_follow_from_those_of_the_columns(far):
    """To the last bit, also of entries far beyond their unit, and of some that are no numbers."""
    draw = np.random.default_rng(6)
    unit, center = 10.0 ** draw.uniform(-3, 3, 5), far * draw.normal(size=5)
    made = RowProducts(draw.normal(size=(2, 5)), unit, center)
    columns = center[:, None] + unit[:, None] * draw.normal(size=(5, 300)) * draw.choice([1, 1e8, 1e30], 300)
    columns[3, 7], columns[4, 9] = np.nan, np.inf
    seen = made.rounded(columns, Scratch())
    told = made.rounded(columns, Scratch(), (columns.min(axis=1), columns.max(axis=1)))
    for one, other in zip(seen, told, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("valid", [True, False])
def test_no_product_of_rows_about_a_center_is_larger_than_is_said(first, valid):
    """Also where a row that is not valid counts as one at the center, far from all others."""
    draw = np.random.default_rng(7)
    exog = np.asfortranarray(np.column_stack([np.ones(40), draw.uniform([3, -9], [4, -8], (40, 2))]))
    ok = np.arange(40) != 5 if not valid else np.ones(40, bool)
    block = MadeBlock(exog, exog[:, 0], exog[:, 0], ok)
    center = np.array([20.0, 3.5])
    made = Map(MadeDesign(2), center, np.ones(2), 0.0, 1.0, False, constant=first)
    products = RowProducts(draw.normal(size=(4, 2 + first)))
    out = np.empty((4, 40))
    most = made.filled(products, made.centred(block, Scratch()), block, out, Scratch())
    reach = np.abs(out).max(axis=1)
    assert (reach <= most).all() and (most <= 8 * reach).all()


def test_usual_rows_need_no_order():
    """No sum of rows up to 30 times as long as usual is rounded: backwards it is the same."""
    draw = np.random.default_rng(2)
    for k in (2, 11, 40):
        unit, matrix = 10.0 ** draw.uniform(-3, 6, k), draw.normal(size=(k, k))
        planted = Backwards(matrix / unit, unit)
        columns = draw.uniform(-30, 30, (k, 7)) * unit[:, None]
        assert (planted(columns, np.empty((k, 7)), Scratch()) == in_order(planted, columns)).all()


def test_products_of_numbers_that_leave_nothing_to_round():
    """Far beyond the unit, not numbers at all, and zero."""
    with np.errstate(all="ignore"):  # as the curator has it
        check_products_of_wild_numbers()


def check_products_of_wild_numbers():
    made = RowProducts(np.array([[1.0, -1 / 3], [0.0, 0.0]]))
    columns = np.array([[1e30, 1e300, np.nan, np.inf, 0.0, 1.0], [3.0, 1e300, 1.0, 1.0, 0.0, 0.3]])
    found = made(columns, np.empty((2, 6)), Scratch())
    assert found[0, :2] == pytest.approx([1e30, 1e300 * 2 / 3]) and np.isnan(found[0, 2])
    assert found[0, 3] == np.inf and found[0, 4] == 0 and found[0, 5] == pytest.approx(0.9, abs=2.0**-24)
    assert (found[1, [0, 1, 4, 5]] == 0).all()


# rows next to a jump, through the release: what is changed a little, and the statistic that jumps
JUMPS = {
    "sign_score": "time",
    "hazard_contrasts": "time",
    "exit_counts": "time",
    "reach_counts": "x",
}


@pytest.mark.parametrize("name", JUMPS)
def test_rows_next_to_a_jump_fall_on_one_side_of_it(name):
    """Rows of each statistic, at five places among rows that weigh nothing, in blocks of two sizes."""
    d, draw = 9, np.random.default_rng(5)
    public = SPACES[name][-1 if name == "reach_counts" else 0].public(d)
    scaled = public | dict(log=True, gamma=np.linspace(0.3, -0.2, d + 1)) if "gamma" in public else public
    changes = 0
    for _ in range(20):
        x = draw.uniform(-0.3, 0.3, d)
        columns = jumping(name, scaled, x, draw)
        for block_rows in (16384, 19):
            released = [exact(at(columns, place), name, block_rows, **scaled) for place in range(0, 40, 8)]
            changes += len({vector.tobytes() for vector in released}) - 1
        assert exact(at(columns, 0), name, **scaled).any()
    assert changes == 0


def at(columns, place):
    """A table of 41 rows, all invalid but this one."""
    table = {name: np.full((41, *np.shape(value)), np.nan) for name, value in columns.items()}
    for name, value in columns.items():
        table[name][place] = value
    return table


def jumping(name, public, x, draw):
    """A row whose contribution is another one when its value moves by one ulp: found by bisection."""
    statistic = REGISTRY[name](MadeDesign(len(x)), **public)

    def row(value):
        if name == "reach_counts":
            return dict(x=np.append(value, x[1:]), time=2.0, event=1.0)
        return dict(x=x, time=value, event=1.0)

    def added(value):
        block = MadeDesign(len(x)).read({name: np.array([cell]) for name, cell in row(value).items()})
        sides = [side for side in statistic.factors(block, Scratch())[0] if side is not None]
        return np.hstack([side.reshape(1, -1) for side in sides])

    low, high = (0.01, 0.9) if name == "reach_counts" else (1.0, 100.0)
    first = added(low)
    while np.nextafter(low, high) < high:
        middle = (low + high) / 2
        low, high = (middle, high) if abs(1.0 * added(middle) - first).max() < 0.1 else (low, middle)
    return row(low if draw.uniform() < 0.5 else high)


@pytest.mark.parametrize("name", [name for name in SPACES if "hazards" in SPACES[name][0].public(2)])
def test_hazards_of_many_pieces_add_up_the_same_at_every_place(name):
    """NumPy adds nine numbers or more in another order where a block has one row."""
    pieces = 24
    public = SPACES[name][0].public(2) | dict(
        edges=np.linspace(-3, 3, pieces + 1), hazards=(0.03,) * pieces, pieces=tuple(range(pieces))
    )
    if "trend" in public:
        public["trend"] = np.linspace(-1, 1, pieces)
    statistic = REGISTRY[name](MadeDesign(2), **public)
    assert moved(statistic, bank(2, FEWER), SOME) == 0
