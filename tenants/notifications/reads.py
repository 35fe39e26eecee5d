"""Read channels, deliveries and alarms of one tenant, for API and portal."""

from django.db.models import F, QuerySet

from controlplane.core.errors import Missing
from tenants.models import AddressSpace, Tenant
from tenants.notifications.models import AddressAlarm, Channel, Delivery, MailboxMessage


def list_channels(tenant: Tenant) -> QuerySet[Channel, Channel]:
    """Return the tenant's channels, sorted by name."""
    return Channel.objects.filter(tenant=tenant).order_by("name")


def get_channel(tenant: Tenant, channel_id: str) -> Channel:
    """Return one channel of the tenant with its tenant loaded; raise Missing if there is none."""
    found = list_channels(tenant).select_related("tenant").filter(pk=channel_id).first()
    if found is None:
        raise Missing("There is no such channel here.", code="channel.missing")
    return found


def list_deliveries(tenant: Tenant, *, channel: str = "") -> QuerySet[Delivery, Delivery]:
    """Return the deliveries to channels of the tenant, newest first; mails are not among them.

    ``channel`` (an id) selects; an empty one does not.
    """
    rows = Delivery.objects.select_related("event", "channel").filter(
        tenant=tenant, channel__isnull=False
    )
    if channel:
        rows = rows.filter(channel_id=channel)
    return rows.order_by("-created_at", "-id")


def get_delivery(tenant: Tenant, delivery_id: str) -> Delivery:
    """Return one delivery to a channel of the tenant; raise Missing if there is none."""
    found = list_deliveries(tenant).filter(pk=delivery_id).first()
    if found is None:
        raise Missing(
            "There is no such delivery here; old ones are deleted after 30 days.",
            code="delivery.missing",
        )
    return found


def list_alarms(space: AddressSpace, address: str = "") -> QuerySet[AddressAlarm, AddressAlarm]:
    """Return the alarms of a space's addresses, oldest first.

    ``address``, a name, selects the alarms of one address; empty: all.
    """
    rows = AddressAlarm.objects.select_related("address", "space").filter(
        space=space, address__deleted_at__isnull=True
    )
    if address:
        rows = rows.filter(address__address=address)
    return rows.order_by("created_at", "id")


def list_tenant_alarms(tenant: Tenant) -> QuerySet[AddressAlarm, AddressAlarm]:
    """Return the alarms of all addresses of a tenant, the most urgent first.

    Raised alarms come first, then those whose value is too high, the newest of each first. All
    others are sorted by space and address.
    """
    return (
        AddressAlarm.objects.select_related("address", "space")
        .filter(
            space__tenant=tenant, address__deleted_at__isnull=True, space__deleted_at__isnull=True
        )
        .order_by(
            F("raised_at").desc(nulls_last=True),
            F("breached_since").desc(nulls_last=True),
            "space__name",
            "address__address",
            "id",
        )
    )


def get_alarm(space: AddressSpace, alarm_id: str) -> AddressAlarm:
    """Return one alarm of the space; raise Missing if there is none."""
    found = list_alarms(space).filter(pk=alarm_id).first()
    if found is None:
        raise Missing("There is no such alarm in this space.", code="alarm.missing")
    return found


def list_mails() -> QuerySet[MailboxMessage, MailboxMessage]:
    """Return the mails in the installation's mailbox, newest first, for staff."""
    return MailboxMessage.objects.order_by("-at", "-id")


def get_mail(mail_id: int) -> MailboxMessage:
    """Return one mail of the mailbox, for staff; raise Missing if there is none."""
    found = list_mails().filter(pk=mail_id).first()
    if found is None:
        raise Missing("There is no such mail; old ones are deleted after 30 days.")
    return found
