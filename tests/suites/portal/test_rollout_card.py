"""The operator sees how far a release is, and steers it from the fleet's page."""

import pytest

from tenants.models import AddressSpace, EngineRelease, Rollout
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World


@pytest.fixture
def rollout(world: World) -> Rollout:
    former, release = (
        EngineRelease.objects.create(number=n, broker_image=f"broker:{n}") for n in (1, 2)
    )
    space = rows.active_space(world.tenant, "moved")
    failed = {"type": "Ready", "status": "False", "reason": "x", "message": "no <image>"}
    AddressSpace.objects.filter(pk=space.pk).update(
        release=release,
        observed_release=former,
        released_at="2026-01-01T00:00:00Z",
        conditions=[failed],
    )
    return Rollout.objects.create(release=release, former=former, is_configured=True)


def test_progress_and_failures_are_shown(world: World, as_: As, rollout: Rollout) -> None:
    page = as_(world.staff).get("/staff/fleet/").content.decode()

    assert "Rollout of release 2" in page
    assert "1 space did not become ready in time." in page
    assert "Roll back to release 1" in page
    assert "<strong>0 of 1</strong> spaces run it, 1 failed." in page
    assert f"{world.tenant.slug}/moved: no &lt;image&gt;" in page
    assert "/staff/fleet/rollout/pause" in page
    assert "/staff/fleet/rollout/resume" not in page


def test_what_stopped_it_is_told_once(world: World, as_: As, rollout: Rollout) -> None:
    told = f"1 did not become ready in time: {world.tenant.slug}/moved: no <image>"
    Rollout.objects.update(state="Stopped", reason=told)

    page = as_(world.staff).get("/staff/fleet/").content.decode()

    assert "Stopped automatically: 1 space did not become ready in time." in page
    assert page.count("no &lt;image&gt;") == 1


def test_why_a_person_paused_it_is_told(world: World, as_: As, rollout: Rollout) -> None:
    Rollout.objects.update(state="Paused", reason="freeze until Monday")

    page = as_(world.staff).get("/staff/fleet/").content.decode()

    assert "freeze until Monday" in page
    assert "no &lt;image&gt;" in page


@pytest.mark.parametrize(
    ("verbs", "state"), [(["pause"], "Paused"), (["pause", "resume"], "Running")]
)
def test_buttons_pause_and_resume(
    world: World, as_: As, rollout: Rollout, verbs: list[str], state: str
) -> None:
    for verb in verbs:
        answer = as_(world.staff).post(f"/staff/fleet/rollout/{verb}")
        assert answer.status_code == 302

    rollout.refresh_from_db()
    assert rollout.state == state


def test_the_button_rolls_back(world: World, as_: As, rollout: Rollout) -> None:
    as_(world.staff).post("/staff/fleet/rollout/roll-back")

    assert Rollout.objects.latest("id").release.number == 1
    assert as_(world.staff).post("/staff/fleet/rollout/explode").status_code == 404


def test_without_releases_there_is_no_card(world: World, as_: As) -> None:
    assert "Rollout of" not in as_(world.staff).get("/staff/fleet/").content.decode()
