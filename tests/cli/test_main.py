from tests.cli.conftest import Tidings, process
from tidings import __version__


def test_version(tidings: Tidings) -> None:
    assert tidings("--version").stdout == f"{__version__}\n"


def test_help_has_an_example_for_every_command(tidings: Tidings) -> None:
    for command in (
        ("match",),
        ("explain",),
        ("workload",),
        ("schema", "check"),
        ("schema", "show"),
        ("schema", "convert"),
        ("schema", "grow"),
    ):
        done = tidings(*command, "--help")
        assert done.exit_code == 0
        assert f"Example: tidings {' '.join(command)}" in done.stdout


def test_an_unknown_command() -> None:
    done = process("mach")
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such command 'mach'" in done.stderr
