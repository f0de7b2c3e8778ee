"""`tidings bench`, as it is typed."""

import json

import pytest
from typer.testing import CliRunner

from tidings.cli.main import app

SMALL = ("--subscriptions", "400", "--events", "50", "--seconds", "0.1")


def bench(*arguments):
    return CliRunner().invoke(app, ["bench", *arguments])


def test_json():
    done = bench(
        "matching", *SMALL, "--equality", "1", "--algorithms", "default,quarantine", "--peer", "numpy", "--json"
    )
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert [one["algorithm"] for one in said["results"]] == ["default", "quarantine", "numpy"]
    assert said["options"]["equality"] == 1


def test_table_and_plots(tmp_path):
    pytest.importorskip("matplotlib")
    options = ("--workload", "rein", "--attributes", "12", "--width", "0.8", "--zipf", "--plots", str(tmp_path))
    done = bench("matching", *SMALL, *options)
    assert done.exit_code == 0, done.output
    assert "rein (attributes 12, width 0.8, zipf True, seed 1): 400 subscriptions" in done.stdout
    assert "counting" in done.stdout
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".png", ".svg"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--workload", "thesis", "--equality", "0.5"), "does not have this option"),
        (("--workload", "le-subscribe", "--zipf"), "does not have this option"),
        (("--peer", "duckbd"), "duckdb"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, said):
    done = bench("matching", *SMALL, *options)
    assert done.exit_code == 2
    assert said in done.output


def test_an_unknown_algorithm_is_refused():
    done = bench("matching", *SMALL, "--algorithms", "countin")
    assert done.exit_code == 1
    assert "did you mean" in done.output
