"""Send an event as a mail, through the mail backend of Django's settings."""

import smtplib
import time

from django.conf import settings
from django.core.mail import EmailMultiAlternatives

from tenants.notifications import deliveries, rendering
from tenants.notifications.deliveries import Outcome
from tenants.notifications.models import Delivery


def uses_database() -> bool:
    """Return whether the mail backend stores mails in the database."""
    return settings.EMAIL_BACKEND.endswith(".MailboxBackend")


def send(delivery: Delivery) -> Outcome:
    """Send the mail of a delivery to a person; return how it went.

    The id of the mail is that of the delivery, so a mail program can recognize one that arrives
    twice. A receiver that the server refuses for good gets no further attempt.
    """
    made = rendering.message(delivery.event, to_staff=deliveries.is_to_staff(delivery))
    domain = settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].strip(">") or "localhost"
    mail = EmailMultiAlternatives(
        subject=made.subject,
        body=made.plain,
        to=[delivery.email],
        headers={
            "Message-ID": f"<{delivery.pk}@{domain}>",
            "Auto-Submitted": "auto-generated",  # no answers by absence programs (RFC 3834)
        },
    )
    mail.attach_alternative(made.html, "text/html")
    started = time.monotonic()
    error, is_final = "", False
    try:
        mail.send()
    except smtplib.SMTPRecipientsRefused as refused:
        codes = [code for code, _ in refused.recipients.values()]
        error = f"The mail server refused the receiver: {codes}"
        # 5yz is a permanent refusal, 4yz a transient one (RFC 5321 section 4.2.1).
        is_final = all(500 <= code < 600 for code in codes)
    except (smtplib.SMTPException, OSError) as failed:
        error = f"The mail server did not take the mail: {failed}"
    milliseconds = int((time.monotonic() - started) * 1000)
    return Outcome(milliseconds, error, is_final=is_final)
