"""Prototype."""
from __future__ import annotations
import math, os
from dataclasses import replace
import numpy as np
from dpstats.families import SEV
from dpstats.families.martingale import taper
from dpstats.estimators.location_scale.by_cut import left
from dpstats.estimators.location_scale.estimate import Averaged, estimate
from dpstats.estimators.location_scale.information import Information, _usable

ER, TR = eval(os.environ.get("LEAN", "(6,8)"))
SH = eval(os.environ.get("LSH", "(.05,0,0,.38,.06,.40,.08,.03)"))
R2 = float(os.environ.get("R2", ".5"))

def sizes(family, fraction):
    cut = taper(SEV, 4 / 3)
    failed = np.linspace(0.0, min(fraction, 0.999), 402)[1:-1]
    z = family.quantile(failed)
    g = cut.g(family.log_cumulative_hazard(z))
    return float(np.mean(g * family.log_hazard_slope(z))), float(np.mean(g * g))

def kept(k, r2):
    u = np.random.default_rng(0).chisquare(k, 20000) / k
    w = np.minimum(1, np.sqrt(r2 / u))
    return float(np.mean(w * u)), float(np.mean(w * w * u))

def direction(curator, mu, bounding, state):
    k = len(state.gamma)
    W = state.whitening.matrix
    f = bounding.events.fraction
    rel = curator.release("direction_score", mu, **bounding.scale.public(), family=bounding.problem.family,
        gamma=state.gamma, sigma=state.sigma, whitening=W, radius=math.sqrt(R2 * k))
    slope, square = sizes(bounding.problem.family, f)
    c1, c2 = kept(k, R2)
    return rel.values[0].ravel() / rel.n, rel.sd / rel.n, f * slope * c1, f * square * c2

def level(curator, mu, bounding, state):
    choice, sigma = state.choice, state.sigma
    where = bounding.truncation(choice, state.gamma, sigma)
    bounds = bounding.bounds(where)
    k = len(state.gamma)
    pivot = np.zeros(k); pivot[0] = bounding.pivot(state.gamma, sigma)[0]
    rel = curator.release("martingale_score", mu, **bounding.scale.public(), where=where, gamma=state.gamma, sigma=sigma,
        pivot=pivot, whitening=np.eye(1, k), radius=1.0, matrix_share=bounding.matrix_share)
    n = rel.n
    kappa, tau, unit = bounds.log_sigma_weight, bounds.matrix_weight, bounds.log_sigma_unit
    loc, ls, m = rel.values
    sd = rel.sd / n
    per = np.array([1, 1 / unit]); per = np.outer(per, per) / tau
    m = m / n * per; msd = sd * per
    f = bounding.events.fraction
    t = left(where, f, bounding.expected.offset)
    s0 = f * np.array([[t.location, t.cross], [t.cross, t.log_sigma]])
    level.s0 = s0
    root = np.sqrt(np.diag(s0)); s_sd = .3 * np.outer(root, root)
    w1, w2 = msd**-2., s_sd**-2.
    G = (m * w1 + s0 * w2) / (w1 + w2)
    rel_ = G / np.outer(root, root)
    val, vec = np.linalg.eigh(rel_)
    G = (vec * np.maximum(val, .25)) @ vec.T * np.outer(root, root)
    return np.array([loc.item(), ls.item() / kappa]) / n, np.array([sd, sd / kappa]), G, pivot

def solve(bounding, state, U, sd, m, prior):
    from scipy.optimize import least_squares
    from dpstats.families.martingale import integrands
    where = bounding.truncation(state.choice, state.gamma, state.sigma)
    f = min(bounding.events.fraction, .999)
    q = np.linspace(0, f, 202)[1:-1]
    z0 = np.append(where.family.quantile(q), where.family.quantile(f))
    w = np.append(np.full(200, f / 200), 1 - f); ev = np.append(np.ones(200), 0.)
    mm = np.clip(m, *where.pivots)
    def res(p):
        d, s = p
        z = d + z0 * np.exp(s)
        i = integrands(where.cut, z, np.full_like(z, mm), *where.limits, None)
        e = ev * i.taper
        psi = w @ (i.location_compensator - e * i.location); chi = w @ (i.log_sigma_compensator - e * i.log_sigma)
        return np.array([(psi - U[0]) / sd[0], (chi - U[1]) / sd[1], d / prior[0], s / prior[1]])
    r = least_squares(res, [0., 0.], bounds=([-2.5, -1.5], [2.5, 1.0]))
    d, s = r.x
    return d, s

PR = eval(os.environ.get("PR", "(.7,.6)"))

def level_move(state, U, G, pivot, damp=1.0):
    step = np.linalg.solve(G, U)
    step = np.clip(step, [-1.5, -.7], [1.5, .5]) * damp
    s = state.sigma
    state.gamma = state.gamma.copy()
    state.gamma[0] += s * (step[0] - pivot[0] * step[1])
    state.log_sigma = float(np.clip(state.log_sigma + step[1], -6, 3))

def lean(curator, plan, bounding, state, trace=None):
    mu = plan.mu
    e_loc = mu * math.sqrt(SH[3] / ER); e_lev = mu * math.sqrt(SH[4] / (3 + 2 * ER))
    t_loc = mu * math.sqrt(SH[5] / TR); t_lev = mu * math.sqrt(SH[6] / TR)
    def levels(mu, prior):
        if trace: trace("   lev", state)
        U, sd, G, pivot = level(curator, mu, bounding, state)
        d, step = solve(bounding, state, U, sd, pivot[0], prior)
        state.gamma[0] += state.sigma * d
        state.log_sigma = float(np.clip(state.log_sigma + step, -6, 3))
    for _ in range(3):
        levels(e_lev, (1., 1.))
    for t in range(ER):
        if trace: trace("early", state)
        U, sd, j, _ = direction(curator, e_loc, bounding, state)
        step = U / j
        by = len(U) * (sd / j) ** 2
        step = step * max(0, 1 - by / float(step @ step))
        step = ETA * step * min(1, 2 / max(np.linalg.norm(step), 1e-9))
        state.gamma = state.gamma + state.sigma * (state.whitening.matrix @ step)
        for _ in range(2):
            levels(e_lev, PR)
    start = np.append(state.gamma, state.log_sigma)
    pts, noises = [], []
    k = len(state.gamma)
    for t in range(TR):
        if trace: trace("tail", state)
        U, sd, j, v = direction(curator, t_loc, bounding, state)
        U2, sd2, G, pivot = level(curator, t_lev, bounding, state)
        d, s = solve(bounding, state, U2, sd2, pivot[0], (2., 1.5))
        est = state.gamma + state.sigma * (state.whitening.matrix @ (U / j))
        est[0] = state.gamma[0] + state.sigma * d
        pts.append(np.append(est, state.log_sigma + s))
        noises.append((state.sigma * sd / j)**2)
        damp = DAMP
        state.gamma = state.gamma + damp * state.sigma * (state.whitening.matrix @ (U / j)) * min(1, 2 / max(np.linalg.norm(U / j), 1e-9))
        d, s = solve(bounding, state, U2, sd2, pivot[0], (.3, .3))
        state.gamma[0] += state.sigma * d
        state.log_sigma += s
    wt = 1 / np.array(noises); wt /= wt.sum()
    m = wt @ np.array(pts)
    if JS:
        diff = m - start
        by = (k - 1) * float(wt**2 @ np.array(noises))
        left_ = max(0, 1 - by / float(diff[1:-1] @ diff[1:-1]))
        m[1:-1] = start[1:-1] + left_ * diff[1:-1]
    if trace:
        state.gamma = m[:-1]; state.log_sigma = m[-1]; trace("final", state)
    return m

DAMP = float(os.environ.get("DAMP", ".35")); JS = int(os.environ.get("JS", "0"))
ETA = float(os.environ.get("ETA", "1"))
