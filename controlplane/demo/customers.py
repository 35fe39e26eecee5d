"""Acts as a tenant and as the operator over the REST API, for demonstration and benches."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path

from controlplane.rest_client import Api, Json, OperationFailed, Progress
from workers.messaging.counting_client import Login

CLIENT = "client"  # the name of the messaging user that every space has
# The permissions to send to and receive from every address.
EVERYTHING = [{"addresses": ["#"], "operations": ["send", "recv"]}]


@dataclass(frozen=True)
class Space:
    """One address space of a customer; ``addresses`` maps each of its addresses to its type."""

    name: str
    type: str
    id: str = ""
    addresses: dict[str, str] = field(default_factory=dict)


class Customer:
    """A client of the API that acts as one tenant's owner. Call ``sign_up`` first.

    ``spaces`` are those that it has requested, by name, deleted ones included. ``folder`` gets
    files with certificates. Methods that wait raise as ``finish`` does, except ``follow``.
    """

    def __init__(self, url: str, organization: str, folder: Path) -> None:
        self._folder = folder
        self.organization = organization
        # A random part: the demonstration may run several times on one installation.
        suffix = secrets.token_hex(3)
        self.email = f"{organization.split()[0].lower()}-{suffix}@customer.example"
        self.password = secrets.token_urlsafe(12)
        self._tenant_name = f"{organization} {suffix}"
        self.api = Api(url)
        self.slug = self.plan = ""
        self.spaces: dict[str, Space] = {}
        self._user_passwords: dict[tuple[str, str], str] = {}

    def sign_up(self, plan: str) -> None:
        """Create the owner's account and the tenant on ``plan``, and enter billing details.

        Sets ``slug`` and ``plan``, and gives ``api`` the owner's token.
        """
        body = {
            "email": self.email,
            "password": self.password,
            "plan": plan,
            "organization": self._tenant_name,
        }
        session = self.api.post("/signup", body)
        self.api.close()  # the client without a token
        self.api = Api(self.api.url, session["token"])
        self.slug, self.plan = session["tenants"][0]["slug"], plan
        self.api.put(
            self.path("/billing-details"),
            {
                "billing_name": f"{self.organization} Ltd",
                "billing_email": self.email,
                "billing_address": "1 Harbour Road\n20457 Hamburg",
                "billing_country": "DE",
            },
            tag="*",
        )

    def path(self, rest: str) -> str:
        """Return the API path ``rest`` below this tenant, such as ``/tenants/<slug>/usage``."""
        return f"/tenants/{self.slug}{rest}"

    def create_space(self, name: str, type: str, plan: str) -> Json:
        """Create a space and wait until it is ready; return the ended operation."""
        return self.finish(self.request_space(name, type, plan))

    def request_space(self, name: str, type: str, plan: str) -> Json:
        """Request a space and add it to ``spaces``; return the running operation."""
        body = {"name": name, "type": type, "plan": plan}
        operation = self.api.post(self.path("/address-spaces"), body)
        # The row exists as soon as the request is accepted; usage names the space by its id.
        row = self.api.get(self.path(f"/address-spaces/{name}"))
        self.spaces[name] = Space(name, type, row["id"])
        return operation

    def create_address(self, space: str, address: str, type: str, plan: str) -> Json:
        """Create an address, wait until it is ready and note it in ``spaces``.

        Returns the ended operation.
        """
        ended = self.finish(self.request_address(space, address, type, plan))
        self.spaces[space].addresses[address] = type
        return ended

    def request_address(
        self, space: str, address: str, type: str, plan: str, topic: str = ""
    ) -> Json:
        """Request an address; return the running operation.

        ``topic`` is the topic's name if the address is a subscription. ``spaces`` is not changed.
        """
        body = {"address": address, "type": type, "plan": plan}
        if topic:
            body["topic"] = topic
        return self.api.post(self.path(f"/address-spaces/{space}/addresses"), body)

    def create_user(self, space: str, name: str, permissions: list[Json]) -> None:
        """Create a messaging user with a random password and wait until it may log in."""
        self.finish(self.request_user(space, name, permissions))

    def request_user(self, space: str, name: str, permissions: list[Json]) -> Json:
        """Request a messaging user with a random password, which is kept for ``login``.

        Returns the running operation.
        """
        password = secrets.token_urlsafe(12)
        body = {"name": name, "password": password, "permissions": permissions}
        operation = self.api.post(self.path(f"/address-spaces/{space}/users"), body)
        self._user_passwords[space, name] = password
        return operation

    def revoke_user(self, space: str, name: str) -> None:
        """Revoke a messaging user and wait until the operation has succeeded."""
        self.finish(self.api.delete(self.path(f"/address-spaces/{space}/users/{name}")))

    def delete_address(self, space: str, address: str) -> None:
        """Delete an address and wait until it is gone."""
        path = self.path(f"/address-spaces/{space}/addresses/{address}")
        self.finish(self.api.delete(path))

    def delete_space(self, space: str) -> None:
        """Delete a space and wait until it is gone."""
        self.finish(self.api.delete(self.path(f"/address-spaces/{space}")))

    def login(self, space: str, user: str) -> Login:
        """Return the AMQP login of a messaging user that this object created or requested.

        Writes the certificate that the client must trust into the file that the login names.
        """
        row = self.api.get(self.path(f"/address-spaces/{space}"))
        endpoint = next(item for item in row["endpoints"] if item["protocol"] == "amqps")
        trusted = self._folder / f"{self.slug}-{space}.pem"
        trusted.write_text(endpoint["certificate_pem"])
        password = self._user_passwords[space, user]
        return Login(endpoint["host"], endpoint["port"], str(trusted), user, password)

    def follow(
        self,
        operation: Json,
        stalled_seconds: float = 180,
        progress: Progress = lambda _: None,
    ) -> Json:
        """Wait until the operation has succeeded or failed, and return the ended operation.

        ``progress`` is called with each state of the operation that is read.

        Raises:
            Unavailable: the operation made no progress for ``stalled_seconds``.
        """
        try:
            return self.api.wait(
                self.slug, operation, stalled_seconds=stalled_seconds, progress=progress
            )
        except OperationFailed:
            return self.api.get(self.path(f"/operations/{operation['id']}"))

    def finish(self, operation: Json) -> Json:
        """Wait until the operation has succeeded, and return the ended operation.

        Raises:
            OperationFailed: the operation failed.
            Unavailable: the operation made no progress for 180 s.
        """
        return self.api.wait(self.slug, operation)


class Operator:
    """A client of the API that acts as the operator; creating it logs in with a staff account."""

    def __init__(self, url: str, email: str, password: str) -> None:
        anonymous = Api(url)
        session = anonymous.post_once("/session", {"email": email, "password": password})
        anonymous.close()
        self.api = Api(url, session["token"])

    def lift(self, customer: Customer, resource: str, amount: int, reason: str) -> None:
        """Override the tenant's limit of ``resource`` with ``amount``, without an end date.

        Raises:
            Refused: status 412: the limit is overridden already.
        """
        path = f"/staff/tenants/{customer.slug}/quotas/{resource}"
        self.api.put(path, {"amount": amount, "reason": reason}, tag=None)

    def close_now(self, customer: Customer) -> Json:
        """Request the close of the tenant's current period, which ends now.

        Returns the running operation; its ``subject_id`` is the invoice's id.
        """
        return self.api.post("/staff/invoices/close-now", {"tenant": customer.slug})

    def approve_and_issue(self, invoice: str) -> Json:
        """Approve and issue the draft with this id; return the invoice with its number."""
        self.api.post(f"/staff/invoices/{invoice}/approve", {})
        return self.api.post(f"/staff/invoices/{invoice}/issue")

    def record_payment(self, invoice: Json, reference: str, received_on: str) -> Json:
        """Record a payment of the issued invoice's ``payable_minor``; return the payment.

        ``received_on`` is a date such as ``2026-11-21``.
        """
        return self.api.post(
            f"/staff/invoices/{invoice['id']}/payments",
            {
                "amount_minor": invoice["payable_minor"],
                "reference": reference,
                "received_on": received_on,
            },
        )
