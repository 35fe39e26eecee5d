"""Operations: an action begins one in its transaction; a worker ends it when the change is done."""

from django.utils import timezone

from controlplane.core.models import Operation


def begin(
    *, tenant_id: str, kind: str, subject: tuple[str, str, str], generation: int
) -> Operation:
    """Return a running operation that brings ``subject`` (type, id, name) to ``generation``."""
    subject_type, subject_id, subject_name = subject
    return Operation.objects.create(
        tenant_id=tenant_id,
        kind=kind,
        subject_type=subject_type,
        subject_id=subject_id,
        subject_name=subject_name,
        target_generation=generation,
    )


def succeed(subject_type: str, subject_id: str, *, up_to_generation: int) -> int:
    """End the subject's running operations whose target generation has been reached."""
    return Operation.objects.filter(
        subject_type=subject_type,
        subject_id=subject_id,
        state=Operation.State.RUNNING,
        target_generation__lte=up_to_generation,
    ).update(state=Operation.State.SUCCEEDED, finished_at=timezone.now())


def fail(subject_type: str, subject_id: str, *, code: str, message: str) -> int:
    """End the subject's running operations as failed; a tenant can act on ``message``."""
    return Operation.objects.filter(
        subject_type=subject_type, subject_id=subject_id, state=Operation.State.RUNNING
    ).update(
        state=Operation.State.FAILED,
        finished_at=timezone.now(),
        error_code=code,
        error_message=message,
    )


def progress(subject_type: str, subject_id: str, steps: list[dict[str, str]]) -> None:
    """Replace the visible steps ({name, state, message}) of the subject's running operations."""
    Operation.objects.filter(
        subject_type=subject_type, subject_id=subject_id, state=Operation.State.RUNNING
    ).update(steps=steps)
