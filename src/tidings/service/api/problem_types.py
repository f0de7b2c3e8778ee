"""Every type of problem that the service answers with: one table of type, status, errors, meaning and remedy.

`problems` looks an error up here, `/problems/{type}` and docs/reference/problems.md show the rows. A type is part of
the API and stays when an error's class is renamed; so classes are rows' contents, and are given by name: importing
them here would make a circle. An error without a row of its own has that of its nearest base.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from starlette.exceptions import HTTPException

PREFIX = "/problems/"
_HEAD = re.compile(r"(?P<status>\d{3}) (?P<name>[a-z0-9-]+)(: (?P<errors>[\w, ]+))?")


@dataclass(frozen=True, slots=True)
class ProblemType:
    """`errors` are names of classes."""

    name: str
    status: int
    errors: tuple[str, ...]
    meaning: str
    remedy: str

    @property
    def uri(self) -> str:
        return PREFIX + self.name

    @property
    def title(self) -> str:
        return self.name.replace("-", " ").capitalize()


def problem_type(error: BaseException | type[BaseException]) -> ProblemType:
    """Of an error of ours, or of what the web framework refuses by itself."""
    kind = error if isinstance(error, type) else type(error)
    found = _BY_CLASS.get(kind)
    if found is None:
        found = _looked_up(kind, error)
        if kind is not HTTPException:  # which has another type for each status
            _BY_CLASS[kind] = found
    return found


def _looked_up(kind: type[BaseException], error: BaseException | type[BaseException]) -> ProblemType:
    if isinstance(error, HTTPException) and kind is HTTPException:
        return _OF_STATUS.get(error.status_code, TYPES["bad-request"])
    for base in kind.__mro__:
        if base.__name__ in _BY_ERROR:
            return _BY_ERROR[base.__name__]
    return TYPES["internal-error"]


# Each row: status, type and errors; what it means; what to do.
_TABLE = """
400 bad-request
    The request is not one that HTTP allows, or its body broke off.
    Check the program that sends it.
401 token-missing: NoToken, LogInFirst
    This needs a token, and none was sent.
    Register by `POST /v1/accounts` or log in by `POST /v1/tokens`; send the token as `Authorization: Bearer …`.
401 invalid-token: UnknownToken
    The token is not known: it has expired, was deleted, or was never issued.
    Log in again by `POST /v1/tokens`.
401 wrong-password: WrongPassword
    No account has this name and password. Which of them is wrong is not said.
    Check both. Repeated attempts are slowed down.
403 insufficient-scope: OutOfScope
    The token lacks the scope that this request needs; `detail` names it.
    Use a token that has it. An account's scopes are in `GET /v1/accounts/me`.
403 registration-closed: RegistrationClosed
    The service does not let people create accounts.
    Ask its operator for one.
403 account-disabled: AccountDisabled, AccountClosed
    The operator disabled the account, or it was deleted.
    Ask the operator.
403 quota-reached: QuotaReached
    The account has as many of these as it may have; `detail` says of what.
    Remove some, or ask the operator for more.
403 cross-origin: ForeignOrigin
    A page of another site sent the request with your session cookie.
    Programs send the token as a bearer, not as a cookie.
403 invalid-form: ForgedForm, StaleForm
    A form on a page was not made for this session.
    Load the page again.
404 not-found: NoSuchPage
    Nothing is at this address.
    `GET /openapi.json` lists all addresses of the API; each begins with `/v1`.
404 no-such-subscription: NoSuchSubscription
    You have no subscription with this id. It may have been withdrawn, or it may have expired.
    `GET /v1/subscriptions` lists yours.
404 no-such-channel: NoSuchChannel
    The subscription has no channel: its notifications are read, not sent.
    Give it one by `PATCH /v1/subscriptions/{id}`.
404 no-such-delivery: NoSuchDelivery
    You have no delivery with this id.
    `GET /v1/subscriptions/{id}/deliveries` lists them.
404 no-such-account: NoSuchAccount, NoSuchUser
    No account has this name.
    Check the name.
404 no-such-token: NoSuchToken
    You have no token of this id.
    `GET /v1/tokens` lists yours.
404 no-network: NoNetwork
    The server has no name, so it takes no part in a network of servers.
    Start it by `tidings serve --name NAME`.
404 no-such-link: NoSuchLink
    The server has no link of this name, or the link that the token belongs to was removed.
    `tidings link list` shows all links.
404 no-such-event: NoSuchEvent
    No event has this id: it was never accepted, or it was removed because of its age.
    `GET /v1/events` finds those that are stored.
404 no-such-query: NoSuchQuery
    You have no such query. Results are kept for a day.
    `GET /v1/queries` lists yours.
404 no-such-name: NoSuchName
    The address names a domain or event type that the schema does not have.
    `GET /v1/schema` lists them.
404 no-such-document: NoSuchDocument
    No DTD has this name.
    `detail` lists the valid names.
404 no-such-problem-type: NoSuchProblemType
    No problem type has this name.
    `GET /problems` lists them.
404 invalid-link: ForgedLink, OtherLink
    The link was not made by this service, is not complete, or is for something else.
    Copy the whole link from the mail, or ask for a new one.
405 method-not-allowed
    The address does not take this method; the header `Allow` lists those that it takes.
    Check the method.
408 request-timeout: SlowPeer
    The request was not complete in time.
    Send it faster, or in smaller parts.
409 server-name-taken: ServerNameTaken
    Another server of the network has this name.
    Start the server by another name, on a new data folder.
409 name-taken: NameTaken
    The schema has this name already. Names are never reused.
    Choose another name.
409 repeated-node: RepeatedNode
    The category has this node already.
    Choose another name, or use the node that is there.
409 account-exists: AccountExists
    An account has this name already.
    Choose another name.
409 last-operator: LastOperator
    This would take the scope `operate` from the last account that has it.
    Give it to another account first.
409 subscription-exists: SubscriptionExists, OtherContent
    There is a subscription of this id already.
    Edit or withdraw it, or choose another id.
409 not-composite: NotComposite
    The subscription has a filter: it looks at each event alone and waits for nothing.
    Ask this of a composite; `GET /v1/subscriptions` shows which are.
409 subscription-unchanged: SubscriptionPaused, SubscriptionActive
    The subscription is paused already, or active already.
    There is nothing to do.
409 channel-unconfirmed: ChannelUnconfirmed
    The receiver has not agreed yet, so nothing is sent.
    `detail` says how it agrees.
409 channel-disabled: ChannelDisabled
    The channel was disabled, since the receiver asked for it or failed for days.
    Resume it by `POST /v1/subscriptions/{id}/channel/resume`.
409 no-secret: NoSecret
    Only what is sent to a webhook is signed; other channels have no secret.
    There is nothing to rotate.
409 query-not-done: QueryNotDone
    The query still runs, or failed; `detail` says which.
    Ask `GET /v1/queries/{id}` until its state is `done`.
409 idempotency-key-in-use: IdempotencyKeyInUse
    A request with this Idempotency-Key is under way.
    Wait `Retry-After` seconds and send the same request again: it gets the answer of the first.
410 link-expired: ExpiredLink, LinkOutdated
    The link is too old, or what it is about was changed.
    Ask for a new one on the subscription's page.
413 body-too-large: BodyTooLarge, RequestTooLarge
    The body is larger than the service accepts.
    Send it in several requests, or events as a stream of lines.
413 too-many-events: TooManyEvents
    The array has more events than the service takes at once.
    Send them as a stream of lines (`application/x-ndjson`).
413 too-many-subscriptions: TooManySubscriptions
    The request has more subscriptions than the service takes at once.
    Send them in several requests.
415 unsupported-media-type: WrongContentType
    The body's content type or encoding is not accepted here.
    `detail` lists those that are.
422 link-refused: NotJoined, PlainLink, NodeRefused, WrongMessage
    A link between two servers could not be made, or what came over it could not be read; `detail` says why.
    Check the address and the token; both servers must run the same version, and use https unless on one machine.
422 growth-refused: GrowthRefused
    The home of the network refused the change of the schema, or did not answer; `detail` says why.
    Correct the change, or repeat it when the home can be reached: `tidings network` shows it.
422 invalid-request: TidingsError, InvalidIdempotencyKey, InvalidRequest, MalformedRequest, UnknownRequest, NoPeriod
    A parameter or header is not of the documented form; `errors` lists each.
    Check them against `GET /openapi.json`.
422 invalid-body: WrongBody, WrongField, WrongNumber
    The body is not valid JSON, or not of the documented shape.
    `detail` says what is wrong and where. `GET /openapi.json` has the shape.
422 invalid-cursor: WrongCursor, WrongPlace
    The cursor was not given out by this list.
    Send the `next` of an earlier answer as `after`, or none.
422 invalid-time: WrongTime, NoMoment, ExpiryPassed
    A time cannot be read, or lies in the past where it may not.
    Write it like `2026-05-01T10:00:00Z`; `detail` says what else is allowed.
422 invalid-username: IllegalUsername, UnfitAccount, UnfitProfile, UnfitQuota
    The name cannot be a username.
    `detail` lists the characters that are allowed.
422 invalid-password: IllegalPassword
    The password is too short, too long, or contains a zero character.
    Choose another one.
422 idempotency-key-reused: IdempotencyKeyReused
    This Idempotency-Key came with another request before.
    Make a new key for each new request.
422 time-limit-exceeded: TookTooLong, TooManySteps
    Looking for the answer took too long.
    Ask for less: a shorter period, a simpler filter; or run it as a job with `Prefer: respond-async`.
422 invalid-event: RefusedEvent, EventError
    The event breaks rules of the schema; `errors` lists each with its attribute and value.
    Fix the event. An event that was refused can be sent again under the same id.
422 nothing-accepted
    Of several events or subscriptions, each was refused; `results` has an entry for each.
    Fix them. What was refused can be sent again under the same ids.
422 invalid-filter: LanguageError, UnclearWords
    The filter or composite is wrong at one place: `line`, `column` and, where one phrase can say it, `expected`.
    Fix it there; `detail` says how. `POST /v1/filters/test` and `POST /v1/composites/test` try one out.
422 unexpected-token: UnexpectedToken, UnterminatedText
    The filter cannot be parsed at `line` and `column`.
    `expected` says what would be legal there.
422 unknown-attribute: UnknownAttribute
    The filter names an attribute that the schema does not have.
    Check the spelling. `GET /v1/schema` lists the attributes.
422 unknown-word: UnknownWord
    A word in the filter is neither a value nor an attribute.
    Check the spelling; write text in single quotes.
422 ambiguous-word: AmbiguousWord
    A word in the filter is both a value and an attribute.
    Put a value in single quotes, an attribute in double quotes.
422 operator-not-allowed: OperatorNotAllowed, NotForThisKind
    The attribute's domain does not allow this operator.
    `detail` lists those that it allows.
422 value-outside-domain: ValueOutsideDomain
    The attribute cannot have this value.
    `detail` says what it can have.
422 value-expected: NeedsValue, DoubleQuotedValue
    An attribute is written where a value is expected.
    Write text values in single quotes.
422 not-comparable: NotComparable
    The two attributes cannot be compared with each other.
    Compare attributes whose domains are of one kind.
422 composite-too-large: CompositeTooDeep, TooManyParts
    The composite is nested too deeply, or has too many parts.
    For many of one kind write `times([…], n) within T`, or split it into several subscriptions.
422 filter-too-large: FilterTooLong, NestedTooDeeply, NormalFormTooLarge, TooManyPredicates, ComparisonCycle
    The filter is too long, too deeply nested, or has too many alternatives or comparisons.
    Simplify it, or split it into several subscriptions.
422 invalid-schema: SchemaError, InvalidSchema, MalformedXml, NotText, TooDeep, NotPreOrder
    The schema, or the change to it, breaks a rule; `errors` lists each where there are several.
    Fix what `detail` names.
422 schema-form: SchemaForm
    A domain, attribute or event type is not of the documented form.
    `GET /openapi.json` has the form.
422 illegal-name: IllegalName
    This cannot be a name in the schema: it is reserved, empty, too long or not printable.
    Choose another name.
422 unknown-name: UnknownName, UnknownNode
    The change refers to a domain, attribute, event type or node that does not exist.
    Create it first, or check the spelling.
422 wrong-kind: WrongKind, OperatorOutsideKind, PartOutsideKind
    Domains of this kind do not have that.
    `detail` names the kinds that do.
422 value-rejected: RepeatedValue, OutsideDomain, UnknownLanguage
    The value occurs twice, or lies outside the domain.
    Remove or correct it.
422 mandatory-extension: MandatoryExtension
    An event type can only be extended by optional attributes: events that are valid today must stay valid.
    Make the attribute optional, or create a new event type.
422 invalid-subscription: UnfitSubscription, RepeatedId, NeitherOrBoth
    The filter, the composite or another member of the subscription cannot be stored.
    `detail` says what is allowed.
422 invalid-channel: ChannelError, PlaceNotAgreed
    The channel cannot be used as described.
    `detail` says what is wrong.
422 unknown-channel: UnknownChannel
    The service has no channel of this kind.
    `detail` lists the kinds.
422 invalid-url: InvalidUrl, InvalidWebhook
    The webhook's address or settings are not valid.
    Use an `https` address of a public host.
422 unsafe-address: UnsafeAddress
    The webhook's address leads to a private network.
    Use an address that anybody can reach, or ask the operator to allow this one.
422 unresolved-host: UnresolvedHost
    The webhook's host has no address in DNS.
    Check its spelling and its DNS record.
422 receiver-unreachable: SendingFailed
    The receiver gave no complete answer.
    See that it listens there and answers in time.
422 invalid-mail-address: InvalidMailAddress, UnknownEmailMember
    The mail address or a setting of the channel is not valid.
    Give one address such as `someone@example.org`.
422 email-not-offered: EmailNotOffered
    The service is not set up to send mail.
    Use another channel, or ask the operator.
422 invalid-apprise-url: InvalidAppriseUrl, UnknownAppriseMember, SchemeNotAllowed
    The Apprise URL is not valid, or its scheme is not allowed here.
    `detail` says what is allowed.
422 invalid-digest: InvalidRhythm, UnknownTimeZone
    The digest, rate or quiet hours of the channel are not valid.
    `detail` says what is expected.
429 too-many-requests: TooManyRequests, TooManyAtOnce, TooManyBytes
    The account or address sends too much at once.
    Wait `Retry-After` seconds. Several events in one request count once.
429 too-many-queries: TooManyQueries
    Too many queries wait.
    Ask again when one of yours is done, or delete one.
429 too-many-streams: TooManyStreams
    The account has as many streams open as it may have.
    Close one; one stream carries the notifications of all your subscriptions.
500 internal-error: Failed, DraftFailed
    A defect in Tidings.
    Tell the operator the `request_id`: the log has the error under it.
503 network-unavailable: NetworkAway
    The part of the server that links to others does not run at the moment.
    Try again in a few seconds; `tidings network` and the file network.log say more.
503 not-ready: NotReady
    The service cannot do all its work; `detail` says why.
    For operators: see to the reasons. Requests may still be answered.
503 overloaded: Overloaded
    Too many events wait for the journal; nothing of this request was accepted.
    Send it again after `Retry-After` seconds.
503 busy: Busy, NoAnswer, TooManyLogins
    Too many others ask at the same time.
    Send it again after `Retry-After` seconds.
503 no-more-streams: NoMoreStreams
    The service has as many streams open as it can have.
    Try again after `Retry-After` seconds, or read `GET /v1/notifications`.
503 too-many-connections: TooManyConnections
    The service has as many connections open as it can have.
    Try again after a second.
503 clock-jumped: ClockJumped
    The server's clock jumped, so nothing is accepted until it is right.
    For operators: set the clock, or accept the new time.
503 store-unavailable: StoreError, StoreUnreachable, StoreLocked, StoreFull, StoreReadOnly, StoreFailed, NewerStore
    The store cannot take this now. The change may not have been saved.
    Check, then send it again; an `Idempotency-Key` or an event's id makes that safe.
"""


def _rows() -> Iterator[ProblemType]:
    lines = _TABLE.strip().splitlines()
    for head, meaning, remedy in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        found = _HEAD.fullmatch(head)
        assert found is not None, head
        errors = tuple(found["errors"].split(", ")) if found["errors"] else ()
        yield ProblemType(found["name"], int(found["status"]), errors, meaning.strip(), remedy.strip())


TYPES = {row.name: row for row in _rows()}
_BY_ERROR = {error: row for row in TYPES.values() for error in row.errors}
_OF_STATUS = {404: TYPES["not-found"], 405: TYPES["method-not-allowed"]}
_BY_CLASS: dict[type[BaseException], ProblemType] = {}
