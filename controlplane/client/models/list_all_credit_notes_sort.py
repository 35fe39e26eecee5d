from typing import Literal, cast

ListAllCreditNotesSort = Literal["-issued_at", "-total_minor", "issued_at", "total_minor"]


def check_list_all_credit_notes_sort(value: str) -> ListAllCreditNotesSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAllCreditNotesSort, value)
