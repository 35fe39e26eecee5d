from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RateSum")


@_attrs_define
class RateSum:
    """The taxes of a month (its first day, UTC) by the country of the buyer, category and rate.

    Amounts are in minor units. Invoices add, credit notes subtract. `category` is that of EN 16931,
    empty if the legal entity taxes at one flat rate. `percent` is a decimal. `oss` is true for
    sales to another country of the EU at the rate of that country. A document with several taxes
    counts in several rows.

        Attributes:
            month (datetime.date):
            legal_entity (str):
            currency (str):
            country (str):
            category (str):
            percent (str):
            oss (bool):
            n_documents (int):
            taxable_minor (int):
            tax_minor (int):
    """

    month: datetime.date
    legal_entity: str
    currency: str
    country: str
    category: str
    percent: str
    oss: bool
    n_documents: int
    taxable_minor: int
    tax_minor: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        month = self.month.isoformat()

        legal_entity = self.legal_entity

        currency = self.currency

        country = self.country

        category = self.category

        percent = self.percent

        oss = self.oss

        n_documents = self.n_documents

        taxable_minor = self.taxable_minor

        tax_minor = self.tax_minor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "month": month,
                "legal_entity": legal_entity,
                "currency": currency,
                "country": country,
                "category": category,
                "percent": percent,
                "oss": oss,
                "n_documents": n_documents,
                "taxable_minor": taxable_minor,
                "tax_minor": tax_minor,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        month = datetime.date.fromisoformat(d.pop("month"))

        legal_entity = d.pop("legal_entity")

        currency = d.pop("currency")

        country = d.pop("country")

        category = d.pop("category")

        percent = d.pop("percent")

        oss = d.pop("oss")

        n_documents = d.pop("n_documents")

        taxable_minor = d.pop("taxable_minor")

        tax_minor = d.pop("tax_minor")

        rate_sum = cls(
            month=month,
            legal_entity=legal_entity,
            currency=currency,
            country=country,
            category=category,
            percent=percent,
            oss=oss,
            n_documents=n_documents,
            taxable_minor=taxable_minor,
            tax_minor=tax_minor,
        )

        rate_sum.additional_properties = d
        return rate_sum

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
