"""Do long rows, which count less, say what the others say? docs/theory/glm.md#what-long-rows-say."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dpstats._codes import BENDS
from dpstats.curator import Release
from dpstats.estimators.bends import WORTH, by_chance, standardised
from dpstats.estimators.bent_times import Bent
from dpstats.estimators.engine.finish import E, Estimate, without_lost
from dpstats.estimators.newton.both_sides import on_both_sides
from dpstats.estimators.newton.check import BY_OCTAVES, Check, Read, level_variance
from dpstats.estimators.newton.located import Located
from dpstats.estimators.newton.problem import Problem
from dpstats.estimators.newton.slopes import placed
from dpstats.estimators.row_scale import SURE
from dpstats.families import LOG
from dpstats.families.bounded_score import BoundedScore, square_weight
from dpstats.moments.spread import Z95

# of the radius: what a long row adds at most. Shorter, and far rows add no more than near ones; longer, and
# noise grows as they do.
_REACH = 0.5
# what rows that count in full move the line by, over what they do as far as they reach: of 25 coefficients
# whose maximum likelihood was 4 standard errors off, 2.2 to 9, 3.8 in the median
_WHOLE = 3.0
# of a yes or no, and a log-normal dose with an sd of the log of 1.1 whose effect levels off: a probit's
# maximum likelihood is moved by 3.7 and 3.9 steps, and that of a complementary log-log link by 5.4 and 6.1
_WHOLE_SKEWED, _WHOLE_STALLED = 4.0, 6.0
# of a logit: such steps to maximum likelihood, 1.5 to 2.3 of 11 of 13 slopes with a step of 2 sds; and the
# error of that
_WHOLE_LOGIT, _NOT_SURE = 2.0, 0.75
# sds of such a step towards 0, by which an effect that levels off may end nearer to 0 than it says: of 200
# doses under a complementary log-log link 15 were silent with 0 and 7 are, and 30 where this was not asked
_FURTHER = 0.4
# the same of a column of which the line has heard little: of 140 fits of part time by wages 24 were silent, 6
# are with .7 sds, 2 with 1 and none with 2, where slopes of straight effects are half as long again
_FURTHER_UNHEARD = 1.0
# of the limit of scores of counts and amounts, to which long rows are heard: noise falls with it, and what
# they say hardly does; and the same ratio there: of 101 coefficients 3.8 in the median, 2.2 to 6.7 in the
# middle half. Of numbers that hold one value in most rows the others are few, and those far out fewer.
_NEARER, _WHOLE_NEARER, _WHOLE_OF_FEW = 0.25, 4.0, 8.0
# radii from which on rows of counts and amounts are heard apart: beyond a step nearer ones lie above the line
# and others below it, so that one sum hid both. 47 of 100 such fits were silent, 21 with 2 and 15 with 3.
# Of numbers that hold one value in most rows the others are few, and one sum of them says more
_FARTHER = 3.0


def long_rows(cost: float, problem: Problem, located: Located, read: Read, found: E) -> Check[E]:
    """A fit that tells by the caution "bends" if long rows say something else, and counts it as error.

    Where the formula holds, scores of long rows have mean 0, as those of others. Where it does not, a Newton
    step by what these rows have lost says where the line of all rows lies, and of counts and amounts one by
    rows that are far longer. Where no row is long nothing is asked.
    """
    if not read.lost:
        return found
    forth = located.to_user(problem.intercept)
    back = np.linalg.inv(forth)
    score, reach = read.looked(problem.family, _NEARER), _REACH * read.radius
    few = located.away > 0
    public = dict(
        **located.public(),
        beta=back @ found.params,
        whitening=read.whitening,
        radius=read.radius,
        reach=reach,
        score=score,
        ends=(0.0, _FARTHER * read.radius)[: 1 if problem.family.two_valued or few.any() else 2],
    )
    release, found = yield "far_scores", cost, public
    parts, sds, own, share = _steps(release, read, found, back, reach * score.limit)
    errors, line = np.sqrt(np.diag(found.cov)) / np.abs(np.diag(forth)), back @ found.params
    # two values are on a line, and a spline follows bends
    sizes, effects = np.abs(parts), np.abs(line) * (1 - np.append([0] * problem.intercept, problem.usual))
    if problem.intercept:
        errors[0], effects[0] = math.sqrt(level_variance(back, found.cov)), 0.0
    whole, toward = np.full(problem.k, _WHOLE), np.maximum(-np.sign(line) * parts, 0.0)
    unheard = _unheard(problem, located, line, read, release.n * located.usable)
    skewed = np.isin(np.arange(problem.k), located.skewed) & problem.family.two_valued
    whole[skewed | unheard] = _WHOLE_STALLED if problem.family.stalls else _WHOLE_SKEWED
    # an effect that levels off draws the line to 0, which noise does half as often as it moves it
    alone = skewed & (toward > 0)
    sure, usual = _by_chance(release.law, share, (sds, own), alone)
    told = (sizes > sure) & (whole * sizes > WORTH * errors)
    both = on_both_sides(problem, located, read, line, (parts[0], sds[0]), (sizes > sure)[0], reach)
    levels = alone & (not problem.family.unlimited)
    nearer = np.where(levels, _nearer_to_0(parts, sds, effects), 0.0)
    more = _beyond(whole * np.sqrt(np.maximum(sizes**2 - usual**2, 0.0)), both)
    by = np.where(levels, _NOT_SURE * np.abs(nearer), more)
    found = replace(found, params=found.params + forth @ (nearer.sum(axis=0) + both.shift))
    # an effect that levels off loses no more than itself
    by = np.sign(parts) * np.where(sizes > sure, by, np.minimum(by, effects)) @ forth.T
    found = found.doubted(by.T @ by + forth @ both.cov @ forth.T, *(BENDS,) * bool(told.any()))
    if problem.family.two_valued:
        asked = alone & problem.family.unlimited | unheard
        further = np.where(unheard, _FURTHER_UNHEARD, _FURTHER) * own
        ends = np.where(asked, np.minimum(whole * (toward + further), effects), 0.0)
        return _wide_enough(found, ends.max(axis=0), forth)
    whole = np.where(few, _WHOLE_OF_FEW, _WHOLE_NEARER)
    if problem.intercept and (score.family.free_dispersion or read.phi > 1 + SURE * read.phi_sd):
        whole = np.maximum(whole, np.where(few, 0.0, _of_far_rows(located, line, read, score, reach)))
    back_to_0 = whole * np.max(toward + usual, axis=0)
    # how far out rows are that draw an effect to 0 is not known: it may be 0 where they count in full
    drawn = np.any(toward > usual, axis=0) & _may_be_long(located, read)
    ends = np.where(drawn, effects, np.minimum(back_to_0, effects))
    # and the level of a normal column then rises by half the square of its effect, as log means do
    ends[: int(problem.intercept)] = np.sum(located.squares * effects**2, where=drawn) / 2
    surer = np.clip((toward - usual) / (sure - usual), 0.0, 1.0).max(axis=0)
    return _wide_enough(_between(found, problem, located, surer * ends, forth), ends, forth)


def _steps(
    release: Release, read: Read, found: Estimate, back: np.ndarray, most: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Newton steps by sums of scores that are no more than `most` each, and their sds.

    With the error of the line and without, and the share of noise in the latter.
    """
    step, noise = read.whitening @ np.linalg.pinv(read.information) / release.n, float(release.sds[0].max())
    square, error = (
        each.reshape(-1, 1) / square_weight(most, each.size) for each in (release.values[1], release.sds[1])
    )
    squares, seen = (np.maximum(square + sds * error, 0.0) for sds in (SURE, -SURE))
    sd, norms = np.sqrt(squares + noise**2), np.linalg.norm(step, axis=1)
    sds = np.hypot(sd * norms, _by_line(found, back, np.sqrt(seen) * norms))
    return (step @ release.values[0]).T, sds, sd * norms, noise / float(sd.min())


def _may_be_long(located: Located, read: Read) -> np.ndarray:
    """Columns whose bounds leave room for rows that count less for their number in it; shape (k,)."""
    farthest = np.maximum(-located.lower, located.upper)
    return np.asarray(np.linalg.norm(read.whitening, axis=0) * farthest > read.radius)


def _beyond(moves: np.ndarray, both: Bent) -> np.ndarray:
    """What moves leave of error that a look on both sides has not moved the line by, nor counts."""
    left = np.maximum(moves - np.abs(both.shift), 0.0)
    return np.asarray(np.sqrt(np.maximum(left**2 - np.diag(both.cov), 0.0)))


def _nearer_to_0(parts: np.ndarray, sds: np.ndarray, effects: np.ndarray) -> np.ndarray:
    """Where steps towards 0 lead, less what chance makes of them: by no more than effects are.

    The square of a step less its mean by chance, as in James and Stein's rule.
    """
    sizes = np.maximum(np.abs(parts), sds)
    return np.asarray(np.sign(parts) * np.minimum(_WHOLE_LOGIT * (sizes - sds**2 / sizes), effects))


def _of_far_rows(
    located: Located, line: np.ndarray, read: Read, score: BoundedScore, reach: float
) -> np.ndarray:
    """Steps to maximum likelihood if farthest rows that were seen are like the middle ones; shape (k,).

    As much more than in the look a row counts whose score no limit holds, and which nothing shortens. Amounts
    whose means fall steeply are many times what the line says of them, where it ends and they do not fall.
    """
    steps = np.zeros(len(line))
    if score.family.link_name != LOG.name:
        return steps
    middle = np.array([line[0] + located.offset])
    for j in set(located.skewed) & {i + 1 for i in located.tails}:
        shares, squares = located.tails[j - 1]
        at = math.sqrt(squares[np.argmax(shares > 0)]) * np.sign(located.upper[j] + located.lower[j])
        far, length = middle + line[j] * at, math.hypot(read.whitening[j, j] * at, math.sqrt(len(line) - 1))
        heard = max(1 - (read.radius / length) ** 2, 0.0) * min(1.0, reach / length)
        whole = np.abs(score.family.score(score.family.mean(middle), far)) / score.limit
        if heard > 0:
            steps[j] = np.maximum(whole, 1 / score.weight(far))[0] / heard
    return steps


def _unheard(problem: Problem, located: Located, line: np.ndarray, read: Read, rows: float) -> np.ndarray:
    """Columns to whose slope maximum likelihood may leave a few far rows, of a yes or no; shape (k,).

    The information has heard little of their variance, and of the rows in the farthest octave that was seen
    the line expects less than one to contradict it. Rows that are foretold with certainty hold none, nor a
    score where they follow the line: nearer rows tell it, and noise hides the few far ones that contradict.
    """
    found, family = np.zeros(problem.k, dtype=bool), problem.family
    if not (problem.intercept and family.two_valued):
        return found
    back = np.linalg.inv(read.whitening)
    heard = back @ read.information @ back
    heard = np.diag(heard) / heard[0, 0] - (heard[0] / heard[0, 0]) ** 2
    for j, (shares, squares) in ((i + 1, seen) for i, seen in located.tails.items()):
        places, sides = placed(shares, np.sqrt(squares), -located.lower[j], located.upper[j])
        farthest = np.argmax(shares > 0) + np.array([0, len(shares)])
        mean = family.mean(line[0] + located.offset + line[j] * places[farthest])
        contradict = (rows * sides[farthest] * np.minimum(mean, 1 - mean))[sides[farthest] > 0]
        found[j] = contradict.min() < 1 and located.squares[j] > BY_OCTAVES * heard[j]
    return found


def _by_chance(
    law: str, noise: float, sds: tuple[np.ndarray, np.ndarray], alone: np.ndarray
) -> Iterator[np.ndarray]:
    """What steps exceed by chance once in 1,000 fits, and in 22, by their sds; of some on one side alone."""
    both, one = (by_chance(law, noise, 1.0, len(alone), sides=sides) for sides in (2, 1))
    return (np.where(alone, *ends) * sd for *ends, sd in zip(one, both, sds, strict=True))


def _between(found: E, problem: Problem, located: Located, ends: np.ndarray, forth: np.ndarray) -> E:
    """A fit half of the way to where effects end that long rows draw to 0, as far as they surely do.

    How far they end is not known, and the middle of what is left open is nearest to all of it. The level
    moves by what it does where slopes are there. Both moves count as error, beside that of the line.
    """
    line = np.linalg.solve(forth, found.params)
    moved = -np.sign(line) * ends / 2
    moved[: int(problem.intercept)] = float(located.squares[1:] @ ends[1:] ** 2) / 8
    found = found.doubted((forth * (moved / Z95) ** 2) @ forth.T)
    return replace(found, params=found.params + forth @ moved)


def _wide_enough(found: E, ends: np.ndarray, forth: np.ndarray) -> E:
    """A fit with intervals of which twice the half-length reaches where effects that end may lie.

    `ends` says how much nearer to 0 that is, in units of standardised columns.
    """
    lacking = np.maximum((ends / (2 * Z95)) ** 2 - np.diag(found.cov) / np.diag(forth) ** 2, 0.0)
    return found.doubted((forth * lacking) @ forth.T)


def _by_line(found: Estimate, back: np.ndarray, sampling: np.ndarray) -> np.ndarray:
    """Sds of steps by long rows that noise of the line makes, where rows make `sampling`; shape (m, k).

    Scores move with the line as far as long rows hold the information. What a row of c radii adds to that, it
    adds s = (c - 1 / c) / 2 times to the step, times an error of the line, and (s / c)^2 times to its
    variance. So what they make of the sampling variance of a coefficient tells what they hold of its
    information, all of it at most. The error is least beside that variance where c^2 is 3, or where rows of a
    sum begin. Of lost coefficients nothing is known, and their intervals need no look.
    """
    whole, privacy = without_lost(found.cov), without_lost(found.cov_privacy)
    usual, privacy = (np.diag(part) for part in standardised(back, whole - privacy, privacy))
    radii = np.array([[math.sqrt(3.0)], [_FARTHER]])[: len(sampling)]
    moved = _REACH * (radii - 1 / radii)
    held = np.minimum((sampling * radii / moved) ** 2 / np.maximum(usual, 1e-300), 1.0)
    return np.asarray(np.sqrt(privacy) * moved * held)
