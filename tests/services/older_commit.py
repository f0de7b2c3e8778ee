"""An older commit beside this one, so that both can be measured in one run."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def older_commit(commit: str, measured_by: Iterable[str]) -> Iterator[Path]:
    """A folder with that commit and with this folder's measuring modules, so that only Tidings itself differs."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", tree, commit], check=True)
        try:
            for name in measured_by:
                (tree / name).write_text((ROOT / name).read_text())
            yield tree
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", tree], check=True)
