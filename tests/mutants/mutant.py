"""A fault in one line of the source, and a run of quick tests against a copy of the source that has it."""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tidings"
LIMIT = 240  # seconds for one run; where nothing is wrong, a selection passes in some 15 s on an idle machine
_README = Path(__file__).parent / "README.md"
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


def rows() -> dict[str, str]:
    """Those of the page, by the name of the mutant."""
    lines = [line for line in _README.read_text().splitlines(keepends=True) if line.startswith("| ")]
    return {line.split(" | ")[0].removeprefix("| "): line for line in lines[1:]}


def killers() -> dict[str, str]:
    """The test that noticed each mutant, with all its parameters, as the page has it: it runs first, and saves most of
    the time."""
    return {name: "tests/" + row.split(" | ", 2)[2].strip(" |`\n").partition("[")[0] for name, row in rows().items()}


def run(tests: tuple[str, ...], mutant: Mutant | None = None, slow: bool = False) -> Run:
    """Runs the quick tests, or also the slow ones, on a copy of the source, with the mutant's fault if there is one,
    until one fails.

    Kernels run uncompiled: to compile them after each change would take a minute, these tests take seconds. Endless
    loops end at LIMIT and count as failures. Anything but passed or failed tests is an error: a mutant that cannot even
    be imported proves nothing."""
    with tempfile.TemporaryDirectory(prefix="tidings-mutant-") as name:
        folder = Path(name)
        _copy_source(folder / "tidings", Path(mutant.file) if mutant is not None else None)
        if mutant is not None:
            (folder / "tidings" / mutant.file).write_text(mutant.mutated())
        asked = {
            "root": str(ROOT),
            "path": [str(folder), str(ROOT)],
            "environment": {"PYTHONPATH": os.pathsep.join((name, str(ROOT))), "TIDINGS_CACHE": str(folder / "cache")}
            | {"MUTANT_SOURCE": name},
            "arguments": [
                "-x", "-q", "-rf", "-p", "tests.mutants.plugin", "-p", "no:cacheprovider",
                "-W", "ignore::RuntimeWarning", *(() if slow else ("-m", "not slow")), *tests,
            ],
            "output": str(folder / "output"),
            "limit": LIMIT,
        }  # fmt: skip
        begun = time.monotonic()
        mother = _mother()
        assert mother.stdin is not None
        assert mother.stdout is not None
        mother.stdin.write(json.dumps(asked) + "\n")
        mother.stdin.flush()
        code = json.loads(mother.stdout.readline())
        seconds = time.monotonic() - begun
        output = (folder / "output").read_text(errors="replace")
    if code is None:
        return Run(f"no end within {LIMIT} s", LIMIT)
    if code == 0:
        return Run(None, seconds)
    failed = re.search(r"^FAILED (.+?)(?: - |$)", output, re.MULTILINE)
    if code != 1 or failed is None:
        raise RuntimeError(f"pytest ended with {code}:\n{output[-_KEPT_OUTPUT:]}")
    return Run(failed.group(1), seconds)


def _copy_source(copy: Path, changed: Path | None) -> None:
    """Links to the source, but for the folders that lead to the file to be changed. The one it is in is copied, with
    the times of change, so that compiled modules stay valid."""
    source = SOURCE
    for part in changed.parts[:-1] if changed is not None else ():
        copy.mkdir()
        for entry in source.iterdir():
            if entry.name not in (part, "__pycache__"):
                (copy / entry.name).symlink_to(entry)
        source, copy = source / part, copy / part
    if changed is None:
        copy.symlink_to(source)
    else:
        shutil.copytree(source, copy)


@cache
def _mother() -> subprocess.Popen[str]:
    """Started once in a process; ends when its input does."""
    environment = os.environ | {
        "NUMBA_DISABLE_JIT": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # importing all of them takes longer than most of the tests
    }
    environment.pop("PYTEST_ADDOPTS", None)
    for name in [name for name in environment if name.startswith("PYTEST_XDIST")]:
        del environment[name]
    mother = subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "mother.py")],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def end() -> None:
        assert mother.stdin is not None
        mother.stdin.close()
        mother.wait()

    atexit.register(end)
    return mother
