"""apt's source lists: reading both formats, and deriving another suite's source from what is there.

Nothing here knows a mirror's name. Which archive this machine may talk to, through which address and
with which key, is its owner's decision, so a derived source keeps the URIs and options as found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

APT_DIR = Path("/etc/apt")
OUR_NAME = "trialdeck"
POCKETS = ("", "-updates", "-security")
ALIASES = ("stable", "oldstable", "testing")

# One-line options and the fields they are called in deb822 (sources.list(5)).
ONE_LINE_OPTIONS = {
    "arch": "Architectures",
    "lang": "Languages",
    "target": "Targets",
    "signed-by": "Signed-By",
    "trusted": "Trusted",
    "check-valid-until": "Check-Valid-Until",
    "check-date": "Check-Date",
    "allow-insecure": "Allow-Insecure",
    "by-hash": "By-Hash",
    "pdiffs": "PDiffs",
}
DEB822_OPTIONS = {name.lower(): name for name in ONE_LINE_OPTIONS.values()}
LIST_OPTIONS = frozenset({"Architectures", "Languages", "Targets"})


@dataclass(frozen=True)
class Source:
    """One entry for binary packages. `options` are deb822 fields in the order found."""

    uris: tuple[str, ...]
    suites: tuple[str, ...]
    components: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()

    def option(self, name: str) -> str | None:
        return next((value for key, value in self.options if key == name), None)


def parse_deb822(text: str) -> list[Source]:
    """Read a `.sources` file: paragraphs of fields, with comments and continued lines."""
    return [source for fields in _paragraphs(text) if (source := _from_fields(fields)) is not None]


def _paragraphs(text: str) -> Iterator[dict[str, str]]:
    """Each paragraph's fields by lower-case name; they are case-insensitive."""
    fields: dict[str, str] = {}
    last = ""
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if fields:
                yield fields
            fields, last = {}, ""
        elif line[0].isspace():
            if last:
                fields[last] += f"\n{line.rstrip()}"
        else:
            name, _, value = line.partition(":")
            last = name.strip().lower()
            fields[last] = value.strip()


def _from_fields(fields: dict[str, str]) -> Source | None:
    if "deb" not in fields.get("types", "").split():
        return None
    if fields.get("enabled", "yes").lower() in {"no", "false"}:
        return None
    return Source(
        uris=tuple(fields.get("uris", "").split()),
        suites=tuple(fields.get("suites", "").split()),
        components=tuple(fields.get("components", "").split()),
        options=tuple(
            (name, value)
            for field, value in fields.items()
            if value and (name := DEB822_OPTIONS.get(field)) is not None
        ),
    )


def parse_one_line(text: str) -> list[Source]:
    """Read a `.list` file: `deb [option=value …] URI suite component …`."""
    found = []
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        kind, _, rest = line.partition(" ")
        if kind != "deb":
            continue
        rest = rest.strip()
        options: tuple[tuple[str, str], ...] = ()
        if rest.startswith("["):
            inside, _, rest = rest[1:].partition("]")
            options = tuple(_one_line_options(inside))
        words = rest.split()
        if len(words) >= 2:
            found.append(Source((words[0],), (words[1],), tuple(words[2:]), options))
    return found


def _one_line_options(inside: str) -> Iterator[tuple[str, str]]:
    for word in inside.split():
        key, equals, value = word.partition("=")
        name = ONE_LINE_OPTIONS.get(key.lower().rstrip("+-"))
        if equals and name:
            yield name, value.replace(",", " ") if name in LIST_OPTIONS else value


def read_sources(apt_dir: Path = APT_DIR) -> list[Source]:
    """Every enabled source of this machine, except the one that we wrote ourselves."""
    parts = apt_dir / "sources.list.d"
    files = [apt_dir / "sources.list"]
    if parts.is_dir():
        files += sorted(path for path in parts.iterdir() if path.suffix in {".list", ".sources"})
    sources = []
    for path in files:
        if path.stem == OUR_NAME:
            continue
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        sources += parse_deb822(text) if path.suffix == ".sources" else parse_one_line(text)
    return sources


def derive(
    sources: Iterable[Source], codename: str, wanted: str, archive: frozenset[str] | None = None
) -> list[Source]:
    """The same archive's sources for the suite `wanted`, with its updates and security pockets.

    `archive` holds the URIs that apt knows to be the distribution's own: others often use its suite names
    for packages of their own. None where apt can't tell yet; then every URI counts.
    """
    everything = list(sources)
    for names in ((codename,), ALIASES):
        found = [derived for source in everything if (derived := _derive_one(source, names, wanted, archive))]
        if found:
            return list(dict.fromkeys(found))
    return []


def _derive_one(source: Source, names: tuple[str, ...], wanted: str, archive: frozenset[str] | None) -> Source | None:
    uris = tuple(uri for uri in source.uris if _usable(uri, archive))
    suites = tuple(
        f"{wanted}{pocket}"
        for suite in source.suites
        for pocket in POCKETS
        if any(suite == f"{name}{pocket}" for name in names)
    )
    if not uris or not suites:
        return None
    return replace(source, uris=uris, suites=tuple(dict.fromkeys(suites)))


def _usable(uri: str, archive: frozenset[str] | None) -> bool:
    if uri.startswith("cdrom:"):
        return False
    # apt reports the address behind a mirror list and not the list, so a list can't be compared.
    return archive is None or uri.startswith("mirror") or uri.rstrip("/") in archive


def render_deb822(sources: Iterable[Source], comment: str = "") -> str:
    """A `.sources` file that apt reads as exactly these sources."""
    paragraphs = []
    for source in sources:
        fields = [
            ("Types", "deb"),
            ("URIs", " ".join(source.uris)),
            ("Suites", " ".join(source.suites)),
            ("Components", " ".join(source.components)),
            *source.options,
        ]
        # A value that starts on the next line (a key block in Signed-By) takes no space after the colon.
        paragraphs.append("".join(f"{k}:{v}\n" if v.startswith("\n") else f"{k}: {v}\n" for k, v in fields if v))
    return "".join(f"# {line}\n" for line in comment.splitlines()) + "\n".join(paragraphs)


def render_pins(suites: Iterable[str], packages: Iterable[str], rest: int = 50, named: int = 500) -> str:
    """Preferences that keep `suites` from upgrading anything but `packages`, which stay up to date."""
    listed = " ".join(packages)
    stanzas = []
    for suite in suites:
        stanzas.append(f"Package: *\nPin: release n={suite}\nPin-Priority: {rest}\n")
        stanzas.append(f"Package: {listed}\nPin: release n={suite}\nPin-Priority: {named}\n")
    return "\n".join(stanzas)
