"""Who may do what: one line for each URL of the web server, by its route, method by method.

A method without a group is open to nobody. A new URL needs a line here, or the matrix in
``tests/suites/access/test_access_matrix.py`` fails. Decide before you look at what it answers.
"""

from collections.abc import Iterator, Mapping

Group = frozenset[str]
Decision = Mapping[str, Group]

# Service accounts without limits of their own, of the tenant and of another one.
WHOLE_TOKENS = frozenset({"owner_token", "viewer_token", "outsider_token"})
# Limited ones of the tenant: an owner's that may only look, a developer's for the space of the
# routes, a developer's for another space, and an owner's that has expired.
LIMITED_TOKENS = frozenset({"readonly_token", "space_token", "elsewhere_token", "expired_token"})
TOKENS = WHOLE_TOKENS | LIMITED_TOKENS
MEMBERS = frozenset({"owner", "admin", "developer", "billing", "viewer"})
PEOPLE = MEMBERS | {"outsider", "staff"}
# Who is somebody: an expired token is nobody, and is refused even where anybody is let in.
CALLERS = PEOPLE | TOKENS - {"expired_token"}
PUBLIC = CALLERS | {"anonymous"}
# The columns of the matrix, on operations of the API. Pages know no token at all, which the whole
# ones show there for the limited ones.
COLUMNS = PUBLIC | {"expired_token"}
COLUMNS_OF_PAGES = COLUMNS - LIMITED_TOKENS
# Who has no session. On pages a token is none.
VISITORS = COLUMNS_OF_PAGES - PEOPLE

# Groups of a tenant, with the service accounts that have the same rights.
OWN_TOKENS = frozenset({"owner_token", "viewer_token", "readonly_token"})
ALL = MEMBERS | OWN_TOKENS
# What a token that is limited to spaces sees outside of them: lists of what is in them.
SPACE_TOKENS = frozenset({"space_token", "elsewhere_token"})
INSIDERS = ALL | SPACE_TOKENS
MESSAGING = frozenset({"owner", "admin", "developer", "owner_token"})
BILLING = frozenset({"owner", "admin", "billing", "owner_token"})
ADMINS = frozenset({"owner", "admin", "owner_token"})
OWNERS = frozenset({"owner", "owner_token"})
STAFF = frozenset({"staff"})

# What must be in a request for the view to look at who sends it. ``<name>`` is a furnished value.
BODIES: Mapping[str, Mapping[str, object]] = {
    "POST api/v1/invitations/accept": {"token": "<invitations/token>"},
    "POST api/v1/tenants/<slug:tenant>/transfer-ownership": {"email": "<email>"},
    "POST api/v1/tenants": {"organization": "One more"},
    "PATCH api/v1/tenants/<slug:tenant>/notification-preferences/me": {"choices": {}},
}


def may(
    *,
    get: Group | None = None,
    post: Group | None = None,
    put: Group | None = None,
    patch: Group | None = None,
    delete: Group | None = None,
) -> Decision:
    """Return who may send each method; None: nobody."""
    given = {"GET": get, "POST": post, "PUT": put, "PATCH": patch, "DELETE": delete}
    return {method: group for method, group in given.items() if group is not None}


def page(see: Group, change: Group | None = None) -> Decision:
    """Return the decision on a page that both methods reach: POST needs ``change``, or ``see``."""
    return may(get=see, post=see if change is None else change)


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
    "credit-notes/<str:credit_note>.<str:suffix>": page(BILLING),
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
_STAFF_PAGES = {
    "tenants/": page(STAFF),
    "tenants/<slug:tenant>/": page(STAFF),
    "tenants/<slug:tenant>/close": may(post=STAFF),
    "tenants/<slug:tenant>/suspend": page(STAFF),
    "tenants/<slug:tenant>/restore": may(post=STAFF),
    "tenants/<slug:tenant>/confirm-domains": may(post=STAFF),
    "tenants/<slug:tenant>/notes": may(post=STAFF),
    "tenants/<slug:tenant>/notes/<int:note>/delete": may(post=STAFF),
    "tenants/<slug:tenant>/act": may(post=STAFF),
    # Here nobody acts for a tenant, so there is nothing to stop.
    "acting/stop": may(post=frozenset()),
    "tenants/<slug:tenant>/overrides/<slug:resource>/clear": may(post=STAFF),
    "tenants/<slug:tenant>/terms": page(STAFF),
    "tenants/<slug:tenant>/tax": page(STAFF),
    "coupons/": page(STAFF),
    "invoices/": page(STAFF),
    "invoices/<str:invoice>/": page(STAFF),
    "invoices/<str:invoice>/close": may(post=STAFF),
    "invoices/<str:invoice>/approve": may(post=STAFF),
    "invoices/<str:invoice>/issue": may(post=STAFF),
    "invoices/<str:invoice>/pay": may(post=STAFF),
    "invoices/<str:invoice>/credit": may(post=STAFF),
    "invoices/<str:invoice>/void": may(post=STAFF),
    "invoices/<str:invoice>/write-off": may(post=STAFF),
    "close-runs/": page(STAFF),
    "close-runs/start": page(STAFF),
    "close-runs/<str:run>/": page(STAFF),
    "close-runs/<str:run>/approve": page(STAFF),
    "close-runs/<str:run>/issue": page(STAFF),
    "invoices/<str:invoice>/lines/<int:position>": page(STAFF),
    "invoices/<str:invoice>/samples": page(STAFF),
    "invoices/<str:invoice>/change": page(STAFF),
    "payments/": page(STAFF),
    "payments/<int:payment>/": page(STAFF),
    "overdue/": page(STAFF),
    "overdue/<slug:tenant>/pause": page(STAFF),
    "overdue/<slug:tenant>/resume": may(post=STAFF),
    "mailbox/": page(STAFF),
    "mailbox/<int:mail>": page(STAFF),
    "fleet/": page(STAFF),
    "fleet/spaces/<slug:space>/": page(STAFF),
    "fleet/spaces/<slug:space>/retry": may(post=STAFF),
    "pipeline/": page(STAFF),
    "pipeline/quarantine/": page(STAFF),
    "health/": page(STAFF),
    "revenue/": page(STAFF),
    "finance/": page(STAFF),
    "finance/<slug:report>.csv": page(STAFF),
    "finance/focus.<slug:suffix>": page(STAFF),
    "finance/codes": may(post=STAFF),
    "volumes/": page(STAFF),
    "volumes/<slug:space>/release": page(STAFF),
    "prices/": page(STAFF),
    "prices/drafts/<slug:draft>": page(STAFF),
    "prices/drafts/<slug:draft>/publish": may(post=STAFF),
    "prices/drafts/<slug:draft>/cancel": may(post=STAFF),
    "prices/drafts/<slug:draft>/back-test": may(post=STAFF),
    "prices/back-tests/<slug:back_test>": page(STAFF),
    "prices/back-tests/<slug:back_test>.csv": page(STAFF),
    "audit/": page(STAFF),
    "search": page(STAFF),
    "fleet/rollout/<slug:verb>": may(post=STAFF),
}
# Static documents answer any method alike, and look at no token.
_DOCUMENT = may(get=COLUMNS, post=COLUMNS, put=COLUMNS, patch=COLUMNS, delete=COLUMNS)
_API = {
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
_API_STAFF = {
    "catalog": may(get=STAFF, post=STAFF),
    "catalog/versions": may(get=STAFF),
    "catalog/drafts": may(get=STAFF, post=STAFF),
    "catalog/drafts/<str:draft>": may(get=STAFF),
    "catalog/drafts/<str:draft>/publish": may(post=STAFF),
    "catalog/drafts/<str:draft>/cancel": may(post=STAFF),
    "catalog/drafts/<str:draft>/back-tests": may(post=STAFF),
    "back-tests/<str:back_test>": may(get=STAFF),
    "back-tests/<str:back_test>.csv": may(get=STAFF),
    "back-tests/<str:back_test>/months": may(get=STAFF),
    "rollouts": may(get=STAFF),
    "rollout": may(get=STAFF),
    "rollout/<str:verb>": may(post=STAFF),
    "pipeline": may(get=STAFF),
    "pipeline/runs": may(get=STAFF),
    "pipeline/quarantine": may(get=STAFF),
    "kept-volumes": may(get=STAFF),
    "kept-volumes/<str:space>/release": may(post=STAFF),
    "tenants": may(get=STAFF),
    "tenants/<slug:tenant>": may(get=STAFF),
    "tenants/<slug:tenant>/suspend": may(post=STAFF),
    "tenants/<slug:tenant>/restore": may(post=STAFF),
    "tenants/<slug:tenant>/identity-provider": may(get=STAFF, put=STAFF),
    "tenants/<slug:tenant>/identity-provider/confirm-domains": may(post=STAFF),
    "tenants/<slug:tenant>/quotas": may(get=STAFF),
    "tenants/<slug:tenant>/quotas/<str:resource>": may(get=STAFF, put=STAFF, delete=STAFF),
    "close-runs": may(get=STAFF, post=STAFF),
    "close-runs/<str:run>": may(get=STAFF),
    "close-runs/<str:run>/invoices": may(get=STAFF),
    "close-runs/<str:run>/approve": may(post=STAFF),
    "close-runs/<str:run>/issue": may(post=STAFF),
    "invoices": may(get=STAFF),
    "invoices/close-now": may(post=STAFF),
    "invoices/<str:invoice>/close": may(post=STAFF),
    "invoices/<str:invoice>/approve": may(post=STAFF),
    "invoices/<str:invoice>/issue": may(post=STAFF),
    "invoices/<str:invoice>/payments": may(get=STAFF, post=STAFF),
    "invoices/<str:invoice>/credit-notes": may(post=STAFF),
    "invoices/<str:invoice>/void": may(post=STAFF),
    "invoices/<str:invoice>/write-off": may(post=STAFF),
    "exports/focus.csv": may(get=STAFF),
    "exports/focus.parquet": may(get=STAFF),
    "journal": may(get=STAFF),
    "journal.csv": may(get=STAFF),
    "deferred-revenue": may(get=STAFF),
    "deferred-revenue.csv": may(get=STAFF),
    "account-codes/<slug:legal_entity>": may(get=STAFF, post=STAFF),
    "coupons": may(get=STAFF, post=STAFF),
    "payments": may(get=STAFF),
    "payments/<int:payment>/refunds": may(post=STAFF),
    "payment-events": may(get=STAFF),
    "overdue": may(get=STAFF),
    "tenants/<slug:tenant>/pause-dunning": may(post=STAFF),
    "tenants/<slug:tenant>/resume-dunning": may(post=STAFF),
    "coupons/<str:coupon>/end": may(post=STAFF),
    "tenants/<slug:tenant>/discounts/<str:discount>/end": may(post=STAFF),
    "tenants/<slug:tenant>/commitments/<str:commitment>/end": may(post=STAFF),
    "tenants/<slug:tenant>/credit-movements": may(get=STAFF),
    "tenants/<slug:tenant>/seller": may(get=STAFF, post=STAFF),
    "tenants/<slug:tenant>/tax-details": may(get=STAFF),
    "tenants/<slug:tenant>/tax-id-answers": may(post=STAFF),
    "tenants/<slug:tenant>/tax-exemptions": may(post=STAFF),
    "tenants/<slug:tenant>/tax-exemptions/<str:exemption>/end": may(post=STAFF),
    "tenants/<slug:tenant>/benefits": may(get=STAFF),
    "tenants/<slug:tenant>/discounts": may(post=STAFF),
    "tenants/<slug:tenant>/commitments": may(post=STAFF),
    "tenants/<slug:tenant>/credits": may(post=STAFF),
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
        *_below("staff/", _STAFF_PAGES),
        *_below("api/v1/", _API),
        *_below(_OF_TENANT, _API_TENANT),
        *_below(_OF_SPACE, _with_token(_API_SPACE)),
        *_below("api/v1/staff/", _API_STAFF),
    ]
)


def is_of_space(route: str) -> bool:
    """Return whether what the route shows is in one space, and hidden from tokens of others."""
    return route.startswith((_OF_SPACE, f"{_OF_TENANT}/operations/"))
