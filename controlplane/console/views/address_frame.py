"""Provides the parts that the pages of an address share: its row, its problems and its tabs."""

from typing import Any

from controlplane.console import formats
from controlplane.console.scope import NavItem, TenantScope
from controlplane.console.views import space_frame
from controlplane.core.errors import Missing
from tenants import dead_letters, queries
from tenants.actions import alarms, message_requests
from tenants.models import Address
from tenants.notifications import reads
from tenants.notifications.alarms import threshold_words


def find(scope: TenantScope, space: str, address: str) -> Address:
    """Return the address with the id ``address`` in the scope's tenant's space named ``space``.

    Raises:
        Missing: there is no such space or address.
    """
    row = queries.get_space(scope.tenant, space)
    addresses = queries.list_addresses(row).select_related("space__tenant", "space__space_plan")
    found = addresses.filter(pk=address).first()
    if found is None:
        raise Missing("There is no such address; it may be deleted already.")
    return found


def frame(scope: TenantScope, address: Address, tab: str) -> dict[str, Any]:
    """Return the template context that every page of an address needs, with that of its space.

    ``tab`` is the URL name of the page's tab: ``address``, ``messages``, ``alarms`` or
    ``address_settings``. The tab of messages is left out if the member may neither read nor send
    messages of such an address.
    """
    tabs = [("Live", "address"), ("Settings", "address_settings")]
    if alarms.stores_messages(address):
        tabs.insert(1, ("Alarms", "alarms"))
    # Routers deliver direct messages at once: there are none to see or to send from here.
    can_send = message_requests.can_send(address)
    has_messages = message_requests.can_browse(address) or can_send
    if (scope.may["read_messages"] and has_messages) or (scope.may["send_messages"] and can_send):
        tabs.insert(1, ("Messages", "messages"))
    return {
        **space_frame.frame(scope, address.space, "space"),
        "address": address,
        "deleted_when": dead_letters.deleted_when(address),
        "raised_alarms": [
            f"{threshold_words(alarm)} or more"
            for alarm in reads.list_alarms(address.space, address.address)
            if alarm.raised_at is not None
        ],
        "address_problems": formats.problems(address.conditions),
        "address_tabs": [
            NavItem(label, scope.url(name, address.space.name, address.pk), name == tab)
            for label, name in tabs
        ],
    }
