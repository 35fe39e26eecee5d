"""Who gets which link: staff cannot open the pages of a tenant."""

import pytest
from django.core import mail as django_mail

from tenants.models import User
from tenants.notifications.event_kinds import BY_KEY
from tenants.notifications.models import Delivery, Event
from tests.support import domain
from workers.notifications import mail

pytestmark = pytest.mark.django_db


def sent(cast: domain.Cast, user: User) -> tuple[str, str]:
    """Send the mail of a trouble to ``user``; return its subject and text."""
    named = {"tenant": cast.tenant.slug, "organization": cast.tenant.name}
    event = Event(kind="space.trouble", tenant=cast.tenant)
    event.fields = {**BY_KEY["space.trouble"].sample, **named}
    mail.send(Delivery(event=event, tenant=cast.tenant, user=user, email=user.email))
    (made,) = django_mail.outbox
    return str(made.subject), str(made.body)


def test_staff_get_the_page_of_staff(cast: domain.Cast) -> None:
    staff = User.objects.create_user("staff@op.test", "staff@op.test", is_staff=True)

    subject, text = sent(cast, staff)

    assert subject == f"{cast.tenant.name}: The space production is in trouble"
    assert "/staff/fleet/spaces/spc_7m2k/" in text
    assert f"The organization is {cast.tenant.name} ({cast.tenant.slug})." in text
    assert "/t/" not in text


@pytest.mark.parametrize("is_staff", [True, False])
def test_members_get_the_page_of_their_space(cast: domain.Cast, is_staff: bool) -> None:
    cast.owner.is_staff = is_staff
    cast.owner.save()

    subject, text = sent(cast, cast.owner)

    assert subject == "The space production is in trouble"
    assert f"/t/{cast.tenant.slug}/spaces/production/" in text
