"""Made-up rows: variables with the spreads and correlations that a user knows, inside the public bounds."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.polynomial import hermite_e
from scipy import ndimage, optimize, special, stats

from dpstats.estimators.halving import halved
from dpstats.planning.knowledge import Knowledge, Spread, cells
from dpstats.schema import Count, Schema, Variable

_STRAIGHT = 0.01  # a skewness that nobody sees
_LEAST_KURTOSIS = 0.02  # of a symmetric law that is not normal
_LONG = 1.55  # times the squared skewness: rows of a log-normal law have more kurtosis, those of a gamma less
_TAILED = 3.0  # times what a log-normal law of the same skewness has: tails on both sides
_LOGS = 0.003, 4.0  # sds of a logarithm
_CUTS = 0.5, 5.0  # normal deviates beyond which there is no row
_CLOSE = 1e-4  # of both
_MOST_GAMMA = 1e-4  # times the squared skewness: of a beta law that is all but one of gamma

_AT = np.linspace(-5.0, 5.0, 401)  # normal deviates, over which moments are sums
_WEIGHTS = np.exp(-(_AT**2) / 2) / np.exp(-(_AT**2) / 2).sum()


def shaped(at: np.ndarray, skewness: float, kurtosis: float | None) -> np.ndarray:
    """Values at normal deviates, of a law of mean 0 and sd 1 with this skewness and, in its family, kurtosis.

    A shifted log-normal law has the skewness; its longest rows are cut where kurtosis is less than that of
    the whole law, as that of any table is. Below `_LONG` skew^2 it is a beta law (Pearson's first type),
    whose parameters add up to r and are apart by r (r + 2) |skew| / sqrt((r + 2)^2 skew^2 + 16 (r + 1));
    and Student's where tails are long on both sides.
    """
    if kurtosis is None or abs(kurtosis) < _LEAST_KURTOSIS:
        return _skewed(at, skewness, np.inf)
    if kurtosis < _LONG * skewness**2 or kurtosis < -_LEAST_KURTOSIS:
        return _light(at, skewness, kurtosis)
    whole = _moments(_skewed(_AT, skewness, np.inf))[1]
    if abs(skewness) < _STRAIGHT or kurtosis > _TAILED * whole:
        law = stats.t(4 + 6 / kurtosis)
        return np.asarray(law.ppf(special.ndtr(at)) / law.std())
    return _skewed(at, skewness, kurtosis)


def _light(at: np.ndarray, skewness: float, kurtosis: float) -> np.ndarray:
    """A beta law."""
    room = max(3 * skewness**2 - 2 * kurtosis, _MOST_GAMMA * skewness**2)
    r = 6 * (kurtosis + 2 - skewness**2) / room
    apart = (r + 2) * skewness / np.sqrt((r + 2) ** 2 * skewness**2 + 16 * (r + 1))
    law = stats.beta(r * (1 - apart) / 2, r * (1 + apart) / 2)
    return np.asarray((law.ppf(special.ndtr(at)) - law.mean()) / law.std())


def _skewed(at: np.ndarray, skewness: float, kurtosis: float) -> np.ndarray:
    """exp(s min(Z, c)) of mean 0 and sd 1; a normal law without skewness.

    With c as far as it goes for an s, kurtosis falls as s grows at the same skewness.
    """
    if abs(skewness) < _STRAIGHT:
        return at
    size = abs(skewness)

    def cut(s: float) -> float:
        return _zero_of(lambda c: _moments(np.exp(s * np.minimum(_AT, c)))[0] - size, *_CUTS)

    def excess(s: float) -> float:
        return kurtosis - _moments(np.exp(s * np.minimum(_AT, cut(s))))[1]

    s = _zero_of(lambda s: _moments(np.exp(s * _AT))[0] - size, *_LOGS)
    s = s if np.isinf(kurtosis) else _zero_of(excess, s, _LOGS[1])
    c, sign = cut(s), np.sign(skewness)
    own = np.exp(s * np.minimum(_AT, c))
    mean = _WEIGHTS @ own
    return np.asarray(
        sign * (np.exp(s * np.minimum(sign * at, c)) - mean) / np.sqrt(_WEIGHTS @ (own - mean) ** 2)
    )


def _zero_of(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that rises is 0, or the end that is nearest."""
    if rising(low) >= 0 or rising(high) <= 0:
        return low if rising(low) >= 0 else high
    return float(optimize.brentq(rising, low, high, xtol=_CLOSE))


def _moments(values: np.ndarray) -> tuple[float, float]:
    """Skewness and kurtosis less 3, of values at normal deviates."""
    centred = values - _WEIGHTS @ values
    variance = _WEIGHTS @ centred**2
    return float(_WEIGHTS @ centred**3 / variance**1.5), float(_WEIGHTS @ centred**4 / variance**2 - 3)


CALIBRATION = 20_000  # rows from which laws follow; the error of a correlation among them is below .01
_RAREST = 1e-9  # share of a level, by whose root is divided
_FAR = 0.25  # of a correlation from what is told: in a census, .36 came to a tenth of a standard error
_DEGREES, _CLOSEST = 60, 0.999  # of Hermite series, and correlations that they are solved for
_NODES = np.linspace(-5.0, 5.0, 2001)  # of a quantile function, which is interpolated between them


class Maker:
    """Draws covariates.

    A number follows a beta law between its bounds, which has any mean and sd that bounds allow: it is nearly
    normal far from the bounds, and skewed near one. One whose skewness is told follows a shifted log-normal
    law; with a kurtosis, a beta law where that is light, and Student's where a symmetric law has long tails.
    A category lies along one line: its levels stand in the order in which they go with all else, and each has
    the normals between two cuts. Normals with a copula's correlations tie all together.

    Parameters
    ----------
    known : Knowledge
    schema : Schema
    names : sequence of str
        The variables to draw.
    """

    def __init__(self, known: Knowledge, schema: Schema, names: tuple[str, ...]) -> None:
        self._known, self._schema = known, schema
        self._names = [name for name in names if name in known.spreads or name in known.shares]
        wanted = self._wanted()
        scores = {name: self._score(name, wanted) for name in names if name in known.shares}
        self._of_normal = {
            name: _levels_of_normal(np.array(known.shares[name]), scores[name])
            if name in scores
            else _of_normal(schema[name], known.spreads[name])
            for name in self._names
        }
        self._root = _root(self._latent(wanted, scores))

    def draw(self, rng: np.random.Generator, n: int) -> dict[str, Any]:
        """Columns of n rows by name."""
        if self._known.frame is not None:
            frame = self._known.frame
            return dict(frame.iloc[rng.integers(0, len(frame), n)].reset_index(drop=True).items())
        columns: dict[str, Any] = {}
        for name, normal in zip(self._names, self._root @ rng.normal(size=(len(self._root), n)), strict=True):
            variable, values = self._schema[name], self._of_normal[name](normal)
            whole = np.rint(values) if isinstance(variable, Count) else values
            columns[name] = coded(variable, values) if variable.all else whole
        return columns

    def missed(self, columns: dict[str, Any]) -> tuple[str, ...]:
        """What correlation of these rows is farthest from what was told, in words; nothing if none is far."""
        made: dict[str, np.ndarray] = {}
        for name in self._names:
            values, variable = columns[name], self._schema[name]
            codes = values.codes if variable.all else values
            shares = name in self._known.shares
            made |= (
                {cell: codes == j for j, cell in enumerate(cells(name, variable))}
                if shares
                else {name: codes}
            )
        corr = pd.DataFrame(made, dtype=float).corr().fillna(0.0)
        pairs = {pair: rho for pair, rho in self._known.correlations.items() if {*pair} <= {*corr}}
        far = {pair: abs(corr.loc[pair] - rho) for pair, rho in pairs.items()}
        worst = max(far, key=far.__getitem__, default=None)
        if worst is None or far[worst] < _FAR:
            return ()
        made_up, told = f"{corr.loc[worst]:.2f} of {' with '.join(worst)}", f"{pairs[worst]:.2f}"
        return (f"a correlation of {made_up} in the place of {told}, as made-up levels lie along one line",)

    def _wanted(self) -> pd.DataFrame:
        """Correlations of numbers, flags and all levels; those of a first level follow from the others."""
        numbers = [name for name in self._names if name in self._known.spreads]
        blocks = {name: cells(name, self._schema[name]) for name in self._names if name in self._known.shares}
        names = [*numbers, *(cell for block in blocks.values() for cell in block)]
        found = pd.DataFrame(np.eye(len(names)), names, names)
        for (first, second), rho in self._known.correlations.items():
            if first in found.index and second in found.index:
                found.loc[first, second] = found.loc[second, first] = rho
        for name, block in blocks.items():
            sds = np.array([(share * (1 - share)) ** 0.5 for share in self._known.shares[name]])
            others = found.columns.difference(block)
            if sds[0] > 0 and len(others):
                # the indicators of all levels add up to 1, which has no covariance with anything
                rho = np.clip(-sds[1:] @ found.loc[block[1:], others] / sds[0], -0.999, 0.999)
                found.loc[block[0], others] = found.loc[others, block[0]] = rho
        return found

    def _score(self, name: str, wanted: pd.DataFrame) -> np.ndarray:
        """Scores of levels, of mean 0 and sd 1, that go with all other columns as far as any do.

        They are the first axis of a correspondence analysis.
        """
        share, block = np.array(self._known.shares[name]), cells(name, self._schema[name])
        told = wanted.loc[block, wanted.columns.difference(block)].to_numpy()
        along = np.linalg.svd(told * np.sqrt(1 - share)[:, None])[0][:, 0]
        return np.asarray(along / np.sqrt(np.maximum(share, _RAREST)))

    def _latent(self, wanted: pd.DataFrame, scores: dict[str, np.ndarray]) -> np.ndarray:
        """Correlations of normals for which those of numbers, flags and scores of levels are as told."""
        parts, values = np.zeros((len(self._names), len(wanted))), []
        for row, name in zip(parts, self._names, strict=True):
            found, columns, weights = self._of_normal[name](_NODES), [name], np.ones(1)
            if name in scores:
                share, columns = np.array(self._known.shares[name]), cells(name, self._schema[name])
                weights, found = scores[name] * np.sqrt(share * (1 - share)), scores[name][found]
            row[wanted.columns.get_indexer(columns)] = weights
            values.append(_coefficients(found))
        corr = parts @ wanted.to_numpy() @ parts.T
        return _latent_of(corr, np.reshape(values, (len(values), _DEGREES)))


def _latent_of(wanted: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Correlations of normals for which functions with these Hermite coefficients have those that are wanted.

    Those of f(Z) and g(Z'), of normals with correlation r, are sum f_k g_k r^k, k >= 1, of their Hermite
    coefficients over their sds (Mehler's formula), which rises with r where f and g rise.
    """
    products, powers = found[:, None] * found, np.arange(1, _DEGREES + 1)
    ends = np.full_like(wanted, -_CLOSEST), np.full_like(wanted, _CLOSEST)
    latent = halved(lambda r: np.sum(products * r[..., None] ** powers, axis=-1) < wanted, *ends)
    latent[wanted == 0] = 0.0
    np.fill_diagonal(latent, 1.0)
    return latent


def _between(values: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """A quantile function at normals, by its values at even nodes, between which it is taken as straight."""
    place = (normal - _NODES[0]) / (_NODES[1] - _NODES[0])
    return np.asarray(ndimage.map_coordinates(values, [place], order=1, mode="nearest"))


def _coefficients(values: np.ndarray) -> np.ndarray:
    """Hermite coefficients, from the first on, of a function of a normal over its sd."""
    weights = np.exp(-(_NODES**2) / 2)
    weights /= weights.sum()
    centred = values - weights @ values
    sd = np.sqrt(weights @ centred**2)
    found = (weights * centred) @ hermite_e.hermevander(_NODES, _DEGREES)[:, 1:]
    return found / np.sqrt(special.factorial(np.arange(1, _DEGREES + 1))) / (sd if sd > 0 else 1.0)


def _levels_of_normal(share: np.ndarray, score: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Numbers of levels, which follow each other along a normal as their scores do."""
    order = np.argsort(score, kind="stable")
    cuts = special.ndtri(np.minimum(np.cumsum(share[order])[:-1], 1.0))
    return lambda normal: order[np.searchsorted(cuts, normal)]


def coded(variable: Variable, numbers: np.ndarray) -> pd.Categorical:
    """Values of a category, a flag or an event by their numbers."""
    return pd.Categorical.from_codes(np.asarray(numbers, dtype=int), list(variable.all))


def _root(correlations: np.ndarray) -> np.ndarray:
    """Symmetric root of the nearest correlations that are possible."""
    values, vectors = np.linalg.eigh(correlations)
    root = vectors * np.sqrt(np.maximum(values, 1e-6))
    return root / np.linalg.norm(root, axis=1)[:, None]


def _of_normal(variable: Variable, spread: Spread) -> Callable[[np.ndarray], np.ndarray]:
    """The values of a variable that are as frequent as normal deviates."""
    if variable.all:
        return partial(np.less, special.ndtri(1 - spread.mean))
    low, high = variable.bounds
    if spread.skewness is not None:
        shape = shaped(_NODES, spread.skewness, spread.kurtosis)
        return partial(_between, np.clip(spread.mean + spread.sd * shape, low, high))
    mean, sd = (spread.mean - low) / (high - low), spread.sd / (high - low)
    size = mean * (1 - mean) / sd**2 - 1
    values = stats.beta.ppf(special.ndtr(_NODES), mean * size, (1 - mean) * size)
    return partial(_between, low + (high - low) * values)
