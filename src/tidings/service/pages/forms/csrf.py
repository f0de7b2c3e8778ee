"""CSRF protection: how a form proves that it came from our page, and whose page that was.

Every form carries `owner.HMAC(secret of the visitor, owner)`, which no other site can know. It belongs to one session.
A page may outlive its session: its visitor logs in again in another tab, and the old secret is gone. The owner that its
forms name can then no longer be verified. Such a form does nothing; at most it is shown again, only to that owner, and
only if the browser says that it came from a page of ours.
"""

from __future__ import annotations

import hmac
import re
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.requests import Request

from tidings.errors import Explained, ServiceError
from tidings.service.actions.accounts import is_username
from tidings.service.pages.visitors import HOME, LogInFirst, back_to, secret_of, visitor

PROOF = "proof"  # the form's field
PROOF_HEADER = "x-form-proof"  # the same where a script asks
_PURPOSE = "tidings form"
_DIGEST = re.compile(r"[0-9a-f]{64}")


class ForgedForm(Explained, ServiceError):
    """A form that came from no page of ours."""

    template = "this form does not belong to your session; go back, reload its page, and send it again"


class StaleForm(Explained, ServiceError):
    """A form of ours from before the visitor's session: whose page it stood on, and who visits now; '' for a guest."""

    owner: str
    visitor: str
    template = "{told}"

    @property
    def is_others(self) -> bool:
        """Whether it is from somebody else's page. What a guest typed belongs to the next user who logs in there."""
        return self.owner not in ("", self.visitor)

    @property
    def told(self) -> str:
        if self.is_others:
            return (
                f"you are logged in as {self.visitor} now, and this form is from a page of {self.owner}, so nothing "
                f"was sent; to send it, log in as {self.owner} again"
            )
        return "your session is newer than this page, so nothing was sent; reload the page and send the form again"


def proof_of(secret: str, owner: str) -> str:
    made = hmac.new(secret.encode("utf-8", "surrogatepass"), f"{_PURPOSE} {owner}".encode(), sha256).hexdigest()
    return f"{owner}.{made}"


def owner_of(proof: str) -> str | None:
    """Whose page it says that it is from, '' for a guest's; None if it is not a proof at all."""
    owner, _, digest = proof.rpartition(".")
    is_one = "." in proof and _DIGEST.fullmatch(digest) and (not owner or is_username(owner))
    return owner if is_one else None


def check_proof(request: Request, given: str) -> None:
    """Raises ForgedForm; LogInFirst where the session that it belonged to is over; StaleForm where there is another."""
    secret = secret_of(request)
    if secret and is_proof(secret, given):
        return
    owner = owner_of(given)
    if owner is None or not is_from_our_page(request):
        raise ForgedForm
    visiting = visitor(request).username
    if owner and not visiting:
        raise LogInFirst(back_to(request))
    raise StaleForm(owner, visiting)


def check_continues(request: Request) -> None:
    """For a piece that a page's script asks for: raises LogInFirst where the page is one of a session that is over."""
    given = request.headers.get(PROOF_HEADER, "")
    if given and not visitor(request).username and not is_proof(secret_of(request), given):
        raise LogInFirst(HOME)


def is_proof(secret: str, given: str) -> bool:
    owner = owner_of(given)
    return owner is not None and hmac.compare_digest(proof_of(secret, owner).encode(), given.encode())


def is_from_our_page(request: Request) -> bool:
    """Every browser says where a form that changes something comes from."""
    origin = request.headers.get("origin")
    if origin is None:
        return request.headers.get("sec-fetch-site") == "same-origin"
    return urlsplit(origin).netloc == request.headers.get("host")
