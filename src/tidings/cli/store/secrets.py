"""`tidings secrets`: the keys by which secrets of channels are encrypted in the store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from tidings.cli.terminal import counted, messages, plain, plain_errors
from tidings.settings import read_settings


def secrets(
    action: Annotated[
        Literal["rotate", "forget"], typer.Argument(help="Encrypt with a new key, or drop what no key can decrypt.")
    ],
    data: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The data folder with secrets.key. Default: data.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(metavar="URL", help="postgresql://… Default: SQLite in the data folder.")
    ] = None,
    settings: Annotated[Path | None, typer.Option(metavar="FILE", help="The service's settings file (TOML).")] = None,
) -> None:
    """Change the key that encrypts webhook secrets and Apprise URLs in the store, or give up what a lost key encrypted.

    rotate writes a new key into secrets.key, encrypts everything by it and removes the old keys; the service may run
    meanwhile. With keys in the setting secret_keys, put a new one first, restart the service, then rotate, then remove
    the old ones. forget is for a key that is lost: channels are disabled until their owners set them again.

    Example: tidings secrets rotate --data data
    """
    with plain_errors():
        chosen = read_settings({"data": data, "store": store}, os.environ, settings)
        from tidings.store import Store
        from tidings.vault import vault_of

        vault = vault_of(chosen)
        with Store.open(chosen.store or chosen.data / "tidings.db") as opened:
            if action == "forget":
                many = counted(opened.forget_sealed(), "channel")
                messages.print(plain(f"the secrets of {many} were dropped; their owners must set them again"))
                return
            opened.use_vault(vault)
            if not chosen.secret_keys:
                vault.add_key()
            many = counted(opened.reseal(), "channel")
            if not chosen.secret_keys:
                vault.forget_old_keys()
            messages.print(plain(f"the secrets of {many} are encrypted by the new key in {vault.place}"))
