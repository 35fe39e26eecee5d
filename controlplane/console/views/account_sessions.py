"""Views of a person's sessions: list them, end one, end all others."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from controlplane.accounts import login_audit, person_sessions
from controlplane.console.access import login_page
from controlplane.console.account_scope import AccountScope
from controlplane.console.scope import Scope
from controlplane.core.errors import Missing


@login_page
def page(scope: Scope) -> HttpResponseBase:
    """List the person's sessions of the portal and of the command, newest first."""
    context = {
        "sessions": person_sessions.list_sessions(scope.user),
        "current": scope.request.session.session_key,
    }
    return AccountScope(scope.request, scope.user).render("accounts/sessions.html", context)


@require_POST
@login_page
def end(scope: Scope, session: int) -> HttpResponseBase:
    """End one session of the person; POST only. Its next request must log in again."""
    # Only among the sessions of this person: the id in the URL comes from the browser.
    if not person_sessions.end(scope.user, session):
        raise Missing("There is no such session; it has ended already.")
    login_audit.record("login.end", scope.user, scope.request)
    messages.success(scope.request, "The session has ended.")
    return redirect("account_sessions")


@require_POST
@login_page
def end_others(scope: Scope) -> HttpResponseBase:
    """End every session of the person but this one; POST only."""
    ended = person_sessions.end_others(scope.user, scope.request.session.session_key or "")
    login_audit.record("login.end_others", scope.user, scope.request, sessions=ended)
    plural = "" if ended == 1 else "s"
    messages.success(scope.request, f"{ended} other session{plural} ended.")
    return redirect("account_sessions")
