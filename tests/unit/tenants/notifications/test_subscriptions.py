"""Nobody has events sent to a channel that they may not see."""

from collections.abc import Callable

import pytest

from tenants.notifications import subscriptions
from tenants.notifications.event_kind import EventKind
from tenants.notifications.event_kinds import CHOOSABLE
from tenants.notifications.subscriptions import KindDenied, May
from tenants.permissions import Permission
from tests.support import domain
from tests.support.notifications import notified

ALL_BUT_MONEY = frozenset(Permission) - {Permission.VIEW_BILLING}
MONEY = {
    "spend.threshold",
    "invoice.issued",
    "invoice.overdue",
    "credit_note.issued",
    "credit.paid_back",
    "plan.version",
    "invoice.reminder",
    "payment.received",
    "payment.failed",
    "payment.refunded",
    "payment.disputed",
}


def only(*given: Permission) -> May:
    return lambda permission: permission in given


def refused(check: Callable[..., None], *arguments: object) -> bool:
    try:
        check(*arguments)
    except KindDenied:
        return True
    return False


@pytest.mark.parametrize("kind", CHOOSABLE, ids=lambda kind: kind.key)
def test_each_kind_needs_the_permission_of_its_row(kind: EventKind) -> None:
    others = frozenset(Permission) - {kind.needs}

    assert refused(subscriptions.require_new, [kind.key], only(*others))
    assert not refused(subscriptions.require_new, [kind.key], only(kind.needs))


def test_money_needs_the_right_to_see_it() -> None:
    denied = {
        kind.key
        for kind in CHOOSABLE
        if refused(subscriptions.require_new, [kind.key], only(*ALL_BUT_MONEY))
    }

    assert denied == MONEY


def test_no_kinds_are_all_kinds() -> None:
    assert refused(subscriptions.require_new, [], only(*ALL_BUT_MONEY))
    assert not refused(subscriptions.require_new, [], only(*Permission))


@pytest.mark.django_db
def test_a_change_needs_the_rights_of_what_it_adds(cast: domain.Cast) -> None:
    channel = notified.webhook(cast.tenant, kinds=["alarm.raised", "invoice.issued"])
    may = only(*ALL_BUT_MONEY)

    def change(kinds: list[str] | None, url: str | None = None) -> bool:
        return refused(subscriptions.require_changed, channel, kinds, url, may)

    assert not change(None)
    assert not change(["alarm.raised"])
    assert not change(["alarm.raised", "invoice.issued"])  # as it is
    assert change(["alarm.raised", "spend.threshold"])
    assert change([])
    assert change(None, notified.URL)
    assert not change(["alarm.raised"], notified.URL)


@pytest.mark.django_db
def test_what_waits_goes_to_no_url_of_somebody_who_may_not_see_it(cast: domain.Cast) -> None:
    channel = notified.webhook(cast.tenant, kinds=["alarm.raised"])
    waiting = notified.delivery(channel)
    waiting.event.kind = "invoice.issued"
    waiting.event.save()
    change = (subscriptions.require_changed, channel, None, notified.URL)

    assert refused(*change, only(*ALL_BUT_MONEY))
    assert not refused(*change, only(*Permission))
