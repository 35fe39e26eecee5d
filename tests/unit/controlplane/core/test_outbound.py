"""Where Waypost calls at a tenant's wish: public https addresses, nothing of its own network."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pytest_django import Settings

from controlplane.core import outbound
from controlplane.core.outbound import Target, TargetRefused
from tests.support.notifications import receiver

USER = "user"
PUBLIC = "93.184.215.14"


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example/a",
        "ftp://hooks.example/a",
        "https:///a",
        "hooks.example/a",
        f"https://{USER}@hooks.example/",
        f"https://{USER}:password@hooks.example/",
        "https://hooks.example/#fragment",
        "https://hooks.example/a b",
        "https://hooks.example:0/",
        "https://hooks.example:99999/",
        "https://hooks.example/\r\nHost: x",
        f"https://hooks.example/{'a' * 2000}",
        "https://[::1",
        "",
    ],
)
def test_a_url_of_another_form_is_refused(url: str) -> None:
    with pytest.raises(TargetRefused):
        outbound.check(url)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",  # metadata services
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "2002:7f00:1::1",
        "::7f00:1",
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    with pytest.raises(TargetRefused):
        outbound.resolve("https://hooks.example/", lambda host, port: [address])
    # One such address among public ones is enough.
    with pytest.raises(TargetRefused):
        outbound.resolve("https://hooks.example/", lambda host, port: [PUBLIC, address])


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "2130706433", "0x7f.1", "127.1", "localhost"]
)
def test_this_machine_is_refused_in_every_spelling(host: str) -> None:
    with pytest.raises(TargetRefused):
        outbound.resolve(f"https://{host}/")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:9977",
        "10.0.0.1",
        "169.254.1.1",
        "[::1]",
        "[fe80::1%25eth0]",
        "2130706433",
        "127.1",
    ],
)
def test_an_address_that_can_never_work_is_refused_before_anything_is_sent(
    host: str, settings: Settings
) -> None:
    with pytest.raises(TargetRefused, match=r"is not on the public internet\.$"):
        outbound.check(f"https://{host}/")

    settings.WEBHOOK_ALLOWED_RANGES = ["0.0.0.0/0", "::/0"]
    assert outbound.check(f"https://{host}/").scheme == "https"


@pytest.mark.parametrize("host", [PUBLIC, "[2606:2800:21f:cb07::1]", "localhost", "hooks.example"])
def test_public_addresses_and_host_names_are_accepted_before_the_sending(host: str) -> None:
    assert outbound.check(f"https://{host}/").hostname == host.strip("[]")


def test_a_refusal_says_which_rule_the_url_breaks(settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    with pytest.raises(TargetRefused, match=r"hooks\.example is not on the public internet\.$"):
        outbound.resolve("http://hooks.example/", lambda host, port: ["10.0.0.1"])
    with pytest.raises(TargetRefused, match=r"hooks\.example needs a URL that begins with https"):
        outbound.resolve("http://hooks.example/", lambda host, port: [PUBLIC])


@pytest.mark.parametrize("address", [PUBLIC, "2606:2800:21f:cb07::1", f"::ffff:{PUBLIC}"])
def test_a_public_address_is_where_the_connection_goes(address: str) -> None:
    target = outbound.resolve("https://hooks.example/a?b=c", lambda host, port: [address])

    assert target == Target(True, "hooks.example", 443, "/a?b=c", (address,))


def test_allowed_ranges_admit_plain_http_there_and_nowhere_else(settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]

    assert outbound.resolve("http://127.0.0.1:81/").port == 81
    with pytest.raises(TargetRefused):
        outbound.resolve("http://hooks.example/", lambda host, port: [PUBLIC])
    with pytest.raises(TargetRefused):
        outbound.resolve("https://hooks.example/", lambda host, port: ["10.0.0.1"])


def test_the_name_is_not_resolved_again(settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    with receiver.running() as there:
        url = f"http://hooks.example:{there.port}/x"
        target = outbound.resolve(url, lambda host, port: ["127.0.0.1"])
        # A second look-up of hooks.example would fail: sockets to other hosts are blocked here.
        answer = outbound.post(target, b"{}", {}, 10)

    assert answer.status == 204
    assert there.got[0][0]["Host"] == f"hooks.example:{there.port}"


def test_redirects_are_not_followed(settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    with receiver.running() as there:
        there.status, there.headers = 307, {"Location": f"http://127.0.0.1:{there.port}/again"}
        answer = outbound.post(outbound.resolve(there.url), b"{}", {}, 10)

    assert answer.status == 307
    assert len(there.got) == 1


@contextmanager
def dripping(before: bytes) -> Iterator[int]:
    """Yield the port of a server that sends ``before`` and then a byte every 20 ms."""
    stopped = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(before)
                while not stopped.wait(0.02):
                    try:
                        connection.sendall(b"x")
                    except OSError:
                        return

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            stopped.set()
            thread.join()


@pytest.mark.parametrize(
    "before", [b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n"]
)
def test_a_receiver_that_drips_is_given_up(settings: Settings, before: bytes) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    with dripping(before) as port:
        target = outbound.resolve(f"http://127.0.0.1:{port}/")
        with pytest.raises(TimeoutError):
            outbound.post(target, b"{}", {}, 0.2)


def test_a_certificate_of_nobody_is_refused(settings: Settings) -> None:
    settings.WEBHOOK_ALLOWED_RANGES = ["127.0.0.0/8"]
    with dripping(b"no TLS at all\r\n") as port:
        target = outbound.resolve(f"https://127.0.0.1:{port}/")
        with pytest.raises(OSError, match="SSL"):
            outbound.post(target, b"{}", {}, 5)
