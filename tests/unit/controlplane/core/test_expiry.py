"""Expired rows go, live ones stay."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from controlplane.core import expiry, idempotency
from controlplane.core.models import IdempotencyKey

pytestmark = pytest.mark.django_db
MOMENT = timedelta(seconds=1)


def test_delete_expired_deletes_old_keys_and_ended_sessions_alone() -> None:
    now = timezone.now()
    for key, age in (("old", idempotency.LIFETIME + MOMENT), ("young", idempotency.LIFETIME)):
        row = IdempotencyKey.objects.create(scope="s", key=key, status=200, body={})
        IdempotencyKey.objects.filter(pk=row.pk).update(created_at=now - age)
    Session.objects.create(session_key="ended", expire_date=now - MOMENT)
    Session.objects.create(session_key="live", expire_date=now + MOMENT)

    assert expiry.delete_expired(now) == 2
    assert expiry.delete_expired(now) == 0

    assert IdempotencyKey.objects.get().key == "young"
    assert Session.objects.get().session_key == "live"
