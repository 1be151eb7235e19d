"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# no test fails because a machine is busy
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
