"""The API of a cluster as the adapter uses it, and which calls it made."""

from typing import Any

from kubernetes.client import ApiClient

from workers.infra.kubernetes.api import Api


class CountingApi(Api):
    """Remembers every call as (verb, path)."""

    def __init__(self, client: ApiClient) -> None:
        super().__init__(client)
        self.calls: list[tuple[str, str]] = []

    def _request(self, method: str, path: str, *args: Any, **options: Any) -> tuple[int, Any]:
        self.calls.append((method, path))
        return super()._request(method, path, *args, **options)
