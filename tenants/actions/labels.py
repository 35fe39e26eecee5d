"""Replace the labels of a space or an address. Nothing that runs depends on labels."""

from collections.abc import Mapping
from typing import TypeVar

from django.db import transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from tenants import label_rules
from tenants.models import Address, AddressSpace

Labeled = TypeVar("Labeled", AddressSpace, Address)


def replace(*, row: Labeled, labels: Mapping[str, str], by: Actor) -> Labeled:
    """Replace all labels of ``row`` by ``labels``; return the row as it is now. Idempotent.

    Raises:
        Invalid: a label breaks a rule.
    """
    label_rules.check(labels)
    with transaction.atomic():
        # ``of``: a join must not lock the rows of plans and topics.
        model = type(row)
        locked = model._default_manager.select_for_update(no_key=True, of=("self",)).get(pk=row.pk)
        before = locked.labels
        if before != labels:
            locked.labels = dict(labels)
            locked.save(update_fields=["labels", "updated_at"])
            audit.record(
                by,
                f"{_subject(row).kind}.labels",
                _subject(row),
                before={"labels": label_rules.text(before)},
                after={"labels": label_rules.text(labels)},
            )
    return locked


def _subject(row: AddressSpace | Address) -> audit.Subject:
    if isinstance(row, AddressSpace):
        return audit.Subject("address_space", row.pk, row.name, row.tenant_id)
    return audit.Subject("address", row.pk, row.address, row.space.tenant_id)
