"""The URL routes of the web server: health and metrics, the REST API, the portal, OpenID login."""

from django.conf import settings
from django.urls import include, path

from controlplane import health, payment_webhooks
from controlplane.api import reference
from controlplane.tenant_metrics import TenantMetricsView

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("payment-events/<slug:provider>", payment_webhooks.receive, name="payment_events"),
    # Not among the API's routes: the view imports ``workers``, which ``controlplane.api`` must not.
    path("api/v1/tenants/<slug:tenant>/metrics", TenantMetricsView.as_view()),
    path("api/docs", reference.page, name="api_reference"),
    path("api/v1/", include("controlplane.api.urls")),
    # Before those of accounts, which name the login and sign-up pages once more, for the library.
    path("", include("controlplane.console.urls")),
    path("", include("controlplane.console.account_urls")),
    path("organization-login/", include("controlplane.organization_oidc")),
]
if settings.OIDC_ISSUER:
    urlpatterns.insert(0, path("oidc/", include("controlplane.oidc")))
