"""Bearer tokens: issued once, found by their hash, ended."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Conflict, Invalid, QuotaExceeded
from controlplane.core.models import AuditEvent
from tenants.actions import api_tokens
from tenants.models import ApiToken, Role
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db


def issue(cast: Cast, name: str = "ci", **changes: Any) -> tuple[ApiToken, str]:
    arguments: dict[str, Any] = {"role": Role.DEVELOPER, "expires_at": None, **changes}
    return api_tokens.issue(tenant=cast.tenant, name=name, by=cast.by, **arguments)


def test_issue_keeps_a_hash_and_shows_the_token_once(cast: Cast) -> None:
    row, clear = issue(cast)

    assert clear.startswith("wp_")
    assert clear.startswith(row.prefix)
    assert clear not in str(vars(ApiToken.objects.get()))
    assert (row.role, row.created_by) == (Role.DEVELOPER, cast.by.name)
    assert clear not in str(vars(AuditEvent.objects.get(action="api_token.issue")))


def test_find_returns_the_token_with_its_tenant_and_notes_the_use(cast: Cast) -> None:
    row, clear = issue(cast)

    found = api_tokens.find(clear)

    assert found == row
    assert found.tenant == cast.tenant
    row.refresh_from_db()
    assert row.last_used_at is not None


def test_find_notes_the_use_once_a_minute(cast: Cast) -> None:
    row, clear = issue(cast)
    moments_ago = timezone.now() - timedelta(seconds=50)
    ApiToken.objects.update(last_used_at=moments_ago)
    api_tokens.find(clear)
    row.refresh_from_db()
    assert row.last_used_at == moments_ago

    ApiToken.objects.update(last_used_at=moments_ago - timedelta(seconds=20))
    api_tokens.find(clear)
    row.refresh_from_db()
    assert row.last_used_at > moments_ago


def test_find_knows_no_other_revoked_or_expired_token(cast: Cast) -> None:
    row, clear = issue(cast, expires_at=timezone.now() + timedelta(hours=1))
    assert api_tokens.find(clear) == row
    assert api_tokens.find(clear + "x") is None
    assert api_tokens.find(row.token_hash) is None

    ApiToken.objects.update(expires_at=timezone.now())
    assert api_tokens.find(clear) is None
    ApiToken.objects.update(expires_at=None)
    assert api_tokens.find(clear) == row

    api_tokens.revoke(token=row, by=cast.by)
    assert api_tokens.find(clear) is None


def test_revoke_twice_tells_the_audit_once(cast: Cast) -> None:
    row, _ = issue(cast)

    api_tokens.revoke(token=row, by=cast.by)
    row.refresh_from_db()
    ended_at = row.revoked_at
    api_tokens.revoke(token=row, by=SYSTEM)

    row.refresh_from_db()
    assert row.revoked_at == ended_at
    assert AuditEvent.objects.filter(action="api_token.revoke").count() == 1


def test_a_name_is_taken_until_its_token_is_revoked(cast: Cast) -> None:
    row, _ = issue(cast)
    with pytest.raises(Conflict, match="choose another name") as refusal:
        issue(cast)
    assert refusal.value.error_code == "api_token.exists"

    api_tokens.revoke(token=row, by=cast.by)
    assert issue(cast)[0].pk != row.pk


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"role": "king"}, "role"),
        ({"expires_at": timezone.now()}, "expires_at"),
    ],
)
def test_issue_names_the_field_that_is_wrong(
    cast: Cast, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        issue(cast, **changes)

    assert (refusal.value.error_code, set(refusal.value.fields)) == ("api_token.invalid", {field})


def test_issue_says_to_which_permissions_a_role_can_be_limited(cast: Cast) -> None:
    scope = api_tokens.TokenScope(permissions=["resend_messages"])
    with pytest.raises(Invalid) as refusal:
        issue(cast, role="viewer", scope=scope)

    said = "A token of the role viewer can be limited to these permissions only: view."
    assert refusal.value.fields == {"permissions": [said]}


def test_issue_counts_live_tokens(cast: Cast) -> None:
    domain.limit(cast.tenant, "api_tokens", 1)
    row, _ = issue(cast)
    with pytest.raises(QuotaExceeded):
        issue(cast, "more")

    api_tokens.revoke(token=row, by=cast.by)
    issue(cast, "more")
