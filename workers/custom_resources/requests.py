"""The paths and bodies of the API's requests for a custom resource. Pure."""

from controlplane.rest_client import last_segments, segment
from workers.custom_resources.kinds import ADDRESS_SPACE, Deletion
from workers.custom_resources.resource import Json, Resource

# Fields of ``spec`` that are for this controller.
_OWN = frozenset({"adopt", "deletion_policy", "secret_name"})


def space_path(resource: Resource) -> str:
    """Return the path of the space that an address or a messaging user belongs to."""
    return f"/address-spaces/{segment(str(resource.spec['space']))}"


def collection_path(resource: Resource) -> str:
    """Return the path where such objects are created."""
    if resource.kind is ADDRESS_SPACE:
        return "/address-spaces"
    return f"{space_path(resource)}/{resource.kind.collection}"


def object_path(resource: Resource) -> str:
    """Return the path of the object.

    Raises:
        Invalid: ``name.invalid``: its name would lead elsewhere.
    """
    named = last_segments if resource.kind.name_field == "address" else segment
    return f"{collection_path(resource)}/{named(resource.object_name)}"


def deletion_path(resource: Resource) -> str:
    """Return the path, with its query, of the request that deletes the object."""
    path = object_path(resource)
    if resource.kind is not ADDRESS_SPACE:
        return path
    keeps = resource.deletion is Deletion.DELETE_KEEPING_MESSAGES
    return f"{path}?volumes={'keep' if keeps else 'delete'}"


def state(resource: Resource) -> Json:
    """Return the desired state of the object, as the body of a request, without its name."""
    left_out = _OWN | {resource.kind.name_field, *resource.kind.added}
    return {name: value for name, value in resource.spec.items() if name not in left_out}


def creation(resource: Resource, **more: str) -> Json:
    """Return the body that creates the object; ``more``: fields not in ``spec``: the password."""
    return {resource.kind.name_field: resource.object_name, **state(resource), **more}


def creation_key(resource: Resource) -> str:
    """Return the Idempotency-Key of the creation.

    The same key again shows that the resource created the object, if a pass was killed before it
    noted the id. Once an object is noted, the key contains its id. So after that object was deleted
    in Waypost, the creation of the next one has another key.
    """
    return f"{resource.uid}.{resource.note.id or 'first'}"
