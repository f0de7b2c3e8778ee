"""Where events come from, by the text that users write: `files:FOLDER` or `kafka://HOST:PORT/TOPIC`."""

from __future__ import annotations

import re
from pathlib import Path

from tidings.errors import Explained, PipelineError, suggestion
from tidings.events.validation import MOST_VALUES
from tidings.pipeline.ingest.folder_source import FolderSource
from tidings.pipeline.ingest.kafka_source import KafkaSource

Source = FolderSource | KafkaSource

KAFKA = re.compile(r"kafka://(?P<servers>[^/?#\s]+)/(?P<topic>[A-Za-z0-9._-]{1,249})(?:\?(?P<options>.*))?")
_FILES = re.compile(r"files:(?P<folder>.+?)(?:\?(?P<options>most=.*))?")


class UnknownPlace(Explained, PipelineError):
    """A text that names no source or no sink, and the forms that it may have."""

    text: str
    forms: tuple[str, ...]
    template = "{text!r} is not a known place; expected {choice}"

    @property
    def choice(self) -> str:
        return " or ".join(self.forms)


class WrongOption(Explained, PipelineError):
    """An option after the question mark that means nothing."""

    text: str
    option: str
    reason: str
    template = "{text}: the option {option!r} {reason}"


def parse_source(text: str, most_values: int = MOST_VALUES) -> Source:
    """`files:FOLDER?most=100` (files in one batch) or `kafka://HOST:PORT[,HOST:PORT]/TOPIC?most=10000&properties=FILE`
    (messages in one batch; Kafka client properties); `most_values` as in `validate`. Raises UnknownPlace or
    WrongOption."""
    if found := _FILES.fullmatch(text):
        options = options_of(text, found["options"], ("most",))
        return FolderSource(Path(found["folder"]), most_values=most_values, **_most(options))
    if found := KAFKA.fullmatch(text):
        options = options_of(text, found["options"], ("most", "properties"))
        properties = properties_of(options)
        return KafkaSource(found["servers"], found["topic"], properties, most_values=most_values, **_most(options))
    raise UnknownPlace(text, ("files:FOLDER", "kafka://HOST:PORT/TOPIC"))


def options_of(text: str, written: str | None, legal: tuple[str, ...]) -> dict[str, str]:
    """The options after a question mark, each checked."""
    options = {}
    for part in (written or "").split("&") if written else ():
        name, _, value = part.partition("=")
        if name not in legal:
            raise WrongOption(text, name, f"is not known{suggestion(name, legal)}")
        if name == "most" and not re.fullmatch(r"[1-9][0-9]{0,8}", value):
            raise WrongOption(text, part, "must be a number of at least 1")
        options[name] = value
    return options


def properties_of(options: dict[str, str]) -> Path | None:
    return Path(options["properties"]) if "properties" in options else None


def _most(options: dict[str, str]) -> dict[str, int]:
    return {"most": int(options["most"])} if "most" in options else {}
