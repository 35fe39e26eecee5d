"""The routes of the REST API. Each resource has its own module."""

from django.urls import path, re_path

from controlplane.api import (
    address_history,
    address_spaces,
    addresses,
    audit_events,
    connections,
    invoices,
    maintenance_windows,
    members,
    messages,
    messaging_users,
    operations,
    plans,
    problem,
    schema,
    sessions,
    space_events,
    staff_catalog,
    staff_invoices,
    staff_rollouts,
    staff_tenants,
    staff_volumes,
    tenants,
    tokens,
    usage,
)

_TENANT = "tenants/<slug:tenant>"
_SPACE = f"{_TENANT}/address-spaces/<str:space>"

urlpatterns = [
    path("openapi.json", schema.serve),
    path("problems", schema.serve_codes),
    path("signup", sessions.SignupView.as_view()),
    path("session", sessions.SessionView.as_view()),
    path("me", sessions.MeView.as_view()),
    path("plans", plans.PlansView.as_view()),
    path("space-plans", plans.SpacePlansView.as_view()),
    path("address-plans", plans.AddressPlansView.as_view()),
    path("tenants", tenants.TenantsView.as_view()),
    path(_TENANT, tenants.TenantDetailView.as_view()),
    path(f"{_TENANT}/billing-details", tenants.BillingDetailsView.as_view()),
    path(f"{_TENANT}/plan-subscription", tenants.PlanSubscriptionView.as_view()),
    path(f"{_TENANT}/quotas", tenants.QuotasView.as_view()),
    path(f"{_TENANT}/members", members.MembersView.as_view()),
    path(f"{_TENANT}/members/<str:email>", members.MemberView.as_view()),
    path(f"{_TENANT}/tokens", tokens.TokensView.as_view()),
    path(f"{_TENANT}/tokens/<int:token>", tokens.TokenView.as_view()),
    path(f"{_TENANT}/audit-events", audit_events.AuditEventsView.as_view()),
    path(f"{_TENANT}/operations", operations.OperationsView.as_view()),
    path(f"{_TENANT}/operations/<str:operation>", operations.OperationView.as_view()),
    path(f"{_TENANT}/usage", usage.UsageView.as_view()),
    path(f"{_TENANT}/maintenance-windows", maintenance_windows.WindowsView.as_view()),
    path(f"{_TENANT}/usage.csv", usage.UsageCsvView.as_view()),
    path(f"{_TENANT}/usage/series", usage.UsageSeriesView.as_view()),
    path(f"{_TENANT}/invoices", invoices.InvoicesView.as_view()),
    # Before ``invoices/<str:invoice>``, which also matches "preview" and names with an extension.
    path(f"{_TENANT}/invoices/preview", invoices.PreviewView.as_view()),
    *(
        path(f"{_TENANT}/invoices/<str:invoice>.{kind}", view.as_view())
        for kind, view in invoices.FILE_VIEWS.items()
    ),
    path(f"{_TENANT}/invoices/<str:invoice>/verify", invoices.InvoiceVerifyView.as_view()),
    path(f"{_TENANT}/invoices/<str:invoice>", invoices.InvoiceView.as_view()),
    path(f"{_TENANT}/address-spaces", address_spaces.AddressSpacesView.as_view()),
    path(_SPACE, address_spaces.AddressSpaceView.as_view()),
    path(f"{_SPACE}/events", space_events.SpaceEventsView.as_view()),
    path(f"{_SPACE}/addresses", addresses.AddressesView.as_view()),
    # ``path``, because names of addresses may have slashes.
    # The view of /history also serves an address whose own name ends so.
    path(
        f"{_SPACE}/addresses/<path:address>/history", address_history.AddressHistoryView.as_view()
    ),
    path(f"{_SPACE}/addresses/<path:address>", addresses.AddressView.as_view()),
    path(f"{_SPACE}/messages/browse", messages.BrowseView.as_view()),
    path(f"{_SPACE}/messages/send", messages.SendView.as_view()),
    path(f"{_SPACE}/messages/purge", messages.PurgeView.as_view()),
    path(f"{_SPACE}/messages/delete", messages.DeleteView.as_view()),
    path(f"{_SPACE}/messages/move", messages.MoveView.as_view()),
    path(f"{_SPACE}/messages/resend", messages.ResendView.as_view()),
    path(f"{_SPACE}/messages/pages/<str:page>", messages.MessagePageView.as_view()),
    path(f"{_SPACE}/users", messaging_users.MessagingUsersView.as_view()),
    path(f"{_SPACE}/users/<str:user>", messaging_users.MessagingUserView.as_view()),
    path(f"{_SPACE}/connections", connections.ConnectionsView.as_view()),
    path(f"{_SPACE}/connections/close", connections.ConnectionsCloseView.as_view()),
    path("staff/catalog", staff_catalog.CatalogView.as_view()),
    path("staff/rollouts", staff_rollouts.RolloutsView.as_view()),
    path("staff/rollout", staff_rollouts.RolloutView.as_view()),
    path("staff/rollout/<str:verb>", staff_rollouts.SteerView.as_view()),
    path("staff/kept-volumes", staff_volumes.KeptVolumesListView.as_view()),
    path("staff/kept-volumes/<str:space>/release", staff_volumes.ReleaseVolumesView.as_view()),
    path("staff/tenants", staff_tenants.StaffTenantsView.as_view()),
    path("staff/tenants/<slug:tenant>/quotas", staff_tenants.StaffQuotasView.as_view()),
    path(
        "staff/tenants/<slug:tenant>/quotas/<str:resource>",
        staff_tenants.StaffQuotaView.as_view(),
    ),
    path("staff/invoices", staff_invoices.StaffInvoicesView.as_view()),
    path("staff/invoices/close-now", staff_invoices.CloseNowView.as_view()),
    path("staff/invoices/<str:invoice>/close", staff_invoices.CloseAgainView.as_view()),
    path("staff/invoices/<str:invoice>/approve", staff_invoices.ApproveView.as_view()),
    path("staff/invoices/<str:invoice>/issue", staff_invoices.IssueView.as_view()),
    path("staff/invoices/<str:invoice>/payments", staff_invoices.PaymentsView.as_view()),
    # Last: without it, an unknown path would get the portal's HTML page.
    re_path(r"^.*$", problem.nowhere),
]
