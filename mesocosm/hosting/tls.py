"""Self-signed certificates, for clients that only speak HTTPS, such as gh."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAYS = 825
"""For which some clients take a certificate."""


def certificate(folder: Path, names: Sequence[str]) -> tuple[Path, Path]:
    """The files of a certificate for these hosts and of its key; those that are there are kept.

    It is its own authority: clients trust it by its file (``SSL_CERT_FILE``, ``GIT_SSL_CAINFO``).
    """
    folder.mkdir(parents=True, exist_ok=True)
    cert, key = folder / "cert.pem", folder / "key.pem"
    if not (cert.exists() and key.exists() and _names(cert) >= set(names)):
        _write(cert, key, names)
    return cert, key


def _names(cert: Path) -> set[str]:
    found = x509.load_pem_x509_certificate(cert.read_bytes())
    if found.not_valid_after_utc < datetime.now(UTC):  # noqa: TID251 - certificates go by the real clock
        return set()
    extension = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(one.value) for one in extension}


def _write(cert: Path, key: Path, names: Sequence[str]) -> None:
    secret = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Mesocosm")])
    now = datetime.now(UTC)  # noqa: TID251
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(secret.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=_DAYS))
        .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(secret, hashes.SHA256())
    )
    private = secret.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    key.touch(mode=0o600)
    key.write_bytes(private)
    cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
