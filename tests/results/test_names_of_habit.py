"""Names that users bring from other packages: a fit says what is written here in their place."""

import re

import pytest

from dpstats.errors import NotReleased
from dpstats.results import NOT_RELEASED, GlmFit, HazardFit, LinearFit, SurvivalFit, SvmFit
from dpstats.results.habits import HABITS
from tests.results.fits import capacitor
from tests.results.linear import linear


@pytest.mark.parametrize("name", HABITS)
def test_a_name_of_another_package_says_what_to_write(name: str) -> None:
    for fit in (capacitor(), linear()):
        with pytest.raises(AttributeError, match=re.escape(f": write {HABITS[name]}")) as error:
            getattr(fit, name)
        assert not isinstance(error.value, NotReleased)
    assert name not in NOT_RELEASED


@pytest.mark.parametrize("instead", sorted(set(HABITS.values())))
def test_what_is_written_in_its_place_is_there(instead: str) -> None:
    named = re.findall(r"(?<!')fit\.(\w+)", instead)
    kinds = (LinearFit, GlmFit, HazardFit, SurvivalFit, SvmFit)
    assert named and all(any(hasattr(kind, name) for kind in kinds) for name in named)
