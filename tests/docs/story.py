"""A page as a story: its `sh`, `py` and `toml` blocks one after another, as a reader with a checkout would do them,
against real processes on loopback.

- `sh`: a script; what it assigns is there in the next one. A block that is one command which goes on (a service, a
  receiver, a pipeline) is a terminal of its own: it runs until the story ends.
- `py`: a program. Any block whose first line is a comment with a file's name is that file.
- `diff`: lines of a file to change by hand. `-` and unmarked lines stand in it, in this order; `…` stands for the rest
  of a line. `+` lines come after them.
- `text`: what the block before it prints; lines in their order, `…` stands for anything.

Ports are replaced by free ones, everywhere on the page.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from urllib.error import HTTPError
from urllib.request import urlopen

from tests.docs.pages import ROOT, Block, first_missing, page_blocks

PATIENCE = 600.0  # seconds; the machine may be busy
PORTS = (8080, 8090, 8099)
LANGUAGES = ("sh", "py", "toml", "text", "diff")
_GOES_ON = re.compile(
    r"(make run|tidings (serve|demo|outbox|pipeline(?!.*--once)|feed run(?!.*--once))|python receiver\.py)\b"
)
_LOOKS = re.compile(
    r'((tidings (deliveries|notifications|backtest|explain|journal show)\b|curl -s "\$TIDINGS/v1/notif).*\n)+'
)
_FILE = re.compile(r"# (\S+\.\w+)\n")
_MAKE_RUN = re.compile(r"^run:.*\n(?:\t.*\n)*?\t@?(?:exec )?\$\(BIN\)/(tidings .*)$", re.MULTILINE)


@dataclass
class Terminal:
    """A command that goes on, and what it has printed so far."""

    process: subprocess.Popen[str]
    log: Path

    @property
    def printed(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


@dataclass
class Story:
    """Use as a context; all that it started is ended by its process id."""

    folder: Path
    replaced: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    terminals: list[Terminal] = field(default_factory=list)
    told: list[str] = field(default_factory=list)  # what the scripts printed
    ports: dict[int, int] = field(default_factory=dict)

    def __enter__(self) -> Story:
        shutil.copytree(ROOT / "examples", self.folder / "examples")
        self.ports = dict(zip(PORTS, _free_ports(len(PORTS)), strict=True))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        for one in reversed(self.terminals):
            if one.process.poll() is None:
                one.process.send_signal(signal.SIGINT)
        for one in reversed(self.terminals):
            try:
                one.process.wait(60)
            except subprocess.TimeoutExpired:
                one.process.kill()
                one.process.wait(60)
        if error is not None:
            for one in self.terminals:
                sys.stderr.write(f"--- {one.log.name}\n{one.printed[-4000:]}\n")

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.ports[8080]}"

    def tell(self, page: Path) -> None:
        """Runs the whole page. The last block's output is what a `text` block is compared with."""
        blocks = [block for block in page_blocks(page) if block.language in LANGUAGES]
        printed: str | Terminal = ""
        for number, block in enumerate(blocks):
            if block.language == "text":
                self._compare(block, blocks[number - 1], printed)
                continue
            next = blocks[number + 1] if number + 1 < len(blocks) else None
            fails = next is not None and next.language == "text" and next.text.startswith("error: ")
            printed = self._do(block, fails)
            if isinstance(printed, str):
                self.told.append(printed)

    def save(self, block: Block) -> bool:
        """Where the block is a file, by the name in its first line."""
        named = _FILE.match(block.text)
        if named is not None and block.language in ("py", "toml"):
            (self.folder / named[1]).write_text(self.here(block.text), encoding="utf-8")
        return named is not None

    def change(self, block: Block) -> None:
        """Changes the file that a `diff` names as its reader would."""
        first, *changes = block.text.splitlines()
        file = self.folder / first.removeprefix("--- ")
        lines = file.read_text(encoding="utf-8").splitlines()
        at = 0
        for change in changes:
            sign, text = change[0], change[1:]
            if sign == "+":
                lines.insert(at, text)
                at += 1
                continue
            whole = [line == text or (text.endswith("…") and line.startswith(text[:-1])) for line in lines]
            assert True in whole[at:], f"{block.name}: no line {text!r} in {file.name}:\n" + "\n".join(lines)
            at = whole.index(True, at)
            if sign == "-":
                del lines[at]
            else:
                at += 1
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _do(self, block: Block, fails: bool) -> str | Terminal:
        if block.language == "diff":
            self.change(block)
            return ""
        text = self.here(block.text)
        if self.save(block) or block.language == "toml":  # a piece of a file is read by test_parsed
            return ""
        if block.language == "py":
            return self._finished(block, [sys.executable, "-c", text], fails)
        if _GOES_ON.match(text):
            return self.open(text)
        return self._script(block, text, fails)

    def here(self, text: str) -> str:
        for written, meant in self.replaced.items():
            text = text.replace(written, meant)
        return re.sub("|".join(rf"\b{port}\b" for port in PORTS), lambda found: str(self.ports[int(found[0])]), text)

    def _script(self, block: Block, text: str, fails: bool = False) -> str:
        state = self.folder / ".variables"
        whole = f"set -a; if [ -e {state} ]; then . {state}; fi\n{text}\nexport -p > {state}\n"
        return self._finished(block, ["bash", "-eu", "-o", "pipefail", "-c", whole], fails)

    def _finished(self, block: Block, command: list[str], fails: bool) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode != 0) is fails, (
            f"{block.name} ended with {done.returncode}:\n{block.text}\n{done.stdout}"
        )
        return done.stdout

    def open(self, text: str) -> Terminal:
        command = text.strip().replace("\\\n", " ")
        if command == "make run":
            command = make_run()
        log = self.folder / f"terminal-{len(self.terminals)}.log"
        state = self.folder / ".variables"
        whole = f"set -a; if [ -e {state} ]; then . {state}; fi; exec {command}"
        with log.open("w") as file:
            process = subprocess.Popen(
                ["bash", "-eu", "-c", whole],
                cwd=self.folder,
                env=self.environ(),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                text=True,
            )
        opened = Terminal(process, log)
        self.terminals.append(opened)
        listening = (("tidings serve", 8080), ("tidings demo", 8080), ("python receiver.py", 8099))
        for beginning, port in listening:
            if command.startswith(beginning):
                _wait_for(self.ports[port], opened)
        if command.startswith("tidings demo"):  # a reader reads on, while its feeds begin
            self._wait_for_the_schema(opened)
        return opened

    def wait_until_running(self) -> None:
        """Until Spark is up, which takes its time on a busy machine."""
        deadline = time.monotonic() + PATIENCE
        while b'"pipeline":{"state":"running"' not in (seen := self._got("/readyz")):
            assert time.monotonic() < deadline, seen
            time.sleep(0.2)

    def _wait_for_the_schema(self, opened: Terminal) -> None:
        deadline = time.monotonic() + PATIENCE
        while b"car_auction" not in self._got("/v1/schema"):
            assert time.monotonic() < deadline, opened.printed
            time.sleep(0.2)

    def _got(self, path: str) -> bytes:
        try:
            with urlopen(self.address + path, timeout=PATIENCE) as answer:
                return bytes(answer.read())
        except HTTPError as problem:  # not ready
            with problem:
                return problem.read()

    def environ(self) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "PYTHONUNBUFFERED": "1",
            "COLUMNS": "200",
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "TIDINGS_PORT": str(self.ports[8080]),
            "TIDINGS_XML_PORT": str(self.ports[8090]),
            **self.environment,
        }

    def _compare(self, shown: Block, block: Block, printed: str | Terminal) -> None:
        """What goes on may say it later, and who looks may look again."""
        deadline = time.monotonic() + PATIENCE
        while True:
            text = printed.printed if isinstance(printed, Terminal) else printed
            missing = first_missing(self.here(shown.text), text)
            if missing is None:
                return
            assert isinstance(printed, Terminal) or _LOOKS.fullmatch(block.text), (
                f"{shown.name}: no {missing!r} in:\n{text}"
            )
            assert time.monotonic() < deadline, f"{shown.name}: no {missing!r} in:\n{text}"
            time.sleep(0.5)
            if not isinstance(printed, Terminal):
                printed = self._script(block, self.here(block.text))


def make_run() -> str:
    """What `make run` starts, after its setting up."""
    found = _MAKE_RUN.search((ROOT / "Makefile").read_text(encoding="utf-8"))
    assert found is not None
    return found[1].replace("@", "")


def _free_ports(count: int) -> list[int]:
    """Below those that systems hand out to connections: minutes may pass until a page's command listens there."""
    found: set[int] = set()
    while len(found) < count:
        try:
            with socket.create_server(("127.0.0.1", random.randrange(20_000, 32_000))) as held:
                found.add(held.getsockname()[1])
        except OSError:  # taken
            continue
    return list(found)


def _wait_for(port: int, opened: Terminal) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert opened.process.poll() is None, opened.printed
            assert time.monotonic() < deadline, opened.printed
            time.sleep(0.1)
