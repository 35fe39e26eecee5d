"""Desired routers for the pure tests."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from workers.messaging.certificates import KeyPair
from workers.messaging.routers.desired import (
    AuthServiceAt,
    BrokerAt,
    DesiredRouter,
    OnBroker,
    RoutedAddress,
    RouterAddressKind,
)

PAIR = KeyPair("-----BEGIN PRIVATE KEY-----", "-----BEGIN CERTIFICATE-----")
BROKERS = [BrokerAt("broker-0", "127.0.0.1", 10), BrokerAt("broker-1", "127.0.0.1", 11)]
_BASE = DesiredRouter(
    name="router-0",
    space_id="spc_test",
    leads=True,
    brokers=BROKERS,
    addresses=(),
    server=PAIR,
    client=PAIR,
    authority_pem="-----BEGIN CERTIFICATE-----",
    auth=AuthServiceAt("127.0.0.1", 12, "-----BEGIN CERTIFICATE-----", PAIR),
)


def desired(addresses: Sequence[RoutedAddress] = (), **changes: Any) -> DesiredRouter:
    return replace(_BASE, addresses=addresses, **changes)


def addresses() -> st.SearchStrategy[list[RoutedAddress]]:
    """Distinct names out of few tokens, so that prefixes and clashes do happen."""
    token = st.sampled_from(["a", "b", "ab"])
    name = st.lists(st.tuples(token, st.sampled_from("./")), min_size=1, max_size=3).map(
        lambda pairs: "".join(t + s for t, s in pairs)[:-1]
    )
    partitions = st.sampled_from([[OnBroker("broker-0")], [OnBroker("broker-1")]])
    address_kind = st.sampled_from(
        [kind for kind in RouterAddressKind if kind is not RouterAddressKind.SUBSCRIPTION]
    )
    made = st.builds(RoutedAddress, name, address_kind, partitions)
    return st.lists(made, max_size=8, unique_by=lambda address: address.address)
