"""A tar stream from a container is data that an agent wrote: nothing in it may reach outside the destination."""

from __future__ import annotations

import errno
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

import pytest

from engine.environments.docker.unpacking import OverCap, Unpacking, unpack_one
from engine.environments.excludes import Excludes
from tests.engine.environments.archives import archive, file, folder, hardlink, symlink, unpack


def tree(place: Path) -> set[str]:
    return {str(path.relative_to(place)) for path in place.rglob("*")}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file beside the destination that must stay as it is."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    return victim


def test_names_that_lead_outside_are_skipped_and_noted(tmp_path: Path, outside: Path) -> None:
    stream = archive(
        ("a/../../victim", file()), ("/etc/evil", file()), ("a/x/../../../victim", file()), ("a/good", file())
    )
    unpacking = unpack(stream, tmp_path / "out")
    assert tree(tmp_path / "out") == {"good"}
    assert len(unpacking.skipped) == 3
    assert outside.read_text() == "mine"


def test_nothing_is_written_through_a_link(tmp_path: Path, outside: Path) -> None:
    stream = archive(
        ("a/door", symlink("..")),
        ("a/door/victim", file(content=b"evil")),
        ("a/up", symlink(str(tmp_path))),
        ("a/up/victim", file(content=b"evil")),
    )
    unpack(stream, tmp_path / "out")
    assert outside.read_text() == "mine"
    assert not any(path.is_symlink() for path in (tmp_path / "out").rglob("*"))


def test_a_chain_of_links_that_are_each_inside_does_not_lead_out(tmp_path: Path, outside: Path) -> None:
    stream = archive(
        ("a/s", symlink(".")), ("a/t", symlink("s/s/s/../../../victim")), ("a/u", symlink("s/../../victim"))
    )
    unpack(stream, tmp_path / "out")
    assert tree(tmp_path / "out") == {"s"}


def test_links_inside_stay_links_and_absolute_ones_are_made_relative(tmp_path: Path) -> None:
    stream = archive(
        ("a/d/", folder()),
        ("a/d/f", file()),
        ("a/near", symlink("d/f")),
        ("a/d/abs", symlink("/logs/artifacts/near")),
        ("a/broken", symlink("later")),
        ("a/out", symlink("/etc/passwd")),
    )
    unpacking = unpack(stream, tmp_path / "out")
    assert (tmp_path / "out" / "near").readlink() == Path("d/f")
    assert (tmp_path / "out" / "d" / "abs").read_text() == "x"
    assert (tmp_path / "out" / "broken").readlink() == Path("later")
    assert not (tmp_path / "out" / "out").is_symlink()
    assert any("leads outside" in note for note in unpacking.skipped)


def test_hard_links_have_both_names_and_equal_content(tmp_path: Path) -> None:
    """Case 43: the second name refers to the first by its archive path, whatever the target folder is called."""
    unpacking = unpack(
        archive(("artifacts/a", file(content=b"hi")), ("artifacts/b", hardlink("artifacts/a"))), tmp_path / "o"
    )
    assert (tmp_path / "o" / "b").read_text() == "hi"
    assert unpacking.files == 2


def test_a_hard_link_to_what_is_not_here_is_left_to_be_fetched_alone(tmp_path: Path) -> None:
    """Case 43: only one name lies inside, or the first was excluded. Never a link to a file of the host."""
    stream = archive(
        ("a/first.log", file()), ("a/second", hardlink("a/first.log")), ("a/evil", hardlink("../../etc/passwd"))
    )
    unpacking = unpack(stream, tmp_path / "o", exclude=("*.log",))
    assert unpacking.missing_links == ["second", "evil"]
    assert tree(tmp_path / "o") == set()


def test_devices_pipes_and_special_bits_do_not_arrive(tmp_path: Path) -> None:
    """Case 43: no set-uid or set-gid on the host."""
    stream = archive(
        ("a/disk", {"type": tarfile.BLKTYPE, "devmajor": 8}),
        ("a/null", {"type": tarfile.CHRTYPE}),
        ("a/pipe", {"type": tarfile.FIFOTYPE}),
        ("a/s", file(mode=0o6755)),
        ("a/closed", file(mode=0o000)),
        ("a/d", folder(mode=0o3000)),
    )
    unpacking = unpack(stream, tmp_path / "o")
    assert tree(tmp_path / "o") == {"s", "closed", "d"}
    assert len(unpacking.skipped) == 3
    assert (tmp_path / "o" / "s").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "o" / "closed").stat().st_mode & 0o7777 == 0o600
    assert (tmp_path / "o" / "d").stat().st_mode & 0o7777 == 0o700


def test_strange_names_and_old_times_survive(tmp_path: Path) -> None:
    """Cases 19 and 43: not UTF-8, a newline, 200 characters, before 1970."""
    names = ["bad\udcffname", "two\nlines", "0" * 200, "ü", " "]
    unpack(archive(*((f"a/{name}", file(mtime=-86400)) for name in names)), tmp_path / "o")
    assert tree(tmp_path / "o") == set(names)
    assert b"bad\xffname" in {os.fsencode(path.name) for path in (tmp_path / "o").iterdir()}
    assert (tmp_path / "o" / "two\nlines").stat().st_mtime == -86400


def test_a_file_in_the_way_of_a_folder_is_noted_and_the_rest_goes_on(tmp_path: Path) -> None:
    unpacking = unpack(archive(("a/x", file()), ("a/x/y", file()), ("a/z", file())), tmp_path / "o")
    assert tree(tmp_path / "o") == {"x", "z"}
    assert len(unpacking.skipped) == 1


def test_what_is_over_the_cap_is_left_out_and_the_rest_is_kept(tmp_path: Path) -> None:
    """Case 37."""
    members = [(f"a/{name}", file(content=b"x" * size)) for name, size in (("s1", 10), ("big", 1000), ("s2", 10))]
    unpacking = unpack(archive(*members), tmp_path / "o", max_bytes=100)
    assert tree(tmp_path / "o") == {"s1", "s2"}
    assert unpacking.too_large == ["big"]
    assert "1000 bytes" in unpacking.skipped[0]


def test_holes_stay_holes(tmp_path: Path) -> None:
    """Case 37: zeros in the stream take no place on the disk."""
    unpack(archive(("a/sparse", file(content=bytes(8 << 20) + b"end"))), tmp_path / "o")
    status = (tmp_path / "o" / "sparse").stat()
    assert status.st_size == (8 << 20) + 3
    assert status.st_blocks * 512 < 1 << 20
    unpack(archive(("a/hole", file(content=bytes(1 << 20)))), tmp_path / "p")
    assert (tmp_path / "p" / "hole").read_bytes() == bytes(1 << 20)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_half_a_file_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Case 11: it would be taken for the whole, and where the disk is full it takes the room of what comes after."""

    def fails(content: IO[bytes], out: BinaryIO, update: Callable[[bytes], None]) -> int:
        out.write(content.read(1))
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("engine.environments.docker.unpacking.copy", fails)
    stream = archive(("a/whole", file(content=b"xyz")))
    if number == errno.ENOSPC:
        with pytest.raises(OSError, match="No space"):
            unpack(stream, tmp_path / "o")
    else:
        assert unpack(stream, tmp_path / "o").skipped == ["whole: Input/output error"]
    assert tree(tmp_path / "o") == set()


def test_the_digest_depends_on_names_and_content_alone(tmp_path: Path) -> None:
    one = unpack(archive(("a/x", file(content=b"1")), ("a/y", file(content=b"2"))), tmp_path / "1")
    two = unpack(archive(("b/y", file(content=b"2", mtime=5)), ("b/x", file(content=b"1"))), tmp_path / "2")
    other = unpack(archive(("a/x", file(content=b"2")), ("a/y", file(content=b"1"))), tmp_path / "3")
    assert one.listing_digest() == two.listing_digest() != other.listing_digest()


@pytest.mark.parametrize(
    ("pattern", "left_out"),
    [
        ("*.pyc", {"a.pyc", "d/b.pyc"}),
        ("node_modules", {"node_modules/x", "d/node_modules/y/z"}),
        ("node_modules/", {"node_modules/x", "d/node_modules/y/z"}),
        ("d/*", {"d/b.pyc", "d/node_modules/y/z"}),
        ("./a.pyc", {"a.pyc"}),
        ("/app/d", {"d/b.pyc", "d/node_modules/y/z"}),
        ("[ab].pyc", {"a.pyc", "d/b.pyc"}),
    ],
)
def test_exclude_patterns_mean_what_tar_makes_of_them(pattern: str, left_out: set[str]) -> None:
    names = {"a.pyc", "d/b.pyc", "node_modules/x", "d/node_modules/y/z", "keep/modules"}
    excludes = Excludes([pattern], PurePosixPath("/app"))
    assert {name for name in names if excludes(name)} == left_out


def test_a_header_of_any_size_is_not_read_into_memory(tmp_path: Path) -> None:
    for kind in (tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
        claimed = tarfile.TarInfo("a/name")
        claimed.type, claimed.size = kind, 6 << 30
        stream = io.BytesIO(claimed.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
        with pytest.raises(tarfile.ReadError, match="a header of 6442450944 bytes"):
            Unpacking(tmp_path / "out", lambda _: False).unpack(stream)
        stream.seek(0)
        with pytest.raises(tarfile.ReadError, match="a header of"):
            unpack_one(stream, tmp_path / "one")


def test_a_file_alone_that_is_larger_than_was_said_is_not_stored(tmp_path: Path) -> None:
    stream = archive(("big", file(content=b"x" * 2000)))
    with pytest.raises(OverCap):
        unpack_one(stream, tmp_path / "big", 1000)
    assert tree(tmp_path) == set()


def test_a_name_too_deep_to_be_made_is_skipped(tmp_path: Path) -> None:
    deep = "/".join("d" * 1900)
    unpacking = unpack(archive(("a/good", file()), (f"a/{deep}/f", file())), tmp_path / "out")
    assert [line.rsplit(": ", 1)[1] for line in unpacking.skipped] == ["too deep"]
    assert (tmp_path / "out" / "good").is_file()
