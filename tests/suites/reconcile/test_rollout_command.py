"""``manage.py rollout``: an operator sees and steers the fleet."""

import io

import pytest
from django.core.management import CommandError, call_command

from tenants.models import AddressSpace, EngineRelease, Rollout
from tests.support.reconcile import rows

pytestmark = pytest.mark.django_db


def command(*arguments: str) -> str:
    out = io.StringIO()
    call_command("rollout", *arguments, stdout=out)
    return out.getvalue()


def test_it_shows_and_steers() -> None:
    former, release = (
        EngineRelease.objects.create(number=n, broker_image=f"broker:{n}") for n in (1, 2)
    )
    space = rows.make_space(rows.make_tenant())
    AddressSpace.objects.filter(pk=space.pk).update(
        release=release,
        observed_release=former,
        released_at="2026-01-01T00:00:00Z",
        conditions=[{"type": "Ready", "status": "False", "message": "no such image"}],
    )
    Rollout.objects.create(release=release, former=former, is_configured=True)

    shown = command()

    assert shown.startswith("release 2 (broker:2, none): Running, 0 of 1 spaces, 0 changing")
    assert f"{space.tenant.slug}/orders: no such image" in shown
    assert "Paused" in command("pause", "--reason", "holiday")
    with pytest.raises(CommandError, match="does not allow this change"):
        command("pause")
    assert "release 1" in command("roll-back")


def test_without_releases_it_says_so() -> None:
    with pytest.raises(CommandError, match="no releases here"):
        command()
