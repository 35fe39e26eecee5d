"""A sampling cycle makes passes due for spaces with an instance that does not answer."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.core import enqueue
from controlplane.core.phases import Phase
from tenants.models import AddressSpace
from tests.support.reconcile import rows
from workers import tasks, wiring
from workers.metering import sampling, silence
from workers.metering.sampling import Sampled

pytestmark = pytest.mark.django_db


@pytest.fixture
def space() -> AddressSpace:
    made = rows.make_space(rows.make_tenant())
    later = timezone.now() + timedelta(minutes=4)
    AddressSpace.objects.update(phase=Phase.ACTIVE, next_attempt_at=later)
    return made


def silent(space: AddressSpace) -> Sampled:
    return Sampled(space.id, is_applied=True, silent=frozenset({"broker-0"}))


def test_a_silent_instance_enqueues_a_pass_over_its_space(
    space: AddressSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = [Sampled("spc_1", is_applied=True, reached=frozenset({"router-0"})), silent(space)]
    enqueued: list[tuple[str, dict[str, str]]] = []
    monkeypatch.setattr(wiring, "readers", lambda: None)
    monkeypatch.setattr(sampling, "sample_all", lambda _readers: seen)
    monkeypatch.setattr(enqueue, "after_commit", lambda task, **ids: enqueued.append((task, ids)))

    tasks.sample()

    assert enqueued == [("workers.reconcile_space", {"space_id": space.id})]


def test_a_space_that_stays_down_is_not_enqueued_in_each_cycle(space: AddressSpace) -> None:
    began = timezone.now()
    first = silence.record([silent(space)], began)
    still_active = silence.record([silent(space)], began + timedelta(seconds=10))
    AddressSpace.objects.update(phase=Phase.CONFIGURING)  # a pass has noticed it
    noticed = silence.record([silent(space)], began + timedelta(seconds=20))
    space.refresh_from_db()
    since = space.silent_since
    answers = Sampled(space.id, is_applied=True, reached=frozenset({"broker-0"}))
    back = silence.record([answers], began + timedelta(seconds=30))
    settled = silence.record([answers], began + timedelta(seconds=40))
    space.refresh_from_db()

    assert (first, still_active, noticed) == ([space.id], [space.id], [])
    assert since == began
    assert (back, settled, space.silent_since) == ([space.id], [], None)
    assert space.next_attempt_at == began + timedelta(seconds=30)
