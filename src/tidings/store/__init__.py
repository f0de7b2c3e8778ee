"""The journal and its projections: what must never be lost.

    drafts ──> Store.append ──> journal ──> pipeline ──> notifications ──> deliveries ──> attempts

`Store` is the door, and `Appender` lets many append at once. Behind it stand `journal`, `notifications` and
`deliveries`, each with its tables; `removal` takes away what is old, and `Retention` keeps it going. `accounts` serves
the service, `pages` the web pages; `exchange` writes a journal to a file and reads it back. All of them speak to
SQLite or PostgreSQL through `databases` and take the time from `clock`. A name is loaded when it is first used: a
query needs a few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidings.store.account_states import DeletedAccount
    from tidings.store.accounts.accounts import SCOPES, Account, ListedAccount, Token
    from tidings.store.accounts.kept_responses import KeptResponse
    from tidings.store.appender import Appender
    from tidings.store.arrivals import Arrival, Heard
    from tidings.store.clock.clock_guard import ClockReading
    from tidings.store.deliveries.channels import ChannelState, Secrets, StoredChannel
    from tidings.store.deliveries.deliveries import (
        DeliveryFigures,
        DeliveryState,
        Item,
        StoredAttempt,
        StoredDelivery,
    )
    from tidings.store.deliveries.due_deliveries import DeliveryContents, DueDelivery
    from tidings.store.deliveries.notice_mails import DueNotice
    from tidings.store.deliveries.notices import Notice
    from tidings.store.deliveries.results import AttemptResult
    from tidings.store.errors import (
        AccountClosed,
        AccountExists,
        AppenderClosed,
        BrokenJournal,
        ClockJumped,
        DraftFailed,
        ExpiryPassed,
        ForeignDatabase,
        Gap,
        JournalFile,
        LastOperator,
        LeaseLost,
        NewerStore,
        NoSuchChannel,
        NoSuchDelivery,
        NoSuchSubscription,
        OutsideBatch,
        StoreFailed,
        StoreFull,
        StoreLocked,
        StoreNotEmpty,
        StoreReadOnly,
        StoreUnreachable,
        SubscriptionActive,
        SubscriptionExists,
        SubscriptionPaused,
        UnfitAccount,
        UnfitProfile,
        UnfitQuota,
        UnfitSubscription,
        UnknownStore,
    )
    from tidings.store.exchange.journal_file import export_journal, import_journal
    from tidings.store.exchange.rebuilder import rebuild
    from tidings.store.figures import Figures
    from tidings.store.journal.entries import (
        KEEP,
        Accepted,
        DeadLetter,
        Draft,
        Duplicate,
        Edit,
        Entry,
        Grow,
        Keep,
        Notification,
        Outcome,
        Pause,
        Publish,
        PublishPast,
        PublishValid,
        Refused,
        Resume,
        SetProfile,
        SetQuota,
        Span,
        Standing,
        StoredLetter,
        Subscribe,
        Tick,
        Withdraw,
    )
    from tidings.store.moves.moving_in import MovedEvent, MovedNotification, MoveIn
    from tidings.store.moves.offers import Departure, NoSuchTicket, Offer, OfferedNotification
    from tidings.store.network.advertisements import Advertisement, NoSuchAdvertisement, TooManyAdvertisements
    from tidings.store.network.nodes import NamedOtherwise, Node, StoredLink, StoredOrder
    from tidings.store.notifications.notification_id import notification_id
    from tidings.store.retention import Retention, RetentionDays
    from tidings.store.store import Store

__all__ = [
    "KEEP",
    "SCOPES",
    "Accepted",
    "Account",
    "AccountClosed",
    "AccountExists",
    "Advertisement",
    "Appender",
    "AppenderClosed",
    "Arrival",
    "AttemptResult",
    "BrokenJournal",
    "ChannelState",
    "ClockJumped",
    "ClockReading",
    "DeadLetter",
    "DeletedAccount",
    "DeliveryContents",
    "DeliveryFigures",
    "DeliveryState",
    "Departure",
    "Draft",
    "DraftFailed",
    "DueDelivery",
    "DueNotice",
    "Duplicate",
    "Edit",
    "Entry",
    "ExpiryPassed",
    "Figures",
    "ForeignDatabase",
    "Gap",
    "Grow",
    "Heard",
    "Item",
    "JournalFile",
    "Keep",
    "KeptResponse",
    "LastOperator",
    "LeaseLost",
    "ListedAccount",
    "MoveIn",
    "MovedEvent",
    "MovedNotification",
    "NamedOtherwise",
    "NewerStore",
    "NoSuchAdvertisement",
    "NoSuchChannel",
    "NoSuchDelivery",
    "NoSuchSubscription",
    "NoSuchTicket",
    "Node",
    "Notice",
    "Notification",
    "Offer",
    "OfferedNotification",
    "Outcome",
    "OutsideBatch",
    "Pause",
    "Publish",
    "PublishPast",
    "PublishValid",
    "Refused",
    "Resume",
    "Retention",
    "RetentionDays",
    "Secrets",
    "SetProfile",
    "SetQuota",
    "Span",
    "Standing",
    "Store",
    "StoreFailed",
    "StoreFull",
    "StoreLocked",
    "StoreNotEmpty",
    "StoreReadOnly",
    "StoreUnreachable",
    "StoredAttempt",
    "StoredChannel",
    "StoredDelivery",
    "StoredLetter",
    "StoredLink",
    "StoredOrder",
    "Subscribe",
    "SubscriptionActive",
    "SubscriptionExists",
    "SubscriptionPaused",
    "Tick",
    "Token",
    "TooManyAdvertisements",
    "UnfitAccount",
    "UnfitProfile",
    "UnfitQuota",
    "UnfitSubscription",
    "UnknownStore",
    "Withdraw",
    "export_journal",
    "import_journal",
    "notification_id",
    "rebuild",
]

_MEMBERS = {
    "account_states": "DeletedAccount",
    "accounts.accounts": "SCOPES Account ListedAccount Token",
    "accounts.kept_responses": "KeptResponse",
    "appender": "Appender",
    "arrivals": "Arrival Heard",
    "clock.clock_guard": "ClockReading",
    "deliveries.channels": "ChannelState Secrets StoredChannel",
    "deliveries.deliveries": "DeliveryFigures DeliveryState Item StoredAttempt StoredDelivery",
    "deliveries.due_deliveries": "DeliveryContents DueDelivery",
    "deliveries.notice_mails": "DueNotice",
    "deliveries.notices": "Notice",
    "deliveries.results": "AttemptResult",
    "errors": (
        "AccountClosed AccountExists AppenderClosed BrokenJournal ClockJumped DraftFailed ExpiryPassed "
        "ForeignDatabase Gap JournalFile LastOperator LeaseLost NewerStore NoSuchChannel NoSuchDelivery "
        "NoSuchSubscription OutsideBatch StoreFailed StoreFull StoreLocked StoreNotEmpty StoreReadOnly "
        "StoreUnreachable SubscriptionActive SubscriptionExists SubscriptionPaused UnfitAccount UnfitProfile "
        "UnfitQuota UnfitSubscription UnknownStore"
    ),
    "exchange.journal_file": "export_journal import_journal",
    "exchange.rebuilder": "rebuild",
    "figures": "Figures",
    "journal.entries": (
        "KEEP Accepted DeadLetter Draft Duplicate Edit Entry Grow Keep Notification Outcome Pause Publish "
        "PublishPast PublishValid Refused Resume SetProfile SetQuota Span Standing StoredLetter Subscribe "
        "Tick Withdraw"
    ),
    "moves.moving_in": "MovedEvent MovedNotification MoveIn",
    "moves.offers": "Departure NoSuchTicket Offer OfferedNotification",
    "network.advertisements": "Advertisement NoSuchAdvertisement TooManyAdvertisements",
    "network.nodes": "NamedOtherwise Node StoredLink StoredOrder",
    "notifications.notification_id": "notification_id",
    "retention": "Retention RetentionDays",
    "store": "Store",
}
_HOMES = {name: f"tidings.store.{home}" for home, names in _MEMBERS.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'tidings.store' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found
