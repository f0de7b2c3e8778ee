"""Addresses that mail is sent to: one plain address in, the same in one form out, or an error that says why not."""

from __future__ import annotations

import re

from tidings.errors import ChannelError, Explained

LONGEST_ADDRESS = 254
_LOCAL = re.compile(r"[A-Za-z0-9#$&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9#$&'*+/=?^_`{|}~-]+)*")  # no '%' and '!': they route
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


class InvalidMailAddress(Explained, ChannelError):
    """What was given, and what is wrong with it."""

    address: object
    reason: str
    template = "{address!v} {reason}; expected one address such as 'someone@example.org'"


def checked_address(address: object) -> str:
    """One address, its domain in lower case and ASCII. Raises InvalidMailAddress."""
    if not isinstance(address, str):
        raise InvalidMailAddress(address, "is not text")
    if len(address) > LONGEST_ADDRESS:
        raise InvalidMailAddress(address, f"has more than {LONGEST_ADDRESS} characters")
    local, at, domain = address.rpartition("@")
    if not at:
        raise InvalidMailAddress(address, "has no '@'")
    if not _LOCAL.fullmatch(local) or len(local) > 64:
        raise InvalidMailAddress(address, "has an unsupported name before the '@'")
    try:
        ascii_domain = domain.encode("idna").decode().lower()
    except UnicodeError:
        ascii_domain = ""
    labels = ascii_domain.split(".")
    if len(labels) < 2 or not all(_LABEL.fullmatch(label) for label in labels) or labels[-1].isdigit():
        raise InvalidMailAddress(address, "has no full domain name after its '@'")
    if len(whole := f"{local}@{ascii_domain}") > LONGEST_ADDRESS:
        raise InvalidMailAddress(address, f"has more than {LONGEST_ADDRESS} characters")
    return whole
