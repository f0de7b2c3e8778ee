"""`python -m tests.mutants [NAME …]`: applies each mutant (or those named) and tells which test kills it.

With `--write`, what was found goes into the table of README.md beside this file."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.mutants.listed import MUTANTS
from tests.mutants.mutant import LIMIT, rows, run

_README = Path(__file__).parent / "README.md"
_PAGE = """# Mutants

Each of these faults, put into the source alone, makes a quick test fail. `make test-slow` runs them all,
`python -m tests.mutants [NAME …]` for some of them; with `--write`, it writes their rows of this page.

| mutant | file | killed by |
|---|---|---|
"""


def main(arguments: list[str]) -> int:
    write, names = "--write" in arguments, [one for one in arguments if one != "--write"]
    chosen = [one for one in MUTANTS if not names or one.name in names]
    unknown = set(names) - {one.name for one in chosen}
    if unknown:
        print(f"no mutant {', '.join(sorted(unknown))}; valid names: {', '.join(one.name for one in MUTANTS)}")
        return 2
    for tests in dict.fromkeys(one.tests for one in chosen):
        plain = run(tests)
        print(f"{plain.seconds:5.1f} s  unmutated  {' '.join(tests)}", flush=True)
        if plain.killed_by is not None or plain.seconds > LIMIT / 4:
            print(f"fails without any mutant, or takes too long: {plain.killed_by}")
            return 1
    known, survivors = rows(), []
    for mutant in chosen:
        killed_by, seconds = run(mutant.tests, mutant)
        print(f"{seconds:5.1f} s  {mutant.name}: {killed_by or 'SURVIVED'}", flush=True)
        if killed_by is None:
            survivors.append(mutant.name)
        else:
            known[mutant.name] = f"| {mutant.name} | `{mutant.file}` | `{killed_by.removeprefix('tests/')}` |\n"
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} killed", *survivors)
    if write:
        _README.write_text(_PAGE + "".join(known[one.name] for one in MUTANTS if one.name in known))
    return 1 if survivors else 0


sys.exit(main(sys.argv[1:]))
