"""`python -m tests.mutants [NAME …]`: applies each mutant (or those named) and tells which test kills it.

With `--write`, all of them, and the table goes into README.md beside this file."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.mutants.listed import MUTANTS
from tests.mutants.mutant import LIMIT, Mutant, run

_PAGE = """# Mutants

Each of these faults, put into the source alone, makes a quick test fail. `make test-slow` runs them all,
`python -m tests.mutants [NAME …]` for some of them; `python -m tests.mutants --write` writes this page.

| mutant | file | killed by |
|---|---|---|
"""


def main(arguments: list[str]) -> int:
    write = arguments == ["--write"]
    chosen = [one for one in MUTANTS if write or not arguments or one.name in arguments]
    unknown = set(arguments) - {one.name for one in chosen} - {"--write"}
    if unknown:
        print(f"no mutant {', '.join(sorted(unknown))}; valid names: {', '.join(one.name for one in MUTANTS)}")
        return 2
    for tests in dict.fromkeys(one.tests for one in chosen):
        plain = run(tests)
        print(f"{plain.seconds:5.1f} s  unmutated  {' '.join(tests)}", flush=True)
        if plain.killed_by is not None or plain.seconds > LIMIT / 4:
            print(f"fails without any mutant, or takes too long: {plain.killed_by}")
            return 1
    rows, survivors = [], []
    for mutant in chosen:
        killed_by, seconds = run(mutant.tests, mutant)
        print(f"{seconds:5.1f} s  {mutant.name}: {killed_by or 'SURVIVED'}", flush=True)
        rows.append(_row(mutant, killed_by))
        if killed_by is None:
            survivors.append(mutant.name)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} killed", *survivors)
    if write and not survivors:
        (Path(__file__).parent / "README.md").write_text(_PAGE + "".join(rows))
    return 1 if survivors else 0


def _row(mutant: Mutant, killed_by: str | None) -> str:
    return f"| {mutant.name} | `{mutant.file}` | `{(killed_by or 'nothing').removeprefix('tests/')}` |\n"


sys.exit(main(sys.argv[1:]))
