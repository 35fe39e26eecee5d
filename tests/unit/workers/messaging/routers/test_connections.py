"""What a row of a router's connection table becomes: unknown facts are empty."""

from typing import Any

import pytest

from workers.messaging.observed import NO_TLS
from workers.messaging.routers import connections

ROW = {"identity": "7", "user": "till", "container": "c", "host": "10.0.0.9:4", "protocol": "amqp"}


@pytest.mark.parametrize(
    ("columns", "tls", "product"),
    [
        ({"ssl": False}, NO_TLS, ""),
        ({"ssl": True}, "", ""),
        ({"ssl": True, "sslProto": "TLSv1.3", "sslCipher": "X"}, "TLSv1.3 X", ""),
        ({"ssl": True, "properties": {"product": "rhea", "version": "3.0.2"}}, "", "rhea 3.0.2"),
        ({"ssl": True, "properties": {"version": 7}}, "", "7"),
    ],
)
def test_product_and_tls(columns: dict[str, Any], tls: str, product: str) -> None:
    unknown = dict.fromkeys(("sslProto", "sslCipher", "properties", "uptimeSeconds"))

    (seen,) = connections.describe([{**unknown, **ROW, **columns}], ())

    assert (seen.tls, seen.product, seen.protocol) == (tls, product, "AMQP")
