"""A short tour of Tidings on the command line: a schema, filters, events, matches, an explanation.

`make run` runs it, in a copy of this folder, so that nothing here is changed.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
STEPS = (
    ("The vocabulary: what events may say", ["schema", "show", "schema.json"]),
    ("Standing filters", None),
    ("Which of them match which events? (The fourth event breaks the rules and is refused.)",
     ["match", "subscriptions.jsonl", "events.jsonl", "--schema", "schema.json"]),
    ("Why did the opel not match 'bargain'?",
     ["explain", "subscriptions.jsonl", "events.jsonl", "--subscription", "bargain", "--event", "e3",
      "--schema", "schema.json"]),
    ("A filter that says two things of one value gets a warning",
     ["explain", "paint = 'red' and paint = 'white'", "events.jsonl", "--event", "e1",
      "--schema", "schema.json"]),
    ("The schema grows while everything valid stays valid",
     ["schema", "grow", "schema.json", '{"change": "append_value", "domain": "brand", "value": "saab"}',
      "--output", "grown.json"]),
)  # fmt: skip


def main() -> None:
    with TemporaryDirectory() as folder:
        for file in HERE.glob("*.json*"):
            shutil.copy(file, folder)
        for title, arguments in STEPS:
            print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n{title}", flush=True)
            if arguments is None:
                print((HERE / "subscriptions.jsonl").read_text(encoding="utf-8"), end="")
                continue
            print("$ tidings " + " ".join(f"'{a}'" if " " in a else a for a in arguments), flush=True)
            subprocess.run([sys.executable, "-m", "tidings", *arguments], cwd=folder, check=True)
    print("\nNext: README.md, docs/language.md, and .venv/bin/tidings --help")


if __name__ == "__main__":
    main()
