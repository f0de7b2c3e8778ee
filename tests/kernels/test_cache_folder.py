"""Which folders may hold compiled kernels: those that only this user can write to. The folders are real ones."""

import os
from pathlib import Path

import pytest

from tidings.kernels.cache_folder import UnusableCache, private_folder

SOMEBODY = 12_345  # a user id that is not ours
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is chosen: the folder would be in this home, which does not exist yet."""
    monkeypatch.delenv("TIDINGS_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's temporary directory: anyone may create in it, and remove only their own."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIDINGS_CACHE", str(tmp_path / "chosen"))
    return tmp_path / "chosen"


def test_all_that_is_created_is_private(home: Path) -> None:
    made = private_folder("kernels")
    assert made == home / ".cache" / "tidings" / "kernels"
    for part in (made, made.parent, home / ".cache", home):
        assert part.stat().st_mode & 0o777 == 0o700
    assert private_folder("kernels") == made


def test_the_environment_may_name_another_folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert private_folder("kernels") == tmp_path / "xdg" / "tidings" / "kernels"
    monkeypatch.setenv("TIDINGS_CACHE", str(tmp_path / "chosen"))
    assert private_folder("kernels") == tmp_path / "chosen" / "kernels"
    assert not home.exists()


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o1777])
@pytest.mark.parametrize("part", [".", "kernels"])
def test_a_folder_that_others_can_write_is_not_used(chosen: Path, part: str, mode: int) -> None:
    (chosen / part).mkdir(parents=True)
    (chosen / part).chmod(mode)
    with pytest.raises(UnusableCache, match=f"other users can write to {chosen / part}; remove it"):
        private_folder("kernels")


@only_root
@pytest.mark.parametrize("part", [".", "kernels"])
def test_a_folder_of_another_user_is_not_used(chosen: Path, part: str) -> None:
    (chosen / part).mkdir(parents=True)
    os.chown(chosen / part, SOMEBODY, SOMEBODY)
    with pytest.raises(UnusableCache, match=f"{chosen / part} belongs to another user"):
        private_folder("kernels")


def test_a_folder_that_others_could_replace_is_not_used(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDINGS_CACHE", str(temporary / "ours"))
    assert private_folder("kernels") == temporary / "ours" / "kernels"
    temporary.chmod(0o777)  # now anyone may rename what is in it
    with pytest.raises(UnusableCache, match=f"other users can write to {temporary}"):
        private_folder("kernels")


@only_root
def test_a_folder_inside_another_users_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = tmp_path / "theirs"
    monkeypatch.setenv("TIDINGS_CACHE", str(theirs / "ours"))
    private_folder("kernels")
    os.chown(theirs, SOMEBODY, SOMEBODY)
    with pytest.raises(UnusableCache, match=f"{theirs} belongs to another user"):
        private_folder("kernels")


@only_root
def test_a_symbolic_link_counts_as_where_it_leads(chosen: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, SOMEBODY, SOMEBODY)
    chosen.symlink_to(theirs)
    with pytest.raises(UnusableCache, match=f"{theirs} belongs to another user"):
        private_folder("kernels")
    chosen.unlink()
    chosen.symlink_to(tmp_path / "ours")
    assert private_folder("kernels") == tmp_path / "ours" / "kernels"


def test_neither_a_file_nor_a_loop_of_links_is_a_folder(chosen: Path) -> None:
    chosen.write_text("")
    with pytest.raises(UnusableCache, match="is not a folder"):
        private_folder("kernels")
    chosen.unlink()
    chosen.symlink_to(chosen)
    with pytest.raises(UnusableCache, match="cannot be written"):
        private_folder("kernels")


def test_without_a_home_it_is_a_private_folder_in_the_temporary_directory(
    home: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/proc/nobody")
    made = private_folder("kernels")
    assert made == temporary / f"tidings-{os.getuid()}" / "kernels"
    assert made.parent.stat().st_mode & 0o777 == 0o700
    assert private_folder("kernels") == made


@only_root
def test_a_folder_that_somebody_prepared_in_the_temporary_directory_is_not_used(
    home: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/proc/nobody")
    prepared = temporary / f"tidings-{os.getuid()}"
    prepared.mkdir()
    os.chown(prepared, SOMEBODY, SOMEBODY)
    with pytest.raises(UnusableCache, match=r"/proc/nobody/\.cache/tidings/kernels cannot be written"):
        private_folder("kernels")
    assert list(prepared.iterdir()) == []


def test_a_chosen_folder_has_no_substitute(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDINGS_CACHE", "/proc/nobody")
    with pytest.raises(UnusableCache, match="/proc/nobody"):
        private_folder("kernels")
    assert list(temporary.iterdir()) == []
