"""The filter of the fleet offers every release."""

import pytest

from controlplane.console import fleet_reads
from tenants.models import EngineRelease


@pytest.mark.django_db
def test_all_releases_are_named_newest_first() -> None:
    EngineRelease.objects.bulk_create(
        EngineRelease(number=n, broker_image=f"broker:{n}") for n in range(1, 61)
    )

    assert fleet_reads.release_numbers() == list(range(60, 0, -1))
