"""Compiling a grammar in a process of its own, within bounds: what somebody posts must not stop the service.

Run as a module it compiles what comes on its standard input."""

from __future__ import annotations

import subprocess
import sys

from tidings.schema.documents.errors import WrongGrammar
from tidings.schema.documents.grammar import Grammar

LONGEST_COMPILING = 10.0  # seconds


def check_compiles(grammar: Grammar, seconds: float = LONGEST_COMPILING) -> None:
    """Raises WrongGrammar where the grammar does not compile, or not in time."""
    command = [sys.executable, "-m", "tidings.schema.documents.compiling", grammar.kind]
    try:
        done = subprocess.run(command, input=grammar.text.encode(), capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise WrongGrammar(grammar.kind, 0, f"it takes longer than {seconds:g} s to compile; simplify it") from None
    if done.returncode == 3:
        line, _, what = done.stdout.decode(errors="replace").partition(" ")
        raise WrongGrammar(grammar.kind, int(line), what)
    if done.returncode:
        raise WrongGrammar(grammar.kind, 0, "libxml2 fails to compile it")


def _main() -> int:
    kind = "dtd" if sys.argv[1] == "dtd" else "xsd"
    try:
        Grammar(kind, sys.stdin.buffer.read().decode()).compiled()  # type: ignore[arg-type]
    except WrongGrammar as problem:
        sys.stdout.write(f"{problem.line} {problem.what}")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(_main())
