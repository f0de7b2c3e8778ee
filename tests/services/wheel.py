"""The wheel as a user installs it: built from this tree, in an environment of its own with nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def installed_wheel(folder: Path, *extras: str) -> Path:
    """The environment's folder; it takes a minute or two, most of it for pyspark."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder / "dist"), str(ROOT))
    (wheel,) = (folder / "dist").glob("tidings-*.whl")
    run(sys.executable, "-m", "venv", str(folder / "venv"))
    wanted = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
    constraints = str(ROOT / "constraints.txt")
    run(str(folder / "venv" / "bin" / "pip"), "install", "--quiet", "--constraint", constraints, wanted)
    return folder / "venv"


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
