from typing import Literal, cast

ListCatalogVersionsSort = Literal["-number", "number"]


def check_list_catalog_versions_sort(value: str) -> ListCatalogVersionsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListCatalogVersionsSort, value)
