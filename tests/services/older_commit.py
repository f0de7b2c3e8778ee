"""An older commit beside this one, so that both can be measured in one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]


@contextmanager
def older_commit(commit: str, measured_by: Iterable[str]) -> Iterator[Path]:
    """A folder with that commit and with this folder's measuring modules, so that only Tidings itself differs."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--quiet", "--detach", tree, commit], check=True)
        try:
            for name in measured_by:
                (tree / name).write_text((ROOT / name).read_text())
            yield tree
        finally:
            subprocess.run(["git", "-C", ROOT, "worktree", "remove", "--force", tree], check=True)


def compare(commit: str, module: str, arguments: Sequence[str] = (), rounds: int = 3) -> None:
    """Runs this folder's measuring module on that commit and on this folder, in turns, with the same interpreter; the
    last line that it prints is a JSON object of figures. Prints the medians."""
    with older_commit(commit, [f"{module.replace('.', '/')}.py"]) as older:
        trees = {commit: older, "this folder": ROOT}
        results: dict[str, list[dict[str, float]]] = {name: [] for name in trees}
        for round in range(rounds):
            for name, tree in trees.items():
                results[name].append(_measured(tree, module, arguments))
                said = json.dumps(results[name][-1])
                print(f"round {round + 1}, {name}: {said} (load {os.getloadavg()[0]:.1f})", file=sys.stderr, flush=True)
    print(f"{f'medians of {rounds}':28}" + "".join(f"{name:>16}" for name in results) + f"{'ratio':>8}")
    for figure in results["this folder"][0]:
        before, now = (median(one[figure] for one in ones) for ones in results.values())
        print(f"{figure:28}{before:16,.6g}{now:16,.6g}{now / before:8.2f}")


def _measured(tree: Path, module: str, arguments: Sequence[str]) -> dict[str, float]:
    environment = os.environ | {"PYTHONPATH": str(tree / "src")}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))
