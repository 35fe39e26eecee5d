from typing import Literal, cast

ListAllTenantsSort = Literal["-created_at", "-name", "-slug", "created_at", "name", "slug"]


def check_list_all_tenants_sort(value: str) -> ListAllTenantsSort:
    """Return ``value``; a newer server may know others than these."""
    return cast(ListAllTenantsSort, value)
