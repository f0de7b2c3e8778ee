"""What can go wrong with the store: with a draft, with the database, with the pipeline's order, with a file."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from tidings.errors import Explained, StoreError, shown


class NoSuchSubscription(StoreError):
    """Nothing stands under this id: never posted, withdrawn, or expired."""

    def __init__(self, id: str) -> None:
        super().__init__(id)

    def __str__(self) -> str:
        return f"no subscription {shown(self.args[0])}: it was never posted, or it was withdrawn or has expired"


class SubscriptionExists(StoreError):
    def __init__(self, id: str) -> None:
        super().__init__(id)

    def __str__(self) -> str:
        return f"subscription {shown(self.args[0])} exists already; edit or withdraw it, or choose another id"


class SubscriptionPaused(StoreError):
    def __init__(self, id: str) -> None:
        super().__init__(id)

    def __str__(self) -> str:
        return f"subscription {shown(self.args[0])} is paused already; it can be resumed, edited or withdrawn"


class SubscriptionActive(StoreError):
    def __init__(self, id: str) -> None:
        super().__init__(id)

    def __str__(self) -> str:
        return f"subscription {shown(self.args[0])} is active already, so there is nothing to resume"


class ExpiryPassed(StoreError):
    def __init__(self, id: str, expiry: str, accepted: str) -> None:
        super().__init__(id, expiry, accepted)

    def __str__(self) -> str:
        id, expiry, accepted = self.args
        return f"subscription {shown(id)} would have expired already: {expiry} is not after {accepted}, the time now"


class DraftFailed(Explained, StoreError):
    """A defect of ours, met while one draft was decided on; the others of its group are not affected."""

    draft: str
    defect: str
    template: ClassVar[str] = (
        "this {draft} could not be checked because of a defect in Tidings ({defect}); nothing was changed. "
        "Please report it"
    )


class UnfitSubscription(StoreError):
    """A member of a subscription that the store cannot keep: the id, the member, and what it may be."""

    def __init__(self, id: str, member: str, legal: str) -> None:
        super().__init__(id, member, legal)

    def __str__(self) -> str:
        id, member, legal = self.args
        return f"subscription {shown(id)}: its {member} must be {legal}"


class AccountExists(StoreError):
    def __init__(self, username: str) -> None:
        super().__init__(username)

    def __str__(self) -> str:
        return f"there is an account {shown(self.args[0])} already; choose another name"


class LastOperator(StoreError):
    """The only account that may operate cannot lose that."""

    def __init__(self, username: str) -> None:
        super().__init__(username)

    def __str__(self) -> str:
        return f"{shown(self.args[0])} is the last account that may operate; give that scope to another one first"


class UnfitQuota(Explained, StoreError):
    member: str
    legal: str

    template = "quota: {member} must be {legal}"


class UnfitAccount(StoreError):
    """A name that no account can have; nobody's subscriptions, above all, must not become somebody's."""

    def __init__(self, username: str, legal: str) -> None:
        super().__init__(username, legal)

    def __str__(self) -> str:
        username, legal = self.args
        return f"no account can be named {shown(username)}: its name must be {legal}"


class Gap(StoreError):
    """A batch begins after positions that were never committed."""

    def __init__(self, committed: int, first: int) -> None:
        super().__init__(committed, first)

    def __str__(self) -> str:
        committed, first = self.args
        return (
            f"the batch begins at position {first:,} but only what is up to {committed:,} is committed; "
            f"go on from {committed + 1:,}"
        )


class OutsideBatch(StoreError):
    """Matches, or a batch's end, lie beyond what the batch can hold."""

    def __init__(self, position: int, last: int) -> None:
        super().__init__(position, last)

    def __str__(self) -> str:
        return "position {:,} is beyond {:,}, the last that this batch can hold; nothing was committed".format(
            *self.args
        )


class NoSuchChannel(StoreError):
    """The subscription has no channel of this owner: what it finds is only stored."""

    def __init__(self, subscription: str) -> None:
        super().__init__(subscription)

    def __str__(self) -> str:
        return f"subscription {shown(self.args[0])} has no channel: what it finds is only stored; give it one first"


class NoSuchDelivery(StoreError):
    """No delivery of this number, or not of this owner's subscription."""

    def __init__(self, number: int) -> None:
        super().__init__(number)

    def __str__(self) -> str:
        return f"no delivery {self.args[0]:,}; the subscription's list of deliveries has their numbers"


class LeaseLost(StoreError):
    """Another outbox sends now: who wanted to write, and who holds the lease."""

    def __init__(self, holder: str, found: str) -> None:
        super().__init__(holder, found)

    def __str__(self) -> str:
        holder, found = self.args
        return f"the outbox {holder} may not send any more: {found or 'nobody'} holds the lease; nothing was changed"


class ClockJumped(Explained, StoreError):
    """The store's clock does not say what it should by the time that has passed; `jump` is in microseconds."""

    said: str
    expected: str
    jump: int
    template: ClassVar[str] = (
        "the clock jumped {way} by {size}: it says {said}, but should say about {expected}. Nothing is accepted, "
        "expired or deleted until it is right again or an operator confirms the new time: tidings clock confirm"
    )

    @property
    def way(self) -> str:
        return "forward" if self.jump > 0 else "back"

    @property
    def size(self) -> str:
        return str(timedelta(seconds=abs(self.jump) // 1_000_000))


class StoreUnreachable(StoreError):
    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)

    def __str__(self) -> str:
        url, reason = self.args
        return f"the store {url} cannot be reached: {reason}"


class StoreLocked(StoreError):
    def __init__(self, url: str) -> None:
        super().__init__(url)

    def __str__(self) -> str:
        return f"the store {self.args[0]} stayed locked by another process; try again, or end what holds it"


class StoreFull(StoreError):
    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)

    def __str__(self) -> str:
        url, reason = self.args
        return f"the store {url} has no room left ({reason}); nothing was changed: free some space and try again"


class StoreReadOnly(StoreError):
    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)

    def __str__(self) -> str:
        url, reason = self.args
        return f"the store {url} cannot be written ({reason}); nothing was changed: check its permissions"


class StoreFailed(StoreError):
    """The database failed in another way: what it said."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)

    def __str__(self) -> str:
        url, reason = self.args
        return f"the store {url} failed: {reason}; what was under way may not be done, so look, and try it again"


class NewerStore(StoreError):
    def __init__(self, url: str, found: str, newest: str) -> None:
        super().__init__(url, found, newest)

    def __str__(self) -> str:
        url, found, newest = self.args
        return (
            f"the store {url} was made by a newer release (its tables are at {found}, this release knows {newest}); "
            "install that release"
        )


class ForeignDatabase(StoreError):
    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)

    def __str__(self) -> str:
        url, reason = self.args
        return f"{url} is no store of Tidings: {reason}; choose another place"


class UnknownStore(StoreError):
    """A URL that names no database Tidings can use."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)

    def __str__(self) -> str:
        url, reason = self.args
        return f"{url}: {reason}; give a path such as data/tidings.db, or postgresql://user@host/database"


class AppenderClosed(StoreError):
    def __str__(self) -> str:
        return "the appender is closed and takes nothing more"


class BrokenJournal(StoreError):
    """An entry that cannot follow on those before it: its position, and why."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(position, reason)

    def __str__(self) -> str:
        return "the journal is broken at position {:,}: {}".format(*self.args)


class StoreNotEmpty(StoreError):
    def __init__(self, url: str, tail: int) -> None:
        super().__init__(url, tail)

    def __str__(self) -> str:
        url, tail = self.args
        return f"the store {url} has {tail:,} entries already; a journal can be imported only into an empty one"


class JournalFile(StoreError):
    """Something is wrong with a journal's file: its path, the line (0: the file as a whole), and what."""

    def __init__(self, path: str, line: int, problem: str) -> None:
        super().__init__(path, line, problem)

    def __str__(self) -> str:
        path, line, problem = self.args
        return f"{path}{f', line {line:,}' if line else ''}: {problem}; nothing was imported"
