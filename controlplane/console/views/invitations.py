"""Views of an invitation's link: show it, accept it, sign up to accept it.

Opening the link changes nothing, because programs that scan mail open links too.
"""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login as start_session
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from controlplane.accounts.adapter import LOCAL_BACKEND
from controlplane.console.access import public_page
from controlplane.console.forms.accounts import InvitedForm
from controlplane.console.forms.base import form_status
from controlplane.core import network, throttling
from controlplane.core.audit import Actor
from controlplane.core.errors import Denied
from tenants.actions import invitations
from tenants.models import Invitation, Membership, User


@public_page
def page(request: HttpRequest, token: str) -> HttpResponseBase:
    """Show the invitation; on POST the logged-in person accepts it.

    Who is logged out gets links to log in and to sign up, which lead back here.
    """
    invitation = invitations.find(token)
    user = request.user
    if request.method != "POST" or not isinstance(user, User):
        return _render(request, invitation, token, InvitedForm())
    actor = Actor(f"user:{user.email}", network.address(request))
    # Accepting may end the sessions of the account, but not this one.
    session_key = str(request.session.session_key)
    membership = invitations.accept(clear=token, user=user, by=actor, session_key=session_key)
    return _welcome(request, membership)


@require_POST
@public_page
def sign_up(request: HttpRequest, token: str) -> HttpResponseBase:
    """Create a local account for the invited address, log in and accept; POST only."""
    if not settings.LOCAL_ACCOUNTS_ENABLED or request.user.is_authenticated:
        raise Denied("Log in, then open the link of the invitation again.")
    invitation = invitations.find(token)
    throttling.require_signup(request, invitation.email)
    form = InvitedForm(request.POST)
    if form.is_valid():
        membership = form.attempt(
            invitations.accept_as_new, clear=token, password=form.cleaned_data["password"]
        )
        if membership is not None:
            start_session(request, membership.user, backend=LOCAL_BACKEND)
            return _welcome(request, membership)
    return _render(request, invitation, token, form)


def _render(
    request: HttpRequest, invitation: Invitation, token: str, form: InvitedForm
) -> HttpResponseBase:
    user = request.user
    context = {
        "invitation": invitation,
        "token": token,
        "form": form,
        "is_local": settings.LOCAL_ACCOUNTS_ENABLED,
        # Only a person who can read the mail of the address sees this page.
        "has_account": User.objects.filter(email=invitation.email).exists(),
        "is_mine": isinstance(user, User) and user.email.lower() == invitation.email,
    }
    return render(request, "console/accounts/invitation.html", context, status=form_status(form))


def _welcome(request: HttpRequest, membership: Membership) -> HttpResponseBase:
    messages.success(request, f"Welcome to {membership.tenant.name}.")
    return redirect("console:overview", membership.tenant.slug)
