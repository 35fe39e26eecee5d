"""Key pairs of a space in ``SpaceSecret``: sealed, renewed when due. Called by the steps."""

from collections.abc import Sequence

from controlplane.core import secrets
from tenants.models import SpaceSecret
from workers.messaging import certificates
from workers.messaging.certificates import KeyPair
from workers.reconcile.work import Work


def keep(work: Work, name: str, pair: KeyPair) -> None:
    """Store ``pair`` sealed under ``name``, in the database and in ``work``. Idempotent."""
    row, _ = SpaceSecret.objects.update_or_create(
        space=work.space,
        name=name,
        defaults={
            "sealed": secrets.seal(pair.key_pem),
            "public": pair.certificate_pem,
            "expires_at": pair.expires_at,
        },
    )
    work.secrets[name] = row


def keep_public(work: Work, name: str, text: str) -> None:
    """Store ``text``, which is no secret, under ``name``. Idempotent."""
    row, _ = SpaceSecret.objects.update_or_create(
        space=work.space, name=name, defaults={"sealed": "", "public": text}
    )
    work.secrets[name] = row


def ensure_server(work: Work, name: str, hosts: Sequence[str]) -> None:
    """Have a server certificate for ``hosts`` under ``name``, new when missing, other or due."""
    authority = work.key_pair("authority")
    if not _is_good(work, name, authority, hosts):
        keep(work, name, certificates.issue_server(authority, hosts, work.now))


def ensure_client(work: Work, name: str, common_name: str) -> None:
    """Have a client certificate under ``name``, new when missing or due."""
    authority = work.key_pair("authority")
    if not _is_good(work, name, authority, ()):
        keep(work, name, certificates.issue_client(authority, common_name, work.now))


def ensure_vouched(work: Work, name: str, authority: KeyPair) -> None:
    """Have a client certificate by another authority that says which space this is."""
    known = name in work.secrets
    if not known or not certificates.is_good(work.key_pair(name), authority, (), work.now):
        keep(work, name, certificates.issue_client(authority, work.space.id, work.now))


def _is_good(work: Work, name: str, authority: KeyPair, hosts: Sequence[str]) -> bool:
    return name in work.secrets and certificates.is_good(
        work.key_pair(name), authority, hosts, work.now
    )
