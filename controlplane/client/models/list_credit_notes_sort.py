from typing import Literal, cast

ListCreditNotesSort = Literal["-issued_at", "-total_minor", "issued_at", "total_minor"]


def check_list_credit_notes_sort(value: str) -> ListCreditNotesSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListCreditNotesSort, value)
