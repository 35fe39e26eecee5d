"""Begin and end operations, the rows that show API callers how far a long-running change is.

An action begins an operation in its own transaction. A worker ends it when the work is done. A
subject (a space, an address, ...) may have several running operations. ``fail`` and ``progress``
change all of them, ``succeed`` those that have reached their target.
"""

from collections.abc import Collection, Mapping, Sequence

from django.utils import timezone

from controlplane.core import row_updates
from controlplane.core.audit import Actor
from controlplane.core.models import Operation


def begin(
    *,
    tenant_id: str,
    kind: str,
    subject: tuple[str, str, str],
    generation: int,
    by: Actor,
    restarts: Sequence[str] | None = None,
) -> Operation:
    """Create and return a running operation on ``subject``, a triple of type, id and name.

    ``kind`` is a slug such as ``address.create``. ``generation`` is the target: ``succeed`` ends
    the operation when the workers have applied this generation of the subject. For a subject
    without generations it is 1. If ``by`` is a token, it may read the operation without the
    permission ``view``. ``restarts``: the names of the instances that restart for the change; None
    if the action does not know.
    """
    subject_type, subject_id, subject_name = subject
    return Operation.objects.create(
        tenant_id=tenant_id,
        kind=kind,
        subject_type=subject_type,
        subject_id=subject_id,
        subject_name=subject_name,
        target_generation=generation,
        token_id=by.token_id,
        restarts=None if restarts is None else list(restarts),
    )


def succeed(subject_type: str, subject_id: str, *, up_to_generation: int) -> int:
    """End the subject's running operations with a target up to ``up_to_generation`` as succeeded.

    Operations with a higher target go on running. Returns how many were ended.
    """
    return Operation.objects.filter(
        subject_type=subject_type,
        subject_id=subject_id,
        state=Operation.State.RUNNING,
        target_generation__lte=up_to_generation,
    ).update(state=Operation.State.SUCCEEDED, finished_at=timezone.now())


def begin_each(kind: str, subjects: Mapping[tuple[str, str, str], str]) -> None:
    """Begin an operation on each of ``subjects`` without generations, by one statement.

    ``subjects`` maps the triple of type, id and name to the id of the tenant.
    """
    Operation.objects.bulk_create(
        Operation(
            tenant_id=tenant_id,
            kind=kind,
            subject_type=subject_type,
            subject_id=subject_id,
            subject_name=name,
            target_generation=1,
        )
        for (subject_type, subject_id, name), tenant_id in subjects.items()
    )


def running(subject_type: str, subject_ids: Collection[str]) -> list[Operation]:
    """Return the running operations of the subjects."""
    return list(
        Operation.objects.filter(
            subject_type=subject_type,
            subject_id__in=subject_ids,
            state=Operation.State.RUNNING,
        )
    )


def succeed_each(subject_type: str, subject_ids: Collection[str]) -> int:
    """End the running operations of many subjects without generations; return how many."""
    rows = Operation.objects.filter(
        subject_type=subject_type, subject_id__in=subject_ids, state=Operation.State.RUNNING
    )
    return rows.update(state=Operation.State.SUCCEEDED, finished_at=timezone.now())


def fail_each(subject_type: str, errors: Mapping[str, tuple[str, str]]) -> None:
    """End the running operations of many subjects as failed, in two queries.

    ``errors`` maps the id of the subject to the code and the message that the tenant sees.
    """
    rows, now = running(subject_type, errors), timezone.now()
    for row in rows:
        row.state, row.finished_at = Operation.State.FAILED, now
        row.error_code, row.error_message = errors[row.subject_id]
    row_updates.save(rows, ["state", "error_code", "error_message", "finished_at"])


def fail(subject_type: str, subject_id: str, *, code: str, message: str) -> int:
    """End all running operations of the subject as failed; return how many were ended.

    Their target does not matter. The tenant sees ``code`` and ``message``.
    """
    return Operation.objects.filter(
        subject_type=subject_type, subject_id=subject_id, state=Operation.State.RUNNING
    ).update(
        state=Operation.State.FAILED,
        finished_at=timezone.now(),
        error_code=code,
        error_message=message,
    )


def progress(
    subject_type: str,
    subject_id: str,
    steps: list[dict[str, str]],
    *,
    messages_changed: int | None = None,
) -> None:
    """Replace the list of steps that all running operations of the subject show.

    A step is {name, state, message}; its state is ``done``, ``running``, ``waiting`` or ``failed``.
    ``messages_changed`` is stored unless it is None.
    """
    count = {} if messages_changed is None else {"messages_changed": messages_changed}
    Operation.objects.filter(
        subject_type=subject_type, subject_id=subject_id, state=Operation.State.RUNNING
    ).update(steps=steps, **count)
