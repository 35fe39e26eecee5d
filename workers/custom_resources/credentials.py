"""The login of a messaging user: a Secret in the namespace of its resource.

The Secret decides the password. If somebody deletes the Secret, a new password is generated. If
somebody changes the password in it, the messaging user gets this password.
"""

import secrets
from dataclasses import dataclass

from controlplane.core.errors import Conflict
from workers.custom_resources.kinds import API_VERSION
from workers.custom_resources.resource import Json, Resource
from workers.infra.secret_port import Owner, SecretStore

_PASSWORD_BYTES = 24  # 192 random bits
USERNAME, PASSWORD, HOST, PORT, AUTHORITIES = "username", "password", "host", "port", "ca.crt"


class SecretTaken(Conflict):
    """A Secret of this name exists already, and the resource does not own it."""

    code = "resources.secret_taken"


@dataclass(frozen=True)
class Login:
    """A messaging user's password, and the ``version`` of the Secret with it.

    ``is_set``: the user in Waypost has the password already.
    """

    password: str
    version: str
    is_set: bool


def ensure(resource: Resource, store: SecretStore, space: Json | None) -> Login:
    """Return the login of the resource's user; write its Secret if it is missing or incomplete.

    ``space``: the API's space, whose endpoint goes into the Secret; None if there is none yet.

    Raises:
        SecretTaken: the Secret is not the resource's own. It is neither read nor changed.
    """
    name = resource.secret_name
    found = store.find(resource.namespace, name)
    if found is not None and resource.uid not in found.owners:
        raise SecretTaken(
            f"There is a Secret {name} already that this resource does not own: delete it, or name "
            "another one in spec.secretName."
        )
    values = dict(found.values) if found else {}
    password = values.get(PASSWORD) or secrets.token_urlsafe(_PASSWORD_BYTES)
    wanted = {
        **{key: values[key] for key in (HOST, PORT, AUTHORITIES) if key in values},
        **_endpoint(space),
        USERNAME: resource.object_name,
        PASSWORD: password,
    }
    is_set = found is not None and found.version == resource.note.password_version
    version = found.version if found else ""
    if wanted != values:
        owner = Owner(API_VERSION, resource.kind.kind, resource.name, resource.uid)
        version = store.write(resource.namespace, name, wanted, owner)
    # A password that was generated just now is not set, whatever the version says.
    return Login(password, version, is_set and password == values.get(PASSWORD))


def _endpoint(space: Json | None) -> dict[str, str]:
    for endpoint in (space or {}).get("endpoints", []):
        return {
            HOST: str(endpoint["host"]),
            PORT: str(endpoint["port"]),
            AUTHORITIES: str(endpoint["certificate_pem"]),
        }
    return {}
