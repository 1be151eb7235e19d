"""A ledger under attack: many processes at once, and kill -9 at random instants.

1. 16 processes charge one ledger until the total is used up: 10,000 charges are accepted. The sum must be
   exactly the total, every accepted charge must be there once, every further one be refused.
2. Two processes, one that fits a model again and again and one that only charges, as fast as it can, write
   down each budget once it is spent and the result is out; both are killed at a random instant, 500 times.
   After each the ledger must open, pass SQLite's integrity check, add up, and hold a charge for each release.

Run it on a local disk with

    python benchmarks/ledger_stress.py | tee benchmarks/results/ledger_stress.txt
"""

import multiprocessing
import os
import random
import signal
import tempfile
import time
from fractions import Fraction
from multiprocessing.synchronize import Event
from pathlib import Path

import dpstats as dps
from dpstats.errors import BudgetError

COST = 0.001
FORK = multiprocessing.get_context("fork")


def charge_until_refused(path: Path, worker: int, log: Path) -> None:
    """Charge as long as there is budget; write down what was accepted."""
    ledger, accepted = dps.Ledger(path), 0
    try:
        while True:
            ledger.charge(dps.zcdp(COST), formula=f"{worker}/{accepted}", method="stress")
            accepted += 1
    except BudgetError as refusal:
        log.write_text(f"{accepted} {refusal}")


def contend(folder: Path, processes: int, charges: int) -> tuple[float, list[int]]:
    """Seconds, and the number of charges accepted in each process; AssertionError if the ledger is wrong."""
    path = folder / "contended.ledger"
    ledger = dps.Ledger(path, total=dps.zcdp(round(charges * COST, 9)))
    logs = [folder / f"accepted{worker}" for worker in range(processes)]
    start = time.perf_counter()
    team = [FORK.Process(target=charge_until_refused, args=(path, i, log)) for i, log in enumerate(logs)]
    for process in team:
        process.start()
    for process in team:
        process.join()
    seconds = time.perf_counter() - start
    reports = [log.read_text().split(" ", 1) for log in logs]
    assert all("nothing like it fits any more" in refusal for _, refusal in reports), reports
    accepted = [int(count) for count, _ in reports]
    entries = dps.Ledger(path).entries()
    expected = {f"{worker}/{i}" for worker, count in enumerate(accepted) for i in range(count)}
    assert len(entries) == charges and {entry.formula for entry in entries} == expected
    assert [entry.seq for entry in entries] == list(range(1, charges + 1))
    assert entries[-1].spent == (charges * Fraction(str(COST)),)
    assert ledger.spent == ledger.total and ledger.left is None
    return seconds, accepted


def charge_and_release(path: Path, number: int, fits: bool, ready: Event, released: Path) -> None:
    """Charge, and only then let something out; each time another budget, by which it is known."""
    ledger = dps.Ledger(path)
    data = dps.datasets.load("capacitor")
    model = dps.survreg("Surv(time, status) ~ voltage", data.data, data.schema)
    with released.open("a") as out:
        ready.set()
        while True:
            number += 1
            budget = dps.gdp(1e-3 + number * 1e-12)
            if fits:
                budget = model.fit(budget, ledger=ledger, force=True).budget
            else:
                ledger.charge(budget, formula="y ~ x", method="stress")
            out.write(f"{budget.mu!r}\n")
            out.flush()
            os.fsync(out.fileno())


def kill(folder: Path, times: int, seed: int = 1) -> tuple[int, int, int]:
    """Numbers of releases, of charges, and of charges whose release was cut off."""
    rng, path = random.Random(seed), folder / "killed.ledger"
    dps.Ledger(path, total=dps.gdp(100))
    released: set[float] = set()
    charged: set[float] = set()
    for run in range(times):
        files = [folder / f"released{worker}" for worker in range(2)]
        ready = [FORK.Event() for _ in files]
        team = [
            FORK.Process(
                target=charge_and_release, args=(path, (2 * run + i) * 10**5, i == 0, ready[i], files[i])
            )
            for i in range(2)
        ]
        for process in team:
            process.start()
        for event in ready:
            assert event.wait(60)
        time.sleep(rng.uniform(0, 0.15))
        for process in team:
            os.kill(process.pid or 0, signal.SIGKILL)
        for process in team:
            process.join()
        entries = dps.Ledger(path).entries()  # opening checks the pages and the sums
        charged = {next(iter(vars(entry.budget).values())) for entry in entries}
        assert len(charged) == len(entries)
        released = {float(line) for file in files for line in file.read_text().split("\n")[:-1]}
        assert released <= charged, released - charged
        assert len(charged) - len(released) <= 2 * (run + 1)  # one fit in flight in each killed process
    return len(released), len(charged), len(charged - released)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        seconds, accepted = contend(Path(work), 16, 10_000)
        print("16 processes, 10,000 charges: sum exact, none lost, none doubled, the next refused: yes")
        print(f"  {seconds:.1f} s; accepted by a process: {min(accepted)} to {max(accepted)}")
        releases, charges, cut = kill(Path(work), 500)
        fitted = (Path(work) / "released0").read_text().count("\n")
        print("500 times kill -9: file sound, sums right, a charge for every release: yes")
        print(f"  {charges} charges, {releases} releases ({fitted} fits), {cut} charges without a release")
