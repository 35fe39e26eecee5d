"""Replace the labels of a space or an address. Nothing that runs depends on labels."""

from collections.abc import Mapping
from typing import TypeVar

from django.db import transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from tenants import label_rules
from tenants.actions import address_spaces, addresses
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
            subject = (
                address_spaces.subject(row)
                if isinstance(row, AddressSpace)
                else addresses.subject(row)
            )
            audit.record(
                by,
                f"{subject.kind}.labels",
                subject,
                before={"labels": label_rules.text(before)},
                after={"labels": label_rules.text(labels)},
            )
    return locked
