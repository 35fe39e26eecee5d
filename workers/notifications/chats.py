"""Send an event to a chat or a pager, through Apprise."""

import hashlib
import time

from controlplane.core import outbound, secrets
from controlplane.core.errors import WaypostError
from tenants.notifications import chat_services, rendering
from tenants.notifications.deliveries import Outcome
from tenants.notifications.event_kind import Severity
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import Delivery, Event


def send(delivery: Delivery) -> Outcome:
    """Send the message of a delivery to its channel; return how it went.

    This first checks that all addresses of the service's hosts are public, to say what is wrong.
    ``checked_requests`` checks each connection of Apprise again.
    """
    # Imported here: only workers that send to a chat need the library's 180 modules.
    import apprise

    from workers.notifications import checked_requests

    channel = delivery.channel
    assert channel is not None
    started = time.monotonic()
    try:
        url = secrets.decrypt(channel.target_encrypted)
        target = chat_services.check(url)
        for host in target.hosts:
            outbound.resolve(f"https://{host}/")
    except (WaypostError, OSError) as error:
        return Outcome(_passed(started), f"{error}")
    # No files, no plugins of the machine, no redirects to other hosts.
    asset = apprise.AppriseAsset(
        secure_logging=True,
        http_redirects=False,
        async_mode=False,
        storage_mode=apprise.PersistentStoreMode.MEMORY,
    )
    sender = apprise.Apprise(asset=asset)
    if not sender.add(target.apprise_url(_incident(delivery.event))):
        return Outcome(_passed(started), f"{target.title} does not accept this URL.", is_final=True)
    for plugin in sender:
        checked_requests.use_in(plugin)
    made = rendering.message(delivery.event)
    severities = {
        Severity.INFO: apprise.NotifyType.INFO,
        Severity.WARNING: apprise.NotifyType.WARNING,
        Severity.CRITICAL: apprise.NotifyType.FAILURE,
    }
    ends = BY_KEY[delivery.event.kind].ends_incident
    notify_type = apprise.NotifyType.SUCCESS if ends else severities[Severity(made.severity)]
    body = "\n".join(part for part in (made.text, made.url) if part)
    is_sent = sender.notify(body, made.subject, notify_type=notify_type, interpret_escapes=False)
    return Outcome(_passed(started), "" if is_sent else f"{target.title} did not take it.")


def _incident(event: Event) -> str:
    """Return the key of the event's incident: the same for what begins and what ends it.

    It is the same in each attempt too, so a lost answer makes no second incident.
    """
    kind = BY_KEY[event.kind]
    if not kind.incident:
        return event.pk
    names = [str(event.fields.get(name, "")) for name in kind.incident]
    parts = [event.tenant_id or "", kind.key.partition(".")[0], *names]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:40]


def _passed(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
