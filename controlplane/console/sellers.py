"""The choice of a seller and its currency on pages with prices, by ``?offer=``: no script."""

from typing import Any

from django.http import HttpRequest

from plans.catalog import selling
from plans.catalog.selling import Offer


def chosen(request: HttpRequest) -> Offer:
    """Return the offer that the request names, or the main seller's if it names none of them.

    A form sends it back as the hidden field ``offer``.

    Raises:
        Missing: no catalog is published.
    """
    # The main seller comes first, so it is the default below.
    known = {offer.value: offer for offer in selling.offers()}
    name = request.POST.get("offer") or request.GET.get("offer") or ""
    return known.get(name, next(iter(known.values())))


def links(chosen: Offer) -> dict[str, Any]:
    """Return the context of the template ``parts/sellers.html``; no links if there is no choice."""
    known = selling.offers()
    return {"sellers": known if len(known) > 1 else [], "chosen_seller": chosen}
