"""Read what a peer's attach asks for, and refuse it. Called by ``router``."""

from typing import Any

from proton import Array, Condition, Data, Link, Terminus


class Attach:
    """Reads the attach of a link by a peer, and can refuse it.

    ``proton`` is the router's side of the link: it is a sender if the client receives.
    """

    def __init__(self, proton: Link) -> None:
        self.proton = proton

    @property
    def terminus(self) -> Terminus:
        """The node that the client wants: the source if the client receives, else the target."""
        return self.proton.remote_source if self.proton.is_sender else self.proton.remote_target

    @property
    def browses_or_filters(self) -> bool:
        """Whether a receiving client wants copies of messages (to browse), or sets any filter."""
        source = self.proton.remote_source
        # ``Data`` of proton is a cursor, and an earlier reader may have moved it.
        source.filter.rewind()
        return source.distribution_mode == Terminus.DIST_MODE_COPY or bool(source.filter.next())

    @property
    def capabilities(self) -> set[str]:
        """The capabilities that the client requests of the node, without the phase.

        For example ``qd.waypoint`` for ``qd.waypoint.2``.
        """
        found = self._first(self.terminus.capabilities)
        names = found.elements if isinstance(found, Array) else [found]
        return {".".join(str(name).split(".")[:2]) for name in names}

    @property
    def address_property(self) -> str:
        """The address by which the client wants a dynamic node to be routed; empty without one.

        As in Dispatch, no permission is checked for this address.
        """
        found = self._first(self.terminus.properties) if self.terminus.dynamic else None
        return str((found or {}).get("x-opt-qd.address", ""))

    def refuse(self, condition: Condition) -> None:
        """Attach without a terminus, then detach with the reason (AMQP part 2 section 2.6.3)."""
        proton = self.proton
        terminus = proton.source if proton.is_sender else proton.target
        terminus.type = Terminus.UNSPECIFIED
        proton.open()
        proton.condition = condition
        proton.close()

    @staticmethod
    def _first(data: Data) -> Any:
        data.rewind()
        return data.get_object() if data.next() else None
