"""Store the findings of a pass: phases, conditions, observed generations, operations.

Only the holder of the space's lease calls this. It writes only rows that differ, so a pass over a
settled space changes nothing but the time of the pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from controlplane.core import operations, phases
from controlplane.core.phases import Condition, Phase
from controlplane.core.reasons import Reason
from tenants.models import Address, AddressSpace, MessagingUser, SpaceSecret
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
_SPACE, _ADDRESS, _USER = "address_space", "address", "messaging_user"


@dataclass(frozen=True)
class _Ready:
    """The parts of the Ready condition. ``failed``: waiting will not help."""

    ok: bool
    reason: Reason
    message: str
    failed: bool = False


@transaction.atomic
def record(rows: SpaceRows, report: PassReport) -> None:
    """Store the outcome of a pass. The caller holds the lease."""
    if rows.space.deletion_requested_at is not None:
        _record_teardown(rows, report)
        return
    ready = _readiness(report.outcome)
    for address in rows.wanted_addresses:
        _record_address(rows, report, address, ready)
    for address in rows.leaving_addresses:
        _record_leaving(rows, report, address)
    for user in rows.users:
        _record_user(rows, report, user, ready)
    # A full pass has probed every kind in use, so its probe counts for every address.
    if report.probed and rows.full:
        Address.objects.filter(
            id__in=[
                address.id for address in rows.wanted_addresses if address.id not in report.problems
            ]
        ).update(probed_at=rows.now)
    _record_space(rows, report, ready)


def record_crash(claimed: QuerySet[AddressSpace, AddressSpace], now: datetime) -> None:
    """Store in a space that its passes crash with an unexpected error. Idempotent.

    ``claimed`` selects the row only while the caller holds the lease, and is empty otherwise.
    """
    for space in claimed:
        ready = _Ready(False, Reason.PASS_FAILED, _CRASHED, failed=True)
        fields = _status(space, ready, now, failed=True)
        if space.deletion_requested_at is not None:
            fields["phase"] = Phase.TERMINATING
        claimed.update(**fields)


def _readiness(outcome: Outcome) -> _Ready:
    if isinstance(outcome, Done):
        return _Ready(True, Reason.WORKS, "A test message passed through the space.")
    if isinstance(outcome, Wait):
        return _Ready(False, outcome.reason, outcome.message or _WORKING)
    return _Ready(False, outcome.reason, outcome.message, failed=True)


def _record_space(rows: SpaceRows, report: PassReport, ready: _Ready) -> None:
    space = rows.space
    fields = _status(space, ready, rows.now, failed=ready.failed)
    if ready.ok:
        # The release that this pass used: meanwhile another one may have been assigned.
        fields["observed_release_id"] = space.release_id
    conditions = meshing.with_routers(rows, report, fields["conditions"])
    conditions = _with_certificate(rows, report, conditions)
    fields["conditions"] = _with_reachable(rows, report, conditions)
    _save(space, fields)
    _end_or_show(_SPACE, space, ready, report.steps, None)


def _with_certificate(
    rows: SpaceRows, report: PassReport, conditions: list[Condition]
) -> list[Condition]:
    """Return the conditions with ``Certificate``, about the certificate that clients see.

    Unchanged if this pass has nothing to report of it.
    """
    found = report.certificate
    if found is None:
        return conditions
    status: phases.Status = "True" if found.ok else "False"
    new = phases.build_condition("Certificate", status, found.reason, found.message, rows.now)
    return phases.with_condition(conditions, new)


def _with_reachable(
    rows: SpaceRows, report: PassReport, conditions: list[Condition]
) -> list[Condition]:
    """Return the conditions with ``Reachable`` if clients outside the cluster cannot connect.

    This is not part of Ready, because rollouts, metering and addresses depend on Ready, and the
    space does serve inside the cluster. Unchanged if this pass did not get as far as the endpoint.
    """
    if report.endpoint_trouble is None:
        return conditions
    if not report.endpoint_trouble:
        return [condition for condition in conditions if condition["type"] != phases.REACHABLE]
    message = report.endpoint_trouble
    new = phases.build_condition(
        phases.REACHABLE, "False", Reason.ENDPOINT_PENDING, message, rows.now
    )
    return phases.with_condition(conditions, new)


def _record_address(rows: SpaceRows, report: PassReport, address: Address, ready: _Ready) -> None:
    problem = report.problems.get(address.id)
    is_changed = address.generation > address.observed_generation
    # A problem is the address's own: the space and its other addresses become ready without it.
    if problem is not None:
        ready = _Ready(False, problem.reason, problem.message)
    is_final = problem is not None and problem.final
    fields = _status(address, ready, rows.now, failed=is_final)
    if is_final:
        # A final problem settles this generation too: only another change can solve it.
        fields["observed_generation"] = address.generation
    if ready.ok and (is_changed or address.probed_at is None):
        fields["probed_at"] = rows.now
    _save(address, fields)
    if is_changed:
        _end_or_show(_ADDRESS, address, ready, report.steps, problem)


def _end_or_show(
    kind: str,
    row: AddressSpace | Address | MessagingUser,
    ready: _Ready,
    steps: Sequence[StepState],
    problem: Problem | None,
) -> None:
    operations.progress(kind, row.id, list(steps))
    if problem is not None and problem.final:
        operations.fail(kind, row.id, code="address.not_possible", message=problem.message)
    elif ready.failed:
        operations.fail(kind, row.id, code=_FAILED, message=ready.message)
    elif ready.ok:
        operations.succeed(kind, row.id, up_to_generation=row.generation)


def _record_leaving(rows: SpaceRows, report: PassReport, address: Address) -> None:
    if address.id in report.gone:
        _end(_ADDRESS, address, rows.now)
        return
    _save(address, {"phase": Phase.TERMINATING})
    operations.progress(_ADDRESS, address.id, list(report.steps))


def _record_user(rows: SpaceRows, report: PassReport, user: MessagingUser, ready: _Ready) -> None:
    if user.deletion_requested_at is not None:
        # The pass is done: no instance knows the user any more, and its connections are closed.
        if ready.ok:
            _end(_USER, user, rows.now)
        else:
            _save(user, {"phase": Phase.TERMINATING})
        return
    is_changed = user.generation > user.observed_generation
    _save(user, _status(user, ready, rows.now, failed=False))
    if is_changed:
        _end_or_show(_USER, user, ready, report.steps, None)


def _status(
    row: AddressSpace | Address | MessagingUser, ready: _Ready, now: datetime, *, failed: bool
) -> dict[str, Any]:
    """Return the status fields of a row that is not to be deleted."""
    condition = phases.build_condition(
        "Ready", "True" if ready.ok else "False", ready.reason, ready.message, now
    )
    fields: dict[str, Any] = {
        "conditions": phases.with_condition(row.conditions, condition),
        "phase": _phase(row, ready, failed=failed),
    }
    if ready.ok:
        fields["observed_generation"] = row.generation
        fields["active_since"] = row.active_since or now
    return fields


def _phase(row: AddressSpace | Address | MessagingUser, ready: _Ready, *, failed: bool) -> str:
    if ready.ok:
        return Phase.ACTIVE
    if failed:
        return Phase.FAILED
    # A row without a pending change stays Active through a passing problem.
    is_settled = row.generation <= row.observed_generation
    return Phase.ACTIVE if is_settled and row.phase == Phase.ACTIVE else Phase.CONFIGURING


def _record_teardown(rows: SpaceRows, report: PassReport) -> None:
    if not isinstance(report.outcome, Done):
        ready = _readiness(report.outcome)
        # The condition's own reason says that the space is being deleted, so the message names why
        # that waits.
        message = f"{ready.reason}: {ready.message}"
        condition = phases.build_condition("Ready", "False", Reason.TERMINATING, message, rows.now)
        conditions = phases.with_condition(rows.space.conditions, condition)
        _save(rows.space, {"phase": Phase.TERMINATING, "conditions": conditions})
        operations.progress(_SPACE, rows.space.id, list(report.steps))
        return
    for address in rows.addresses:
        _end(_ADDRESS, address, rows.now)
    for user in rows.users:
        _end(_USER, user, rows.now)
    SpaceSecret.objects.filter(space=rows.space).delete()
    operations.progress(_SPACE, rows.space.id, list(report.steps))
    _end(_SPACE, rows.space, rows.now)


def _end(kind: str, row: AddressSpace | Address | MessagingUser, now: datetime) -> None:
    """Mark a row as deleted. The row stays, because its usage is still to be billed."""
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
