"""Compares a tenant with a file that describes it, and returns the changes between the two."""

from dataclasses import dataclass
from operator import itemgetter

from controlplane.cli import plans, tokens, windows
from controlplane.cli.tenant_changes import Change, Comparison, require_same, require_staying
from controlplane.cli.tenant_file import Space, TenantFile, Token
from controlplane.cli.tenant_space_diff import SpaceDifference
from controlplane.core.errors import Invalid
from controlplane.rest_client import Json, segment


@dataclass
class Difference(Comparison):
    """Collects the changes of one tenant."""

    def read(self, wanted: TenantFile) -> list[Change]:
        """Return the changes that make the tenant what ``wanted`` says; none if it is that.

        Raises:
            FixedAtCreation: something would have to be deleted and created again.
            BeingDeleted: the file names something that is being deleted.
            Invalid: a value in the file is not valid, such as the end of a token.
            WaypostError: the API refuses to show the tenant.
        """
        if wanted.spaces is not None:
            self._spaces(wanted.spaces)
        if wanted.tokens is not None:
            self._tokens(wanted.tokens)
        if wanted.maintenance_windows is not None:
            entries = [entry.model_dump() for entry in wanted.maintenance_windows]
            self._windows(entries)
        return self.changes

    def _spaces(self, wanted: list[Space]) -> None:
        path = f"{self.path}/address-spaces"
        present = {row["name"]: row for row in self.api.pages(path)}
        for space in wanted:
            row = present.get(space.name)
            if row is None:
                self._create_space(space)
            else:
                self._change_space(space, row)
            inner = SpaceDifference(self, space, is_new=row is None)
            inner.read()
        for name in self.extra(present, {space.name for space in wanted}):
            target = f"{path}/{segment(name)}"
            self.delete("space", name, (9, ""), target)

    def _create_space(self, space: Space) -> None:
        plan = space.plan or plans.default_space_plan(self.api, self.tenant, space.type)
        # The file names all addresses, also the one of dead letters.
        body = {"name": space.name, "type": space.type, "plan": plan, "dead_letters": False}
        labels = {"labels": space.labels} if space.labels else {}
        self.changes.append(
            Change(
                "create",
                "space",
                space.name,
                # The first stage: addresses and users wait until the space is there.
                (0, ""),
                lambda api: api.post(f"{self.path}/address-spaces", {**body, **labels}),
                {"type": space.type, "plan": plan, **labels},
            )
        )

    def _change_space(self, space: Space, row: Json) -> None:
        require_staying("space", space.name, row)
        require_same("space", space.name, {"type": (row["type"], space.type)})
        wanted = {"plan": space.plan or row["plan"]}
        if space.labels is not None:
            wanted["labels"] = space.labels
        # ``get``: a server older than labels sends none.
        changed = {
            name: (row.get(name), value) for name, value in wanted.items() if row.get(name) != value
        }
        if not changed:
            return
        path = f"{self.path}/address-spaces/{segment(space.name)}"
        body = {name: value for name, (_, value) in changed.items()}
        self.changes.append(
            Change(
                "update",
                "space",
                space.name,
                (0, ""),
                # A list shows no ETags, so the space is read once more, just before the change.
                lambda api: api.patch(path, body, tag=api.read(path)[1]),
                changed,
            )
        )

    def _tokens(self, wanted: list[Token]) -> None:
        path = f"{self.path}/tokens"
        caller = self.api.get("/me")
        own = caller["name"] if caller["kind"] == "token" else None
        present = {row["name"]: row for row in self.api.pages(path)}
        for token in wanted:
            row = present.get(token.name)
            if row is not None:
                _require_same_token(row, token)
                continue
            self.changes.append(self._create_token(token))
        for name in self.extra(present, {token.name for token in wanted}):
            if name != own:  # the token that this command uses
                self.delete("token", name, (7, ""), f"{path}/{present[name]['id']}")

    def _create_token(self, token: Token) -> Change:
        try:
            ends = tokens.expiry(token.expires)
        except Invalid as error:
            raise Invalid(
                f"The token {token.name}: {error.message}", code=error.error_code
            ) from None
        limits = {"spaces": token.spaces, "permissions": token.permissions}
        body = {"name": token.name, "role": token.role, "expires_at": ends, **limits}
        shown = {name: value for name, value in limits.items() if value}
        return Change(
            "create",
            "token",
            token.name,
            (5, ""),
            # Once: the answer to a repeated request would lack the token.
            lambda api: api.post_once(f"{self.path}/tokens", body),
            {"role": token.role, **shown, "expires": token.expires},
            lambda answer: {"token": answer["token"]},
        )

    def _windows(self, entries: list[Json]) -> None:
        wanted = [
            {
                "weekday": windows.weekday(entry["weekday"]),
                "starts_at": windows.time_of_day(entry["starts_at"]),
                "minutes": entry["minutes"],
            }
            for entry in entries
        ]
        path = f"{self.path}/maintenance-windows"
        present, tag = self.api.read(path)
        rest = present["windows"]
        for window in wanted:
            rest = windows.without(rest, window)
        # Their order does not count: both lists are sorted by when the windows begin.
        begin = itemgetter("weekday", "starts_at")
        # One PUT replaces all windows, so those that the file lacks are sent too, unless pruned.
        found = sorted([*wanted, *([] if self.prune else rest)], key=begin)
        before = sorted(present["windows"], key=begin)
        if found == before:
            return
        fields = {
            "windows": ([windows.named(one) for one in before], list(map(windows.named, found)))
        }
        self.changes.append(
            Change(
                "update",
                "windows",
                "of the tenant",
                (6, ""),
                lambda api: api.put(path, {"windows": found}, tag=tag),
                fields,
            )
        )


def _require_same_token(row: Json, token: Token) -> None:
    """Check what is fixed at the issue of a token; the order of its limits does not count.

    Its end is not compared: `expires` counts when a token is issued, and a rotation moves the end.

    Raises:
        FixedAtCreation: the role or a limit differs.
    """
    limits = {
        "spaces": (row["spaces"], token.spaces),
        "permissions": (row["permissions"], token.permissions),
    }
    ordered = {name: (sorted(set(a)), sorted(set(b))) for name, (a, b) in limits.items()}
    require_same("token", token.name, {"role": (row["role"], token.role), **ordered})
