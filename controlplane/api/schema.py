"""The OpenAPI 3.1 document: built from the views, with the errors that all of them share.

The API serves the document at /api/v1/openapi.json. ``make openapi`` writes it to
docs/openapi.json, which is committed; a test fails when the two differ. The docstring of a view's
method is the description of an operation in it, and the docstring of a serializer that of a schema.
"""

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse, JsonResponse
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers

from controlplane.api import error_codes
from controlplane.api.problem import MEDIA_TYPE
from plans import invoice_formats

# Left out of operation ids: "Get an address" becomes get_address.
_ARTICLES = re.compile(r"(_(a|an|the|my|as|of))*_")
View = TypeVar("View", bound=Callable[..., Any])

# Status of HTTP -> its description in the OpenAPI document.
_TEXT = {
    400: "Could not be read",
    401: "Not logged in",
    403: "Not allowed, or over a limit",
    404: "Not found, or not yours",
    408: "The body did not arrive in time",
    409: "Not possible in the present state",
    412: "If-Match does not match",
    422: "A value is not valid; `fields` says which and why",
    428: "Send the ETag that you read in If-Match",
    413: "Body too large",
    415: "Not application/json",
    429: "Too many requests",
    500: "Internal error; names an incident",
    503: "Try again later",
}

IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The ETag that you read, or `*` for any state. If the resource has another one "
    "now, the answer is 412.",
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    str,
    OpenApiParameter.HEADER,
    enum=["*"],
    description="`*`: only create; if the resource exists, the answer is 412.",
)
# Of a resource that exists always: the answer without If-Match is 428.
MUST_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, required=True, description=IF_MATCH.description
)
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Any 1 to 255 printable ASCII characters. A request that is repeated with the same "
    "key within 24 hours runs once and gets the same answer.",
)


def describe(
    summary: str,
    *,
    request: Any = None,
    response: Any = None,
    status: int = 200,
    parameters: list[OpenApiParameter] | None = None,
    **more: Any,
) -> Callable[[View], View]:
    """Return a decorator that documents a method of a view in the OpenAPI document.

    The operation id is made from ``summary``, because clients name methods after it. So each
    operation needs a summary of its own, in letters, blanks and 's, or an ``operation_id``.
    ``request`` and ``response`` are serializers. ``response`` is the body of an answer with
    ``status``, or a mapping of statuses to bodies. ``more`` goes to drf-spectacular's
    ``extend_schema``; an ``operation_id`` there is kept, for an operation whose summary changed.
    The names of the query parameters become the attribute ``query_parameters`` of the method:
    requests with others are refused (``controlplane.api.views``).
    """
    in_query = frozenset(p.name for p in parameters or [] if p.location == OpenApiParameter.QUERY)
    # Generated clients name their methods after the operation id. drf-spectacular would derive it
    # from the path, and it would change with the path.
    words = f"_{summary.lower()}_".replace("'s", "").replace(" ", "_")
    operation_id = more.pop("operation_id", "") or _ARTICLES.sub("_", words).strip("_")
    if not operation_id.isidentifier():
        raise ValueError(f"{summary!r} makes the operation id {operation_id!r}, no identifier")
    documented = extend_schema(
        operation_id=operation_id,
        summary=summary,
        request=request,
        responses=response if isinstance(response, dict) else {status: response},
        parameters=parameters or [],
        **more,
    )

    def decorate(method: View) -> View:
        found: View = documented(method)
        found.query_parameters = in_query  # type: ignore[attr-defined]
        return found

    return decorate


def page_of(item: type[serializers.BaseSerializer[Any]]) -> serializers.Serializer[Any]:
    """Return the documentation of a page, {items, next}, whose items the serializer ``item`` makes.

    For ``describe`` only: it serializes nothing.
    """
    # Each page needs a name of its own, because the document refers to schemas by name.
    name = item.__name__.removesuffix("Serializer")
    return inline_serializer(
        name=f"{name}Page",
        fields={
            "items": item(many=True),
            "next": serializers.CharField(
                allow_null=True, help_text="Path of the next page; null on the last."
            ),
        },
    )


def add_refusals(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Add the schema ``Problem`` to the document, and a tag and error responses to each operation.

    A post-processing hook of drf-spectacular: ``result`` is the document, which it changes and
    returns.
    """
    result["components"]["schemas"]["Problem"] = problem_schema()
    result["tags"] = tags()
    for path, operations in result["paths"].items():
        for method, operation in operations.items():
            operation["tags"] = [tag_of(path)]
            for status in refusals_of(path, method, operation):
                operation["responses"].setdefault(
                    str(status),
                    {
                        "description": _TEXT[status],
                        "content": {
                            MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}
                        },
                    },
                )
    return result


# What the operations of each tag are about; the order is that of the reference.
_TAGS = {
    "address-spaces": "Address spaces: addresses, messaging users, connections, messages.",
    "operations": "Slow changes, and how far they are.",
    "tenants": "Organizations.",
    "closure": "The end of an organization, and how to undo it in time.",
    "export": "What is stored about an organization.",
    "members": "People in an organization, and their roles.",
    "invitations": "Invitations by mail to join an organization.",
    "identity-provider": "An organization's own OpenID provider, by which its people log in.",
    "tokens": "Tokens with which programs call the API.",
    "plan-subscription": "The plan of an organization.",
    "billing-details": "The buyer on invoices.",
    "payments": "Payments of invoices.",
    "exports": "Charges and usage as files for other programs.",
    "quotas": "Limits of an organization, and what is used of them.",
    "spend-cap": "What an organization wants to pay at most in a month.",
    "usage": "Metered usage.",
    "invoices": "Invoices and what the running month costs so far.",
    "credit-notes": "What was taken back of invoices.",
    "benefits": "Discounts, commitments and credit of an organization.",
    "coupons": "Codes that give a discount.",
    "credit-movements": "Each grant, use and end of credit.",
    "seller": "From which legal entity an organization buys, and in which currency.",
    "tax-details": "What decides the tax of an organization.",
    "notification-kinds": "Events of which an organization is notified.",
    "notification-channels": "Webhooks, chats and pagers that get events.",
    "notification-deliveries": "What was sent to channels, and what came of it.",
    "notification-preferences": "Who gets which events by mail, and the budget.",
    "maintenance-windows": "When brokers and routers may restart for a new release.",
    "audit-events": "Who did what to what.",
    "metrics": "An organization's metrics for Prometheus.",
    "plans": "Plans on offer.",
    "sellers": "Legal entities that sell, with their currencies.",
    "space-plans": "Plans for address spaces on offer.",
    "address-plans": "Plans for addresses on offer.",
    "signup": "A new customer.",
    "login-options": "Which ways to log in there are.",
    "session": "Log in and out.",
    "me": "Who the caller is.",
    "staff": "For the operator of the installation.",
}


# The last part of a path that names what is done, not what it is done to -> its tag.
_TAG_OF_VERB = {"leave": "members", "transfer-ownership": "members"}


def tags() -> list[dict[str, str]]:
    """Return all tags with their descriptions, in the order of the reference."""
    return [{"name": name, "description": text} for name, text in _TAGS.items()]


def tag_of(path: str) -> str:
    """Return the tag of an operation, which groups operations: a noun of its path.

    Below a tenant it is the noun after the tenant, else the first noun: ``invoices`` for
    /api/v1/tenants/{tenant}/invoices/{invoice}, ``staff`` for /api/v1/staff/catalog.
    """
    # The first three parts are "", "api" and "v1".
    nouns = [part for part in path.split("/")[3:] if part and not part.startswith("{")]
    named = nouns[1] if nouns[0] == "tenants" and len(nouns) > 1 else nouns[0]
    return _TAG_OF_VERB.get(named) or named.partition(".")[0]


def refusals_of(path: str, method: str, operation: Mapping[str, Any]) -> list[int]:
    """Return the sorted error statuses to document for an operation.

    They are guessed from its path, method and parameters, so it may never send some of them.
    ``operation`` is its part of the OpenAPI document.
    """
    headers = {p["name"] for p in operation.get("parameters", []) if p["in"] == "header"}
    found = [400, 422, 429, 500, 503]  # every request counts
    # An empty security requirement means that the operation needs no login.
    found += [401] if {} not in operation.get("security", [{}]) else []
    # Staff views hide themselves from others by 404; the body of an acceptance names an invitation.
    may_miss = "{" in path or "/staff/" in path or path.endswith("/invitations/accept")
    found += [404] if may_miss else []
    found += [403] if "/tenants/" in path or method != "get" else []
    # A draft has no file of a format for issued documents.
    kind = invoice_formats.format_of(path)
    needs_state = method != "get" or (kind is not None and invoice_formats.INFO[kind].is_final)
    # A tenant that is being erased has no plan.
    needs_state = needs_state or path.endswith(("/plan-subscription", "/quotas"))
    found += [409] if needs_state else []
    found += [412] if "If-Match" in headers else []
    found += [428] if method in ("put", "patch") else []
    found += [408, 413, 415] if "requestBody" in operation else []
    if path.endswith(("/signup", "/session")) and method == "post":
        found += [401]
    return sorted(found)


def problem_schema() -> dict[str, Any]:
    """Return the OpenAPI schema of a problem+json body; its description lists all error codes."""
    listed = "\n".join(f"* `{c.code}` ({c.status}): {c.title}" for c in error_codes.CODES)
    text = {"type": "string"}
    return {
        "type": "object",
        "description": "An error (RFC 9457). Compare `code`; show `detail` to people. Some codes "
        "have members of their own beside those listed, such as `resource` and `limit` of "
        "`quota_exceeded`, or `incident` of `internal`.\n\n" + listed,
        "properties": {
            "type": {**text, "format": "uri"},
            "title": text,
            "status": {"type": "integer"},
            "detail": {**text, "description": "What happened and what to do next, for people."},
            "instance": {**text, "description": "The requested path."},
            "code": {**text, "description": "Stable; listed above."},
            "fields": {
                "type": "object",
                "additionalProperties": True,
                "description": "Field of the request -> reasons.",
            },
        },
        "required": ["type", "title", "status", "detail", "instance", "code", "fields"],
        "example": {
            "type": "https://waypost.example/api/v1/problems#missing",
            "title": "Not found",
            "status": 404,
            "detail": "There is no such tenant, or it is not yours.",
            "instance": "/api/v1/tenants/acme",
            "code": "missing",
            "fields": {},
        },
    }


@functools.cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document as nested dictionaries.

    A process builds it once. All callers get the same object, so do not change it.
    """
    generator: Any = SchemaGenerator  # untyped in the library
    # ``public``: all operations, without asking the views for permissions.
    built: dict[str, Any] = generator().get_schema(public=True)
    return built


def serve(request: HttpRequest) -> HttpResponse:
    """Answer with the OpenAPI document as JSON; no login is needed."""
    return JsonResponse(document(), json_dumps_params={"indent": 2})


def serve_codes(request: HttpRequest) -> HttpResponse:
    """Answer with {items: every error code, its status and its title}; no login is needed."""
    return JsonResponse({"items": [code._asdict() for code in error_codes.CODES]})


def query(name: str, text: str, choices: list[str] | None = None) -> OpenApiParameter:
    """Return the documentation of the optional query parameter ``name``, a text.

    ``text`` describes it, and ``choices`` are its possible values (None: any).
    """
    return OpenApiParameter(name, str, description=text, enum=choices)


class TokenScheme(OpenApiAuthenticationExtension):
    """Documents ``TokenAuthentication``. drf-spectacular finds this class by its base class."""

    target_class = "controlplane.api.authentication.TokenAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the OpenAPI security scheme of bearer tokens."""
        text = "A tenant's token (`wp_…`) or a person's, from POST /session (`wps_…`)."
        return {"type": "http", "scheme": "bearer", "description": text}
