from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.channel_kind import ChannelKind, check_channel_kind

T = TypeVar("T", bound="NewChannel")


@_attrs_define
class NewChannel:
    """A channel with the secret that signs its webhooks. Only this answer shows it.

    `secret` is null in the answer to a request that is repeated with its Idempotency-Key.

        Attributes:
            id (str):
            name (str):
            kind (ChannelKind): * `webhook` - Webhook
                * `chat` - Chat
            target (str):
            kinds (list[str]):
            enabled (bool): Return whether the channel gets events.
            disabled_reason (str):
            failing_since (datetime.datetime | None):
            former_secret_until (datetime.datetime | None):
            generation (int):
            created_at (datetime.datetime):
            secret (None | str): Empty for a chat, which signs nothing.
    """

    id: str
    name: str
    kind: ChannelKind
    target: str
    kinds: list[str]
    enabled: bool
    disabled_reason: str
    failing_since: datetime.datetime | None
    former_secret_until: datetime.datetime | None
    generation: int
    created_at: datetime.datetime
    secret: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        kind: str = self.kind

        target = self.target

        kinds = self.kinds

        enabled = self.enabled

        disabled_reason = self.disabled_reason

        failing_since: None | str
        if isinstance(self.failing_since, datetime.datetime):
            failing_since = self.failing_since.isoformat()
        else:
            failing_since = self.failing_since

        former_secret_until: None | str
        if isinstance(self.former_secret_until, datetime.datetime):
            former_secret_until = self.former_secret_until.isoformat()
        else:
            former_secret_until = self.former_secret_until

        generation = self.generation

        created_at = self.created_at.isoformat()

        secret: None | str
        secret = self.secret

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "kind": kind,
                "target": target,
                "kinds": kinds,
                "enabled": enabled,
                "disabled_reason": disabled_reason,
                "failing_since": failing_since,
                "former_secret_until": former_secret_until,
                "generation": generation,
                "created_at": created_at,
                "secret": secret,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        kind = check_channel_kind(d.pop("kind"))

        target = d.pop("target")

        kinds = cast(list[str], d.pop("kinds"))

        enabled = d.pop("enabled")

        disabled_reason = d.pop("disabled_reason")

        def _parse_failing_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                failing_since_type_0 = datetime.datetime.fromisoformat(data)

                return failing_since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        failing_since = _parse_failing_since(d.pop("failing_since"))

        def _parse_former_secret_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                former_secret_until_type_0 = datetime.datetime.fromisoformat(data)

                return former_secret_until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        former_secret_until = _parse_former_secret_until(d.pop("former_secret_until"))

        generation = d.pop("generation")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        def _parse_secret(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        secret = _parse_secret(d.pop("secret"))

        new_channel = cls(
            id=id,
            name=name,
            kind=kind,
            target=target,
            kinds=kinds,
            enabled=enabled,
            disabled_reason=disabled_reason,
            failing_since=failing_since,
            former_secret_until=former_secret_until,
            generation=generation,
            created_at=created_at,
            secret=secret,
        )

        new_channel.additional_properties = d
        return new_channel

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
