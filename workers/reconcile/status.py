"""Write down what a pass found: phases, conditions, observed generations, operations.

Only the holder of the space's lease calls this. It writes rows that differ and no others, so that a
pass over a settled space changes nothing but the time of the pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from controlplane.core import operations, phases
from controlplane.core.phases import Condition, Phase
from tenants.models import Address, AddressSpace, MessagingUser, SpaceSecret
from workers.reconcile import meshing
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Problem, Work

StepState = dict[str, str]
_FAILED = "reconcile.failed"
_CRASHED = (
    "Waypost met an error of its own here and tries again by itself. Your operator finds it in the "
    "log of the workers, under the id of this space."
)
_SPACE, _ADDRESS, _USER = "address_space", "address", "messaging_user"


@dataclass(frozen=True)
class _Ready:
    """The Ready condition in parts; ``failed``: waiting will not help."""

    ok: bool
    reason: str
    message: str
    failed: bool = False


def describe(step_name: str, outcome: Outcome) -> StepState:
    """Return one step as an operation shows it."""
    if isinstance(outcome, Done):
        return {"name": step_name, "state": "done", "message": outcome.message}
    if isinstance(outcome, Wait):
        return {"name": step_name, "state": "waiting", "message": outcome.reason}
    return {"name": step_name, "state": "failed", "message": outcome.message}


@transaction.atomic
def record(work: Work, outcome: Outcome, steps: Sequence[StepState]) -> None:
    """Record the pass. Conditional on nothing: the caller holds the lease."""
    if work.space.deletion_requested_at is not None:
        _record_teardown(work, outcome, steps)
        return
    ready = _readiness(outcome)
    for address in work.wanted_addresses:
        _record_address(work, address, ready, steps)
    for address in work.leaving_addresses:
        _record_leaving(work, address, steps)
    for user in work.users:
        _record_user(work, user, ready, steps)
    if work.probed and work.full:
        Address.objects.filter(
            id__in=[each.id for each in work.wanted_addresses if each.id not in work.problems]
        ).update(probed_at=work.now)
    _record_space(work, ready, steps)


def record_crash(held: QuerySet[AddressSpace, AddressSpace], now: datetime) -> None:
    """Say of a space that its passes end in an error that nobody expected. Idempotent.

    ``held`` holds the row while the caller holds the lease, and is empty otherwise.
    """
    for space in held:
        ready = _Ready(False, "PassFailed", _CRASHED, failed=True)
        fields = _status(space, ready, now, failed=True)
        if space.deletion_requested_at is not None:
            fields["phase"] = Phase.TERMINATING
        held.update(**fields)


def _readiness(outcome: Outcome) -> _Ready:
    if isinstance(outcome, Done):
        return _Ready(True, "Works", "A message went through.")
    if isinstance(outcome, Wait):
        reason, _, detail = outcome.reason.partition(": ")
        return _Ready(False, reason, detail or "We are working on it; nothing is needed from you.")
    return _Ready(False, outcome.reason, outcome.message, failed=True)


def _record_space(work: Work, ready: _Ready, steps: Sequence[StepState]) -> None:
    space = work.space
    fields = _status(space, ready, work.now, failed=ready.failed)
    if ready.ok:
        # The release that this pass went by: another one may have been asked for meanwhile.
        fields["observed_release_id"] = space.release_id
    conditions = _with_certificate(work, meshing.with_routers(work, fields["conditions"]))
    fields["conditions"] = _with_reachable(work, conditions)
    _save(space, fields)
    _end_or_show(_SPACE, space, ready, steps, None)


def _with_certificate(work: Work, conditions: list[Condition]) -> list[Condition]:
    """Return the conditions with one about the certificate that clients are shown.

    Unchanged where this pass did not look at it.
    """
    found = work.certificate
    if found is None:
        return conditions
    status: phases.Status = "True" if found.ok else "False"
    new = phases.build_condition("Certificate", status, found.reason, found.message, work.now)
    return phases.with_condition(conditions, new)


def _with_reachable(work: Work, conditions: list[Condition]) -> list[Condition]:
    """Return the conditions with one for what keeps clients outside from the space, if anything.

    Apart from Ready, which rollouts, metering and the space's addresses go by: inside the cluster
    the space serves. Unchanged where this pass did not come to ask.
    """
    if work.endpoint_trouble is None:
        return conditions
    if not work.endpoint_trouble:
        return [each for each in conditions if each["type"] != phases.REACHABLE]
    message = work.endpoint_trouble
    new = phases.build_condition(phases.REACHABLE, "False", "EndpointPending", message, work.now)
    return phases.with_condition(conditions, new)


def _record_address(
    work: Work, address: Address, ready: _Ready, steps: Sequence[StepState]
) -> None:
    problem = work.problems.get(address.id)
    is_changed = address.generation > address.observed_generation
    if problem is not None:
        ready = _Ready(False, problem.reason, problem.message)
    is_final = problem is not None and problem.final
    fields = _status(address, ready, work.now, failed=is_final)
    if is_final:
        # A final refusal is an answer to this generation too; only a change can bring another.
        fields["observed_generation"] = address.generation
    if ready.ok and (is_changed or address.probed_at is None):
        fields["probed_at"] = work.now
    _save(address, fields)
    if is_changed:
        _end_or_show(_ADDRESS, address, ready, steps, problem)


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


def _record_leaving(work: Work, address: Address, steps: Sequence[StepState]) -> None:
    if address.id in work.gone:
        _end(_ADDRESS, address, work.now)
        return
    _save(address, {"phase": Phase.TERMINATING})
    operations.progress(_ADDRESS, address.id, list(steps))


def _record_user(
    work: Work, user: MessagingUser, ready: _Ready, steps: Sequence[StepState]
) -> None:
    if user.deletion_requested_at is not None:
        if ready.ok:
            _end(_USER, user, work.now)
        else:
            _save(user, {"phase": Phase.TERMINATING})
        return
    is_changed = user.generation > user.observed_generation
    _save(user, _status(user, ready, work.now, failed=False))
    if is_changed:
        _end_or_show(_USER, user, ready, steps, None)


def _status(
    row: AddressSpace | Address | MessagingUser, ready: _Ready, now: datetime, *, failed: bool
) -> dict[str, Any]:
    """Return the status fields of a row that is wanted."""
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
    is_settled = row.generation <= row.observed_generation
    return Phase.ACTIVE if is_settled and row.phase == Phase.ACTIVE else Phase.CONFIGURING


def _record_teardown(work: Work, outcome: Outcome, steps: Sequence[StepState]) -> None:
    if not isinstance(outcome, Done):
        ready = _readiness(outcome)
        is_bare = isinstance(outcome, Wait) and outcome.reason == ready.reason
        message = f"{ready.reason}: {ready.message}" if is_bare else ready.message
        condition = phases.build_condition("Ready", "False", "Terminating", message, work.now)
        conditions = phases.with_condition(work.space.conditions, condition)
        _save(work.space, {"phase": Phase.TERMINATING, "conditions": conditions})
        operations.progress(_SPACE, work.space.id, list(steps))
        return
    for address in work.addresses:
        _end(_ADDRESS, address, work.now)
    for user in work.users:
        _end(_USER, user, work.now)
    SpaceSecret.objects.filter(space=work.space).delete()
    operations.progress(_SPACE, work.space.id, list(steps))
    _end(_SPACE, work.space, work.now)


def _end(kind: str, row: AddressSpace | Address | MessagingUser, now: datetime) -> None:
    """Mark a row deleted; it stays, because what it used is still billed."""
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
    if changed:
        type(row).objects.filter(pk=row.pk).update(**changed)
