"""What clients counted at different times is one count in the end."""

from controlplane.demo.exchanges import SpaceCount
from workers.messaging.counting_client import Tally


def test_a_later_count_adds_up_and_the_peak_stays_the_larger() -> None:
    count = SpaceCount({"orders": Tally(200, 200, 0, 4, 8.0)}, Tally(connections=1), peak=4)

    count.include(
        SpaceCount({"orders": Tally(50, 50, 0, 2, 1.0), "new": Tally(1, 0, 0, 1, 0.5)}, peak=3)
    )

    assert count.by_address == {
        "orders": Tally(250, 250, 0, 6, 9.0),
        "new": Tally(1, 0, 0, 1, 0.5),
    }
    assert (count.connections, count.peak) == (8, 4)
