"""What somebody typed into a form that did not count any more, on its way back to its page.

    session over:   the form ──hidden fields of the log-in page──> the new session ──┐
    session newer:  the form ────────────────────────────────────────────────────────┴─> its page, filled in again

Until somebody has logged in nothing of it is kept here: it lies in the browser. Afterwards it waits for the next page
of that session, some minutes at most. It belongs to its owner: another user who logs in there never sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import Request

from tidings.errors import TidingsError
from tidings.service.actions.accounts import is_username
from tidings.service.pages.forms.csrf import PROOF, is_from_our_page, owner_of
from tidings.service.pages.forms.form import Form, read_unproved
from tidings.service.pages.visitors import safe_next

ACTION = "kept_action"  # the field of the log-in that says where the form went
OWNER = "kept_owner"  # whose it was, '' for a guest
FIELD = "kept:"  # before the name of each of its fields
SECRET_FIELDS = frozenset({PROOF, "password", "again", "old", "new", "token"})  # never written into a page again
# Which button it was, or that a script asked: not the form's own.
PRESSED = frozenset({"more", "check", "build", "piece", "confirm", "afresh", "result"})
# Nobody types into them.
HIDDEN = frozenset({"key", "type", "back", "upto", "number", "before", "act", "fresh", "go", "guessed", "domain"})
_MOST_FIELDS = 500
_LARGEST = 64 << 10  # characters
_PAGES = "/pages/"
_JOINING = ("/pages/login", "/pages/register", "/pages/logout")  # they have no page that is another's
_PUBLISH = "/pages/publish"


@dataclass(frozen=True, slots=True)
class KeptForm:
    """`action`: where it was sent. `page`: the page with the form, an address of ours. `owner`: '' for a guest's."""

    action: str
    page: str
    pairs: tuple[tuple[str, str], ...]
    owner: str = ""

    @property
    def is_typed(self) -> bool:
        """Whether there was anything to fill in, or only a button to press."""
        return any(name not in HIDDEN and value.strip() for name, value in self.pairs)

    def is_for(self, username: str) -> bool:
        return self.owner in ("", username)

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The fields that carry it through the log-in page."""
        return [(ACTION, self.action), (OWNER, self.owner), *((FIELD + name, value) for name, value in self.pairs)]


async def refused_form(request: Request, page: str) -> KeptForm | None:
    """What was typed into the form that this request is; None where it is none, too large, or not from a page of ours,
    which would let another site put words into somebody's mouth."""
    path = request.url.path
    is_ours = path.startswith(_PAGES) and path not in _JOINING and is_from_our_page(request)
    if request.method != "POST" or not is_ours:
        return None
    try:
        form = await read_unproved(request)
    except TidingsError:  # no form: the log-in alone is the answer
        return None
    owner, pairs = owner_of(form.one(PROOF)), _kept(list(form))
    if owner is None or pairs is None:
        return None
    return KeptForm(path, _standing(path, page, pairs), pairs, owner)


def carried_form(form: Form) -> KeptForm | None:
    """What the log-in page carried."""
    action, owner = safe_next(form.exactly(ACTION)), form.exactly(OWNER)
    pairs = _kept([(name.removeprefix(FIELD), value) for name, value in form if name.startswith(FIELD)])
    if pairs is None or not action.startswith(_PAGES) or (owner and not is_username(owner)):
        return None
    return KeptForm(action, safe_next(form.one("next")), pairs, owner)


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
        """Once, and only for the page with the form."""
        form, until = self._waiting.get(session, (None, 0.0))
        if form is None or urlsplit(form.page).path != path:
            return None
        del self._waiting[session]
        return form if self._clock() < until else None

    def _forget_old(self) -> None:
        now = self._clock()
        for session in [one for one, (_, until) in self._waiting.items() if until <= now]:
            del self._waiting[session]


def _kept(pairs: list[tuple[str, str]]) -> tuple[tuple[str, str], ...] | None:
    """Without what is secret or was pressed; None where it is too much to carry to and fro."""
    kept = tuple((name, value) for name, value in pairs if name not in SECRET_FIELDS | PRESSED)
    size = sum(len(name) + len(value) for name, value in kept)
    return kept if len(kept) <= _MOST_FIELDS and size <= _LARGEST else None


def _standing(action: str, page: str, pairs: tuple[tuple[str, str], ...]) -> str:
    """The form of an event depends on its types, which its page takes from the address."""
    if action == _PUBLISH:
        known = parse_qsl(urlsplit(page).query)
        types = [pair for pair in pairs if pair[0] == "type"] or [pair for pair in known if pair[0] == "type"]
        return f"{_PUBLISH}?{urlencode(types)}" if types else _PUBLISH
    return page
