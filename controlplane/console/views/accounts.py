"""Login, sign-up, creation of further organizations, and the redirects afterwards.

Local accounts are those of django-allauth, as ``controlplane.accounts`` adapts it. For single
sign-on, the login page has a link to the routes of ``controlplane.oidc``.
"""

from collections.abc import Mapping
from typing import Any, cast

from allauth.account.internal.flows.signup import complete_signup, prevent_enumeration
from allauth.account.views import LoginView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login as start_session
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from controlplane.accounts import confirmations
from controlplane.accounts.adapter import LOCAL_BACKEND
from controlplane.console import plan_reads, sellers
from controlplane.console.access import login_page, public_page
from controlplane.console.forms.accounts import LoginForm, OrganizationForm, SignUpForm
from controlplane.console.forms.base import form_status
from controlplane.console.scope import Scope
from controlplane.core import throttling
from tenants import queries
from tenants.actions import tenants
from tenants.models import Tenant


class LogIn(LoginView):  # type: ignore[misc]  # the library has no types
    """Shows the login page and logs users of local accounts in.

    For single sign-on the page has a link. Without local accounts it has no form, and a POST
    redirects to the page. A user who is logged in already is redirected to their start page.
    """

    template_name = "console/accounts/login.html"
    form_class = LoginForm

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        # The page has no form then, but a client can still post one.
        if not settings.LOCAL_ACCOUNTS_ENABLED:
            return redirect("console:login")
        return super().post(request, *args, **kwargs)

    def form_invalid(self, form: LoginForm) -> HttpResponse:
        answer: HttpResponse = super().form_invalid(form)
        # Django answers 200 with the errors; a rate limit must be answered with 429.
        answer.status_code = form.refusal_status
        return answer

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(
            **kwargs,
            oidc_url=_provider_url(),
            local_accounts=settings.LOCAL_ACCOUNTS_ENABLED,
            organization_login=settings.ORGANIZATION_LOGIN_ENABLED,
            signup_enabled=settings.SIGNUP_ENABLED and settings.LOCAL_ACCOUNTS_ENABLED,
            next=self.request.POST.get("next", self.request.GET.get("next", "")),
        )
        return context


log_in = public_page(LogIn.as_view())


def _provider_url() -> str:
    """Return where a login through the identity provider begins; empty if there is none."""
    return reverse("oidc_authentication_init") if settings.OIDC_ISSUER else ""


@login_page
def home(scope: Scope) -> HttpResponseBase:
    """Redirect to the overview of the user's first organization, by name.

    Without an organization, an operator goes to the operator area, and any other user to the form
    for a new organization.
    """
    membership = queries.tenants_of(scope.user).first()
    if membership:
        return redirect("console:overview", membership.tenant.slug)
    return redirect("console:staff_tenants" if scope.user.is_staff else "console:new_organization")


@public_page
def sign_up(request: HttpRequest) -> HttpResponseBase:
    """Show the sign-up form; on POST create a user, an organization and its plan subscription.

    Then log the user in and redirect to the form for a first space. Where email addresses must be
    confirmed, redirect to a page that asks to open a mail instead. A visitor who is logged in
    already is redirected to the form for a new organization. Answers 403 where sign-up or local
    accounts are disabled.
    """
    # A second account would not belong to the first one's organizations.
    if request.user.is_authenticated:
        return redirect("console:new_organization")
    if not (settings.SIGNUP_ENABLED and settings.LOCAL_ACCOUNTS_ENABLED):
        # Without local accounts people sign up by a login through the provider.
        url = _provider_url() if settings.SIGNUP_ENABLED else ""
        return render(
            request, "console/accounts/signup_closed.html", {"at_provider": url}, status=403
        )
    # A sent form names its offer again in a hidden field, so it is shown with the same prices.
    chosen = sellers.chosen(request)
    form = SignUpForm(
        request.POST or None,
        offers=plan_reads.offered(chosen.currency),
        initial={"offer": chosen.value},
    )
    if form.is_valid():
        # The rate limit is inside ``_sign_up``, so that it becomes an error of the form too.
        answer = form.attempt(_sign_up, request=request, fields=form.cleaned_data)
        if answer is not None:
            return answer
    context = {"form": form, **sellers.links(chosen)}
    return render(request, "console/accounts/signup.html", context, status=form_status(form))


@login_page
def new_organization(scope: Scope) -> HttpResponseBase:
    """Show the form for a new organization of a logged-in user; on POST create the organization.

    Then redirect to the form for a first space; staff, who create it for a customer, to the page
    Team. Where sign-up is disabled, only staff may do this, and others get 403.
    """
    if not (settings.SIGNUP_ENABLED or scope.user.is_staff):
        return render(scope.request, "console/accounts/signup_closed.html", status=403)
    chosen = sellers.chosen(scope.request)
    form = OrganizationForm(
        scope.request.POST or None,
        offers=plan_reads.offered(chosen.currency),
        initial={"offer": chosen.value},
    )
    if form.is_valid():
        signed_up = form.attempt(
            tenants.found_tenant,
            user=scope.user,
            by=scope.actor,
            organization=form.cleaned_data["organization"],
            plan_key=form.cleaned_data["plan"],
            offer=chosen,
        )
        if signed_up and scope.user.is_staff:
            text = f"{signed_up.tenant.name} is ready. Invite its owner here, then leave it."
            messages.success(scope.request, text)
            return redirect("console:team", signed_up.tenant.slug)
        if signed_up:
            return _first_space(scope.request, signed_up.tenant)
    context = {"form": form, **sellers.links(chosen)}
    return scope.render("accounts/signup.html", context, form_status(form))


def _sign_up(*, request: HttpRequest, fields: Mapping[str, Any]) -> HttpResponseBase:
    """Sign up, and return the next page: the first space, or the request to open a mail."""
    throttling.require_signup(request, fields["email"])
    email = fields["email"].lower()
    wanted = {
        "email": email,
        "password": fields["password"],
        "organization": fields["organization"],
        "plan_key": fields["plan"],
        "offer": sellers.chosen(request),
    }
    if not confirmations.are_required():
        signed_up = tenants.sign_up(**wanted)
        confirmations.send_mail(request, email, signed_up)
        start_session(request, signed_up.user, backend=LOCAL_BACKEND)
        messages.info(request, f"A mail to {email} has a link: open it to confirm the address.")
        return _first_space(request, signed_up.tenant)
    confirmed_later = confirmations.sign_up(**wanted)
    if confirmed_later is None:
        # The same page as for a new account; the mail says that there is one.
        return cast("HttpResponseBase", prevent_enumeration(request, email=email))
    url = reverse("console:space_new", args=[confirmed_later.tenant.slug])
    return cast(
        "HttpResponseBase",
        complete_signup(request, user=confirmed_later.user, redirect_url=url),
    )


def _first_space(request: HttpRequest, tenant: Tenant) -> HttpResponseBase:
    messages.success(request, f"{tenant.name} is ready. Create its first messaging space now.")
    return redirect("console:space_new", tenant.slug)
