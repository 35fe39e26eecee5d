"""Holds the participants and the state of one run of the demonstration."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from controlplane.core.accounts import OPERATOR_EMAIL
from controlplane.demo.bills import Sampling
from controlplane.demo.comparisons import Comparisons
from controlplane.demo.customers import Customer, Operator
from controlplane.demo.exchanges import Exchange, SpaceCount
from controlplane.demo.narrator import Narrator
from controlplane.embedded.identity_provider import Person
from controlplane.embedded.installation import Installation
from controlplane.rest_client import Json


@dataclass
class Cast:
    """The state of one run; chapters read and fill it.

    The keys of ``exchanges`` and ``counts`` are (slug of the tenant, name of the space). The keys
    of ``invoices`` are slugs of tenants. ``interval_seconds`` is how often Waypost samples.
    """

    narrator: Narrator
    root: Path
    interval_seconds: int
    installation: Installation | None = None
    is_started: bool = False  # this run must stop what runs in the folder ``root``
    supervisor_pid: int = 0  # the pid of the supervisord that this run started; 0: not known yet
    person: Person | None = None  # the user of the identity provider, with --oidc
    began_at: datetime | None = None
    customers: list[Customer] = field(default_factory=list)
    exchanges: dict[tuple[str, str], Exchange] = field(default_factory=dict)
    counts: dict[tuple[str, str], SpaceCount] = field(default_factory=dict)
    invoices: dict[str, Json] = field(default_factory=dict)
    comparisons: Comparisons = field(default_factory=Comparisons)

    def take(self) -> None:
        """Record that from now on this run must stop what runs in the folder ``root``."""
        self.is_started = True

    @property
    def up(self) -> Installation:
        """The running installation; fails before ``story.run`` has started it."""
        assert self.installation is not None, "chapters run after the start"
        return self.installation

    @property
    def sampling(self) -> Sampling:
        """How often Waypost samples connections in this run, for the bound of a comparison."""
        return Sampling(self.interval_seconds)

    def operator(self) -> Operator:
        """Log in as the operator; return an object that acts over the API as the operator."""
        password = self.up.secrets.operator_password
        return Operator(self.up.url, OPERATOR_EMAIL, password)

    def counts_of(self, customer: Customer) -> dict[str, SpaceCount]:
        """Return {name of the space: what its clients counted} of one tenant."""
        return {
            space: count for (slug, space), count in self.counts.items() if slug == customer.slug
        }

    def close_traffic(self) -> None:
        """Close every connection of ``exchanges`` that is still open. Idempotent."""
        for exchange in self.exchanges.values():
            exchange.close()
