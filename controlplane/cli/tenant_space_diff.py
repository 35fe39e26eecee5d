"""Compares one space with the part of a file that describes it: addresses, users, alarms."""

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from controlplane.cli import plans
from controlplane.cli.output import WrongUse
from controlplane.cli.tenant_changes import (
    Change,
    Comparison,
    bound,
    require_same,
    require_staying,
)
from controlplane.cli.tenant_file import Alarm, Space, User
from controlplane.core import address_order, entity_tags, grants
from controlplane.core.address_types import BY_SLUG, SETTINGS, AddressSettings
from controlplane.core.alarm_limits import default_clear_below
from controlplane.core.errors import Invalid
from controlplane.rest_client import Json, last_segments, segment

_UNSET = AddressSettings()


@dataclass
class SpaceDifference:
    """Collects the changes inside one space, which ``is_new`` if it does not exist yet."""

    outer: Comparison
    space: Space
    is_new: bool

    def read(self) -> None:
        """Add the changes of addresses, users and alarms to ``outer``."""
        if self.space.addresses is not None:
            self._addresses(self.space.addresses)
        if self.space.users is not None:
            self._users(self.space.users)
        if self.space.alarms is not None:
            self._alarms(self.space.alarms)

    @property
    def path(self) -> str:
        return f"{self.outer.path}/address-spaces/{segment(self.space.name)}"

    def _present(self, part: str, name: str) -> dict[str, Json]:
        if self.is_new:
            return {}
        return {row[name]: row for row in self.outer.api.pages(f"{self.path}/{part}")}

    def _addresses(self, wanted: list[Any]) -> None:
        present = self._present("addresses", "address")
        # Upwards: an address comes after those that its settings name. Four digits, because stages
        # are compared as texts.
        level = address_order.levels({entry.address: given(entry) for entry in wanted})
        for entry in wanted:
            row = present.get(entry.address)
            self.outer.changes += (
                [self._create_address(entry, f"{self.space.name}/{level[entry.address]:04}")]
                if row is None
                else self._change_address(entry, row)
            )
        level = address_order.levels(present)
        for name in self.outer.extra(present, {entry.address for entry in wanted}):
            # Downwards: an address goes before those that its settings name.
            stage = (8, f"{self.space.name}/{len(present) - level[name]:04}")
            target = f"{self.path}/addresses/{last_segments(name)}"
            self.outer.delete("address", f"{self.space.name}/{name}", stage, target)

    def _create_address(self, entry: Any, place: str) -> Change:
        if entry.type not in BY_SLUG:
            raise WrongUse(f"{entry.type!r} is no type of addresses: {', '.join(BY_SLUG)}.")
        api, settings = self.outer.api, dict[str, Any](given(entry))
        plan = entry.plan or plans.default_address_plan(
            api, self.outer.tenant, self.space.type, entry.type
        )
        settings |= {"labels": entry.labels} if entry.labels else {}
        body = {"address": entry.address, "type": entry.type, "plan": plan, **settings}
        return Change(
            "create",
            "address",
            f"{self.space.name}/{entry.address}",
            (1, place),
            lambda api: api.post(f"{self.path}/addresses", body),
            {"type": entry.type, "plan": plan, **settings},
        )

    def _change_address(self, entry: Any, row: Json) -> Iterator[Change]:
        name = f"{self.space.name}/{entry.address}"
        require_staying("address", name, row)
        wanted, present = settings_of(entry, row), {one.name: row.get(one.name) for one in SETTINGS}
        fixed = {"type": (row["type"], entry.type)}
        if entry.plan:
            fixed["plan"] = (row["plan"], entry.plan)
        fixed |= {
            one.name: (present[one.name], wanted[one.name])
            for one in SETTINGS
            if one.is_fixed and one.name in wanted
        }
        require_same("address", name, fixed)
        changed: dict[str, Any] = {
            key: (present[key], value) for key, value in wanted.items() if present[key] != value
        }
        body = {"type": row["type"], "plan": row["plan"], **wanted}
        labels = row.get("labels") or {}  # a server older than labels sends none
        if entry.labels is not None and entry.labels != labels:
            changed["labels"], body["labels"] = (labels, entry.labels), entry.labels
        if not changed:
            return
        path = f"{self.path}/addresses/{last_segments(entry.address)}"
        tag = entity_tags.of(row["generation"], labels)
        yield Change(
            "update",
            "address",
            name,
            (2, self.space.name),
            lambda api: api.put(path, body, tag=tag),
            changed,
        )

    def _users(self, wanted: list[User]) -> None:
        present = self._present("users", "name")
        for user in wanted:
            row = present.get(user.name)
            if row is None:
                self.outer.changes.append(self._create_user(user))
            else:
                self.outer.changes += self._change_user(user, row)
        for name in self.outer.extra(present, {user.name for user in wanted}):
            target = f"{self.path}/users/{segment(name)}"
            self.outer.delete("user", f"{self.space.name}/{name}", (7, self.space.name), target)

    def _create_user(self, user: User) -> Change:
        password = os.environ.get(user.password_env, "") if user.password_env else ""
        if user.password_env and not password:
            raise Invalid(
                f"The user {user.name} needs a password: set the variable {user.password_env}.",
                code="apply.password_missing",
            )
        chosen = password or secrets.token_urlsafe(15)
        body = {"name": user.name, "password": chosen, "permissions": permissions(user)}
        return Change(
            "create",
            "user",
            f"{self.space.name}/{user.name}",
            (3, self.space.name),
            lambda api: api.post(f"{self.path}/users", body),
            {"permissions": permissions(user)},
            # The API never returns a password, so only this output can show a generated one.
            lambda _: {} if password else {"password": chosen},
        )

    def _change_user(self, user: User, row: Json) -> Iterator[Change]:
        require_staying("user", f"{self.space.name}/{user.name}", row)
        if grants.are_equal(row["permissions"], granted := permissions(user)):
            return
        # A list shows no ETags, and that of a user is its generation.
        path = f"{self.path}/users/{segment(user.name)}"
        tag = f'"{row["generation"]}"'
        yield Change(
            "update",
            "user",
            f"{self.space.name}/{user.name}",
            (4, self.space.name),
            lambda api: api.put(path, {"permissions": granted}, tag=tag),
            {"permissions": (row["permissions"], granted)},
        )

    def _alarms(self, wanted: list[Alarm]) -> None:
        """Add the changes of alarms.

        If exactly one alarm of an address and metric goes and one comes, the alarm is updated.
        """
        rows = [] if self.is_new else list(self.outer.api.pages(f"{self.path}/alarms"))
        left = {_identity(row): row for row in rows}
        new = []
        for alarm in wanted:
            entry = {"for_seconds": 0, **alarm.model_dump(exclude_none=True)}
            row = left.pop(_identity(entry), None)
            if row is None:
                new.append(entry)
            else:
                self.outer.changes += self._change_alarm(entry, row)
        for entry in new:
            same = [key for key in left if key[:2] == _identity(entry)[:2]]
            # With several alarms of one metric, nothing says which of them became which.
            is_only = sum(_identity(one)[:2] == _identity(entry)[:2] for one in new) == 1
            if len(same) == 1 and is_only:
                self.outer.changes += self._change_alarm(entry, left.pop(same[0]))
            else:
                self.outer.changes.append(self._create_alarm(entry))
        for row in left.values() if self.outer.prune else []:
            name = f"{self._alarm_name(row)} {row['threshold']}"
            path = f"{self.path}/alarms/{segment(row['id'])}"
            self.outer.delete("alarm", name, (7, self.space.name), path)

    def _alarm_name(self, alarm: Json) -> str:
        return f"{self.space.name}/{alarm['address']} {alarm['metric']}"

    def _create_alarm(self, entry: Json) -> Change:
        return Change(
            "create",
            "alarm",
            self._alarm_name(entry),
            (5, self.space.name),
            bound(lambda api, body: api.post(f"{self.path}/alarms", body), entry),
            _limits(entry),
        )

    def _change_alarm(self, entry: Json, row: Json) -> Iterator[Change]:
        # An absent lower value has its default, which the server fills in.
        limits = {"clear_below": default_clear_below(entry["threshold"]), **_limits(entry)}
        changed = {name: (row[name], value) for name, value in limits.items() if row[name] != value}
        if not changed:
            return
        path, tag = f"{self.path}/alarms/{segment(row['id'])}", f'"{row["generation"]}"'
        yield Change(
            "update",
            "alarm",
            self._alarm_name(entry),
            (5, self.space.name),
            lambda api: api.put(path, limits, tag=tag),
            changed,
        )


def _identity(alarm: Json) -> tuple[str, str, int, int]:
    """Return what makes two alarms of a space the same one for the API."""
    return alarm["address"], alarm["metric"], alarm["threshold"], alarm["for_seconds"]


def _limits(alarm: Json) -> dict[str, int]:
    return {name: value for name, value in alarm.items() if name not in ("address", "metric")}


def given(entry: Any) -> dict[str, int | str]:
    """Return {name: value} of the settings that the file gives for an address."""
    values = {setting.name: getattr(entry, setting.name) for setting in SETTINGS}
    return {name: value for name, value in values.items() if value is not None}


def settings_of(entry: Any, row: Json) -> dict[str, int | str | None]:
    """Return {name: value} of all settings that the address of ``row`` gets from the file.

    An absent setting is unset. An absent target of dead letters stays as it is: its default depends
    on the time when the address was created. A setting that the server lacks, because its version
    is older, is there only if the file gives it.
    """
    unset = {one.name: getattr(_UNSET, one.name) for one in SETTINGS if one.name in row}
    kept = {name: row[name] for name in ("dead_letter",) if name in row}
    return {**unset, **kept, **given(entry)}


def permissions(user: User) -> list[dict[str, list[str]]]:
    """Return the permissions of a user as the API has them."""
    return [
        {"addresses": list(grant.addresses), "operations": list(grant.operations)}
        for grant in user.permissions
    ]
