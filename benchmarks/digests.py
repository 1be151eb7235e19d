"""Which fits a change of the code changes: every kind of fit under seeded noise, before and after.

    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/digests.py /tmp/before.json
    OMP_NUM_THREADS=1 PYTHONPATH=. python benchmarks/digests.py /tmp/after.json --against /tmp/before.json

The first line is for the code as it was, the second for the code as it is, on the same machine with the same
libraries. What only moves code leaves every fit as it was, to the last bit or to rounding. Fits are those of
tests/privacy/catalogue.py, without those that nearly repeat others unless --all asks for them, but with two
of each model; --only takes those whose names contain a text.
"""

import argparse
import hashlib
import json
import multiprocessing
import zlib
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from provenance import header
from tqdm import tqdm

from dpstats.errors import SpecificationError
from dpstats.testing import SeededNoise, noise
from tests.privacy.catalogue import CASES, QUICK, Case, made, repeats

ROWS = (211, 900)
ROUNDING = 1e-6  # of a standard error
Kept = dict[str, Any]


class Change(NamedTuple):
    """Of one fit: its name, the largest change of an estimate in standard errors, and their largest ratio."""

    name: str
    moved: float
    longer: float


def kept(case: Case, rows: int) -> tuple[str, Kept]:
    """Name, digest, estimates and standard errors of a fit; or the words with which it is refused."""
    name = f"{case}-{rows}"
    try:
        with noise(SeededNoise(zlib.crc32(name.encode()))), np.errstate(all="ignore"):
            fit = case.fit(made(rows))
    except SpecificationError as error:
        return name, {"digest": str(error)}
    content = {key: value for key, value in fit.to_dict().items() if "version" not in key}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    if hasattr(fit, "params"):
        estimates, errors = fit.params.to_numpy(), fit.bse.to_numpy()
    else:
        estimates, errors = fit.counts.ravel(), fit.sds.ravel()
    return name, {"digest": digest, "estimates": estimates.tolist(), "errors": errors.tolist()}


def compared(before: dict[str, Kept], after: dict[str, Kept]) -> list[Change]:
    """Fits of both whose digests differ, those that changed most first."""
    both = [name for name in before if name in after]
    changed = [name for name in both if before[name]["digest"] != after[name]["digest"]]
    found = [Change(name, *distance(before[name], after[name])) for name in changed]
    return sorted(found, key=lambda change: -max(change.moved, abs(np.log(change.longer))))


def distance(before: Kept, after: Kept) -> tuple[float, float]:
    """How far estimates moved, in standard errors, and how much longer these became, at most."""
    if before.keys() != after.keys() or "errors" not in before:
        return np.inf, 1.0
    old, new = (np.array([each["estimates"], each["errors"]]) for each in (before, after))
    if old.shape != new.shape or (np.isfinite(old) != np.isfinite(new)).any():
        return np.inf, 1.0
    known = np.isfinite(old[1]) & (old[1] > 0)
    moved = np.abs(new[0] - old[0])[known] / old[1][known]
    longer = new[1][known] / old[1][known]
    most = longer[np.argmax(np.abs(np.log(longer)))] if known.any() else 1.0
    return float(moved.max(initial=0.0)), float(most)


def report(before: dict[str, Kept], after: dict[str, Kept], shown: int) -> str:
    """What is the same, what differs by rounding, and what changed."""
    changes, both = compared(before, after), len(before.keys() & after.keys())
    real = [each for each in changes if max(each.moved, abs(np.log(each.longer))) > ROUNDING]
    lines = [
        f"{both} fits: {both - len(changes)} the same, {len(changes) - len(real)} but for rounding, "
        f"{len(real)} changed"
    ]
    lines += [
        f"{each.name}: moved by {each.moved:.2g} standard errors, these times {each.longer:.4g}"
        for each in real[:shown]
    ]
    alone = sorted(before.keys() ^ after.keys())
    return "\n".join(lines + [f"only in one of them: {', '.join(alone[:shown])}"] * bool(alone))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path, help="file of JSON that is written")
    parser.add_argument("--against", type=Path, help="such a file of the code as it was")
    parser.add_argument("--only", default="", help="text in the names of fits, such as survreg-weibull")
    parser.add_argument("--all", action="store_true", help="fits that nearly repeat others, too")
    parser.add_argument("--shown", type=int, default=40, help="changed fits that are printed")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    options = parser.parse_args()
    own = [case for case in CASES if options.all or case in QUICK or not repeats(case)]
    cases = [case for case in own if options.only in str(case)]
    found: dict[str, Kept] = {}
    with multiprocessing.Pool(options.jobs) as pool:
        for rows in ROWS:
            one = partial(kept, rows=rows)
            found |= dict(tqdm(pool.imap(one, cases, chunksize=8), total=len(cases), desc=f"{rows} rows"))
    options.out.write_text(json.dumps(found))
    print(header(out=options.out, before=options.against))
    print(f"{len(found)} fits written")
    if options.against:
        print(report(json.loads(options.against.read_text()), found, options.shown))


if __name__ == "__main__":
    main()
