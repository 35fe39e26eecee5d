"""Key pairs of a space in ``SpaceSecret``: encrypted, renewed when due. Called by the steps."""

from collections.abc import Sequence

from controlplane.core import secrets
from tenants.models import SpaceSecret
from workers.instances import SecretName
from workers.messaging import certificates
from workers.messaging.certificates import KeyPair
from workers.reconcile.context import ReconcileContext


def keep(context: ReconcileContext, name: str, pair: KeyPair) -> None:
    """Store ``pair`` encrypted under ``name``, in the database and in ``context``. Idempotent."""
    row, _ = SpaceSecret.objects.update_or_create(
        space=context.space,
        name=name,
        defaults={
            "sealed": secrets.encrypt(pair.key_pem),
            "public": pair.certificate_pem,
            "expires_at": pair.expires_at,
        },
    )
    context.secrets[name] = row


def keep_public(context: ReconcileContext, name: str, text: str) -> None:
    """Store ``text``, which is not secret, under ``name``. Idempotent."""
    row, _ = SpaceSecret.objects.update_or_create(
        space=context.space, name=name, defaults={"sealed": "", "public": text}
    )
    context.secrets[name] = row


def ensure_server(context: ReconcileContext, name: str, hosts: Sequence[str]) -> None:
    """Ensure a server certificate for ``hosts``; issue a new one if it does not fit or is due."""
    authority = context.key_pair(SecretName.AUTHORITY)
    if not _is_good(context, name, authority, hosts):
        keep(context, name, certificates.issue_server(authority, hosts, context.now))


def ensure_client(context: ReconcileContext, name: str, common_name: str) -> None:
    """Ensure a client certificate under ``name``; issue one if it is missing or due."""
    authority = context.key_pair(SecretName.AUTHORITY)
    if not _is_good(context, name, authority, ()):
        keep(context, name, certificates.issue_client(authority, common_name, context.now))


def ensure_vouched(context: ReconcileContext, name: str, authority: KeyPair) -> None:
    """Ensure a client certificate by another authority, with the space id as its common name."""
    known = name in context.secrets
    if not known or not certificates.is_good(context.key_pair(name), authority, (), context.now):
        keep(context, name, certificates.issue_client(authority, context.space.id, context.now))


def _is_good(
    context: ReconcileContext, name: str, authority: KeyPair, hosts: Sequence[str]
) -> bool:
    return name in context.secrets and certificates.is_good(
        context.key_pair(name), authority, hosts, context.now
    )
