"""The routes of a person's own account. django-allauth looks its pages up by these names.

Only these pages of the library are reachable. They extend the layouts and elements in
``templates/allauth``, so they look like the portal.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account import views as account
from allauth.mfa.base import views as factors
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as webauthn
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import path

from controlplane.console.access import public_page
from controlplane.console.views import account_sessions, accounts
from controlplane.core.errors import Missing

_View = Callable[..., HttpResponseBase]


def _local(view: _View) -> _View:
    """Return ``view`` for local accounts only: it answers 404 where they are switched off.

    It also answers 404 to a person whose account has no password, because an identity provider
    logs this person in. Such a person could otherwise add a passkey, and log in with it after the
    provider has removed them.
    """

    @public_page
    @wraps(view)
    def page(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        is_elsewhere = request.user.is_authenticated and not request.user.has_usable_password()
        if not settings.LOCAL_ACCOUNTS_ENABLED or is_elsewhere:
            raise Missing("There is no such page: people log in through the identity provider.")
        return view(request, *args, **kwargs)

    return page


@public_page
def _no_password(request: HttpRequest) -> HttpResponseBase:
    raise Missing("Your account has no password: you log in through the identity provider.")


_KEY = "account/second-factor/keys"
urlpatterns = [
    # The same paths as in ``console.urls``, by the names that the library uses.
    path("login", accounts.log_in, name="account_login"),
    path("signup", accounts.sign_up, name="account_signup"),
    path("account/sessions", account_sessions.page, name="account_sessions"),
    path("account/sessions/<int:session>/end", account_sessions.end, name="account_session_end"),
    path("account/sessions/end-others", account_sessions.end_others, name="account_sessions_end"),
    path("account/logout", _local(account.logout), name="account_logout"),
    path("account/inactive", account.account_inactive, name="account_inactive"),
    path("account/confirm", _local(account.reauthenticate), name="account_reauthenticate"),
    path("account/email", _local(account.email), name="account_email"),
    path(
        "account/email/sent",
        _local(account.email_verification_sent),
        name="account_email_verification_sent",
    ),
    path(
        "account/email/confirm/<str:key>",
        _local(account.confirm_email),
        name="account_confirm_email",
    ),
    path("account/password", _local(account.password_change), name="account_change_password"),
    # The library redirects people without a password to this name.
    path("account/password/none", _no_password, name="account_set_password"),
    path("account/password/reset", _local(account.password_reset), name="account_reset_password"),
    path(
        "account/password/reset/sent",
        _local(account.password_reset_done),
        name="account_reset_password_done",
    ),
    path(
        "account/password/reset/<str:uidb36>/<str:key>",
        _local(account.password_reset_from_key),
        name="account_reset_password_from_key",
    ),
    path(
        "account/password/reset/done",
        _local(account.password_reset_from_key_done),
        name="account_reset_password_from_key_done",
    ),
    path("account/second-factor", _local(factors.index), name="mfa_index"),
    path("account/second-factor/enter", _local(factors.authenticate), name="mfa_authenticate"),
    path(
        "account/second-factor/confirm", _local(factors.reauthenticate), name="mfa_reauthenticate"
    ),
    path("account/second-factor/app", _local(totp.activate_totp), name="mfa_activate_totp"),
    path(
        "account/second-factor/app/remove",
        _local(totp.deactivate_totp),
        name="mfa_deactivate_totp",
    ),
    path(
        "account/second-factor/codes",
        _local(recovery_codes.view_recovery_codes),
        name="mfa_view_recovery_codes",
    ),
    path(
        "account/second-factor/codes/new",
        _local(recovery_codes.generate_recovery_codes),
        name="mfa_generate_recovery_codes",
    ),
    path(
        "account/second-factor/codes/file",
        _local(recovery_codes.download_recovery_codes),
        name="mfa_download_recovery_codes",
    ),
    path(_KEY, _local(webauthn.list_webauthn), name="mfa_list_webauthn"),
    path(f"{_KEY}/new", _local(webauthn.add_webauthn), name="mfa_add_webauthn"),
    path(
        f"{_KEY}/confirm",
        _local(webauthn.reauthenticate_webauthn),
        name="mfa_reauthenticate_webauthn",
    ),
    path(f"{_KEY}/login", _local(webauthn.login_webauthn), name="mfa_login_webauthn"),
    path(f"{_KEY}/<int:pk>/remove", _local(webauthn.remove_webauthn), name="mfa_remove_webauthn"),
    path(f"{_KEY}/<int:pk>/edit", _local(webauthn.edit_webauthn), name="mfa_edit_webauthn"),
]
