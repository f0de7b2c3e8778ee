"""Loaded by pytest in a run against a mutant: generated examples are the same each time and are not shrunk."""

import os
from pathlib import Path

import pytest
from hypothesis import Phase, settings

import tidings


def pytest_configure() -> None:
    if Path(os.environ["MUTANT_SOURCE"]) not in Path(tidings.__file__).parents:
        raise pytest.UsageError(f"the tests would run against {tidings.__file__}")
    settings.register_profile(
        "mutants", deadline=None, derandomize=True, database=None, phases=(Phase.explicit, Phase.generate)
    )
    settings.load_profile("mutants")
