"""The routes of the portal: of a space, of a tenant, of operators, and of accounts."""

from django.contrib.auth.views import LogoutView
from django.urls import include, path

from controlplane.console.views import (
    accounts,
    address_settings,
    addresses,
    alarms,
    connect,
    connections,
    invoices,
    messaging_users,
    notifications,
    overview,
    settings,
    spaces,
    staff_fleet,
    staff_invoices,
    staff_mailbox,
    staff_tenants,
    stored_messages,
    team,
    usage,
)

app_name = "console"

space_urls = [
    path("", spaces.detail, name="space"),
    path("status", spaces.status, name="space_status"),
    path("activity", spaces.activity, name="space_activity"),
    path("settings", spaces.settings, name="space_settings"),
    path("plan", spaces.plan, name="space_plan"),
    path("addresses/new", addresses.new, name="address_new"),
    # ``address`` is the id, because names may contain slashes.
    path("addresses/<slug:address>", addresses.detail, name="address"),
    path("addresses/<slug:address>/live", addresses.live, name="address_live"),
    path("addresses/<slug:address>/settings", address_settings.page, name="address_settings"),
    path("addresses/<slug:address>/alarms", alarms.page, name="alarms"),
    path("addresses/<slug:address>/alarms/<slug:alarm>/delete", alarms.delete, name="alarm_delete"),
    path("addresses/<slug:address>/delete", addresses.delete, name="address_delete"),
    path("addresses/<slug:address>/messages", stored_messages.page, name="messages"),
    path("addresses/<slug:address>/messages/send", stored_messages.send, name="messages_send"),
    path("addresses/<slug:address>/messages/purge", stored_messages.purge, name="messages_purge"),
    path(
        "addresses/<slug:address>/messages/change", stored_messages.change, name="messages_change"
    ),
    path("users", messaging_users.user_list, name="space_users"),
    path("users/new", messaging_users.new, name="user_new"),
    path("users/<str:user>/revoke", messaging_users.revoke, name="user_revoke"),
    path("connections", connections.page, name="space_connections"),
    path("connections/close", connections.close, name="connections_close"),
    path("connect", connect.page, name="space_connect"),
    path("certificate", connect.certificate, name="space_certificate"),
]
tenant_urls = [
    path("", overview.page, name="overview"),
    path("spaces/", spaces.space_list, name="spaces"),
    path("spaces/-/new", spaces.new, name="space_new"),  # no space can be named "-"
    path("usage/", usage.page, name="usage"),
    path("usage/cells.csv", usage.cells, name="usage_csv"),
    path("invoices/", invoices.invoice_list, name="invoices"),
    path("invoices/preview", invoices.preview, name="invoice_preview"),
    path("invoices/<str:invoice>/", invoices.detail, name="invoice"),
    path("invoices/<str:invoice>/verify", invoices.verify, name="invoice_verify"),
    path("invoices/<str:invoice>/file.<str:kind>", invoices.file, name="invoice_file"),
    path("team/", team.members, name="team"),
    path("team/<int:member>/role", team.change_role, name="member"),
    path("team/<int:member>/remove", team.remove, name="member_remove"),
    path("tokens/", team.tokens, name="tokens"),
    path("tokens/<int:token>/revoke", team.revoke_token, name="token_revoke"),
    path("notifications/", notifications.page, name="notifications"),
    path("notifications/defaults", notifications.defaults, name="notification_defaults"),
    path("notifications/channels/-/new", notifications.channel_new, name="channel_new"),
    path("notifications/channels/<slug:channel>", notifications.channel, name="channel"),
    path(
        "notifications/channels/<slug:channel>/test",
        notifications.channel_test,
        name="channel_test",
    ),
    path(
        "notifications/channels/<slug:channel>/secret",
        notifications.channel_secret,
        name="channel_secret",
    ),
    path(
        "notifications/channels/<slug:channel>/delete",
        notifications.channel_delete,
        name="channel_delete",
    ),
    path("notifications/deliveries/<slug:delivery>", notifications.delivery, name="delivery"),
    path("audit/", team.audit, name="audit"),
    path("settings/", settings.page, name="settings"),
    path("settings/plan", settings.plan, name="plan"),
]
staff_urls = [
    path("tenants/", staff_tenants.tenant_list, name="staff_tenants"),
    path("tenants/<slug:tenant>/", staff_tenants.detail, name="staff_tenant"),
    path("tenants/<slug:tenant>/close", staff_tenants.close_now, name="staff_close"),
    path(
        "tenants/<slug:tenant>/overrides/<slug:resource>/clear",
        staff_tenants.clear_override,
        name="staff_override_clear",
    ),
    path("invoices/", staff_invoices.invoice_list, name="staff_invoices"),
    path("invoices/<str:invoice>/", staff_invoices.detail, name="staff_invoice"),
    path("invoices/<str:invoice>/close", staff_invoices.close_again, name="staff_invoice_close"),
    path("invoices/<str:invoice>/approve", staff_invoices.approve, name="staff_invoice_approve"),
    path("invoices/<str:invoice>/issue", staff_invoices.issue, name="staff_invoice_issue"),
    path("invoices/<str:invoice>/pay", staff_invoices.pay, name="staff_invoice_pay"),
    path("mailbox/", staff_mailbox.mails, name="staff_mailbox"),
    path("mailbox/<int:mail>", staff_mailbox.mail, name="staff_mail"),
    path("fleet/", staff_fleet.page, name="staff_fleet"),
    path("fleet/rollout/<slug:verb>", staff_fleet.steer, name="staff_rollout"),
]
urlpatterns = [
    path("", accounts.home, name="home"),
    path("login", accounts.LogIn.as_view(), name="login"),
    # Django's view accepts POST only, so a link on another site cannot log anybody out.
    path("logout", LogoutView.as_view(), name="logout"),
    path("signup", accounts.sign_up, name="signup"),
    path("organizations/new", accounts.new_organization, name="new_organization"),
    # The decorator ``tenant_page`` takes ``tenant``; the views get a scope instead.
    path("t/<slug:tenant>/", include(tenant_urls)),
    path("t/<slug:tenant>/spaces/<slug:space>/", include(space_urls)),
    path("staff/", include(staff_urls)),
]
