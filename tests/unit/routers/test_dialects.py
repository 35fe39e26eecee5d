"""What each kind of router can do decides early what a space on it may offer."""

import pytest

from workers.messaging.routers.desired import Shape
from workers.messaging.routers.dialects import DISPATCH, SKUPPER


@pytest.mark.parametrize("shape", list(Shape))
def test_dispatch_can_do_everything(shape: Shape) -> None:
    assert DISPATCH.missing_for(shape) == ""


@pytest.mark.parametrize(
    ("shape", "is_possible"),
    [
        (Shape.ANYCAST, True),
        (Shape.MULTICAST, True),
        (Shape.SUBSCRIPTION, True),
        (Shape.QUEUE, False),
        (Shape.DEADLETTER, False),
        (Shape.TOPIC, False),
    ],
)
def test_skupper_says_what_it_lacks(shape: Shape, is_possible: bool) -> None:
    reason = SKUPPER.missing_for(shape)

    assert (reason == "") is is_possible
    assert is_possible or "brokered space" in reason


def test_counters_are_found_under_the_dialects_own_key() -> None:
    assert (DISPATCH.counter_key("calls"), SKUPPER.counter_key("calls")) == ("M0calls", "Mcalls")
