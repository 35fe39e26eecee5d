"""Listeners of brokers and routers take no cipher suite with CBC, and no TLS below 1.2."""

import socket
import ssl
from collections.abc import Iterator

import pytest

from tests.support.messaging import public_broker
from tests.support.messaging.public_broker import user
from tests.support.messaging.routing_rig import HOST, Rig
from workers.messaging import tls_policy

pytestmark = [
    pytest.mark.broker,
    pytest.mark.router,
    pytest.mark.slow,
    # That old versions are refused can only be seen by asking for one.
    pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning"),
]
_CBC = ["ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-ECDSA-AES256-SHA"]
_GOOD = [name for name in tls_policy.OPENSSL_SUITES.split(":") if "ECDSA" in name]


@pytest.fixture(scope="module")
def broker_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("suites")
    with public_broker.running(folder, [], [user("alice", ("#", "send recv"))]) as made:
        yield made.at[1]


def version_with(port: int, suite: str, newest: ssl.TLSVersion) -> str | None:
    """Return the version of a connection that offers one suite of TLS 1.2; None if refused."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version, context.maximum_version = ssl.TLSVersion.MINIMUM_SUPPORTED, newest
    context.set_ciphers(f"{suite}:@SECLEVEL=0")
    with socket.create_connection((HOST, port), timeout=60) as plain:
        try:
            with context.wrap_socket(plain) as secured:
                return secured.version()
        except (ssl.SSLError, ConnectionError):
            return None


def check(port: int) -> None:
    newest = ssl.TLSVersion.TLSv1_2
    assert {suite: version_with(port, suite, newest) for suite in _GOOD} == dict.fromkeys(
        _GOOD, "TLSv1.2"
    )
    assert {suite: version_with(port, suite, newest) for suite in _CBC} == dict.fromkeys(_CBC)
    assert version_with(port, _CBC[0], ssl.TLSVersion.TLSv1_3) == "TLSv1.3"
    old = version_with(port, "ALL", ssl.TLSVersion.TLSv1_1)
    assert old is None


def test_a_broker_offers_the_suites_of_the_policy(broker_port: int) -> None:
    check(broker_port)


def test_a_router_offers_the_suites_of_the_policy(router: Rig) -> None:
    check(router.engine_layout.public_port)


def test_the_policy_limits_a_context() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    before = {suite["name"] for suite in context.get_ciphers()}

    tls_policy.restrict(context)

    after = {suite["name"] for suite in context.get_ciphers()}
    assert before & set(_CBC)
    assert not after & set(_CBC)
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
