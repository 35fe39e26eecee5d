"""How long a start waits: as long as the server works, whatever the time."""

from collections.abc import Callable

from controlplane.embedded import readiness


class Server:
    """A server and the time around it; ``use`` returns its processor time at a time."""

    def __init__(self, use: Callable[[float], float], ready_at: float) -> None:
        self.now, self.use, self.ready_at = 0.0, use, ready_at

    def wait(self) -> str:
        clock = readiness.Clock(now=lambda: self.now, sleep=self._sleep)
        return readiness.wait(lambda: self.now >= self.ready_at, lambda: self.use(self.now), clock)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_slow_start_is_waited_for_while_it_works() -> None:
    """On a busy machine a server may get a fiftieth of a processor."""
    assert Server(lambda now: now / 50, ready_at=500).wait() == ""


def test_a_server_that_does_nothing_is_given_up() -> None:
    server = Server(lambda now: 3 + now / 1000, ready_at=500)

    assert server.wait() == "it has not worked on its start for 60 s"
    assert 60 < server.now < 61


def test_a_server_that_works_for_ever_is_given_up() -> None:
    server = Server(lambda now: now, ready_at=10_000)

    assert server.wait() == "its start did not end within 600 s"
    assert 600 < server.now < 601


def test_a_server_that_is_started_again_works() -> None:
    """Its processor time begins at 0 every 40 s, and then rises by less than counts as work."""
    assert Server(lambda now: now % 40 / 130, ready_at=160).wait() == ""
