"""What a fit asks whose slopes follow the signs of residuals."""

import dpstats as dps
from dpstats.models.survreg import SIGNS_METHOD
from dpstats.testing import Recording, SeededNoise, noise
from tests.models.drives import SCHEMA, drives


def test_the_releases_in_their_order() -> None:
    with noise(recording := Recording(SeededNoise(1))):
        fit = dps.survreg("Surv(time, failed) ~ temp + load", drives(300, 5), SCHEMA).fit(dps.zcdp(0.01))
    step = ["sign_score", "martingale_score"]
    asked = ["event_moments", "event_matrix", *["martingale_score"] * 4, *step * 8, "sign_sizes", *step * 8]
    assert [record.name for record in recording.records] == [
        *asked,
        *["martingale_score"] * 4,
        "hazard_contrasts",
    ]
    assert fit.record.method == SIGNS_METHOD
