"""Who calls the web server in the access matrix, in groups, and how a decision names them."""

from collections.abc import Mapping

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
