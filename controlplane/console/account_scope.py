"""The scope of the pages of a person's own account, most of which django-allauth renders."""

from functools import cached_property
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from controlplane.console.scope import NavItem, Scope, mark
from tenants.models import User

# (label, URL name, whether only local accounts have the page)
_PAGES = (
    ("Sessions", "account_sessions", False),
    ("Second factor", "mfa_index", True),
    ("Password", "account_change_password", True),
    ("Email address", "account_email", True),
)


class AccountScope(Scope):
    """The scope of a page of the account of a logged-in person."""

    @cached_property
    def nav(self) -> list[NavItem]:
        # People of an identity provider have no password or second factor to change here.
        is_local = settings.LOCAL_ACCOUNTS_ENABLED and self.user.has_usable_password()
        return mark(
            self.request.path,
            (
                (label, reverse(name))
                for label, name, only_local in _PAGES
                if is_local or not only_local
            ),
        )


def fill(request: HttpRequest) -> dict[str, Any]:
    """Return the scope for templates whose view has none: those of django-allauth.

    Views of the portal pass their own scope, which replaces this one.
    """
    user = getattr(request, "user", None)
    return {"scope": AccountScope(request, user)} if isinstance(user, User) else {}
