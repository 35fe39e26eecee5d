"""Examples in the OpenAPI document: of each operation, and of each status of errors.

``examples.json`` holds them. ``make examples`` writes it from the answers that the API gives to the
tests' own requests, and a test fails if an answer has another shape than its example.
"""

import functools
import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("examples.json")


@functools.cache
def stored() -> dict[str, Any]:
    """Return {"operations": {id: {"request": body, "responses": {status: body}}}, "errors": …}.

    ``errors`` maps each status to a problem. All callers get the same object: do not change it.
    """
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def add_examples(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the stored examples to the document ``result``, and return it.

    A post-processing hook of drf-spectacular, after ``controlplane.api.schema.add_refusals``.
    """
    operations, errors = stored()["operations"], stored()["errors"]
    # By reference: most operations have the same errors.
    result["components"]["examples"] = {
        f"Error{status}": {"summary": problem["title"], "value": problem}
        for status, problem in errors.items()
    }
    for methods in result["paths"].values():
        for operation in methods.values():
            of_this = operations.get(operation["operationId"], {})
            if "request" in of_this:
                _set(operation.get("requestBody", {}), of_this["request"])
            for status, response in operation["responses"].items():
                if status in of_this.get("responses", {}):
                    _set(response, of_this["responses"][status])
                elif status in errors:
                    reference = {"$ref": f"#/components/examples/Error{status}"}
                    for content in response["content"].values():
                        content["examples"] = {"error": reference}
    return result


def _set(described: dict[str, Any], example: Any) -> None:
    for media_type, content in described.get("content", {}).items():
        # Files have no example. ``problem+json`` ends so too.
        if media_type.endswith("json"):
            content["example"] = example
