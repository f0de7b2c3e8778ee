"""What somebody typed into a form that came after the session had ended, on its way through the log-in.

    the refused form ──hidden fields of the log-in page──> the new session ──> the form's page, filled in again

Until somebody has logged in nothing of it is kept here: a stranger's form lies in the stranger's browser. Afterwards it
waits for the next page of that session, some minutes at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import Request

from tidings.errors import TidingsError
from tidings.service.pages.form import Form, read_unproved
from tidings.service.pages.visiting import PROOF, is_from_our_page, safe_next

ACTION = "kept_action"  # the field of the log-in that says where the form went
FIELD = "kept:"  # before the name of each of its fields
SECRET_FIELDS = frozenset({PROOF, "password", "again", "old", "new", "token"})  # never written into a page again
_BUTTONS = frozenset({"more", "check"})  # what was pressed is not what was typed
_MOST_FIELDS = 500
_LARGEST = 64 << 10  # characters
_LONGEST_QUERY = 1_500
_PAGES = "/pages/"
_PUBLISH = "/pages/publish"
_GROW = "/pages/schema/grow/"


@dataclass(frozen=True, slots=True)
class KeptForm:
    """`action`: where it was sent. `page`: where it stands, an address of ours."""

    action: str
    page: str
    pairs: tuple[tuple[str, str], ...]

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The fields that carry it through the log-in page."""
        return [(ACTION, self.action), *((FIELD + name, value) for name, value in self.pairs)]


async def refused_form(request: Request, page: str) -> KeptForm | None:
    """What was typed into the form that this request is; None where it is none, too large, or not from a page of ours,
    which would let another site put words into somebody's mouth."""
    if request.method != "POST" or not request.url.path.startswith(_PAGES) or not is_from_our_page(request):
        return None
    try:
        form = await read_unproved(request)
    except TidingsError:  # no form: the log-in alone is the answer
        return None
    pairs = _typed(list(form))
    return KeptForm(request.url.path, _standing(request.url.path, page, pairs), pairs) if pairs else None


def carried_form(form: Form) -> KeptForm | None:
    """What the log-in page carried."""
    action = safe_next(form.exactly(ACTION))
    pairs = _typed([(name.removeprefix(FIELD), value) for name, value in form if name.startswith(FIELD)])
    if not pairs or not action.startswith(_PAGES):
        return None
    return KeptForm(action, safe_next(form.one("next")), pairs)


class KeptForms:
    """By the digest of the session that they wait for. Of one event loop."""

    def __init__(self, most: int = 200, seconds: float = 600.0, clock: Callable[[], float] = monotonic) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._waiting: dict[bytes, tuple[KeptForm, float]] = {}

    def keep(self, session: bytes, form: KeptForm) -> None:
        self._forget_old()
        self._waiting[session] = (form, self._clock() + self._seconds)
        while len(self._waiting) > self._most:
            del self._waiting[next(iter(self._waiting))]  # the oldest

    def take(self, session: bytes, path: str) -> KeptForm | None:
        """Once, and only for the page on which it stands."""
        form, until = self._waiting.get(session, (None, 0.0))
        if form is None or urlsplit(form.page).path != path:
            return None
        del self._waiting[session]
        return form if self._clock() < until else None

    def _forget_old(self) -> None:
        now = self._clock()
        for session in [one for one, (_, until) in self._waiting.items() if until <= now]:
            del self._waiting[session]


def _typed(pairs: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Without what is secret or no field; nothing at all where it is too much to carry to and fro."""
    kept = tuple((name, value) for name, value in pairs if name not in SECRET_FIELDS | _BUTTONS)
    size = sum(len(name) + len(value) for name, value in kept)
    return kept if len(kept) <= _MOST_FIELDS and size <= _LARGEST else ()


def _standing(action: str, page: str, pairs: tuple[tuple[str, str], ...]) -> str:
    """The form of an event depends on its types, that of the schema's growth on how many rows there are: their pages
    take this from the address."""
    if action == _PUBLISH:
        known = parse_qsl(urlsplit(page).query)
        types = [pair for pair in pairs if pair[0] == "type"] or [pair for pair in known if pair[0] == "type"]
        return f"{_PUBLISH}?{urlencode(types)}" if types else _PUBLISH
    if action.startswith(_GROW):
        query = urlencode([pair for pair in pairs if pair[1]])
        return f"{action}?{query}" if len(query) <= _LONGEST_QUERY else action
    return page
