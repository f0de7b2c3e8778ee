"""Clients generated from the OpenAPI document, in TypeScript and in Python: the programs of docs/how-to publish,
subscribe and read what matched from a running service with Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, page_blocks
from tests.service.served import Served
from tests.services.missing import missing
from tests.services.npm import npm_packages, run_program

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "how-to" / "use-from-typescript.md"
GENERATOR = "openapi-python-client==0.29.1"
_STRICT = (
    "--strict",
    "--noUncheckedIndexedAccess",
    "--noPropertyAccessFromIndexSignature",
    "--exactOptionalPropertyTypes",
)
_PATIENCE = 300  # seconds


def shown(name: str) -> str:
    """The file of this name on the page."""
    (found,) = (block.text for block in page_blocks(PAGE) if block.text.startswith((f"// {name}\n", f"# {name}\n")))
    return found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = tmp_path_factory.mktemp("served")
    load = [sys.executable, "-m", "tidings.cli.main", "journal", "load", "--data", str(data)]
    subprocess.run([*load, "--schema", str(ROOT / "examples" / "schema.json")], check=True, capture_output=True)
    with Served(data) as served:
        yield f"http://127.0.0.1:{served.port}"


def run(command: list[str | Path], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_typescript(address: str, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"type": "module"}\n')
    (tmp_path / "node_modules").symlink_to(npm_packages() / "node_modules")
    program = shown("watch.ts")
    (tmp_path / "watch.ts").write_text(program)
    (tmp_path / "typed.ts").write_text(program.replace("{ filter }", "{ filter: 5 }"))
    (tmp_path / "spelt.ts").write_text(program.replace("{ filter }", "{ filtre: filter }"))
    written = ("--default-non-nullable=false", "--output", "tidings.ts")
    made = run_program("openapi-typescript", f"{address}/openapi.json", *written, cwd=tmp_path)
    assert made.returncode == 0, made.stdout + made.stderr
    options = ("--target", "es2022", "--module", "nodenext", "--outDir", "built", *_STRICT)
    compiled = run_program("tsc", *options, "watch.ts", "spelt.ts", "typed.ts", cwd=tmp_path)
    errors = [line for line in compiled.stdout.splitlines() if "error TS" in line]
    assert [line.partition("(")[0] for line in errors] == ["spelt.ts", "typed.ts"], errors
    assert "'filtre' does not exist" in errors[0], errors
    assert "'number' is not assignable" in errors[1], errors
    printed = run(["node", "built/watch.js"], tmp_path, TIDINGS=address)
    assert printed.startswith("true {"), printed
    assert "title: 'Red Mini'" in printed


def test_python(address: str, tmp_path: Path) -> None:
    libraries = tmp_path / "libraries"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(libraries), GENERATOR]
    installed = subprocess.run(install, capture_output=True, text=True, check=False, timeout=_PATIENCE)
    if installed.returncode:
        missing(f"pip cannot install {GENERATOR}: {installed.stderr[-500:]}")
    path = os.pathsep.join([str(libraries), str(tmp_path)])
    generate = [sys.executable, "-m", "openapi_python_client", "generate", "--url", f"{address}/openapi.json"]
    run([*generate, "--meta", "none", "--output-path", "tidings_api"], tmp_path, PYTHONPATH=path)
    (tmp_path / "watch.py").write_text(shown("watch.py"))
    printed = run([sys.executable, "watch.py"], tmp_path, TIDINGS=address, PYTHONPATH=path)
    assert printed.startswith("True {"), printed
    assert "'title': 'Red Mini'" in printed
