"""Management of one space's brokers and routers: the drivers, and how to reach each instance."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from controlplane.core.instance_names import InstanceId
from workers.infra.base import Session
from workers.instances import Credentials, Locator
from workers.messaging.management import Unreachable
from workers.messaging.observed import ManagementTarget
from workers.reconcile.ports import Brokers, Routers
from workers.reconcile.space_keys import SpaceKeys

_ANSWER_SECONDS, _SILENT_SECONDS = 5.0, 2.0


@dataclass(frozen=True)
class Targets:
    """Finds the management listener of each instance of the space that ``session`` is for.

    ``is_just_silent``: the sampler got no answer from an instance of the space a moment ago.
    """

    locator: Locator
    session: Session
    keys: SpaceKeys
    is_just_silent: bool = False

    def of(self, name: str) -> ManagementTarget:
        """Return host and port of an instance's management listener, and the client certificate.

        Raises:
            InfraError: the platform does not answer.
            KeyError: the space has no client certificate yet.
        """
        credentials = Credentials.of(self.keys.rows)
        return self.locator.locate(self.session, InstanceId.parse(name), credentials)


DriverT = TypeVar("DriverT", bound=Brokers | Routers)


@dataclass(frozen=True)
class Managed(Generic[DriverT]):
    """The brokers or the routers of one space: the driver, and where it reaches each instance."""

    driver: DriverT
    targets: Targets

    def answers(self, name: str) -> bool:
        """Return whether the instance answers a request for its incarnation.

        It has less time if the sampler got no answer a moment ago. So a process that hangs shows in
        the status soon.
        """
        seconds = _SILENT_SECONDS if self.targets.is_just_silent else _ANSWER_SECONDS
        try:
            self.driver.find_incarnation(self.targets.of(name), timeout_seconds=seconds)
        except Unreachable:
            return False
        return True


ManagedBrokers = Managed[Brokers]
ManagedRouters = Managed[Routers]
