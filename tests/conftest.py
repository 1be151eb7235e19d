"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# no test fails because a machine is busy, or because a change of the code, whose constants Hypothesis draws
# from, makes it draw more of what a test leaves out
UNCHECKED = [HealthCheck.too_slow, HealthCheck.filter_too_much]
settings.register_profile("any machine", deadline=None, suppress_health_check=UNCHECKED)
settings.load_profile("any machine")
