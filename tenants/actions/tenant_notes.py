"""Write and delete the notes of staff about a tenant."""

from django.db import transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Invalid, Missing
from tenants.actions import tenants
from tenants.models import Tenant, TenantNote

LONGEST = 4000  # characters


def write(*, tenant: Tenant, text: str, by: Actor) -> TenantNote:
    """Store a note about the tenant, at most 4,000 characters; return it.

    The note is not in the audit log, because members of the tenant read that. It names its author.

    Raises:
        Invalid: ``tenant_note.invalid``: the text is empty or too long.
    """
    plain = text.strip()
    if not plain or len(plain) > LONGEST or "\x00" in plain:
        raise Invalid(
            f"Write 1 to {LONGEST:,} characters.",
            code="tenant_note.invalid",
            text=[f"Write 1 to {LONGEST:,} characters."],
        )
    return TenantNote.objects.create(tenant=tenant, text=plain, written_by=by.name)


@transaction.atomic
def delete(*, tenant: Tenant, note_id: int, by: Actor) -> None:
    """Delete a note about the tenant. The audit log of the installation keeps who deleted it.

    Raises:
        Missing: the tenant has no such note.
    """
    note = TenantNote.objects.filter(tenant=tenant, pk=note_id).first()
    if note is None:
        raise Missing("There is no such note about this tenant.", code="tenant_note.missing")
    # Without the tenant's id, so that its members do not see that there was a note.
    subject = audit.Subject("tenant_note", str(note.pk), tenants.subject(tenant).name)
    audit.record(by, "tenant_note.delete", subject, before={"written_by": note.written_by})
    note.delete()
