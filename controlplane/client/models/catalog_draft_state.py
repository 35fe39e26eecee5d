from typing import Literal, cast

CatalogDraftState = Literal["canceled", "draft", "published", "scheduled"]


def check_catalog_draft_state(value: str) -> CatalogDraftState:
    """Return ``value``; a newer server may know others than these."""
    return cast(CatalogDraftState, value)
