"""Which audit events a search reads."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.console import audit_reads
from controlplane.console.audit_reads import AuditFilter
from controlplane.core import audit
from tests.support.domain import Cast
from tests.support.portal.rows import STAFF

pytestmark = pytest.mark.django_db


def test_a_search_reads_events_of_one_instant_up_to_its_limit(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = timezone.now() + timedelta(days=1)
    subjects = [
        audit.Subject("tenant", cast.tenant.pk, f"note {number}", cast.tenant.pk)
        for number in range(5)
    ]
    monkeypatch.setattr(timezone, "now", lambda: later)
    audit.record_all(STAFF, "tenant.note", subjects, after={})

    found = audit_reads.find(cast.tenant, AuditFilter(text="note"), most=3)

    assert [event.subject_name for event in found] == ["note 4", "note 3", "note 2"]
