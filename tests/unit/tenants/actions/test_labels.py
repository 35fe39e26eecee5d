"""Labels are replaced as a whole, with an audit event, and change nothing that runs."""

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Invalid
from controlplane.core.models import AuditEvent
from tenants.actions import labels
from tests.support.portal import rows

pytestmark = pytest.mark.django_db


def test_labels_are_replaced_and_recorded_once() -> None:
    space = rows.space(rows.world().tenant)
    generation = space.generation

    for wanted in ({"team": "shop"}, {"env": "prod"}, {"env": "prod"}):
        labels.replace(row=space, labels=wanted, by=SYSTEM)

    space.refresh_from_db()
    events = AuditEvent.objects.filter(action="address_space.labels").order_by("id")
    assert (space.labels, space.generation) == ({"env": "prod"}, generation)
    assert [event.after["labels"] for event in events] == ["team=shop", "env=prod"]


def test_an_address_has_labels_too_and_a_wrong_one_changes_nothing() -> None:
    address = rows.address(rows.active_space(rows.world().tenant))

    labels.replace(row=address, labels={"items": "a"}, by=SYSTEM)
    with pytest.raises(Invalid):
        labels.replace(row=address, labels={"Bad": ""}, by=SYSTEM)

    address.refresh_from_db()
    assert address.labels == {"items": "a"}
