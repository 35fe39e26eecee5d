"""A tenant of the demonstration, and the operator: people who speak REST."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path

from controlplane.rest_client import Api, Json, OperationFailed, Progress
from workers.messaging.traffic import Login

CLIENT = "client"  # the messaging user of every space
EVERYTHING = [{"addresses": ["#"], "operations": ["send", "recv"]}]


@dataclass(frozen=True)
class Space:
    """One address space as its tenant knows it; ``addresses`` maps address to type."""

    name: str
    type: str
    id: str = ""
    addresses: dict[str, str] = field(default_factory=dict)


class Customer:
    """One tenant: signed up, logged in, acting over the API."""

    def __init__(self, url: str, organisation: str, folder: Path) -> None:
        self._folder = folder
        self.organisation = organisation
        mark = secrets.token_hex(3)
        self.email = f"{organisation.split()[0].lower()}-{mark}@customer.example"
        self.password = secrets.token_urlsafe(12)
        self._signed_up_as = f"{organisation} {mark}"
        self.api = Api(url)
        self.slug = self.plan = ""
        self.spaces: dict[str, Space] = {}
        self._user_passwords: dict[tuple[str, str], str] = {}

    def sign_up(self, plan: str) -> None:
        """Make the account and its tenant, and give billing details."""
        body = {
            "email": self.email,
            "password": self.password,
            "plan": plan,
            "organisation": self._signed_up_as,
        }
        session = self.api.post("/signup", body)
        self.api.close()
        self.api = Api(self.api.url, session["token"])
        self.slug, self.plan = session["tenants"][0]["slug"], plan
        self.api.put(
            self.path("/billing-details"),
            {
                "billing_name": f"{self.organisation} Ltd",
                "billing_email": self.email,
                "billing_address": "1 Harbour Road\n20457 Hamburg",
                "billing_country": "DE",
            },
        )

    def path(self, rest: str) -> str:
        """Return the API path below this tenant."""
        return f"/tenants/{self.slug}{rest}"

    def create_space(self, name: str, type: str, plan: str) -> Json:
        """Create a space and wait until it is real; the operation."""
        return self.finish(self.request_space(name, type, plan))

    def request_space(self, name: str, type: str, plan: str) -> Json:
        """Ask for a space; the operation."""
        body = {"name": name, "type": type, "plan": plan}
        operation = self.api.post(self.path("/address-spaces"), body)
        row = self.api.get(self.path(f"/address-spaces/{name}"))
        self.spaces[name] = Space(name, type, row["id"])
        return operation

    def create_address(self, space: str, address: str, type: str, plan: str) -> Json:
        """Create an address and wait until a message went through it."""
        ended = self.finish(self.request_address(space, address, type, plan))
        self.spaces[space].addresses[address] = type
        return ended

    def request_address(
        self, space: str, address: str, type: str, plan: str, topic: str = ""
    ) -> Json:
        """Ask for an address, a subscription with its ``topic``; the operation."""
        body = {"address": address, "type": type, "plan": plan}
        if topic:
            body["topic"] = topic
        return self.api.post(self.path(f"/address-spaces/{space}/addresses"), body)

    def create_user(self, space: str, name: str, permissions: list[Json]) -> None:
        """Create a messaging user with a password of its own and wait until it may log in."""
        self.finish(self.request_user(space, name, permissions))

    def request_user(self, space: str, name: str, permissions: list[Json]) -> Json:
        """Ask for a messaging user; the operation."""
        password = secrets.token_urlsafe(12)
        body = {"name": name, "password": password, "permissions": permissions}
        operation = self.api.post(self.path(f"/address-spaces/{space}/users"), body)
        self._user_passwords[space, name] = password
        return operation

    def revoke_user(self, space: str, name: str) -> None:
        """Revoke a messaging user."""
        self.finish(self.api.delete(self.path(f"/address-spaces/{space}/users/{name}")))

    def delete_address(self, space: str, address: str) -> None:
        """Delete an address; what it used stays billed."""
        path = self.path(f"/address-spaces/{space}/addresses/{address}")
        self.finish(self.api.delete(path))

    def delete_space(self, space: str) -> None:
        """Delete a space; what it used stays billed."""
        self.finish(self.api.delete(self.path(f"/address-spaces/{space}")))

    def login(self, space: str, user: str) -> Login:
        """Return how a messaging user reaches the space; writes what to trust into a file."""
        row = self.api.get(self.path(f"/address-spaces/{space}"))
        endpoint = next(item for item in row["endpoints"] if item["protocol"] == "amqps")
        trusted = self._folder / f"{self.slug}-{space}.pem"
        trusted.write_text(endpoint["certificate_pem"])
        password = self._user_passwords[space, user]
        return Login(endpoint["host"], endpoint["port"], str(trusted), user, password)

    def follow(
        self,
        operation: Json,
        timeout_seconds: float = 180,
        progress: Progress = lambda _: None,
    ) -> Json:
        """Return the operation once it has ended, also when it failed."""
        try:
            return self.api.wait(
                self.slug, operation, timeout_seconds=timeout_seconds, progress=progress
            )
        except OperationFailed:
            return self.api.get(self.path(f"/operations/{operation['id']}"))

    def finish(self, operation: Json) -> Json:
        """Wait until the operation has ended well and return it."""
        return self.api.wait(self.slug, operation)


class Operator:
    """The operator's staff account."""

    def __init__(self, url: str, email: str, password: str) -> None:
        visitor = Api(url)
        session = visitor.post("/session", {"email": email, "password": password})
        visitor.close()
        self.api = Api(url, session["token"])

    def lift(self, customer: Customer, resource: str, amount: int, reason: str) -> None:
        """Set a limit of the tenant in place of its plan's, for good."""
        path = f"/staff/tenants/{customer.slug}/quotas/{resource}"
        self.api.put(path, {"amount": amount, "reason": reason})

    def close_now(self, customer: Customer) -> Json:
        """Ask to close the tenant's running period; the operation (its subject: the invoice)."""
        return self.api.post("/staff/invoices/close-now", {"tenant": customer.slug})

    def approve_and_issue(self, invoice: str) -> Json:
        """Approve the draft and issue it: it gets its number."""
        self.api.post(f"/staff/invoices/{invoice}/approve", {})
        return self.api.post(f"/staff/invoices/{invoice}/issue")

    def record_payment(self, invoice: Json, reference: str, received_on: str) -> Json:
        """Record that the invoice was paid in full."""
        return self.api.post(
            f"/staff/invoices/{invoice['id']}/payments",
            {
                "amount_minor": invoice["payable_minor"],
                "reference": reference,
                "received_on": received_on,
            },
        )
