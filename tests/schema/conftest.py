"""The papers and data that lie beside the repository, where there are any."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared"


@pytest.fixture
def shared_file(request: pytest.FixtureRequest) -> Path:
    """The file that `parametrize("shared_file", ["…"], indirect=True)` names; skips where it is absent."""
    path = SHARED / request.param
    if not path.is_file():
        pytest.skip(f"{request.param} is not beside this repository")
    return path
