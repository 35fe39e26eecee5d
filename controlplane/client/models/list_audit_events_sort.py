from typing import Literal, cast

ListAuditEventsSort = Literal["-at", "at"]


def check_list_audit_events_sort(value: str) -> ListAuditEventsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAuditEventsSort, value)
