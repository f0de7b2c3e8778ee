"""Standard Webhooks: what one side signs the other verifies, and nothing else."""

import base64
import pickle
import subprocess
import sys
from email.message import Message

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.notifying.signatures import (
    InvalidSecret,
    MissingHeader,
    SignatureError,
    StaleTimestamp,
    WrongSignature,
    key_of,
    new_secret,
    sign,
    verify,
)

# The example of the standard's own libraries.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
TIMESTAMP = 1614265330
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

OTHER = new_secret(lambda count: bytes(count))


def headers(signature: str = SIGNATURE, timestamp: object = TIMESTAMP, id: str = ID) -> dict[str, str]:
    return {"Webhook-Id": id, "Webhook-Timestamp": str(timestamp), "Webhook-Signature": signature}


def test_the_example_of_the_standard() -> None:
    assert sign(SECRET, ID, TIMESTAMP, BODY) == SIGNATURE
    assert verify(headers(), BODY, SECRET, TIMESTAMP) == ID


def test_a_new_secret_is_random_and_long_enough() -> None:
    secrets = {new_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert {len(key_of(secret)) for secret in secrets} == {32}


def test_while_a_secret_is_replaced_both_sides_may_have_the_old_one() -> None:
    both = sign([OTHER, SECRET], ID, TIMESTAMP, BODY)
    assert both.split(" ")[1] == SIGNATURE
    for known in (SECRET, OTHER, [SECRET, OTHER], (new_secret(), SECRET)):
        assert verify(headers(both), BODY, known, TIMESTAMP) == ID
    assert verify(headers("v1a,abc v1,!! " + SIGNATURE), BODY, SECRET, TIMESTAMP) == ID


@pytest.mark.parametrize(
    ("changed", "body", "secret"),
    [
        (headers(), BODY + b" ", SECRET),
        (headers(), BODY, OTHER),
        (headers(id=ID + "x"), BODY, SECRET),
        (headers(timestamp=TIMESTAMP + 1), BODY, SECRET),
        (headers("v1,"), BODY, SECRET),
        (headers(SIGNATURE.removeprefix("v1,")), BODY, SECRET),
        (headers(SIGNATURE.replace("v1", "v2")), BODY, SECRET),
        (headers(SIGNATURE + "é\udc80"), BODY, SECRET),
    ],
)
def test_what_was_changed_is_not_believed(changed: dict[str, str], body: bytes, secret: str) -> None:
    with pytest.raises(WrongSignature, match="verify the raw body, before parsing it") as caught:
        verify(changed, body, secret, TIMESTAMP)
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


@given(st.binary(max_size=40), st.text(alphabet="abc.-_019", min_size=1, max_size=20), st.integers(0, 10**11))
def test_whatever_is_signed_is_verified_and_one_byte_more_is_not(body: bytes, id: str, timestamp: int) -> None:
    signed = headers(sign([SECRET, OTHER], id, timestamp, body), timestamp, id)
    assert verify(signed, body, OTHER, timestamp) == id
    with pytest.raises(WrongSignature):
        verify(signed, body + b"0", OTHER, timestamp)


@pytest.mark.parametrize("missing", ["Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"])
def test_a_header_is_missing(missing: str) -> None:
    some = {name: value for name, value in headers().items() if name != missing}
    for given_headers in (some, {**some, missing: ""}):
        with pytest.raises(MissingHeader, match=missing.lower()):
            verify(given_headers, BODY, SECRET, TIMESTAMP)


@pytest.mark.parametrize("timestamp", ["now", "-1", "1e9", "٣", "1614265330.5", " 1614265330", "9" * 400])
def test_a_timestamp_that_is_no_number(timestamp: str) -> None:
    with pytest.raises(MissingHeader, match="webhook-timestamp"):
        verify(headers(timestamp=timestamp), BODY, SECRET, TIMESTAMP)


def test_an_id_that_is_not_ascii() -> None:
    with pytest.raises(MissingHeader, match="webhook-id"):
        verify(headers(id="\udc80"), BODY, SECRET, TIMESTAMP)


def test_what_is_old_or_from_the_future_is_refused() -> None:
    assert verify(headers(), BODY, SECRET, TIMESTAMP + 300) == ID
    assert verify(headers(), BODY, SECRET, TIMESTAMP - 300) == ID
    with pytest.raises(StaleTimestamp, match="301 s old, 300 s are allowed"):
        verify(headers(), BODY, SECRET, TIMESTAMP + 301)
    with pytest.raises(StaleTimestamp, match="301 s in the future"):
        verify(headers(), BODY, SECRET, TIMESTAMP - 301)
    with pytest.raises(StaleTimestamp, match="1 s are allowed"):
        verify(headers(), BODY, SECRET, TIMESTAMP + 2, tolerance=1)
    with pytest.raises(WrongSignature):  # a forger learns nothing of the clock
        verify(headers("v1,x"), BODY, SECRET, TIMESTAMP + 301)


@pytest.mark.parametrize(
    "secret", ["", "abc", "whsec_", "whsec_!!!", "whsec_é", "whsec_" + base64.b64encode(b"x" * 23).decode()]
)
def test_a_secret_that_is_none(secret: str) -> None:
    for call in (lambda: sign(secret, ID, TIMESTAMP, BODY), lambda: verify(headers(), BODY, secret, TIMESTAMP)):
        with pytest.raises(InvalidSecret, match="expected whsec_ followed by 24 to 64 bytes in base64") as caught:
            call()
        assert len(secret) < 7 or secret not in str(caught.value)
    assert not issubclass(InvalidSecret, SignatureError)


def test_no_secret_at_all() -> None:
    with pytest.raises(InvalidSecret, match="is missing"):
        verify(headers(), BODY, [], TIMESTAMP)


def test_the_headers_of_the_standard_library() -> None:
    message = Message()
    for name, value in headers().items():
        message[name] = value
    assert verify(message, BODY, SECRET, TIMESTAMP) == ID


def test_a_receiver_needs_this_module_alone() -> None:
    code = (
        "import sys, tidings.notifying.signatures\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)))\n"
        "print(sorted(name for name in sys.modules if name.startswith('tidings.')))"
    )
    answer = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    others, own = answer.stdout.splitlines()
    assert set(eval(others)) <= {"__main__", "_distutils_hack", "tidings", "sitecustomize"}
    assert set(eval(own)) <= {"tidings.errors", "tidings.notifying", "tidings.notifying.signatures"}
