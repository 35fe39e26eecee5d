"""Changes of a tenant: what they print, how they are carried out, what a failure leaves behind."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from controlplane.cli import labels, output
from controlplane.core.errors import Conflict, WaypostError
from controlplane.rest_client import Api, Json, segment

_GOING = "Terminating"
# What a change does -> the sign before its line.
_SIGNS = {"create": "+", "update": "~", "delete": "-"}


@dataclass(frozen=True)
class Change:
    """One change: what it does to what, and the request that begins it.

    * ``stage``: changes of one stage are requested together; the next stage waits for them.
    * ``fields``: {name: (before, after)} of an update, {name: after} of a creation.
    * ``request``: begins the change. It returns an operation, or any other body if the change is
      complete at once.
    * ``secrets``: returns values that only this output shows, from the answer to ``request``.
    """

    verb: str
    kind: str
    name: str
    stage: tuple[int, str]
    request: Callable[[Api], Json]
    fields: dict[str, Any] = field(default_factory=dict)
    secrets: Callable[[Json], dict[str, str]] = lambda _: {}

    def line(self) -> str:
        """Return the change as a line for people, such as ``+ address orders/jobs``."""
        if self.verb == "update":
            pairs = [
                f"{name} {_text(old, name)} → {_text(new, name)}"
                for name, (old, new) in self._pairs()
            ]
        else:
            pairs = [f"{name} {_text(value, name)}" for name, value in self.fields.items()]
        details = f": {', '.join(pairs)}" if pairs else ""
        return f"{_SIGNS[self.verb]} {self.kind} {self.name}{details}"

    def document(self) -> Json:
        """Return the change as an object for programs."""
        return {"verb": self.verb, "kind": self.kind, "name": self.name, "fields": self.fields}

    def _pairs(self) -> Iterable[tuple[str, tuple[Any, Any]]]:
        return self.fields.items()


class FixedAtCreation(Conflict):
    """The file wants another value of a field that is fixed at creation, such as a space's type."""

    code = "apply.fixed_at_creation"


class BeingDeleted(Conflict):
    """The file names something that is being deleted; when it is gone, it can be created again."""

    code = "apply.being_deleted"


@dataclass
class Comparison:
    """Collects the changes of a tenant, which ``tenant`` names by its slug.

    With ``prune``, what the file does not name is deleted.
    """

    api: Api
    tenant: str
    prune: bool
    changes: list[Change] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The tenant's path in the API."""
        return f"/tenants/{segment(self.tenant)}"

    def extra(self, present: dict[str, Json], named: set[str]) -> Iterable[str]:
        """Return the names that the file lacks and that are not being deleted already.

        Without ``prune`` the result is empty.
        """
        if not self.prune:
            return []
        return [
            name
            for name, row in present.items()
            if name not in named and row.get("phase") != _GOING
        ]

    def delete(self, kind: str, name: str, stage: tuple[int, str], path: str) -> None:
        """Add the deletion of the resource at ``path``."""
        self.changes.append(
            Change("delete", kind, name, stage, bound(lambda api, path: api.delete(path), path))
        )


@dataclass
class Outcome:
    """What became of the changes: those done, with their secrets, and the first error."""

    done: list[tuple[Change, dict[str, str]]] = field(default_factory=list)
    failed: Change | None = None
    error: WaypostError | None = None


def carry_out(
    api: Api, tenant: str, changes: Sequence[Change], done: Callable[[Change, dict[str, str]], None]
) -> Outcome:
    """Carry out ``changes`` in the order of their stages; stop after the stage with an error.

    ``done`` is called after each change that is complete. Nothing is raised for a change that is
    refused or fails: the outcome has it.
    """
    outcome = Outcome()
    ordered = sorted(changes, key=lambda change: change.stage)
    for _, stage in groupby(ordered, key=lambda change: change.stage):
        begun = []
        # All requests before any wait: the server works on the operations of a stage at once.
        for change in stage:
            try:
                begun.append((change, change.request(api)))
            except WaypostError as error:
                outcome.failed, outcome.error = change, error
                break
        # Also after an error: what has begun goes on at the server, and its secrets are shown once.
        for change, answer in begun:
            _finish(api, tenant, change, answer, outcome, done)
        if outcome.error is not None:
            break
    return outcome


def _finish(
    api: Api,
    tenant: str,
    change: Change,
    answer: Json,
    outcome: Outcome,
    done: Callable[[Change, dict[str, str]], None],
) -> None:
    try:
        # Only an operation has steps; other answers are complete.
        if "steps" in answer:
            with output.progress(change.line()) as progress:
                api.wait(tenant, answer, progress=progress)
    except WaypostError as error:
        # The first error is reported: that of a request comes before that of an operation.
        if outcome.error is None:
            outcome.failed, outcome.error = change, error
        return
    secrets = change.secrets(answer)
    outcome.done.append((change, secrets))
    done(change, secrets)


def require_same(kind: str, name: str, fields: dict[str, tuple[Any, Any]]) -> None:
    """Check {field: (present, wanted)} of what cannot change after the creation.

    Raises:
        FixedAtCreation: one differs.
    """
    for label, (present, wanted) in fields.items():
        if present != wanted:
            raise FixedAtCreation(
                f"The {label} of {kind} {name} cannot change from {present or '(none)'} to "
                f"{wanted or '(none)'}: delete it and apply the file again, or correct the file."
            )


def require_staying(kind: str, name: str, row: Json) -> None:
    """Check that what the file names is not being deleted: it would soon be missing.

    Raises:
        BeingDeleted: it is.
    """
    if row.get("phase") == _GOING:
        raise BeingDeleted(
            f"The {kind} {name} is being deleted: apply the file again when it is gone, in some "
            "seconds, or take it out of the file."
        )


def bound(request: Callable[[Api, Any], Json], value: Any) -> Callable[[Api], Json]:
    """Return ``request`` with ``value`` as its second argument.

    A lambda in a loop would take the value of the loop's last step.
    """
    return lambda api: request(api, value)


def _text(value: Any, field: str = "") -> str:
    if field == "labels":
        return labels.text(value or {})
    if value is None or value in ("", []):
        return "(default)"
    if isinstance(value, list):
        return "; ".join(map(_text, value))
    if isinstance(value, dict):
        return " ".join(_text(one) for one in value.values())
    return str(value)
