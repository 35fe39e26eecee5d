"""Store the findings of a pass: phases, conditions, observed generations, operations.

Only the holder of the space's lease calls this. It updates only rows whose status differs, except
that each pass which probed all addresses stores when it did (``probed_at``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from controlplane.core import operations, phases
from controlplane.core.causes import Cause
from controlplane.core.phases import Condition, Phase
from controlplane.core.reasons import ENGINE_DOWN, Reason
from tenants.models import (
    Address,
    AddressSpace,
    ClientConnection,
    InstanceConnections,
    MessagingUser,
    SpaceSecret,
)
from workers.reconcile import meshing
from workers.reconcile.findings import Problem
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.report import PassReport, StepState
from workers.reconcile.space_rows import SpaceRows

_FAILED = "reconcile.failed"
_CRASHED = (
    "An internal error of Waypost stops the work on this space. Waypost tries again by itself. "
    "Your operator finds the error in the log of the workers, under the id of this space."
)
_WORKING = "Waypost is working on it. You need not do anything."
_UNREACHABLE = (
    "Clients outside the platform cannot reach this space; those inside can. "
    "Your operator sees why."
)
_SPACE, _ADDRESS, _USER = "address_space", "address", "messaging_user"


@dataclass(frozen=True)
class _Ready:
    """The content of the condition ``Ready`` of a space, an address or a user.

    ``failed``: the condition stays False until somebody changes something.
    """

    ok: bool
    reason: Reason
    message: str
    failed: bool = False
    detail: str = ""
    cause: Cause = Cause.NONE

    @classmethod
    def of(cls, outcome: Outcome) -> "_Ready":
        if isinstance(outcome, Done):
            return cls(True, Reason.WORKS, "A test message passed through the space.")
        if isinstance(outcome, Wait):
            words = outcome.message or _WORKING
            return cls(False, outcome.reason, words, detail=outcome.detail, cause=outcome.cause)
        return cls(False, outcome.reason, outcome.message, failed=True, detail=outcome.detail)

    def phase_of(self, row: AddressSpace | Address | MessagingUser, *, failed: bool) -> str:
        if self.ok:
            return Phase.ACTIVE
        if failed:
            return Phase.FAILED
        if self.reason in ENGINE_DOWN:
            return Phase.CONFIGURING
        # A row without a pending change stays Active while only the control plane has a problem.
        is_settled = row.generation <= row.observed_generation
        return Phase.ACTIVE if is_settled and row.phase == Phase.ACTIVE else Phase.CONFIGURING


@transaction.atomic
def record(rows: SpaceRows, report: PassReport) -> None:
    """Store the status of the space, its addresses and users after a pass, in one transaction.

    This includes the progress and the end of their operations. If the space is being deleted, store
    how far its deletion is.
    """
    writer = _StatusWriter(rows, report)
    if rows.space.deletion_requested_at is None:
        writer.write()
    else:
        writer.write_deletion()


@dataclass(frozen=True)
class _StatusWriter:
    """Writes the report of one pass to the rows that the pass has read."""

    rows: SpaceRows
    report: PassReport

    def write(self) -> None:
        """Store the status of the space, its addresses and its users.

        Addresses that no broker holds any more, and users whose deletion is done, are marked as
        deleted.
        """
        rows, report = self.rows, self.report
        ready = _Ready.of(report.outcome)
        for address in rows.wanted_addresses:
            self._record_address(address, ready)
        for address in rows.leaving_addresses:
            self._record_leaving(address)
        for user in rows.users:
            self._record_user(user, ready)
        # Such a pass has probed every kind in use, so its probe counts for every address.
        if report.probed and rows.probes_all:
            works = [row.id for row in rows.wanted_addresses if row.id not in report.problems]
            Address.objects.filter(id__in=works).update(probed_at=rows.now)
        self._record_space(ready)

    def write_deletion(self) -> None:
        """Store how far the deletion of the space is.

        Once it is done, mark the space, its addresses and its users as deleted, and delete its
        secrets and the rows of its client connections.
        """
        if not isinstance(self.report.outcome, Done):
            ready = _Ready.of(self.report.outcome)
            # The reason of the condition says that the space is being deleted. So the message names
            # the reason why the deletion is not done.
            message = f"{ready.reason}: {ready.message}"
            condition = phases.build_condition(
                phases.READY, "False", Reason.TERMINATING, message, self.rows.now
            )
            detail = ready.detail and f"{ready.reason}: {ready.detail}"
            condition = phases.with_detail(condition, detail, ready.cause)
            conditions = phases.with_condition(self.rows.space.conditions, condition)
            _save(self.rows.space, {"phase": Phase.TERMINATING, "conditions": conditions})
            operations.progress(_SPACE, self.rows.space.id, list(self.report.steps))
            return
        for address in self.rows.addresses:
            _end(_ADDRESS, address, self.rows.now)
        for user in self.rows.users:
            _end(_USER, user, self.rows.now)
        SpaceSecret.objects.filter(space=self.rows.space).delete()
        ClientConnection.objects.filter(space=self.rows.space).delete()
        InstanceConnections.objects.filter(space=self.rows.space).delete()
        operations.progress(_SPACE, self.rows.space.id, list(self.report.steps))
        _end(_SPACE, self.rows.space, self.rows.now)

    def _record_space(self, ready: _Ready) -> None:
        space = self.rows.space
        fields = _status(space, ready, self.rows.now, failed=ready.failed)
        if ready.ok:
            # The release that this pass used: meanwhile another one may have been assigned.
            fields["observed_release_id"] = space.release_id
        if ready.ok and self.rows.probes_all:
            fields["probed_at"] = self.rows.now
        conditions = meshing.with_routers(self.rows, self.report, fields["conditions"])
        conditions = self._with_certificate(conditions)
        fields["conditions"] = self._with_reachable(conditions)
        _save(space, fields)
        _end_or_show(_SPACE, space, ready, self.report.steps, None)

    def _with_certificate(self, conditions: list[Condition]) -> list[Condition]:
        """Return the conditions with ``Certificate``, about the certificate that clients see.

        Unchanged if the pass had nothing to report about the certificate.
        """
        found = self.report.certificate
        if found is None:
            return conditions
        status: phases.Status = "True" if found.ok else "False"
        new = phases.build_condition(
            "Certificate", status, found.reason, found.message, self.rows.now
        )
        return phases.with_condition(conditions, new)

    def _with_reachable(self, conditions: list[Condition]) -> list[Condition]:
        """Return the conditions with ``Reachable``: clients outside the cluster cannot connect.

        The status of ``Reachable`` is always False. Without it if they can connect; unchanged if
        this pass did not read the endpoint. ``Reachable`` is not part of Ready, because rollouts,
        metering and addresses depend on Ready, and the space does serve inside the cluster.
        """
        if self.report.endpoint_trouble is None:
            return conditions
        if not self.report.endpoint_trouble:
            return [condition for condition in conditions if condition["type"] != phases.REACHABLE]
        new = phases.build_condition(
            phases.REACHABLE, "False", Reason.ENDPOINT_PENDING, _UNREACHABLE, self.rows.now
        )
        new = phases.with_detail(new, self.report.endpoint_trouble)
        return phases.with_condition(conditions, new)

    def _record_address(self, address: Address, ready: _Ready) -> None:
        problem = self.report.problems.get(address.id)
        is_changed = address.generation > address.observed_generation
        # Only this address is not ready: the space and its other addresses do not wait for it.
        if problem is not None:
            ready = _Ready(False, problem.reason, problem.message)
        is_final = problem is not None and problem.final
        fields = _status(address, ready, self.rows.now, failed=is_final)
        if is_final:
            # Only another change can solve a final problem, so this generation is settled too.
            fields["observed_generation"] = address.generation
        if ready.ok and (is_changed or address.probed_at is None):
            fields["probed_at"] = self.rows.now
        _save(address, fields)
        if is_changed:
            _end_or_show(_ADDRESS, address, ready, self.report.steps, problem)

    def _record_leaving(self, address: Address) -> None:
        if address.id in self.report.gone:
            _end(_ADDRESS, address, self.rows.now)
            return
        _save(address, {"phase": Phase.TERMINATING})
        operations.progress(_ADDRESS, address.id, list(self.report.steps))

    def _record_user(self, user: MessagingUser, ready: _Ready) -> None:
        if user.deletion_requested_at is not None:
            # The pass is done: no instance knows the user any more, and its connections are closed.
            if ready.ok:
                _end(_USER, user, self.rows.now)
            else:
                _save(user, {"phase": Phase.TERMINATING})
            return
        is_changed = user.generation > user.observed_generation
        _save(user, _status(user, ready, self.rows.now, failed=False))
        if is_changed:
            _end_or_show(_USER, user, ready, self.report.steps, None)


def record_crash(claimed: QuerySet[AddressSpace, AddressSpace], now: datetime) -> None:
    """Show in the status of a space that its passes crash with an unexpected error. Idempotent.

    ``claimed`` selects the space's row while the caller holds the lease, and no row otherwise.
    """
    for space in claimed:
        ready = _Ready(False, Reason.PASS_FAILED, _CRASHED, failed=True)
        fields = _status(space, ready, now, failed=True)
        if space.deletion_requested_at is not None:
            fields["phase"] = Phase.TERMINATING
        claimed.update(**fields)


def _end_or_show(
    kind: str,
    row: AddressSpace | Address | MessagingUser,
    ready: _Ready,
    steps: Sequence[StepState],
    problem: Problem | None,
) -> None:
    """Show the steps in the running operations of a row.

    End these operations if the row is ready or failed. A final ``problem`` of an address counts as
    failed.
    """
    operations.progress(kind, row.id, list(steps))
    if problem is not None and problem.final:
        operations.fail(kind, row.id, code="address.not_possible", message=problem.message)
    elif ready.failed:
        operations.fail(kind, row.id, code=_FAILED, message=ready.message)
    elif ready.ok:
        operations.succeed(kind, row.id, up_to_generation=row.generation)


def _status(
    row: AddressSpace | Address | MessagingUser, ready: _Ready, now: datetime, *, failed: bool
) -> dict[str, Any]:
    """Return the new values of the status columns of a row that is not to be deleted."""
    condition = phases.build_condition(
        phases.READY, "True" if ready.ok else "False", ready.reason, ready.message, now
    )
    condition = phases.with_detail(condition, ready.detail, ready.cause)
    fields: dict[str, Any] = {
        "conditions": phases.with_condition(row.conditions, condition),
        "phase": ready.phase_of(row, failed=failed),
    }
    if ready.ok:
        fields["observed_generation"] = row.generation
        fields["active_since"] = row.active_since or now
    return fields


def _end(kind: str, row: AddressSpace | Address | MessagingUser, now: datetime) -> None:
    """Mark a row as deleted, delete its placements and end its operations with success.

    The row itself stays, because its usage is still to be billed.
    """
    placements = getattr(row, "placements", None)
    if placements is not None:
        placements.all().delete()
    _save(
        row,
        {
            "phase": Phase.TERMINATING,
            "deletion_requested_at": row.deletion_requested_at or now,
            "deleted_at": now,
            "observed_generation": row.generation,
        },
    )
    operations.succeed(kind, row.id, up_to_generation=row.generation)


def _save(row: AddressSpace | Address | MessagingUser, fields: dict[str, Any]) -> None:
    changed = {name: value for name, value in fields.items() if getattr(row, name) != value}
    # ``update`` instead of ``save``: it cannot undo a change that a request makes meanwhile, and it
    # leaves ``updated_at``, by which ``desired_routers`` knows when logins were last changed.
    if changed:
        type(row).objects.filter(pk=row.pk).update(**changed)
