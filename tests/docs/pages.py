"""The pages that users read, cut into what can be tested: fenced blocks, tables, links, headings."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
LINKED = [*PAGES, *sorted((ROOT / "bench").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]

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
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def read(page: Path | str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def page_blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in their order."""
    text = read(page)
    return [Block(page, text.count("\n", 0, fence.start()) + 1, fence[1], fence[2]) for fence in _FENCE.finditer(text)]


def blocks(language: str) -> list[Block]:
    """All fenced blocks of this language, on all pages."""
    return [block for page in PAGES for block in page_blocks(page) if block.language == language]


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


def first_missing(shown: str, printed: str) -> str | None:
    """The first line of a `text` block that was not printed, after those before it; `…` stands for anything."""
    place = 0
    for line in shown.splitlines():
        if not (wanted := line.strip()):
            continue
        pattern = ".*?".join(re.sub(r"(\\ )+", r"\\s+", re.escape(part.strip())) for part in wanted.split("…"))
        found = re.compile(pattern).search(printed, place)
        if found is None:
            return wanted
        place = found.end()
    return None
