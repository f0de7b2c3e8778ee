"""Where kernels are cached: never where another user could have put code. Each case is a process of its own.

`test_cache_folder` has more cases of which folders are used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from pathlib import Path
from tidings.kernels.compiled import kernel

@kernel
def increased(number):
    return number + 1

assert increased(1) == 2
where = increased._cache.cache_path
print("memory" if where is None else Path(where).parent.parent)
print("read" if sum(increased.stats.cache_hits.values()) else "compiled")
"""
SLOW_PROGRAM = """
import time
from numba.extending import overload
from tidings.kernels.compiled import kernel

def one():
    return 1

@overload(one)
def _one():
    print("compiled", flush=True)
    time.sleep(1)
    return lambda: 1

@kernel
def increased(number):
    return number + one()

print("ready", flush=True)
input()
assert increased(1) == 2
"""
SOMEBODY = 12_345  # a user id that is not ours


@pytest.fixture
def program(tmp_path: Path) -> Path:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    return file


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def run(program: Path, *, first: str = "pass", **environment: str) -> tuple[str, str, str]:
    """Where the kernel was cached, whether it was read from there, and the warnings."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("TIDINGS_CACHE", "NUMBA_CACHE_DIR")}
    started = f"import sys, runpy; {first}; runpy.run_path(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", started, str(program)],
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    where, how = done.stdout.split()
    return where, how, done.stderr


def compiled_in_memory(program: Path, reason: str, **environment: str) -> None:
    where, how, warnings = run(program, **environment)
    assert (where, how) == ("memory", "compiled")
    assert len(warnings.splitlines()) == 1
    assert "kernels are compiled again in each process" in warnings
    assert reason in warnings


def only_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder to another user")


def test_kernels_are_cached_where_the_user_says(program: Path, cache: Path) -> None:
    assert run(program, TIDINGS_CACHE=str(cache)) == (str(cache), "compiled", "")
    assert run(program, TIDINGS_CACHE=str(cache)) == (str(cache), "read", "")
    assert cache.stat().st_mode & 0o777 == 0o700
    assert all(part.stat().st_mode & 0o777 == 0o700 for part in cache.iterdir())


@pytest.mark.parametrize("other", [{}, {"NUMBA_CACHE_DIR": "/nowhere/at/all"}])
def test_it_does_not_matter_whether_numba_was_imported_before(
    program: Path, cache: Path, other: dict[str, str]
) -> None:
    assert run(program, first="import numba", TIDINGS_CACHE=str(cache), **other) == (str(cache), "compiled", "")
    assert run(program, TIDINGS_CACHE=str(cache), **other) == (str(cache), "read", "")


def test_another_locator_of_numbas_does_not_lead_elsewhere(program: Path, cache: Path) -> None:
    compiled_in_memory(
        program,
        "NUMBA_CACHE_LOCATOR_CLASSES",
        TIDINGS_CACHE=str(cache),
        NUMBA_CACHE_LOCATOR_CLASSES="InTreeCacheLocator",
    )


def test_a_folder_of_another_user_is_not_used(program: Path, cache: Path) -> None:
    only_root()
    cache.mkdir(mode=0o700)
    os.chown(cache, SOMEBODY, SOMEBODY)
    compiled_in_memory(program, f"{cache} belongs to another user", TIDINGS_CACHE=str(cache))
    assert list(cache.iterdir()) == []


def test_a_folder_that_others_can_write_is_not_used(program: Path, cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o777)
    compiled_in_memory(program, f"other users can write to {cache}", TIDINGS_CACHE=str(cache))
    assert list(cache.iterdir()) == []


def test_a_read_only_folder_is_no_reason_to_fail(program: Path, cache: Path) -> None:
    """As in a container whose file system is read-only."""
    cache.mkdir()
    cache.chmod(0o500)
    if os.access(cache, os.W_OK):  # root may write anywhere but where nobody can
        cache = Path("/proc/nobody")
    compiled_in_memory(program, f"{cache}", TIDINGS_CACHE=str(cache))


def test_a_damaged_kernel_is_compiled_again(program: Path, cache: Path) -> None:
    run(program, TIDINGS_CACHE=str(cache))
    for kept in [*cache.rglob("*.nbi"), *cache.rglob("*.nbc")]:
        kept.write_bytes(kept.read_bytes()[:20])
    where, how, warnings = run(program, TIDINGS_CACHE=str(cache))
    assert (where, how) == (str(cache), "compiled")
    assert "damaged" in warnings
    assert run(program, TIDINGS_CACHE=str(cache)) == (str(cache), "read", "")


def test_processes_that_need_a_kernel_at_once_compile_it_once(tmp_path: Path, cache: Path) -> None:
    program = tmp_path / "slow.py"
    program.write_text(SLOW_PROGRAM)
    environment = os.environ | {"TIDINGS_CACHE": str(cache)}
    started = [
        subprocess.Popen(
            [sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(2)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=120)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert "".join(said).count("compiled") == 1
