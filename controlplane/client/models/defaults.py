from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.defaults_choices import DefaultsChoices


T = TypeVar("T", bound="Defaults")


@_attrs_define
class Defaults:
    """The tenant's own defaults by kind, and its monthly budget in minor units (null: none).

    Attributes:
        choices (DefaultsChoices):
        budget_minor (int | None):
        currency (str): Of the budget; empty: no plan.
    """

    choices: DefaultsChoices
    budget_minor: int | None
    currency: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        choices = self.choices.to_dict()

        budget_minor: int | None
        budget_minor = self.budget_minor

        currency = self.currency

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "choices": choices,
                "budget_minor": budget_minor,
                "currency": currency,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.defaults_choices import DefaultsChoices  # noqa: PLC0415

        d = dict(src_dict)
        choices = DefaultsChoices.from_dict(d.pop("choices"))

        def _parse_budget_minor(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        budget_minor = _parse_budget_minor(d.pop("budget_minor"))

        currency = d.pop("currency")

        defaults = cls(
            choices=choices,
            budget_minor=budget_minor,
            currency=currency,
        )

        defaults.additional_properties = d
        return defaults

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
