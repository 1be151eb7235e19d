"""What is public of the second moments of levels, and what is known of them before any is released.

A category's levels exclude one another, so that their columns are correlated by their shares alone; and the
reference level, which has no column, is as likely to differ from the others as each of these.

See docs/theory/linear.md#levels.
"""

import numpy as np

from dpstats.estimators.matrices import SMALLEST
from dpstats.estimators.row_scale import RowScale, sums_of_levels
from dpstats.moments.roots import with_floor
from dpstats.moments.solution import not_noise

# Shares of levels of one category differ by this share of an even one, as if one more level said so; by the
# second at least
_UNEVEN, _EVEN = 0.5, 0.1
# The least share of a level before a release, over an even one; what a release leaves of it at least
_LEAST, _KEPT = 0.2, 0.02


def expected_moments(scale: RowScale) -> np.ndarray:
    """Second moments of rows x~ by the shares of levels, columns of different variables being independent."""
    lead = int(scale.constant)
    way = of_levels(scale)
    back = np.linalg.inv(way)
    mean = back[:, 0] if lead else np.zeros(len(back))
    square = np.append([0.0] * lead, scale.ratio) * np.diag(back) ** 2 + mean**2
    categories = list(sums_of_levels(scale)) if lead else []
    shares = [shares_of(ways[0], scale.middle_error**2 @ ways[1:] ** 2) for _, _, ways in categories]
    for (places, rows, _), share in zip(categories, shares, strict=True):
        mean[places], square[places] = share @ rows, share @ rows**2
    found, alike = np.outer(mean, mean), scale.alike
    for (places, rows, _), share in zip(categories, shares, strict=True):
        found[np.ix_(places, places)] = (rows.T * share) @ rows
    np.fill_diagonal(found, square)
    if alike.size:  # of very many columns nobody asks which products are the same
        for j in range(lead * len(mean)):
            found[alike == alike[0, j]] = mean[j]
        for j in range(len(mean)):
            found[alike == alike[j, j]] = square[j]
        found[alike < 0] = 0.0
    return np.asarray(way @ found @ way.T)


def may_be_constant(scale: RowScale, alike: np.ndarray) -> bool:
    """Whether one of some columns, in each of which rows may be alike, may stand for the intercept.

    Not where they would all be 0: in a column that is 0 but for rows of a level, or such of a flag, that few
    rows have.
    """
    few = (scale.within >= 0) & (scale.center[scale.within] < 1 / 2)
    return bool((alike & ~few).any())


def of_levels(scale: RowScale) -> np.ndarray:
    """What takes a row, in which columns of two values have the units of the design, to x~."""
    lead = int(scale.constant)
    way = np.diag(np.append([1.0] * lead, 1 / np.where(scale.binary, scale.scale, 1.0)))
    way[lead:, :lead] = -(scale.binary * scale.center / scale.scale)[:, None]
    return way


def with_shares(
    expected: np.ndarray, gram: np.ndarray, noise: float, scale: RowScale, whitening: np.ndarray
) -> np.ndarray:
    """Expected second moments of a with the shares of levels that released ones tell.

    Parameters
    ----------
    expected, gram : array, shape (k, k)
        Of a = W x~.
    noise : float
        sd of the diagonal of `gram`.
    scale : RowScale
    whitening : array, shape (k, k)
        W.

    Notes
    -----
    With u'a = 1 in rows of a level and 0 in others of its category, u'G u is its share, and G u over that its
    mean row g. More rows like that add to g g' alone. Shares move by what noise does not explain, each by
    itself: that of a reference level is off by as much as those of all others together.
    """
    expected = with_floor(expected, SMALLEST * float(np.trace(expected)) / len(expected))
    expected = expected * (max(float(np.trace(gram)), noise, 1e-12) / float(np.trace(expected)))
    for _, _, inside in sums_of_levels(scale):
        ways = np.linalg.solve(whitening.T, inside)
        shares, seen = (np.sum(ways * (part @ ways), axis=0) for part in (expected, gram))
        sds = noise * np.sum(ways**2, axis=0)
        more = np.array(
            [apart * not_noise(apart**2, sd**2) for apart, sd in zip(seen - shares, sds, strict=True)]
        )
        more = np.maximum(more, (_KEPT - 1) * shares)
        rows = expected @ ways / shares
        expected = expected + rows * more @ rows.T
    return expected


def of_references(scale: RowScale, moments: np.ndarray) -> np.ndarray:
    """Prior covariance of a line by what levels without a column differ by.

    As each column explains the same share before any release, so does each such level, and in its rows each
    column that has products with all other levels.
    """
    added = np.zeros_like(moments)
    if not scale.constant:
        return added
    units, variances = np.append(1.0, scale.scale), np.append(1.0, scale.ratio)
    for row, known in zip(scale.typical(scale.levels), scale.levels, strict=True):
        if not np.nan_to_num(known).any():
            share = 1 / max(float(row @ np.linalg.solve(moments, row)), 1.0)
            levels = 1 + np.flatnonzero(~np.isnan(known))
            (own,) = (each for each in scale.times_levels if np.array_equal(each[0, 1:], levels))
            for column, *products in own.tolist():
                effect = np.zeros(len(moments))
                effect[products] = -units[products] / units[column]
                effect[column] = column > 0
                explained = share * max(1 - share, share) * variances[column]
                added += np.outer(effect, effect) / (len(moments) * explained)
    return added


def shares_of(found: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Of levels that are told with noise of these variances: empirical Bayes, with the sum 1."""
    even = 1 / len(found)
    told = noise <= 2 * noise.min()
    between = float(np.sum(((found - even) ** 2 - noise)[told])) + (_UNEVEN * even) ** 2
    between = max(between / (int(told.sum()) + 1), (_EVEN * even) ** 2)
    left = np.maximum(between * noise / (between + noise), 1e-300)
    shares = even + (found - even) * between / (between + noise)
    shares = shares + (1 - shares.sum()) * left / left.sum()
    shares = np.maximum(shares, _LEAST * even)
    return np.asarray(shares / shares.sum())
