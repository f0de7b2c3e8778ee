"""On what a run was made: tables and plots name the machine and the commit."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "numba", "pyarrow", "duckdb", "polars", "rule-engine", "pyspark")


@dataclass(frozen=True, slots=True)
class Machine:
    processor: str
    cores: int
    memory_gb: float
    system: str
    python: str
    packages: dict[str, str]

    @classmethod
    def here(cls) -> Machine:
        return cls(
            processor=_processor(),
            cores=os.cpu_count() or 1,
            memory_gb=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
            system=f"{platform.system()} {platform.release()}",
            python=platform.python_version(),
            packages={name: _version(name) for name in PACKAGES if _version(name)},
        )

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.processor}, {self.cores} cores, {self.memory_gb:g} GB, {self.system}, Python {self.python}"


def commit() -> str:
    """The commit of the source, with a plus when files differ from it; `unknown` outside a clone."""
    folder = Path(__file__).parent
    try:
        found = _git(folder, "rev-parse", "--short=12", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", str(folder.parent))
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found + ("+" if changed else "")


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def available_threads() -> int:
    """As many as this process may use."""
    return len(os.sched_getaffinity(0))
