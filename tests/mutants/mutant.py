"""A fault in one line of the source, and a run of quick tests against a copy of the source that has it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tidings"
LIMIT = 600  # seconds for one run; where nothing is wrong, a selection passes in less than a quarter of it
_KEPT_OUTPUT = 4000


class Mutant(NamedTuple):
    name: str
    file: str  # below src/tidings
    old: str  # occurs exactly once
    new: str
    tests: tuple[str, ...]  # one of them must fail

    def mutated(self) -> str:
        """The file's text with the fault; an error where the old text is not there exactly once."""
        text = (SOURCE / self.file).read_text()
        if text.count(self.old) != 1 or self.old == self.new:
            raise ValueError(f"{self.name}: {self.file} has {text.count(self.old)} places with {self.old!r}, not one")
        return text.replace(self.old, self.new)


class Run(NamedTuple):
    killed_by: str | None  # None: all tests passed
    seconds: float


def run(tests: tuple[str, ...], mutant: Mutant | None = None) -> Run:
    """Runs the tests on a copy of the source, with the mutant's fault if there is one, until one fails.

    Kernels run uncompiled: to compile them after each change would take a minute, these tests take seconds. Endless
    loops end at LIMIT and count as failures. Anything but passed or failed tests is an error: a mutant that cannot even
    be imported proves nothing."""
    with tempfile.TemporaryDirectory(prefix="tidings-mutant-") as folder:
        copy = Path(folder) / "tidings"
        shutil.copytree(SOURCE, copy)  # with the times of change, so that compiled modules stay valid
        if mutant is not None:
            (copy / mutant.file).write_text(mutant.mutated())
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join((folder, str(ROOT))),
            "NUMBA_DISABLE_JIT": "1",
            "TIDINGS_CACHE": str(Path(folder) / "cache"),
            "MUTANT_SOURCE": folder,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # importing all of them takes longer than most of the tests
        }
        command = [
            sys.executable, "-m", "pytest", "-x", "-q", "-rf", "-p", "tests.mutants.plugin", "-p", "no:cacheprovider",
            "-W", "ignore::RuntimeWarning", *tests,
        ]  # fmt: skip
        begun = time.monotonic()
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            return Run(f"no end within {LIMIT} s", LIMIT)
        seconds = time.monotonic() - begun
    if done.returncode == 0:
        return Run(None, seconds)
    failed = re.search(r"^FAILED (.+?)(?: - |$)", done.stdout, re.MULTILINE)
    if done.returncode != 1 or failed is None:
        raise RuntimeError(f"pytest ended with {done.returncode}:\n{(done.stdout + done.stderr)[-_KEPT_OUTPUT:]}")
    return Run(failed.group(1), seconds)
