"""Send an event to a chat or a pager, through Apprise."""

import time

from controlplane.core import outbound, secrets
from controlplane.core.errors import WaypostError
from tenants.notifications import chat_services, rendering
from tenants.notifications.deliveries import Outcome
from tenants.notifications.event_kinds import Severity
from tenants.notifications.models import Delivery


def send(delivery: Delivery) -> Outcome:
    """Send the message of a delivery to its channel; return how it went.

    Apprise connects to the host of the service by itself, so before that all addresses of the host
    must be public ones.
    """
    # Imported here: only workers that send to a chat need the library's 180 modules.
    import apprise

    channel = delivery.channel
    assert channel is not None
    started = time.monotonic()
    try:
        url = secrets.decrypt(channel.target_encrypted)
        service = chat_services.check(url)
        for host in service.hosts:
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
    if not sender.add(url):
        return Outcome(
            _passed(started), f"{service.title} does not accept this URL.", is_final=True
        )
    made = rendering.message(delivery.event)
    kinds = {
        Severity.INFO: apprise.NotifyType.INFO,
        Severity.WARNING: apprise.NotifyType.WARNING,
        Severity.CRITICAL: apprise.NotifyType.FAILURE,
    }
    body = "\n".join(part for part in (made.text, made.url) if part)
    is_sent = sender.notify(
        body, made.subject, notify_type=kinds[Severity(made.severity)], interpret_escapes=False
    )
    return Outcome(_passed(started), "" if is_sent else f"{service.title} did not take it.")


def _passed(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
