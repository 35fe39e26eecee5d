"""Which meters the portal shows, by the tenant's plan."""

from collections.abc import Collection

import pytest

from controlplane.console import meters

ALWAYS = {
    "messages_in",
    "messages_out",
    "connections_opened",
    "connection_ms",
    "stored_byte_ms",
    "peak_connections",
}


@pytest.mark.parametrize(
    ("named", "more"),
    [
        ((), set()),
        (("messages",), set()),
        (("bytes_in",), {"bytes_in"}),
        (("bytes",), {"bytes_in", "bytes_out"}),
        (("steps_64k", "bytes_out"), {"steps_64k_in", "steps_64k_out", "bytes_out"}),
    ],
)
def test_optional_meters_are_shown_where_the_plan_names_them(
    named: Collection[str], more: set[str]
) -> None:
    assert {shown.meter for shown in meters.relevant(named)} == ALWAYS | more
