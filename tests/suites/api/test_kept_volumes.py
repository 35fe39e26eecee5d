"""Deleting a space with or without its volumes, and the operator's word that lets them go."""

from django.utils import timezone
from rest_framework.test import APIClient

from tenants.models import AddressSpace, KeptVolumes
from tests.suites.api.conftest import Cast, problem

PATH = "/api/v1/staff/kept-volumes"


def test_volumes_are_kept_listed_and_released(
    owner: APIClient, staff: APIClient, cast: Cast, space: AddressSpace
) -> None:
    path = cast.path(f"/address-spaces/{space.name}")

    problem(owner.delete(f"{path}?volumes=burn"), 422, "request.invalid")
    assert owner.delete(f"{path}?volumes=keep").status_code == 202
    problem(staff.post(f"{PATH}/{space.id}/release"), 404, "kept_volumes.missing")
    AddressSpace.objects.filter(pk=space.pk).update(deleted_at=timezone.now())

    (listed,) = staff.get(PATH).json()["items"]
    released = staff.post(f"{PATH}/{space.id}/release").json()

    assert (listed["space"], listed["space_id"]) == (space.name, space.id)
    assert listed["released_at"] is None
    assert released["released_at"] is not None
    assert released["gone_at"] is None


def test_nothing_is_kept_unless_asked_for(
    owner: APIClient, staff: APIClient, cast: Cast, space: AddressSpace
) -> None:
    assert owner.delete(cast.path(f"/address-spaces/{space.name}")).status_code == 202

    assert not KeptVolumes.objects.exists()
    assert staff.get(PATH).json()["items"] == []
