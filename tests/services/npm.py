"""Programs from npm, in a folder that git ignores: installed once, at pinned versions, without their scripts."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

from tests.services.missing import missing, need

FOLDER = Path(__file__).parents[2] / ".npm"
PACKAGES = {
    "@asyncapi/parser": "3.6.3",
    "@redocly/cli": "2.73.0",
    "@types/node": "20.19.25",
    "openapi-fetch": "0.17.0",
    "openapi-typescript": "7.13.0",
    "typescript": "5.9.3",
}
_PATIENCE = 600  # seconds


def npm_packages() -> Path:
    """The folder whose `node_modules` has them all. Where npm is missing or cannot fetch them, the test is skipped."""
    need("npm", "npm")
    wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
    FOLDER.mkdir(exist_ok=True)
    ready = FOLDER / "installed"
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists() or ready.read_text() != "\n".join(wanted):
            ready.unlink(missing_ok=True)
            shutil.rmtree(FOLDER / "node_modules", ignore_errors=True)
            (FOLDER / "package.json").write_text('{"private": true, "type": "module"}\n')
            command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", *wanted]
            done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=_PATIENCE)
            if done.returncode:
                missing(f"npm cannot install {', '.join(wanted)}: {done.stderr.strip()[-500:]}")
            ready.write_text("\n".join(wanted))
    return FOLDER


def run_program(name: str, *arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A program of these packages; its output is for the test to judge."""
    program = npm_packages() / "node_modules" / ".bin" / name
    environment = os.environ | {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1"}
    command = [str(program), *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=_PATIENCE
    )


def run_script(script: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """A JavaScript module that imports these packages."""
    command = ["node", "--input-type=module", "--eval", script, "--", *map(str, arguments)]
    folder = npm_packages()
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_PATIENCE)
