"""Secrets at rest: webhook secrets and Apprise URLs are encrypted before they reach the database.

    plain text ──seal──> "sealed:…", in the database ──open──> plain text, in memory only

The keys are kept outside of the database: in the file `secrets.key` of the data folder, or in the setting
`secret_keys`. The first key seals, each of them opens, so that keys can be rotated while the service runs. Whoever has
the database alone, or a backup of it, cannot send in the name of a subscriber. Encryption is Fernet of `cryptography`
(AES-128-CBC with HMAC-SHA256), which Apprise brings along.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tidings.errors import Explained, StoreError
from tidings.settings import Settings
from tidings.whole_file import whole_file

if TYPE_CHECKING:
    from cryptography.fernet import Fernet, MultiFernet

KEY_FILE = "secrets.key"
PREFIX = "sealed:"
_MOST_REMEMBERED = 10_000  # opened texts: opening one takes 8 µs of processor time, and every delivery needs one


class SecretKeyMissing(Explained, StoreError):
    """Something is sealed and there is no key: where it should be."""

    place: str
    template: ClassVar[str] = (
        "secrets of channels are encrypted and their key is missing: {place}. Restore it from your backup; without it "
        "they cannot be read, and every webhook and Apprise channel must be made again after `tidings secrets forget`"
    )


class WrongSecretKey(Explained, StoreError):
    """None of the keys opens it: where they are from."""

    place: str
    template: ClassVar[str] = (
        "secrets of channels were encrypted with another key than those in {place}. Restore the right one from your "
        "backup, or add it as a further line"
    )


class InvalidSecretKey(Explained, StoreError):
    """Not a key at all: where it stands."""

    place: str
    template: ClassVar[str] = (
        "{place} does not hold keys: each is 44 characters of URL-safe base64, as `tidings secrets rotate` writes them"
    )


class Vault:
    """Of one data folder. `given` are the keys of the setting, the newest first; without them the file counts."""

    def __init__(self, data: Path, given: Sequence[str] = ()) -> None:
        self._path = data / KEY_FILE
        self._given = tuple(given)
        self._read_at = -1  # the file's time of change
        self._keys: MultiFernet | None = None
        self._opened: dict[str, str] = {}

    @property
    def place(self) -> str:
        return "the setting secret_keys" if self._given else str(self._path)

    @property
    def has_key(self) -> bool:
        return bool(self._given) or self._path.exists()

    def make_key(self) -> None:
        """The first one, unless there is one. Of two processes at once the second uses what the first has made."""
        if not self.has_key:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = self._path.with_name(f"{KEY_FILE}.{secrets.token_hex(8)}")
            try:
                with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(f"{new_key()}\n")
                    file.flush()
                    os.fsync(file.fileno())
                os.link(new, self._path)
            except FileExistsError:
                pass
            finally:
                new.unlink(missing_ok=True)

    def add_key(self) -> None:
        """A new one before the others, which still open what they sealed. For the file only."""
        self._write([new_key(), *self._lines()])

    def forget_old_keys(self) -> None:
        """All but the newest: when nothing is sealed by the others any more."""
        self._write(self._lines()[:1])

    def seal(self, text: str) -> str:
        """Raises SecretKeyMissing."""
        return PREFIX + self._current().encrypt(text.encode()).decode()

    def open(self, text: str) -> str:
        """What an older release stored in plain text is returned as it is. Raises SecretKeyMissing, WrongSecretKey."""
        if not text.startswith(PREFIX):
            return text
        if (known := self._opened.get(text)) is not None:
            return known
        from cryptography.fernet import InvalidToken

        try:
            opened = self._current().decrypt(text.removeprefix(PREFIX)).decode()
        except InvalidToken:
            raise WrongSecretKey(self.place) from None
        if len(self._opened) >= _MOST_REMEMBERED:
            self._opened.clear()
        self._opened[text] = opened
        return opened

    def reseal(self, text: str) -> str:
        """The same under the newest key."""
        return self.seal(self.open(text))

    def _current(self) -> MultiFernet:
        """Read again when the file has changed: another process may have rotated the keys."""
        try:
            changed = 0 if self._given else self._path.stat().st_mtime_ns
        except FileNotFoundError:
            raise SecretKeyMissing(self.place) from None
        if self._keys is None or changed != self._read_at:
            from cryptography.fernet import MultiFernet

            keys = self._given or self._lines()
            self._keys, self._read_at = MultiFernet([self._fernet(key) for key in keys]), changed
        return self._keys

    def _lines(self) -> list[str]:
        lines = self._path.read_text(encoding="ascii", errors="replace").split()
        if not lines:
            raise InvalidSecretKey(self.place)
        return lines

    def _write(self, keys: Sequence[str]) -> None:
        with whole_file(self._path, durable=True) as file:  # which keeps the permissions
            file.write("".join(f"{key}\n" for key in keys).encode())

    def _fernet(self, key: str) -> Fernet:
        from cryptography.fernet import Fernet

        try:
            return Fernet(key)
        except ValueError:
            raise InvalidSecretKey(self.place) from None


def vault_of(settings: Settings) -> Vault:
    return Vault(settings.data, settings.secret_keys)


def new_key() -> str:
    from cryptography.fernet import Fernet

    return Fernet.generate_key().decode()
