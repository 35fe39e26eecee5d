from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.coming_version import ComingVersion


T = TypeVar("T", bound="PlanSubscription")


@_attrs_define
class PlanSubscription:
    """A tenant's subscription to one version of a plan; `plan` is the key of the plan.

    `space_plans` and `address_plans` are the keys of the plans that it includes. `currency` is that
    of the tenant's invoices. A subscription that `follows` its plan moves to new versions of it, at
    `moves_at`; null: no move is planned.

        Attributes:
            plan (str):
            version (int):
            title (str):
            starts_at (datetime.datetime):
            follows (bool):
            moves_at (datetime.datetime | None):
            currency (str): Return the currency of the tenant's invoices.
            space_plans (list[str]): Return the keys of the space plans that the tenant may use.
            address_plans (list[str]): Return the keys of the address plans that the tenant may use.
            coming_versions (list[ComingVersion]):
    """

    plan: str
    version: int
    title: str
    starts_at: datetime.datetime
    follows: bool
    moves_at: datetime.datetime | None
    currency: str
    space_plans: list[str]
    address_plans: list[str]
    coming_versions: list[ComingVersion]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        plan = self.plan

        version = self.version

        title = self.title

        starts_at = self.starts_at.isoformat()

        follows = self.follows

        moves_at: None | str
        if isinstance(self.moves_at, datetime.datetime):
            moves_at = self.moves_at.isoformat()
        else:
            moves_at = self.moves_at

        currency = self.currency

        space_plans = self.space_plans

        address_plans = self.address_plans

        coming_versions = []
        for coming_versions_item_data in self.coming_versions:
            coming_versions_item = coming_versions_item_data.to_dict()
            coming_versions.append(coming_versions_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "plan": plan,
                "version": version,
                "title": title,
                "starts_at": starts_at,
                "follows": follows,
                "moves_at": moves_at,
                "currency": currency,
                "space_plans": space_plans,
                "address_plans": address_plans,
                "coming_versions": coming_versions,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.coming_version import ComingVersion  # noqa: PLC0415

        d = dict(src_dict)
        plan = d.pop("plan")

        version = d.pop("version")

        title = d.pop("title")

        starts_at = datetime.datetime.fromisoformat(d.pop("starts_at"))

        follows = d.pop("follows")

        def _parse_moves_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                moves_at_type_0 = datetime.datetime.fromisoformat(data)

                return moves_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        moves_at = _parse_moves_at(d.pop("moves_at"))

        currency = d.pop("currency")

        space_plans = cast(list[str], d.pop("space_plans"))

        address_plans = cast(list[str], d.pop("address_plans"))

        coming_versions = []
        _coming_versions = d.pop("coming_versions")
        for coming_versions_item_data in _coming_versions:
            coming_versions_item = ComingVersion.from_dict(coming_versions_item_data)

            coming_versions.append(coming_versions_item)

        plan_subscription = cls(
            plan=plan,
            version=version,
            title=title,
            starts_at=starts_at,
            follows=follows,
            moves_at=moves_at,
            currency=currency,
            space_plans=space_plans,
            address_plans=address_plans,
            coming_versions=coming_versions,
        )

        plan_subscription.additional_properties = d
        return plan_subscription

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
