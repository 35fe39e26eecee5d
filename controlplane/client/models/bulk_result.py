from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.bulk_result_problem_type_0 import BulkResultProblemType0
    from ..models.operation import Operation


T = TypeVar("T", bound="BulkResult")


@_attrs_define
class BulkResult:
    """What became of one item: an operation if it was accepted (202), else a problem.

    Attributes:
        name (str):
        status (int): As the answer to a single request would have.
        operation (None | Operation):
        problem (BulkResultProblemType0 | None): As in the body of an error.
    """

    name: str
    status: int
    operation: None | Operation
    problem: BulkResultProblemType0 | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.bulk_result_problem_type_0 import BulkResultProblemType0  # noqa: PLC0415
        from ..models.operation import Operation  # noqa: PLC0415

        name = self.name

        status = self.status

        operation: dict[str, Any] | None
        if isinstance(self.operation, Operation):
            operation = self.operation.to_dict()
        else:
            operation = self.operation

        problem: dict[str, Any] | None
        if isinstance(self.problem, BulkResultProblemType0):
            problem = self.problem.to_dict()
        else:
            problem = self.problem

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "status": status,
                "operation": operation,
                "problem": problem,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.bulk_result_problem_type_0 import BulkResultProblemType0  # noqa: PLC0415
        from ..models.operation import Operation  # noqa: PLC0415

        d = dict(src_dict)
        name = d.pop("name")

        status = d.pop("status")

        def _parse_operation(data: object) -> None | Operation:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                operation_type_0 = Operation.from_dict(data)

                return operation_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Operation, data)

        operation = _parse_operation(d.pop("operation"))

        def _parse_problem(data: object) -> BulkResultProblemType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                problem_type_0 = BulkResultProblemType0.from_dict(data)

                return problem_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(BulkResultProblemType0 | None, data)

        problem = _parse_problem(d.pop("problem"))

        bulk_result = cls(
            name=name,
            status=status,
            operation=operation,
            problem=problem,
        )

        bulk_result.additional_properties = d
        return bulk_result

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
