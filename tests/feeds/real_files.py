"""The real files that lie beside this repository, where they do."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared" / "data"


def real_file(name: str) -> Path:
    """Skips where it is absent."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"shared/data/{name} is not beside this repository")
    return path
