"""The pages that users read, cut into what can be tested: fenced blocks, tables, links, headings."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.page.name}:{self.line}"


def read(page: Path | str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(language: str) -> list[Block]:
    """All fenced blocks of this language, on all pages."""
    found = []
    for page in PAGES:
        text = read(page)
        for fence in _FENCE.finditer(text):
            if fence[1] == language:
                found.append(Block(page, text.count("\n", 0, fence.start()) + 1, language, fence[2]))
    return found


def prose(page: Path | str) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", read(page))


def rows(page: str, header: str) -> list[list[str]]:
    """The rows of all tables whose first column has this header."""
    found: list[list[str]] = []
    inside = False
    for line in prose(page).splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == header:
            inside = True
        elif inside and not set(line) <= set("|-: "):
            found.append(cells)
    return found


def code(cell: str) -> str | None:
    """What a cell says, where it is nothing but code."""
    found = _CODE.fullmatch(cell)
    return found[1] if found else None


def links(page: Path) -> list[str]:
    return _LINK.findall(_CODE.sub("", prose(page)))


def anchors(page: Path) -> set[str]:
    """The names by which a page's headings can be linked to."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(prose(page))}
