"""The URL routes of all surfaces: health and metrics, the REST API, the portal, OpenID login."""

from django.conf import settings
from django.urls import include, path

from controlplane import health
from controlplane.tenant_metrics import TenantMetricsView

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    # Here and not in the API's routes, because it reads what the workers sampled.
    path("api/v1/tenants/<slug:tenant>/metrics", TenantMetricsView.as_view()),
    path("api/v1/", include("controlplane.api.urls")),
    path("", include("controlplane.console.urls")),
]
if settings.OIDC_ISSUER:
    urlpatterns.insert(0, path("oidc/", include("controlplane.oidc")))
