"""The mails of the outbox, delivered as a worker does, into the mailbox in the database."""

import re

from django.test import override_settings
from django.utils import timezone

from tenants.notifications.models import MailboxMessage
from workers.notifications import delivering


def delivered() -> list[MailboxMessage]:
    """Deliver what waits in the outbox; return all mails so far, oldest first."""
    with override_settings(EMAIL_BACKEND="tenants.notifications.mailbox.MailboxBackend"):
        delivering.run(timezone.now)
    return list(MailboxMessage.objects.order_by("id"))


def newest_link(below: str, to: str = "") -> str:
    """Deliver what waits; return the path that the newest mail links to, below ``below``.

    ``to`` selects the mails to one address.
    """
    mails = [mail for mail in delivered() if not to or to in mail.recipients]
    found = re.search(rf"https?://[^/\s]+({below}\S+)", mails[-1].text)
    assert found, mails[-1].text
    return found[1]
