"""Who may do what: one line for each URL of the web server, by its route, method by method.

A method without a group is open to nobody. A new URL needs a line here, or the matrix in
``tests/suites/access/test_access_matrix.py`` fails. Decide before you look at what it answers.
"""

from collections.abc import Iterator, Mapping

from tests.support.access.callers import (
    ADMINS,
    ALL,
    BILLING,
    CALLERS,
    COLUMNS,
    MEMBERS,
    MESSAGING,
    OWN_TOKENS,
    OWNERS,
    PEOPLE,
    PUBLIC,
    SPACE_TOKENS,
    VISITORS,
    Decision,
    may,
    page,
)
from tests.support.access.staff_decisions import API_STAFF, STAFF_PAGES

# What must be in a request for the view to look at who sends it. ``<name>`` is a furnished value.
BODIES: Mapping[str, Mapping[str, object]] = {
    "POST api/v1/invitations/accept": {"token": "<invitations/token>"},
    "POST api/v1/tenants/<slug:tenant>/transfer-ownership": {"email": "<email>"},
    "POST api/v1/tenants": {"organization": "One more"},
    "PATCH api/v1/tenants/<slug:tenant>/notification-preferences/me": {"choices": {}},
}


def _below(prefix: str, decisions: Mapping[str, Decision]) -> Iterator[tuple[str, Decision]]:
    for route, decision in decisions.items():
        yield prefix + route, decision


_WEB = {
    "healthz": may(get=PUBLIC),
    "readyz": may(get=PUBLIC),
    # Guarded by a token of its own: WAYPOST_METRICS_TOKEN.
    "metrics": may(),
    # A delivery is known by its signature, whoever sends it.
    "payment-events/<slug:provider>": may(post=PUBLIC),
    # The page for visitors; people who are logged in are led to theirs.
    "": page(PUBLIC),
    "status": page(PUBLIC),
    "login": page(PUBLIC),
    # It leads to the login page, and a second time too.
    "logout": may(post=PUBLIC),
    "login/organization": page(PUBLIC),
    # Only what waits in one's own session can be connected.
    "login/connect": page(PEOPLE),
    # They lead to the provider, or to the login page with a message.
    "organization-login/<slug:organization>/login": may(get=PUBLIC),
    "organization-login/<slug:organization>/callback": may(get=PUBLIC),
    "signup": page(PUBLIC),
    "docs/": may(get=PUBLIC),
    "docs/<path:path>": may(get=PUBLIC),
    "organizations/new": page(PEOPLE),
    "api/docs": may(get=PUBLIC),
    # Whoever has the link of an invitation sees it; it is for nobody of these people.
    "invitations/<str:token>": page(PUBLIC, VISITORS),
    "invitations/<str:token>/signup": may(post=VISITORS),
}
_ACCOUNT_PAGES = {
    "sessions": page(PEOPLE),
    # A session of somebody else is not there.
    "sessions/<int:session>/end": may(post=frozenset({"owner"})),
    "sessions/end-others": may(post=PEOPLE),
    "logout": page(PUBLIC),
    "inactive": may(get=PUBLIC),
    "confirm": page(PEOPLE),
    "email": page(PEOPLE),
    "email/sent": may(get=PUBLIC),
    "email/confirm/<str:key>": may(get=PUBLIC),
    "password": page(PEOPLE),
    "password/none": may(),
    "password/reset": page(PUBLIC),
    "password/reset/sent": may(get=PUBLIC),
    "password/reset/<str:uidb36>/<str:key>": page(PUBLIC),
    "password/reset/done": may(get=PUBLIC),
    "second-factor": may(get=PEOPLE),
    "second-factor/enter": page(PUBLIC),
    "second-factor/confirm": page(PEOPLE),
    "second-factor/app": page(PEOPLE),
    "second-factor/app/remove": page(frozenset({"owner"})),
    "second-factor/codes": may(get=frozenset({"owner"})),
    "second-factor/codes/new": page(PEOPLE),
    "second-factor/codes/file": may(get=frozenset({"owner"})),
    "second-factor/keys": may(get=PEOPLE),
    "second-factor/keys/new": page(PEOPLE),
    "second-factor/keys/confirm": page(PEOPLE),
    "second-factor/keys/login": page(PUBLIC),
    "second-factor/keys/<int:pk>/remove": page(frozenset({"owner"})),
    "second-factor/keys/<int:pk>/edit": page(frozenset({"owner"})),
}
_TENANT_PAGES = {
    "settings/follow": may(post=BILLING),
    "": page(ALL),
    "spaces/": page(ALL),
    "spaces/-/new": page(MESSAGING),
    "usage/": page(ALL),
    "usage/cells.csv": page(ALL),
    "usage/spend-cap": page(BILLING),
    "exports/<slug:kind>.<slug:suffix>": page(ALL),
    "invoices/": page(BILLING),
    "invoices/preview": page(BILLING),
    "invoices/<str:invoice>/": page(BILLING),
    "invoices/<str:invoice>/verify": may(post=BILLING),
    "invoices/<str:invoice>/pay": page(BILLING),
    "invoices/payments": page(BILLING),
    "invoices/<str:invoice>/file.<str:kind>": page(BILLING),
    "invoices/<str:invoice>/lines/<int:position>": page(BILLING),
    "invoices/<str:invoice>/samples": page(BILLING),
    "invoices/<str:invoice>/change": page(BILLING),
    "credit-notes/<slug:credit_note>.<str:suffix>": page(BILLING),
    "credit/": page(BILLING),
    "team/": page(ALL, ADMINS),
    "team/<int:member>/role": may(post=ADMINS),
    "team/<int:member>/remove": may(post=ADMINS),
    "team/<int:member>/transfer": may(post=OWNERS),
    "team/leave": may(post=ALL),
    "team/invitations/<int:invitation>/send": may(post=ADMINS),
    "team/invitations/<int:invitation>/revoke": may(post=ADMINS),
    "tokens/": page(ADMINS),
    "tokens/<int:token>/revoke": may(post=ADMINS),
    "tokens/<int:token>/rotate": may(post=ADMINS),
    "notifications/": page(ALL),
    "notifications/defaults": page(ADMINS),
    "notifications/channels/-/new": page(ADMINS),
    "notifications/channels/<slug:channel>": page(ADMINS),
    "notifications/channels/<slug:channel>/test": may(post=ADMINS),
    "notifications/channels/<slug:channel>/secret": may(post=ADMINS),
    "notifications/channels/<slug:channel>/delete": page(ADMINS),
    "notifications/deliveries/<slug:delivery>": page(ADMINS),
    "audit/": page(ADMINS),
    "audit/events.<str:kind>": page(ADMINS),
    "alarms/": page(ALL),
    "maintenance/": page(ALL, MESSAGING),
    "search": page(ALL),
    "close": page(OWNERS),
    "close/undo": may(post=OWNERS),
    "export.json": page(OWNERS),
    "settings/": page(BILLING),
    "settings/plan": page(BILLING),
    "settings/login": page(OWNERS),
    "settings/login/remove": may(post=OWNERS),
    "settings/support": page(OWNERS),
    "settings/support/revoke": may(post=OWNERS),
}
_SPACE_PAGES = {
    "": page(ALL),
    "status": page(ALL),
    "activity": page(ALL),
    "settings": page(ALL, MESSAGING),
    "plan": page(MESSAGING),
    "labels": page(MESSAGING),
    "first-message": page(MESSAGING),
    "addresses/-/delete": may(post=MESSAGING),
    "addresses/<slug:address>/labels": page(MESSAGING),
    "addresses/new": page(MESSAGING),
    "addresses/<slug:address>": page(ALL),
    "addresses/<slug:address>/live": page(ALL),
    "addresses/<slug:address>/settings": page(ALL, MESSAGING),
    "addresses/<slug:address>/alarms": page(ALL, MESSAGING),
    "addresses/<slug:address>/alarms/<slug:alarm>/delete": may(post=MESSAGING),
    "addresses/<slug:address>/delete": page(MESSAGING),
    "addresses/<slug:address>/messages": page(MESSAGING),
    "addresses/<slug:address>/messages/send": page(MESSAGING),
    "addresses/<slug:address>/messages/purge": page(MESSAGING),
    "addresses/<slug:address>/messages/change": page(MESSAGING),
    "users": page(ALL),
    "users/new": page(MESSAGING),
    "users/-/revoke": may(post=MESSAGING),
    "users/<str:user>/password": page(MESSAGING),
    "users/<str:user>/revoke": page(MESSAGING),
    "connections": page(ALL),
    "connections/close": page(MESSAGING),
    "connect": page(ALL),
    "certificate": page(ALL),
}
# Static documents answer any method alike, and look at no token.
_DOCUMENT = may(get=COLUMNS, post=COLUMNS, put=COLUMNS, patch=COLUMNS, delete=COLUMNS)
_API = {
    "sellers": may(get=PUBLIC),
    "openapi.json": _DOCUMENT,
    "problems": _DOCUMENT,
    "signup": may(post=PUBLIC),
    "session": may(post=PUBLIC, delete=CALLERS),
    "session/device": may(post=PUBLIC),
    "login-options": may(get=PUBLIC),
    "me": may(get=CALLERS),
    "plans": may(get=PUBLIC),
    "space-plans": may(get=PUBLIC),
    "address-plans": may(get=PUBLIC),
    "tenants": may(get=CALLERS, post=PEOPLE),
    # Only the person that the invitation names, who is no column here.
    "invitations/accept": may(post=frozenset()),
    # Any other path.
    "^.*$": may(),
}
_API_TENANT = {
    "": may(get=ALL),
    "/billing-details": may(get=BILLING, put=BILLING),
    "/plan-subscription": may(get=ALL, put=BILLING),
    "/quotas": may(get=ALL),
    "/spend-cap": may(get=BILLING, put=BILLING, delete=BILLING),
    "/spend-cap/simulation": may(post=BILLING),
    "/closure": may(get=OWNERS, post=OWNERS, delete=OWNERS),
    "/export": may(get=OWNERS),
    "/members": may(get=ALL),
    "/identity-provider": may(get=OWNERS, put=OWNERS, delete=OWNERS),
    "/transfer-ownership": may(post=frozenset({"owner"})),
    "/leave": may(post=MEMBERS),
    "/invitations": may(get=ADMINS, post=ADMINS),
    "/invitations/<int:invitation>": may(delete=ADMINS),
    "/invitations/<int:invitation>/send": may(post=ADMINS),
    "/members/<str:email>": may(get=ALL, put=ADMINS, delete=ADMINS),
    "/tokens": may(get=ADMINS, post=ADMINS),
    "/tokens/<int:token>": may(delete=ADMINS),
    "/tokens/<int:token>/rotate": may(post=ADMINS),
    "/audit-events": may(get=ADMINS),
    "/operations": may(get=ALL | SPACE_TOKENS),
    # That of a space is not there for the tokens of another space.
    "/operations/<str:operation>": may(get=ALL | {"space_token"}),
    "/usage": may(get=ALL),
    "/usage.csv": may(get=ALL),
    "/usage/series": may(get=ALL),
    "/usage/costs": may(get=BILLING),
    "/maintenance-windows": may(get=ALL, put=MESSAGING),
    # For the tenant's own Prometheus, which logs in with a token.
    "/metrics": may(get=OWN_TOKENS),
    "/notification-kinds": may(get=ALL),
    "/notification-channels": may(get=ADMINS, post=ADMINS),
    "/notification-channels/<str:channel>": may(get=ADMINS, patch=ADMINS, delete=ADMINS),
    "/notification-channels/<str:channel>/test": may(post=ADMINS),
    "/notification-channels/<str:channel>/secret": may(post=ADMINS),
    "/notification-deliveries": may(get=ADMINS),
    "/notification-deliveries/<str:delivery>": may(get=ADMINS),
    "/notification-deliveries/<str:delivery>/replay": may(post=ADMINS),
    "/notification-preferences": may(get=ADMINS, patch=ADMINS),
    # A person's own: tokens have none.
    "/notification-preferences/me": may(get=MEMBERS, patch=MEMBERS),
    "/invoices": may(get=BILLING),
    "/invoices/preview": may(get=BILLING),
    "/invoices/<str:invoice>": may(get=BILLING),
    "/invoices/<str:invoice>.pdf": may(get=BILLING),
    "/invoices/<str:invoice>.csv": may(get=BILLING),
    "/invoices/<str:invoice>.json": may(get=BILLING),
    "/invoices/<str:invoice>.ubl.xml": may(get=BILLING),
    "/invoices/<str:invoice>.cii.xml": may(get=BILLING),
    "/invoices/<str:invoice>.facturx.pdf": may(get=BILLING),
    "/invoices/<str:invoice>/verify": may(post=BILLING),
    "/invoices/<str:invoice>/lines/<int:position>": may(get=BILLING),
    "/invoices/<str:invoice>/change": may(get=BILLING),
    "/invoices/<str:invoice>/sample-readings": may(post=BILLING),
    "/invoices/<str:invoice>/sample-readings/<str:reading>": may(get=BILLING),
    "/invoices/<str:invoice>/sample-readings/<str:reading>/samples": may(get=BILLING),
    "/invoices/<str:invoice>/sample-readings/<str:reading>/counters": may(get=BILLING),
    "/credit-notes": may(get=BILLING),
    "/credit-notes/<str:credit_note>": may(get=BILLING),
    "/credit-notes/<str:credit_note>.pdf": may(get=BILLING),
    "/credit-notes/<str:credit_note>.json": may(get=BILLING),
    "/credit-notes/<str:credit_note>.ubl.xml": may(get=BILLING),
    "/credit-notes/<str:credit_note>.cii.xml": may(get=BILLING),
    "/credit-notes/<str:credit_note>.facturx.pdf": may(get=BILLING),
    "/credit-notes/<str:credit_note>/verify": may(post=BILLING),
    "/exports/focus.csv": may(get=BILLING),
    "/exports/focus.parquet": may(get=BILLING),
    "/exports/usage.csv": may(get=ALL),
    "/exports/usage.parquet": may(get=ALL),
    "/benefits": may(get=BILLING),
    "/coupons": may(post=BILLING),
    "/payments": may(get=BILLING),
    "/invoices/<str:invoice>/checkout": may(post=BILLING),
    "/credit-movements": may(get=BILLING),
    "/seller": may(get=BILLING),
    "/tax-details": may(get=BILLING),
    "/address-spaces": may(get=ALL | SPACE_TOKENS, post=MESSAGING | SPACE_TOKENS),
}
_API_SPACE = {
    "": may(get=ALL, patch=MESSAGING, delete=MESSAGING),
    "/events": may(get=ALL),
    "/addresses": may(get=ALL, post=MESSAGING),
    "/addresses/<path:address>": may(get=ALL, put=MESSAGING, patch=MESSAGING, delete=MESSAGING),
    # It also changes and deletes an address whose own name ends so.
    "/addresses/<path:address>/history": may(
        get=ALL, put=MESSAGING, patch=MESSAGING, delete=MESSAGING
    ),
    "/bulk/create-addresses": may(post=MESSAGING),
    "/bulk/delete-addresses": may(post=MESSAGING),
    "/bulk/revoke-users": may(post=MESSAGING),
    "/messages/browse": may(post=MESSAGING),
    "/messages/send": may(post=MESSAGING),
    "/messages/purge": may(post=MESSAGING),
    "/messages/delete": may(post=MESSAGING),
    "/messages/move": may(post=MESSAGING),
    "/messages/resend": may(post=MESSAGING),
    "/messages/pages/<str:page>": may(get=MESSAGING),
    "/users": may(get=ALL, post=MESSAGING),
    "/users/<str:user>": may(get=ALL, put=MESSAGING, delete=MESSAGING),
    "/alarms": may(get=ALL, post=MESSAGING),
    "/alarms/<str:alarm>": may(get=ALL, put=MESSAGING, delete=MESSAGING),
    "/connections": may(get=ALL),
    "/connections/close": may(post=MESSAGING),
}


def _with_token(decisions: Mapping[str, Decision]) -> dict[str, Decision]:
    """Return the decisions on routes of a space, where its token may what a developer may."""
    return {
        route: {
            method: group | {"space_token"} if "developer" in group else group
            for method, group in decision.items()
        }
        for route, decision in decisions.items()
    }


_OF_TENANT = "api/v1/tenants/<slug:tenant>"
_OF_SPACE = f"{_OF_TENANT}/address-spaces/<str:space>"
DECISIONS: Mapping[str, Decision] = dict(
    [
        *_below("", _WEB),
        *_below("account/", _ACCOUNT_PAGES),
        *_below("t/<slug:tenant>/", _TENANT_PAGES),
        *_below("t/<slug:tenant>/spaces/<slug:space>/", _SPACE_PAGES),
        *_below("staff/", STAFF_PAGES),
        *_below("api/v1/", _API),
        *_below(_OF_TENANT, _API_TENANT),
        *_below(_OF_SPACE, _with_token(_API_SPACE)),
        *_below("api/v1/staff/", API_STAFF),
    ]
)


def is_of_space(route: str) -> bool:
    """Return whether what the route shows is in one space, and hidden from tokens of others."""
    return route.startswith((_OF_SPACE, f"{_OF_TENANT}/operations/"))
