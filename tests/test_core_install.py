"""What works without the extra `service`: everything that Spark's workers do, and all commands but serve, outbox and
demo. test_wheel.py installs it for real."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tidings.cli.terminal import _OF_THE_SERVICE

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
MODULES = {"argon2-cffi": "argon2"}


def without_the_service(program: str) -> subprocess.CompletedProcess[str]:
    """Runs the program where none of the extra's packages can be imported."""
    hidden = f"import sys; sys.modules.update(dict.fromkeys({_OF_THE_SERVICE!r}))\n"
    return subprocess.run([sys.executable, "-c", hidden + program], capture_output=True, text=True, check=False)


def test_the_hidden_packages_are_those_of_the_extra() -> None:
    named = [line.partition(">")[0] for line in PROJECT["optional-dependencies"]["service"]]
    modules = {MODULES.get(name, name) for name in named}
    assert modules | {"starlette"} == set(_OF_THE_SERVICE)  # starlette comes with fastapi
    assert modules.isdisjoint(line.partition(">")[0] for line in PROJECT["dependencies"])


def test_all_modules_but_those_of_the_service_can_be_imported() -> None:
    done = without_the_service("""
import importlib, pkgutil
import tidings
apart = ("tidings.service", "tidings.notifying", "tidings.demo", "tidings.torture", "tidings.bench")
for found in pkgutil.walk_packages(tidings.__path__, "tidings.", onerror=print):
    if not found.name.startswith(apart) and not found.name.endswith("__main__") and "migrations" not in found.name:
        importlib.import_module(found.name)
print("imported", sum(name.startswith("tidings.pipeline.") for name in sys.modules))
""")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > 25


@pytest.mark.parametrize("command", ["serve", "outbox", "demo"])
def test_a_command_of_the_service_says_what_to_install(command: str, tmp_path: Path) -> None:
    arguments = [command, "--data", str(tmp_path / "data")]
    done = without_the_service(f"from tidings.cli.main import app; app({arguments!r})")
    assert done.returncode == 1
    assert "pip install 'tidings[service]'" in done.stderr
    assert "Traceback" not in done.stderr
