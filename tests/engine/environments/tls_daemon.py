"""A stand-in for a daemon behind TLS: it wants a certificate of its clients, says its version, and counts what it is
sent until the end of it."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FILES = Path(__file__).with_name("certificates")
EARLY = b"early\n"
LATE = b"y" * 300_000
VERSION = json.dumps({"Version": "99", "ApiVersion": "1.45"}).encode()
ENDED_SEC = 10.0


def certificates(folder: Path, client: str = "client", authority: str = "authority") -> Path:
    """A folder as DOCKER_CERT_PATH names it."""
    folder.mkdir(exist_ok=True)
    shutil.copy(FILES / f"{authority}.pem", folder / "ca.pem")
    for name in ("cert.pem", "key.pem"):
        shutil.copy(FILES / f"{client}.pem", folder / name)
    return folder


@contextmanager
def tls_daemon(certificate: str = "server", version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> Iterator[int]:
    """Its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = context.maximum_version = version
    context.load_cert_chain(FILES / f"{certificate}.pem")
    context.load_verify_locations(FILES / "authority.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threads: list[threading.Thread] = []
        serving: list[ssl.SSLSocket] = []

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threads.append(threading.Thread(target=_serve, args=(connection, context, serving), daemon=True))
                threads[-1].start()

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        accepting.join(ENDED_SEC)
    for secure in serving:
        with suppress(OSError):
            secure.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join(ENDED_SEC)


def _serve(connection: socket.socket, context: ssl.SSLContext, serving: list[ssl.SSLSocket]) -> None:
    connection.settimeout(ENDED_SEC)
    with suppress(OSError), connection, context.wrap_socket(connection, server_side=True) as secure:
        serving.append(secure)
        data = secure.recv(65536)
        if data.startswith(b"GET "):
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(VERSION)}\r\n\r\n"
            while data:
                secure.sendall(head.encode() + VERSION)
                data = secure.recv(65536)
            return
        secure.sendall(EARLY)
        count = 0
        while data:
            count += len(data)
            data = secure.recv(65536)
        secure.sendall(b"%d bytes\n" % count + LATE)
