"""Writes the CustomResourceDefinitions of ``kinds`` from the API's OpenAPI document.

``make openapi`` runs ``python -m workers.custom_resources.definitions``; a test compares the files.
Names become camelCase, as Kubernetes writes them: ``message_ttl_ms`` is ``messageTtlMs``.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic.alias_generators import to_camel

from workers.custom_resources.kinds import GROUP, KINDS, VERSION, Column, ResourceKind

Schema = dict[str, Any]
# The keywords of JSON Schema that a structural schema may have, and the API uses.
_KEPT = (
    *("type", "description", "enum", "minLength", "maxLength", "minimum", "maximum"),
    *("minItems", "maxItems", "format"),
)
_REFERENCE = "#/components/schemas/"
# As the conventions of the Kubernetes API name them.
_CONDITION_FIELDS = {
    "type": {"type": "string"},
    "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
    "reason": {"type": "string"},
    "message": {"type": "string"},
    "lastTransitionTime": {"type": "string", "format": "date-time"},
    "observedGeneration": {"type": "integer", "format": "int64"},
}
_CONDITIONS = {
    "type": "array",
    # By type, so that server-side apply merges single conditions.
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": {
        "type": "object",
        "required": ["type", "status", "reason", "message"],
        "properties": _CONDITION_FIELDS,
    },
}
_STATUS = {
    "tenant": {"type": "string", "description": "The tenant whose token the namespace has."},
    "id": {"type": "string", "description": "The object's id in Waypost."},
    "created": {
        "type": "boolean",
        "description": "Whether this resource created the object. Only then its deletion may "
        "delete the object.",
    },
    "phase": {"type": "string"},
    "observedGeneration": {"type": "integer", "format": "int64"},
    "conditions": _CONDITIONS,
}
# What ``kubectl get`` shows of each kind.
_COLUMNS = (
    Column("Phase", ".status.phase"),
    Column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
    Column("Synced", '.status.conditions[?(@.type=="Synced")].status'),
    Column("Reason", '.status.conditions[?(@.type=="Synced")].reason', wide=True),
)


def build(kind: ResourceKind, document: Mapping[str, Any]) -> Schema:
    """Return the CustomResourceDefinition of ``kind``; ``document`` is the OpenAPI document."""
    names = {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": kind.kind.lower(),
        "shortNames": [kind.short_name],
        "categories": ["waypost"],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "names": names,
            "scope": "Namespaced",
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": _columns(kind),
                    "schema": {"openAPIV3Schema": _schema(kind, document)},
                }
            ],
        },
    }


def _schema(kind: ResourceKind, document: Mapping[str, Any]) -> Schema:
    return {
        "type": "object",
        "description": kind.description,
        "required": ["spec"],
        "properties": {
            "spec": _spec(kind, document),
            "status": {
                "type": "object",
                "properties": {**_STATUS, **kind.observed},
            },
        },
    }


def _spec(kind: ResourceKind, document: Mapping[str, Any]) -> Schema:
    body = document["components"]["schemas"][kind.schema]
    taken = {
        name: _structural(found, document)
        for name, found in body["properties"].items()
        if name not in kind.without
    }
    own = {
        "adopt": {
            "type": "boolean",
            "description": "Whether to manage an object that exists already and that this "
            "resource did not create. Its deletion never deletes such an object. Default: false.",
        },
        "deletion_policy": {
            "type": "string",
            "enum": [str(policy) for policy in kind.deletions],
            "description": "What becomes of the object when the resource is deleted. Only Delete "
            f"deletes messages. Default: {kind.deletions[0]}.",
        },
    }
    fields: Schema = {**kind.added, **taken, **own}
    required = {name for name in body["required"] if name not in kind.without}
    return {
        "type": "object",
        "required": sorted(to_camel(name) for name in required.union(kind.required)),
        "properties": {to_camel(name): dict(found) for name, found in fields.items()},
        "x-kubernetes-validations": [_unchanged(name) for name in kind.fixed],
    }


def _unchanged(name: str) -> Schema:
    field = to_camel(name)
    # With ``has``, because CEL cannot read a field that is absent.
    return {
        "rule": f"has(self.{field}) == has(oldSelf.{field}) && "
        f"(!has(self.{field}) || self.{field} == oldSelf.{field})",
        "message": f"{field} cannot change: delete the resource and create another one",
    }


def _structural(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Schema:
    """Return ``schema`` as a structural schema: without references, null and defaults.

    An absent field has the API's default, so that a default has one home.
    """
    beside = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
    if "$ref" in schema:
        target = str(schema["$ref"]).removeprefix(_REFERENCE)
        return _structural({**document["components"]["schemas"][target], **beside}, document)
    if "allOf" in schema:  # a reference with a description of its own
        return _structural({**schema["allOf"][0], **beside}, document)
    found = {keyword: schema[keyword] for keyword in _KEPT if keyword in schema}
    # OpenAPI 3.1 writes a nullable field as [type, null]; a structural schema has one type.
    if isinstance(found.get("type"), list):
        (found["type"],) = [name for name in found["type"] if name != "null"]
    if isinstance(schema.get("additionalProperties"), Mapping):  # a map, such as labels
        found["additionalProperties"] = _structural(schema["additionalProperties"], document)
    if "items" in schema:
        found["items"] = _structural(schema["items"], document)
    if "properties" in schema:
        inner = schema["properties"].items()
        found["properties"] = {to_camel(name): _structural(one, document) for name, one in inner}
        found["required"] = [to_camel(name) for name in schema.get("required", [])]
    return found


def _columns(kind: ResourceKind) -> list[Schema]:
    columns = [*kind.columns, *_COLUMNS]
    shown = [
        {
            "name": column.title,
            "type": "string",
            "jsonPath": column.path,
            **({"priority": 1} if column.wide else {}),
        }
        for column in columns
    ]
    return [*shown, {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]


def text(kind: ResourceKind, document: Mapping[str, Any]) -> str:
    """Return the definition of ``kind`` as YAML, with a line that says where it comes from."""
    written = yaml.safe_dump(build(kind, document), sort_keys=False, width=100)
    return f"# Written by `make openapi` from the API: do not edit.\n{written}"


def write(openapi: Path, folder: Path) -> None:
    """Write one file for each kind into ``folder``, from the OpenAPI document ``openapi``."""
    document = json.loads(openapi.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        (folder / f"{kind.plural}.yaml").write_text(text(kind, document), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
