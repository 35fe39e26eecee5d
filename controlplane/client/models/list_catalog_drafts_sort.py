from typing import Literal, cast

ListCatalogDraftsSort = Literal["-created_at", "created_at"]


def check_list_catalog_drafts_sort(value: str) -> ListCatalogDraftsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListCatalogDraftsSort, value)
