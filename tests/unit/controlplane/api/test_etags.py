"""If-Match compares tags strongly, If-None-Match weakly (RFC 9110, 13.1.1 and 13.1.2)."""

import pytest
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from controlplane.api import etags
from tenants.actions.address_spaces import GenerationChanged
from tenants.models import MessagingUser


def is_refused(headers: dict[str, str]) -> bool:
    request = Request(APIRequestFactory().put("/", headers=headers))
    try:
        etags.require_match(request, MessagingUser(generation=7))
    except GenerationChanged:
        return True
    return False


@pytest.mark.parametrize(
    ("header", "tags", "refused"),
    [
        ("If-None-Match", '"7"', True),
        ("If-None-Match", 'W/"7"', True),
        ("If-None-Match", '"6", W/"7"', True),
        ("If-None-Match", 'W/"6"', False),
        ("If-Match", '"7"', False),
        ("If-Match", 'W/"7"', True),
    ],
)
def test_only_if_none_match_takes_a_weak_tag(header: str, tags: str, refused: bool) -> None:
    assert is_refused({header: tags}) is refused
