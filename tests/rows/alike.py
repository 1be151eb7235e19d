"""Fits of the same rows in other pieces, which are asked the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpstats.curator import Curator
from dpstats.curator.lattice import slack
from dpstats.curator.partial import statistic_of
from dpstats.formula import Design
from dpstats.results import Fit
from dpstats.testing import NoNoise, Recording, noise

Question = tuple[str, dict[str, Any]]


def asked(
    fit: Callable[[], Fit], monkeypatch: pytest.MonkeyPatch, before: tuple[Question, ...] = ()
) -> tuple[Fit, list[np.ndarray], tuple[Question, ...]]:
    """A fit without noise, the sums that it released and by which public parameters: those of one `before`.

    What is proved of sums in other pieces is said of the same parameters. Those of a later release follow
    from the sums of earlier ones; a bit of the last place that takes an entry of a whitening over a power of
    two gives products a grid twice as coarse, by which sums differ far more than by their slack.
    """
    release, recording, questions = Curator.release, Recording(NoNoise()), []

    def released(curator: Curator, name: str, cost: float, **public: Any) -> Any:
        if before:
            same, public = before[len(questions)]
            assert name == same
        questions.append((name, public))
        return release(curator, name, cost, **public)

    with monkeypatch.context() as patch, noise(recording, recording.record):
        patch.setattr(Curator, "release", released)
        found = fit()
    assert [record.name for record in recording.records] == [name for name, _ in questions]
    return found, [record.exact for record in recording.records], tuple(questions)


def within_slack(
    design: Design, questions: tuple[Question, ...], n: int, sums: list[np.ndarray], others: list[np.ndarray]
) -> bool:
    """Whether sums of n rows in two ways agree as far as is proved, release by release."""
    return all(
        bool((np.abs(one - other) <= slack(statistic_of(design, name, public).parts, n)).all())
        for (name, public), one, other in zip(questions, sums, others, strict=True)
    )
