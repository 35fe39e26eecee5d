"""One pass over one custom resource: it makes the object in Waypost what the resource says.

A pass compares and repairs, whatever happened before: it may be repeated and killed anywhere. The
API does not store whether the resource created the object, and which password was set. So passes
note both in the status of the resource (``Note``). If a pass is killed between a creation and its
note, the next one finds by the Idempotency-Key that the resource created the object.
"""

from dataclasses import dataclass, replace

from controlplane.core import grants
from controlplane.core.errors import Conflict
from controlplane.rest_client import Json, Refused
from workers.custom_resources import credentials, requests
from workers.custom_resources.credentials import Login
from workers.custom_resources.kinds import ADDRESS, ADDRESS_SPACE, MESSAGING_USER
from workers.custom_resources.resource import Note, Resource
from workers.custom_resources.tenant_api import TenantApi
from workers.infra.secret_port import SecretStore

_KEY_USED = "idempotency_key.reused"


class TenantChanged(Conflict):
    """The namespace has the token of another tenant than the one where the object is."""

    code = "resources.tenant_changed"


class ObjectExists(Conflict):
    """Waypost has an object of this name that the resource did not create and may not adopt."""

    code = "resources.not_adopted"


class ObjectGoing(Conflict):
    """The object is being deleted; when it is gone, a pass creates it again."""

    code = "resources.being_deleted"


class TypeDiffers(Conflict):
    """The space in Waypost has another type than the resource describes."""

    code = "address_space.fixed_at_creation"


@dataclass(frozen=True)
class Result:
    """What a pass found and did: what to note, and the API's object (None: not there yet)."""

    note: Note
    shown: Json | None


def apply(resource: Resource, api: TenantApi, store: SecretStore) -> Result:
    """Create the object, or change it to what the resource says. Idempotent.

    Raises:
        WaypostError: the API refuses or does not answer; ``TenantChanged``, ``ObjectExists``,
            ``ObjectGoing``, ``TypeDiffers``, ``SecretTaken``. Nothing is lost: the next pass goes
            on from there.
        InfraError: the cluster refuses or does not answer.
    """
    note = _of_tenant(resource, api)
    login = None
    if resource.kind is MESSAGING_USER:
        missing = f"{ADDRESS_SPACE.subject}.missing"
        space = api.find(requests.space_path(resource), missing=missing)
        # Without a space there is no endpoint to write into the Secret yet.
        login = credentials.ensure(resource, store, space[0] if space else None)
    found = _find(resource, api)
    if found is None:
        note = _create(resource, note, api, login)
    else:
        shown, tag = found
        if shown["deletion_requested_at"] is not None:
            raise ObjectGoing("It is being deleted. Then it is created again.")
        if shown["id"] != note.id:
            note = _claim(resource, note, api, login, str(shown["id"]))
        note = _change(resource, note, api, login, (shown, tag))
    again = _find(resource, api)
    return Result(note, again[0] if again else None)


def remove(resource: Resource, api: TenantApi, store: SecretStore) -> bool:
    """Delete the object if the resource created it; return whether there is nothing left to do.

    Call it only with a deletion policy that deletes. Idempotent.

    Raises:
        WaypostError: the API refuses or does not answer; ``TenantChanged``.
        InfraError: the cluster refuses or does not answer.
    """
    note = _of_tenant(resource, api)
    try:
        found = _find(resource, api)
    except Refused as refused:
        if refused.error_code == f"{ADDRESS_SPACE.subject}.missing":
            return True  # gone with its space
        raise
    if found is None:
        return True
    shown, tag = found
    if not note.id:
        note = _note_of_killed(resource, note, api, store, str(shown["id"]))
    if not (note.created and note.id == shown["id"]):
        return True  # an object of this name that somebody else created stays
    if shown["deletion_requested_at"] is None:
        api.remove(requests.deletion_path(resource), tag=tag)
    return False


def _note_of_killed(
    resource: Resource, note: Note, api: TenantApi, store: SecretStore, found_id: str
) -> Note:
    """Return the note for an object that an earlier pass created before it was killed.

    Return ``note`` unchanged if the resource did not create the object.
    """
    try:
        login = None
        if resource.kind is MESSAGING_USER:
            login = credentials.ensure(resource, store, None)
        return _claim(resource, note, api, login, found_id)
    except (ObjectExists, credentials.SecretTaken):
        return note


def _of_tenant(resource: Resource, api: TenantApi) -> Note:
    tenant = api.tenant()
    if resource.note.tenant not in ("", tenant):
        raise TenantChanged(
            f"This belongs to tenant {resource.note.tenant}, and the token of the namespace is for "
            f"tenant {tenant}: put back the token, or delete the resource and create it again."
        )
    return replace(resource.note, tenant=tenant)


def _find(resource: Resource, api: TenantApi) -> tuple[Json, str] | None:
    missing = f"{resource.kind.subject}.missing"
    return api.find(requests.object_path(resource), missing=missing)


def _create(resource: Resource, note: Note, api: TenantApi, login: Login | None) -> Note:
    password = {"password": login.password} if login else {}
    operation = api.create(
        requests.collection_path(resource),
        requests.creation(resource, **password),
        key=requests.creation_key(resource),
    )
    version = login.version if login else ""
    return replace(note, id=str(operation["subject_id"]), created=True, password_version=version)


def _claim(
    resource: Resource, note: Note, api: TenantApi, login: Login | None, found_id: str
) -> Note:
    """Return the note for an object that is there and that no pass noted.

    A pass that was killed may have created it. So the creation is requested again, with the same
    Idempotency-Key. If the resource created the object, the API answers with the operation of the
    first request. Otherwise it refuses with a code such as ``address.exists``.

    Raises:
        ObjectExists: the object is not the resource's own, and the resource does not adopt.
    """
    try:
        own = _create(resource, note, api, login)
    except Refused as refused:
        if refused.error_code == _KEY_USED:  # created, and its specification changed since
            return replace(note, id=found_id, created=True)
        if refused.error_code != f"{resource.kind.subject}.exists":
            raise
    else:
        if own.id == found_id:
            return own
    if not resource.adopts:
        raise ObjectExists(
            f"There is a {resource.kind.kind} {resource.object_name} in Waypost already that this "
            "resource did not create: set spec.adopt to true to manage it, or use another name."
        )
    return replace(note, id=found_id, created=False)


def _change(
    resource: Resource,
    note: Note,
    api: TenantApi,
    login: Login | None,
    found: tuple[Json, str],
) -> Note:
    """Change the object if it differs from the resource; return the note."""
    shown, tag = found
    path, wanted = requests.object_path(resource), requests.state(resource)
    if resource.kind is ADDRESS:
        # The API compares: a request that changes nothing leaves the generation.
        api.send_change("PUT", path, wanted, tag=tag)
    elif login is not None:
        is_set = login.is_set or login.version == note.password_version
        password = {} if is_set else {"password": login.password}
        if password or not grants.are_equal(shown["permissions"], wanted["permissions"]):
            api.send_change(
                "PUT", path, {"permissions": wanted["permissions"], **password}, tag=tag
            )
        note = replace(note, password_version=login.version)
    else:
        if shown["type"] != wanted["type"]:
            raise TypeDiffers(f"The space has the type {shown['type']}, which cannot change.")
        # A resource without labels leaves those of the space alone.
        given = [name for name in ("plan", "labels") if name in wanted]
        changes: Json = {name: wanted[name] for name in given if shown.get(name) != wanted[name]}
        if changes:
            api.send_change("PATCH", path, changes, tag=tag)
    return note
