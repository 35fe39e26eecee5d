"""Maintenance windows on a real API server: who may not be restarted now keeps its pod."""

from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest

from controlplane.core.audit import SYSTEM
from tenants.actions import rollouts as actions
from tenants.rollouts import Window
from tests.suites.kubernetes.test_fleet import GOOD, Fleet
from tests.support.kubernetes.node import Node
from tests.support.reconcile import rows
from workers.infra.kubernetes import resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster
from workers.reconcile.outcome import Done

pytestmark = pytest.mark.django_db

NEW = "localhost/broker:2"


@pytest.fixture
def site(api: Api, wanted_cluster: Cluster, fake_node: Node, tmp_path: Path) -> Fleet:
    made = Fleet(api, wanted_cluster, tmp_path)
    made.use_image(GOOD)
    return made


def test_a_release_reaches_a_tenant_in_its_window_only(site: Fleet) -> None:
    site.advance()
    opens = (datetime.now(UTC) + timedelta(days=3)).replace(hour=2, minute=0, second=0)
    actions.set_windows(
        tenant=site.tenant, windows=[Window(opens.weekday(), time(2), 120)], by=SYSTEM
    )
    spaces = [rows.make_space(site.tenant, "kept"), rows.make_space(rows.make_tenant(), "open")]
    for space in spaces:
        assert isinstance(site.settle(space), Done)
    (pod,) = site.find(resources.POD, spaces[0])
    site.use_image(NEW)

    for _ in range(4):  # as often as waves need
        site.advance()
        for space in spaces:
            assert isinstance(site.settle(space), Done)
    before = [site.image(space) for space in spaces]
    (still,) = site.find(resources.POD, spaces[0])
    waiting = site.advance().state

    inside = opens + timedelta(hours=1) - datetime.now(UTC)
    site.advance(later=inside)
    assert isinstance(site.settle(spaces[0]), Done)

    assert before == [GOOD, NEW]
    assert still["metadata"]["uid"] == pod["metadata"]["uid"]
    assert waiting == "Running"
    assert site.image(spaces[0]) == NEW
    assert site.advance(later=inside).state == "Done"
