"""The operator's mailbox: mails that did not go out, and those of a time without a server."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console.access import staff_page
from controlplane.console.scope import StaffScope
from tenants.actions import mail_deliveries
from tenants.notifications import reads, undelivered_mails
from tenants.notifications.event_kinds import BY_KEY

_SHOWN = 50  # so many of the mails that did not go out, the newest


@staff_page
def mails(scope: StaffScope) -> HttpResponseBase:
    """List late and failed mails, and the mails of the mailbox, newest first, in pages."""
    now = timezone.now()
    undelivered = list(undelivered_mails.list_all(now)[: _SHOWN + 1])
    context = {
        "page": scope.page_of(reads.list_mails()),
        "server": settings.EMAIL_HOST,
        "undelivered": [
            # A kind that only a newer version knows has no title here.
            {"row": row, "title": BY_KEY[row.event.kind].title if row.event.kind in BY_KEY else ""}
            for row in undelivered[:_SHOWN]
        ],
        "has_more": len(undelivered) > _SHOWN,
        "has_failed": undelivered_mails.has_failed(),
    }
    return scope.render("staff/mailbox.html", context)


@require_POST
@staff_page
def send_again(scope: StaffScope) -> HttpResponseBase:
    """Send all mails again that were given up; POST only."""
    n_mails = mail_deliveries.send_failed(by=scope.actor, now=timezone.now())
    text = f"Waypost sends {n_mails:,} again now." if n_mails else "No mail had been given up."
    messages.success(scope.request, text)
    return redirect("console:staff_mailbox")


@staff_page
def mail(scope: StaffScope, mail: int) -> HttpResponseBase:
    """Show one mail as text."""
    return scope.render("staff/mail.html", {"mail": reads.get_mail(mail)})
