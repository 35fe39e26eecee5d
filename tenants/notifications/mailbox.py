"""A mail backend of Django that stores mails in the database, for the operator to read.

It is the default of an embedded installation, which has no SMTP server. Any mail that Waypost sends
through Django's mail API lands here.
"""

from collections.abc import Sequence

from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend

from tenants.notifications.models import MailboxMessage


class MailboxBackend(BaseEmailBackend):
    """Stores each mail as one ``MailboxMessage``, in the caller's transaction if there is one."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Store the mails; return how many."""
        rows = [_row(mail) for mail in email_messages if mail.recipients()]
        MailboxMessage.objects.bulk_create(rows)
        return len(rows)


def _row(mail: EmailMessage) -> MailboxMessage:
    bodies = mail.alternatives if isinstance(mail, EmailMultiAlternatives) else []
    html = next((str(body[0]) for body in bodies if body[1] == "text/html"), "")
    return MailboxMessage(
        sender=mail.from_email,
        recipients=mail.recipients(),
        subject=str(mail.subject)[:998],
        text=str(mail.body),
        html=html,
    )
