from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.balance import Balance
    from ..models.commitment import Commitment
    from ..models.commitment_progress import CommitmentProgress
    from ..models.credit import Credit
    from ..models.discount import Discount
    from ..models.trial import Trial


T = TypeVar("T", bound="Benefits")


@_attrs_define
class Benefits:
    """What changes the price of a tenant besides its plan.

    `tax_id_status` is what is known of its tax id: `valid` (in form), `invalid`, `other_country`
    (not that of the billing country), `refused` (the register does not know it), `not_checked`
    (outside the EU) or `none`.

        Attributes:
            tax_id_status (str):
            balances (list[Balance]):
            trial (None | Trial):
            progress (CommitmentProgress | None):
            discounts (list[Discount]):
            commitments (list[Commitment]):
            credits_ (list[Credit]):
    """

    tax_id_status: str
    balances: list[Balance]
    trial: None | Trial
    progress: CommitmentProgress | None
    discounts: list[Discount]
    commitments: list[Commitment]
    credits_: list[Credit]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.commitment_progress import CommitmentProgress  # noqa: PLC0415
        from ..models.trial import Trial  # noqa: PLC0415

        tax_id_status = self.tax_id_status

        balances = []
        for balances_item_data in self.balances:
            balances_item = balances_item_data.to_dict()
            balances.append(balances_item)

        trial: dict[str, Any] | None
        if isinstance(self.trial, Trial):
            trial = self.trial.to_dict()
        else:
            trial = self.trial

        progress: dict[str, Any] | None
        if isinstance(self.progress, CommitmentProgress):
            progress = self.progress.to_dict()
        else:
            progress = self.progress

        discounts = []
        for discounts_item_data in self.discounts:
            discounts_item = discounts_item_data.to_dict()
            discounts.append(discounts_item)

        commitments = []
        for commitments_item_data in self.commitments:
            commitments_item = commitments_item_data.to_dict()
            commitments.append(commitments_item)

        credits_ = []
        for credits_item_data in self.credits_:
            credits_item = credits_item_data.to_dict()
            credits_.append(credits_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "tax_id_status": tax_id_status,
                "balances": balances,
                "trial": trial,
                "progress": progress,
                "discounts": discounts,
                "commitments": commitments,
                "credits": credits_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.balance import Balance  # noqa: PLC0415
        from ..models.commitment import Commitment  # noqa: PLC0415
        from ..models.commitment_progress import CommitmentProgress  # noqa: PLC0415
        from ..models.credit import Credit  # noqa: PLC0415
        from ..models.discount import Discount  # noqa: PLC0415
        from ..models.trial import Trial  # noqa: PLC0415

        d = dict(src_dict)
        tax_id_status = d.pop("tax_id_status")

        balances = []
        _balances = d.pop("balances")
        for balances_item_data in _balances:
            balances_item = Balance.from_dict(balances_item_data)

            balances.append(balances_item)

        def _parse_trial(data: object) -> None | Trial:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                trial_type_0 = Trial.from_dict(data)

                return trial_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Trial, data)

        trial = _parse_trial(d.pop("trial"))

        def _parse_progress(data: object) -> CommitmentProgress | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                progress_type_0 = CommitmentProgress.from_dict(data)

                return progress_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CommitmentProgress | None, data)

        progress = _parse_progress(d.pop("progress"))

        discounts = []
        _discounts = d.pop("discounts")
        for discounts_item_data in _discounts:
            discounts_item = Discount.from_dict(discounts_item_data)

            discounts.append(discounts_item)

        commitments = []
        _commitments = d.pop("commitments")
        for commitments_item_data in _commitments:
            commitments_item = Commitment.from_dict(commitments_item_data)

            commitments.append(commitments_item)

        credits_ = []
        _credits_ = d.pop("credits")
        for credits_item_data in _credits_:
            credits_item = Credit.from_dict(credits_item_data)

            credits_.append(credits_item)

        benefits = cls(
            tax_id_status=tax_id_status,
            balances=balances,
            trial=trial,
            progress=progress,
            discounts=discounts,
            commitments=commitments,
            credits_=credits_,
        )

        benefits.additional_properties = d
        return benefits

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
