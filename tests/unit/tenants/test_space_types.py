"""Where no routers can run, standard spaces are refused at once, with words."""

from typing import Any

import pytest

from controlplane.core.errors import Denied
from tenants import space_types
from tenants.models import AddressSpace, SpaceType
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db


def test_both_types_are_offered_where_routers_run() -> None:
    assert list(space_types.offered()) == [SpaceType.STANDARD, SpaceType.BROKERED]


def test_without_a_router_image_a_standard_space_is_refused_with_words(
    cast: Cast, settings: Any
) -> None:
    settings.STANDARD_SPACES_OFFERED = False

    with pytest.raises(Denied, match=r"set `router\.image` in the chart's values") as refusal:
        domain.space(cast.tenant, "standard")

    assert refusal.value.error_code == "space_type.not_offered"
    assert refusal.value.fields == {"offered": ["brokered"]}
    assert AddressSpace.objects.count() == 0


def test_without_a_router_image_brokered_spaces_are_made(cast: Cast, settings: Any) -> None:
    settings.STANDARD_SPACES_OFFERED = False

    assert domain.space(cast.tenant, "brokered").type == "brokered"
