"""Where a setting comes from, and what is refused."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from tidings.settings import InvalidSetting, Settings, read_settings, written_settings

FIRST = {"publish", "subscribe", "read", "account"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tidings.toml"
    path.write_text('port = 1\nxml_port = 2\nhost = "0.0.0.0"\nguests = true\n')
    return path


def test_nothing_said_is_the_embedded_default() -> None:
    assert read_settings({}, {}) == Settings()
    assert (Settings().host, Settings().port, Settings().xml_port) == ("127.0.0.1", 8080, 8090)


def test_a_flag_wins_over_the_environment_and_that_over_the_file(file: Path) -> None:
    environment = {"TIDINGS_PORT": "11", "TIDINGS_XML_PORT": "12", "PATH": "/bin"}
    settings = read_settings({"port": 21, "guests": None}, environment, file)
    assert (settings.port, settings.xml_port, settings.host, settings.guests) == (21, 12, "0.0.0.0", True)


def test_a_flag_can_take_back_what_the_file_allows(file: Path) -> None:
    assert read_settings({"guests": False}, {}, file).guests is False


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"TIDINGS_PROT": "1"}, "TIDINGS_PROT: 'prot' is not a setting; did you mean 'port'?"),
        ({"TIDINGS_SPARKMASTER": "local"}, "did you mean 'spark_master'?"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_nearest(environment: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        read_settings({}, environment)
    assert said in str(refused.value)


def test_variables_that_other_places_read_are_left_alone() -> None:
    others = dict.fromkeys(("TIDINGS_CACHE", "TIDINGS_KAFKA_JARS", "TIDINGS_SERVER", "TIDINGS_TOKEN"), "x")
    assert read_settings({}, others) == Settings()


def test_an_unknown_key_of_the_file_is_refused_with_the_nearest(file: Path) -> None:
    file.write_text("largest_evnt = 5\n")
    with pytest.raises(InvalidSetting, match=r"tidings\.toml: 'largest_evnt' is not a setting; .*'largest_event'"):
        read_settings({}, {}, file)


def test_a_table_in_the_file_is_no_setting(file: Path) -> None:
    file.write_text("[server]\nport = 8080\n")
    with pytest.raises(InvalidSetting, match="'server' is not a setting"):
        read_settings({}, {}, file)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("data", "/var/lib/tidings", Path("/var/lib/tidings")),
        ("host", "::1", "::1"),
        ("port", "0", 0),
        ("port", "65535", 65535),
        ("store", "postgresql://somewhere/tidings", "postgresql://somewhere/tidings"),
        ("store", "", ""),
        ("pipeline", "no", False),
        ("pipeline", "off", False),
        ("registration", "0", False),
        ("guests", "True", True),
        ("extra_scopes", "schema, operate", ("schema", "operate")),
        ("extra_scopes", "", ()),
        ("largest_event", "1_000", 1_000),
        ("idle_seconds", "2.5", 2.5),
    ],
)
def test_text_from_the_environment_becomes_the_setting_s_kind(name: str, text: str, value: object) -> None:
    found = getattr(read_settings({}, {f"TIDINGS_{name.upper()}": text}), name)
    assert found == value
    assert type(found) is type(value) or isinstance(found, Path)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("port = true", "a whole number up to 65535"),
        ("port = 65536", "a whole number up to 65535"),
        ("port = -1", "a whole number up to 65535"),
        ("port = 8080.0", "a whole number up to 65535"),
        ('xml_port = "http"', "a whole number up to 65535"),
        ('host = ""', "an address"),
        ("host = 1", "an address"),
        ("connections = -1", "not negative"),
        ("values_per_attribute = 0", "above 0"),
        ('guests = "perhaps"', "true or false, got 'perhaps'"),
        ("guests = 1", "true or false"),
        ("idle_seconds = 0", "seconds above 0"),
        ("idle_seconds = nan", "seconds above 0"),
        ("idle_seconds = inf", "seconds above 0"),
        ("data = 7", "a path"),
        ("store = ['x']", "text"),
        ('extra_scopes = ["everything"]', "publish, subscribe, read, account, schema, operate"),
        ("extra_scopes = [[]]", "publish, subscribe, read, account, schema, operate"),
        ("extra_scopes = 3", "publish, subscribe, read, account, schema, operate"),
    ],
)
def test_a_value_of_another_kind_is_refused(file: Path, line: str, expected: str) -> None:
    file.write_text(line)
    with pytest.raises(InvalidSetting) as refused:
        read_settings({}, {}, file)
    assert expected in str(refused.value)
    assert repr(line.split(" ")[0]) in str(refused.value)


def test_what_is_no_toml_and_what_is_not_there(file: Path, tmp_path: Path) -> None:
    file.write_text("port: 8080")
    with pytest.raises(InvalidSetting, match="is not valid TOML"):
        read_settings({}, {}, file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidSetting, match="is not valid TOML"):
        read_settings({}, {}, file)
    with pytest.raises(InvalidSetting, match="cannot be read: No such file"):
        read_settings({}, {}, tmp_path / "none.toml")
    with pytest.raises(InvalidSetting, match="cannot be read: Is a directory"):
        read_settings({}, {}, tmp_path)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "localhost"])
def test_on_a_loopback_address_a_newcomer_may_grow_the_schema(host: str) -> None:
    assert Settings(host=host).first_scopes == {*FIRST, "schema"}


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "tidings.example"])
def test_elsewhere_only_where_the_settings_say_so(host: str) -> None:
    assert Settings(host=host).first_scopes == FIRST
    assert Settings(host=host, extra_scopes=("schema",)).first_scopes == {*FIRST, "schema"}


def test_settings_travel_and_do_not_show_a_password() -> None:
    settings = Settings(store="postgresql://me:secret@somewhere/tidings")
    assert pickle.loads(pickle.dumps(settings)) == settings
    assert "secret" not in repr(settings)


def test_an_error_keeps_its_parts() -> None:
    problem = pickle.loads(pickle.dumps(InvalidSetting("flag", "port", "is wrong")))
    assert problem.args == ("flag", "port", "is wrong")
    assert str(problem) == "flag: 'port' is wrong"


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(
            data=Path("some where"),
            outbox=False,
            extra_scopes=("schema", "operate"),
            apprise_schemes=(),
            idle_seconds=0.5,
            smtp_password="p=w \u00e9",
            webhook_handshake="none",
            allow_loopback_webhooks=True,
        ),
    ],
)
def test_another_process_can_have_the_same(settings: Settings) -> None:
    assert read_settings({}, written_settings(settings)) == settings


def test_what_no_handshake_is() -> None:
    with pytest.raises(InvalidSetting, match="one of ask, none"):
        read_settings({}, {"TIDINGS_WEBHOOK_HANDSHAKE": "maybe"})
