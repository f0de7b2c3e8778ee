"""What tests need and a machine may lack: there they are skipped, except in CI, which installs everything."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Skips the test that needs it; fails it in CI, where a skipped test would hide that `.ci/run` lacks a package."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"in CI nothing may be missing: {what}", pytrace=False)
    pytest.skip(what)


def need(command: str, package: str) -> None:
    """The command, from Debian's package of that name."""
    if shutil.which(command) is None:
        missing(f"{command} is not installed (Debian: apt-get install {package})")
