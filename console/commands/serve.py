"""`trialdeck serve`: the console in a browser."""

from __future__ import annotations

import shlex
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from console.errors import Unusable, say
from console.runs_dir import RUNS_DIR


def serve(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Runs, as `trialdeck watch` takes them; none: all of --runs-dir.", metavar="PATH…"),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Others than localhost let others in.", metavar="ADDRESS")
    ] = "localhost",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.", metavar="PORT")] = 8000,
    url: Annotated[
        str, typer.Option(help="What browsers call this server, where a proxy stands before it.", metavar="URL")
    ] = "",
    allow_actions: Annotated[
        bool, typer.Option("--allow-actions", help="Let browsers label trials and command engines.")
    ] = False,
    runs_dir: Annotated[Path, typer.Option(help="Where runs are looked for.", metavar="FOLDER")] = RUNS_DIR,
) -> None:
    """Show runs in a browser. Read-only unless --allow-actions; each browser tab has a console of its own."""
    try:
        from console.browser_server import BrowserServer, address, is_local
    except ImportError as error:
        raise Unusable(f"the browser needs {error.name}: pip install 'trialdeck[browser]'") from None
    _check_free(host, port)
    at = url or address(host, port)
    server = BrowserServer(console_command(paths or (), runs_dir, allow_actions), host, port, "trialdeck", at)
    say(f"the console is on {at} (Ctrl-C stops it)" + ("" if allow_actions else "; it is read-only"))
    if not is_local(host):
        what = "see every run here" + (", label trials and command engines" if allow_actions else "")
        say(f"warning: whoever reaches {host}:{port} can {what}: there is no password and no encryption")
    server.serve()


def console_command(paths: Sequence[str], runs_dir: Path, allow_actions: bool) -> str:
    """What each browser tab runs: the console of this very installation."""
    words = [sys.executable, "-m", "console", "watch", "--runs-dir", str(runs_dir.absolute())]
    if not allow_actions:
        words.append("--read-only")
    return shlex.join([*words, "--", *paths])


def _check_free(host: str, port: int) -> None:
    """Raises Unusable where the address can't be had, before anything says that it is served."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
    except OSError as error:
        raise Unusable(f"{host}:{port}: {error.strerror or error}; choose another --port or --host") from None
