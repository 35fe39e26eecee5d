"""The operator's mailbox: the mails of an installation without an SMTP server."""

from django.conf import settings
from django.http import HttpResponseBase

from controlplane.console.access import staff_page
from controlplane.console.scope import StaffScope
from tenants.notifications import reads


@staff_page
def mails(scope: StaffScope) -> HttpResponseBase:
    """List the mails, newest first, in pages."""
    context = {"page": scope.page_of(reads.list_mails()), "server": settings.EMAIL_HOST}
    return scope.render("staff/mailbox.html", context)


@staff_page
def mail(scope: StaffScope, mail: int) -> HttpResponseBase:
    """Show one mail as text."""
    return scope.render("staff/mail.html", {"mail": reads.get_mail(mail)})
