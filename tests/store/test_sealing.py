"""Secrets of channels at rest: encrypted in the database, opened where they are used."""

from pathlib import Path

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from tidings.cli.main import app
from tidings.schema import Instant
from tidings.store import KeptResponse, Store, StoredChannel
from tidings.store.tables import channels, kept_responses
from tidings.vault import KEY_FILE, InvalidSecretKey, SecretKeyMissing, Vault, WrongSecretKey, new_key

TOKEN = "123456789:abcdefg_hijklmnop-qrstuvwxyz"
URL = f"tgram://{TOKEN}/12315544/"
SECRET = "whsec_C2FVsBQIhrscChlQIMV"


def hook() -> StoredChannel:
    return StoredChannel("s1", "ann", "webhook", {"url": "https://a.example/h"}, secrets=((SECRET, None),))


def bot(subscription: str = "s2") -> StoredChannel:
    return StoredChannel(subscription, "ann", "apprise", {"url": URL, "rate": {"count": 1, "seconds": 9}})


def raw(store: Store) -> str:
    """All that the tables hold of them."""
    with store.database.reading() as connection:
        found = [*connection.execute(select(channels)), *connection.execute(select(kept_responses))]
    return str(found)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "data")


def test_what_is_stored_shows_no_secret_and_what_is_read_is_whole(store: Store, vault: Vault) -> None:
    store.use_vault(vault)
    assert store.set_channel(hook()).secrets == ((SECRET, None),)
    assert store.set_channel(bot()).settings == bot().settings
    store.change_channel("s1", "ann", secrets=((SECRET + "2", None), (SECRET, Instant(5))))
    kept = KeptResponse(b"k", b"r", 201, f'{{"secret": "{SECRET}"}}', store.clock.now())
    store.keep_response(kept)
    text = raw(store)
    assert SECRET not in text
    assert TOKEN not in text
    found = store.channel("s1", "ann")
    assert found is not None
    assert found.secrets == ((SECRET + "2", None), (SECRET, Instant(5)))
    assert store.channels_of("ann", ["s2"])["s2"].settings == bot().settings
    again = store.kept_response(b"k")
    assert again is not None
    assert again.body == kept.body


def test_what_an_older_release_stored_is_encrypted_at_the_start(store: Store, vault: Vault) -> None:
    store.set_channel(hook())
    store.set_channel(bot())
    assert SECRET in raw(store)
    store.use_vault(vault)
    text = raw(store)
    assert SECRET not in text
    assert TOKEN not in text
    found = store.channel("s2", "ann")
    assert found is not None
    assert found.settings == bot().settings


def test_the_key_is_for_its_owner_alone_and_made_once(store: Store, vault: Vault, tmp_path: Path) -> None:
    store.use_vault(vault)
    path = tmp_path / "data" / KEY_FILE
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    Vault(tmp_path / "data").make_key()
    assert path.read_bytes() == before


def test_a_missing_a_wrong_and_a_broken_key(store: Store, vault: Vault, tmp_path: Path) -> None:
    store.use_vault(vault)
    store.set_channel(bot())
    path = tmp_path / "data" / KEY_FILE
    path.unlink()
    with pytest.raises(SecretKeyMissing, match=r"secrets\.key.*backup"):
        store.use_vault(Vault(tmp_path / "data"))
    assert not path.exists()  # a new one would hide that the old one is lost
    path.write_text(new_key())
    with pytest.raises(WrongSecretKey, match="another key"):
        store.use_vault(Vault(tmp_path / "data"))
    path.write_text("no key")
    with pytest.raises(InvalidSecretKey, match="44 characters"):
        store.use_vault(Vault(tmp_path / "data"))


def test_keys_rotate_under_a_running_service(store: Store, vault: Vault, tmp_path: Path) -> None:
    store.use_vault(vault)
    store.set_channel(hook())
    path = tmp_path / "data" / KEY_FILE
    old, stored = path.read_text(), raw(store)
    other = Vault(tmp_path / "data")  # as the command has it
    other.add_key()
    assert old in path.read_text()
    assert store.reseal() == 1
    other.forget_old_keys()
    assert old not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert raw(store) != stored
    fresh = Vault(tmp_path / "data")
    store.use_vault(fresh)
    found = store.channel("s1", "ann")
    assert found is not None
    assert found.secrets == ((SECRET, None),)


def test_keys_of_the_setting(store: Store, tmp_path: Path) -> None:
    first, second = new_key(), new_key()
    store.use_vault(Vault(tmp_path, (first,)))
    store.set_channel(hook())
    store.use_vault(Vault(tmp_path, (second, first)))
    assert store.reseal() == 1
    store.use_vault(Vault(tmp_path, (second,)))
    assert not (tmp_path / KEY_FILE).exists()
    with pytest.raises(WrongSecretKey, match="the setting secret_keys"):
        store.use_vault(Vault(tmp_path, (first,)))


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDINGS_STORE", raising=False)
    with Store.open(tmp_path / "tidings.db").use_vault(Vault(tmp_path)) as store:
        store.set_channel(hook())
        store.set_channel(bot())
    before = (tmp_path / KEY_FILE).read_text()
    done = CliRunner().invoke(app, ["secrets", "rotate", "--data", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / KEY_FILE).read_text() != before
    (tmp_path / KEY_FILE).unlink()
    with Store.open(tmp_path / "tidings.db") as store:
        with pytest.raises(SecretKeyMissing):
            store.use_vault(Vault(tmp_path))
        done = CliRunner().invoke(app, ["secrets", "forget", "--data", str(tmp_path)])
        assert done.exit_code == 0, done.output
        store.use_vault(Vault(tmp_path))
        found = store.channels_of("ann", ["s1", "s2"])
    assert {one.state for one in found.values()} == {"disabled"}
    assert found["s1"].settings == hook().settings
