"""What can go wrong with the store: with a draft, with the database, with the pipeline's order, with a file."""

from __future__ import annotations

from datetime import timedelta

from tidings.errors import Explained, StoreError


class NoSuchSubscription(Explained, StoreError):
    """Nothing stands under this id: never posted, withdrawn, or expired."""

    id: str
    template = "no subscription {id!v}: it never existed, was withdrawn or has expired"


class SubscriptionExists(Explained, StoreError):
    id: str
    template = "subscription {id!v} exists already; edit or withdraw it, or choose another id"


class SubscriptionPaused(Explained, StoreError):
    id: str
    template = "subscription {id!v} is paused already; it can be resumed, edited or withdrawn"


class SubscriptionActive(Explained, StoreError):
    id: str
    template = "subscription {id!v} is already active; nothing to resume"


class ExpiryPassed(Explained, StoreError):
    id: str
    expiry: str
    accepted: str
    template = "subscription {id!v} would have expired already: {expiry} is not after {accepted}, the time now"


class DraftFailed(Explained, StoreError):
    """A defect of ours, met while one draft was decided on; the others of its group are not affected."""

    draft: str
    defect: str
    template = (
        "this {draft} could not be checked because of a defect in Tidings ({defect}); nothing was changed. "
        "Please report it"
    )


class UnfitSubscription(Explained, StoreError):
    """A member of a subscription that the store cannot keep."""

    id: str
    member: str
    legal: str
    template = "subscription {id!v}: its {member} must be {legal}"


class AccountExists(Explained, StoreError):
    username: str
    template = "the username {username!v} is taken; choose another name"


class QuotaReached(Explained, StoreError):
    """An account has as many subscriptions as it may have."""

    most: int
    template = "you have {most!n} subscriptions, the most allowed; remove some that you no longer need"


class AccountClosed(Explained, StoreError):
    """It was disabled or deleted."""

    username: str
    template = "the account {username!v} is closed; ask the operator of the service"


class LastOperator(Explained, StoreError):
    """The only account that may operate cannot lose that."""

    username: str
    template = "{username!v} is the last account with the scope 'operate'; give it to another account first"


class UnfitQuota(Explained, StoreError):
    member: str
    legal: str
    template = "quota: {member} must be {legal}"


class UnfitProfile(Explained, StoreError):
    member: str
    legal: str
    template = "profile: {member} must be {legal}"


class UnfitAccount(Explained, StoreError):
    """A name that no account can have; nobody's subscriptions, above all, must not become somebody's."""

    username: str
    legal: str
    template = "no account can be named {username!v}: its name must be {legal}"


class Gap(Explained, StoreError):
    """A batch begins after positions that were never committed."""

    committed: int
    first: int
    template = (
        "the batch begins at position {first:,}, but only positions up to {committed:,} are committed; "
        "continue from {next:,}"
    )

    @property
    def next(self) -> int:
        return self.committed + 1


class OutsideBatch(Explained, StoreError):
    """Matches, or a batch's end, lie beyond what the batch can hold."""

    position: int
    last: int
    template = "position {position:,} is beyond {last:,}, the last that this batch can hold; nothing was committed"


class NoSuchChannel(Explained, StoreError):
    """The subscription has no channel of this owner: what it finds is only stored."""

    subscription: str
    template = "subscription {subscription!v} has no channel, so its notifications are only stored; give it one first"


class NoSuchDelivery(Explained, StoreError):
    """No delivery of this number, or not of this owner's subscription."""

    number: int
    template = "no delivery {number:,}; the subscription's list of deliveries has their numbers"


class LeaseLost(Explained, StoreError):
    """Another outbox or pipeline (`what`) is at work now: `holder` wanted to write, `found` holds the lease."""

    what: str
    holder: str
    found: str
    template = "the {what} {holder} lost its lease to {who}; nothing was changed"

    @property
    def who(self) -> str:
        return self.found or "nobody"


class ClockJumped(Explained, StoreError):
    """The store's clock does not say what it should by the time that has passed; `jump` is in microseconds."""

    said: str
    expected: str
    jump: int
    template = (
        "the clock jumped {way} by {size}: it says {said}, but should say about {expected}. Nothing is accepted, "
        "expired or deleted until it is right again or an operator confirms the new time: tidings clock confirm"
    )

    @property
    def way(self) -> str:
        return "forward" if self.jump > 0 else "back"

    @property
    def size(self) -> str:
        return str(timedelta(seconds=abs(self.jump) // 1_000_000))


class StoreUnreachable(Explained, StoreError):
    url: str
    reason: str
    template = "the store {url} cannot be reached: {reason}"


class StoreLocked(Explained, StoreError):
    url: str
    template = "the store {url} stayed locked by another process; try again, or end what holds it"


class StoreFull(Explained, StoreError):
    url: str
    reason: str
    template = "the store {url} has no room left ({reason}); nothing was changed: free some space and try again"


class StoreReadOnly(Explained, StoreError):
    url: str
    reason: str
    template = "the store {url} cannot be written ({reason}); nothing was changed: check its permissions"


class StoreFailed(Explained, StoreError):
    """The database failed in another way: what it said."""

    url: str
    reason: str
    template = "the store {url} failed: {reason}. The change may not have been saved; check, then retry"


class NewerStore(Explained, StoreError):
    url: str
    found: str
    newest: str
    template = (
        "the store {url} was made by a newer release (its tables are at {found}, this release knows {newest}); "
        "install that release"
    )


class ForeignDatabase(Explained, StoreError):
    url: str
    reason: str
    template = "{url} is not a Tidings store: {reason}; choose another place"


class UnknownStore(Explained, StoreError):
    """A URL that names no database Tidings can use."""

    url: str
    reason: str
    template = "{url}: {reason}; give a path such as data/tidings.db, or postgresql://user@host/database"


class AppenderClosed(Explained, StoreError):
    template = "the appender is closed and takes nothing more"


class BrokenJournal(Explained, StoreError):
    """An entry that cannot follow on those before it."""

    position: int
    reason: str
    template = "the journal is broken at position {position:,}: {reason}"


class StoreNotEmpty(Explained, StoreError):
    url: str
    tail: int
    template = "the store {url} has {tail:,} entries already; a journal can be imported only into an empty one"


class JournalFile(Explained, StoreError):
    """Something is wrong with a journal's file; line 0 is the file as a whole."""

    path: str
    line: int
    reason: str
    template = "{path}{place}: {reason}; nothing was imported"

    @property
    def place(self) -> str:
        return f", line {self.line:,}" if self.line else ""
