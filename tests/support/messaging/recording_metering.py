"""A stand-in for metering in tests of real brokers and routers."""

from collections.abc import Sequence

from workers.reconcile.ports import Metering


class RecordingMetering(Metering):
    """Remembers what it was asked to sample last."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Sequence[str] | None]] = []

    def last_sample(self, space_id: str, addresses: Sequence[str] | None) -> bool:
        self.asked.append((space_id, addresses))
        return True

    def before_restart(self, space_id: str, instance: str) -> bool:
        self.asked.append((space_id, [instance]))
        return True
