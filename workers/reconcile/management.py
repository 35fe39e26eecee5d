"""Combine a driver with how to reach the brokers or routers of one space."""

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

    ``is_just_silent``: an instance of the space stopped answering the sampler a few seconds ago.
    """

    locator: Locator
    session: Session
    keys: SpaceKeys
    is_just_silent: bool = False

    def of(self, name: str) -> ManagementTarget:
        """Return how to reach the management listener of instance ``name``.

        It writes Waypost's client certificate to files, whose paths are in the result. It does not
        connect.

        Raises:
            InfraError: the platform does not answer.
            KeyError: the space has no client certificate yet.
            Unavailable: ``secret.key_missing``: the certificate's key cannot be decrypted.
        """
        credentials = Credentials.of(self.keys.rows)
        return self.locator.locate(self.session, InstanceId.parse(name), credentials)


DriverT = TypeVar("DriverT", bound=Brokers | Routers)


@dataclass(frozen=True)
class Managed(Generic[DriverT]):
    """The brokers or the routers of one space: ``driver``, and ``targets`` to call it with."""

    driver: DriverT
    targets: Targets

    def answers(self, name: str) -> bool:
        """Return whether instance ``name`` answers a request for its incarnation within 5 s.

        It has only 2 s if an instance has just stopped answering the sampler. So a process that
        hangs soon shows in the status of the space. Errors other than ``Unreachable`` propagate.
        """
        seconds = _SILENT_SECONDS if self.targets.is_just_silent else _ANSWER_SECONDS
        try:
            self.driver.find_incarnation(self.targets.of(name), timeout_seconds=seconds)
        except Unreachable:
            return False
        return True


ManagedBrokers = Managed[Brokers]
ManagedRouters = Managed[Routers]
