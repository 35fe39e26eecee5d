"""Exports over a window of time, as files: of a tenant below it, of all tenants below /staff."""

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from controlplane.api import schema, windows
from controlplane.api.views import ApiView, StaffView, TenantView
from controlplane.core.downloads import attached
from plans.export_kinds import INFO, MEDIA_TYPES, ExportKind, FileFormat
from plans.exports import registry
from plans.rating.periods import Period
from tenants.models import Tenant
from tenants.permissions import Permission


def respond(
    kind: ExportKind, format: FileFormat, window: Period, tenant: Tenant | None = None
) -> FileResponse:
    """Return the file of an export, which caches must not store; ``tenant`` None: of all."""
    first, last = (f"{at:%Y-%m-%d}" for at in (window.starts_at, window.ends_at))
    owner = tenant.slug if tenant else "all"
    name = f"{kind}-{owner}-{first}-{last}.{format}"
    return attached(registry.file(kind, format, window, tenant), name, MEDIA_TYPES[format])


def view_of(kind: ExportKind, format: FileFormat, *, is_staff: bool) -> type[ApiView]:
    """Return a new view class, whose GET answers with the export ``kind`` as a file of ``format``.

    Each pair of kind and format has a class of its own. So it is an operation of its own in the
    OpenAPI document, with its media type.
    """
    info = INFO[kind]
    whose = "all tenants" if is_staff else "a tenant"

    def get_staff(self: StaffView, request: Request) -> FileResponse:
        # Tenants have months of their own time zones; ``focus`` reads the bounds in each.
        return respond(kind, format, windows.of(request, "UTC"))

    def get_tenant(self: TenantView, request: Request, tenant: str) -> FileResponse:
        window = windows.of(request, self.tenant.billing_time_zone)
        return respond(kind, format, window, self.tenant)

    # drf-spectacular describes an operation by the docstring of its method.
    get = get_staff if is_staff else get_tenant
    get.__doc__ = f"Return {info.words}. A window of too many rows is refused (422)."
    if is_staff:
        get.__doc__ += f" {info.words_of_all}"
    type_ = OpenApiTypes.STR if format is FileFormat.CSV else OpenApiTypes.BINARY
    described = schema.describe(
        f"Export {info.title} of {whose} as {format.title()}",
        response={(200, MEDIA_TYPES[format]): type_},
        parameters=windows.PARAMETERS,
        operation_id=f"export_{'all_' if is_staff else ''}{kind}_{format}",
    )
    # Every member sees usage; amounts need a permission of their own.
    permission = Permission.VIEW_BILLING if info.shows_money else Permission.VIEW
    return type(
        f"{'Staff' if is_staff else ''}{kind.title()}{format.title()}View",
        (StaffView if is_staff else TenantView,),
        {
            "__doc__": f"{info.title} of {whose} as {format.title()} (GET).",
            # ``StaffView`` has no ``needs``: being staff is its permission.
            **({} if is_staff else {"needs": {"GET": permission}}),
            "get": described(get),
        },
    )


TENANT_VIEWS = {
    (kind, format): view_of(kind, format, is_staff=False)
    for kind in ExportKind
    for format in FileFormat
}
STAFF_VIEWS = {
    (kind, format): view_of(kind, format, is_staff=True)
    for kind, info in INFO.items()
    if info.for_operator
    for format in FileFormat
}
