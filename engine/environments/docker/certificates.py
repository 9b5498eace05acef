"""How TLS to a daemon is set up: which files it needs, and what is wrong with them in words."""

from __future__ import annotations

import ssl
from pathlib import Path

AUTHORITY, CERTIFICATE, KEY = "ca.pem", "cert.pem", "key.pem"


def tls_settings(folder: Path | None, named_by: str, *, verify: bool) -> ssl.SSLContext:
    """For a connection with the files of `folder` (None: this host's own authorities, and no certificate of ours).

    `named_by` is what names the folder. Raises ValueError with the file and the way out.
    """
    if folder is None:
        return _trusting(ssl.create_default_context(), verify=verify)
    authority, certificate, key = (folder / name for name in (AUTHORITY, CERTIFICATE, KEY))
    where = f"{named_by} is {folder}"
    if verify and not authority.exists():
        raise ValueError(
            f"{where}: {AUTHORITY} is missing there, by which the engine's certificate is verified; "
            f"set DOCKER_CERT_PATH to a folder with {AUTHORITY}, {CERTIFICATE} and {KEY}"
        )
    try:
        context = ssl.create_default_context(cafile=str(authority) if authority.exists() else None)
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"{where}: {AUTHORITY} can't be used: {_words(error, 'a certificate')}") from None
    if certificate.exists() != key.exists():
        there, missing = (CERTIFICATE, KEY) if certificate.exists() else (KEY, CERTIFICATE)
        raise ValueError(f"{where}: {there} is there, and {missing}, which belongs to it, is missing")
    if certificate.exists():
        try:
            context.load_cert_chain(certificate, key, password=lambda: b"")
        except (OSError, ssl.SSLError) as error:
            raise ValueError(f"{where}: {_pair_words(error, certificate, key)}") from None
    return _trusting(context, verify=verify)


def _trusting(context: ssl.SSLContext, *, verify: bool) -> ssl.SSLContext:
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _words(error: OSError, expected: str) -> str:
    if isinstance(error, ssl.SSLError):
        return f"expected {expected} in PEM form"
    return error.strerror or str(error)


def _pair_words(error: OSError, certificate: Path, key: Path) -> str:
    if isinstance(error, ssl.SSLError) and error.reason == "KEY_VALUES_MISMATCH":
        return f"{KEY} is not the key of {CERTIFICATE}"
    if not isinstance(error, ssl.SSLError):
        unreadable = next((path.name for path in (certificate, key) if not _readable(path)), CERTIFICATE)
        return f"{unreadable} can't be read: {error.strerror or error}"
    return f"{CERTIFICATE} and {KEY} can't be used: expected a certificate and its key without a passphrase in PEM form"


def _readable(path: Path) -> bool:
    try:
        path.read_bytes()
    except OSError:
        return False
    return True
