from typing import Literal, cast

ListCatalogDraftsState = Literal["canceled", "draft", "published", "scheduled"]


def check_list_catalog_drafts_state(value: str) -> ListCatalogDraftsState:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListCatalogDraftsState, value)
