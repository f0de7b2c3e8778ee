"""What holds for every test: speed is measured in benchmarks, never by a test's deadline."""

from hypothesis import settings

settings.register_profile("tidings", deadline=None)
settings.load_profile("tidings")
