"""The portal's template filters and tags.

They give templates the functions of ``formats``, ``charts``, ``plan_descriptions`` and ``money``.
"""

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django import template
from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from controlplane.console import charts, formats, help_pages, meters, plan_descriptions
from controlplane.core import instants
from controlplane.core.errors import Invalid
from plans.catalog.definitions import PlanDefinition
from plans.rating import money as currencies
from plans.rating import periods

register = template.Library()
# AMQP properties that are milliseconds since 1970 (AMQP 1.0, part 3, 3.2.4).
_MESSAGE_TIMES = frozenset({"creation_time", "absolute_expiry_time"})
register.filter("phase_class", formats.phase_class)
register.filter("invoice_class", formats.invoice_class)
register.filter("invoice_state_words", formats.invoice_state_words)
register.filter("meter_title", meters.title_of)
register.filter("step_class", formats.step_class)
register.filter("quantity", formats.quantity)
register.filter("plain_words", formats.plain_words)
register.filter("operation_class", formats.operation_class)
register.filter("operation_words", formats.operation_words)
register.filter("reason_words", formats.reason_words)
register.filter("step_words", formats.step_words)
register.filter("limit_words", formats.limit_words)
register.filter("alert_words", formats.alert_words)
register.filter("alert_consequence", formats.alert_consequence)
register.filter("problem_words", formats.problem_words)
register.filter("is_in_trouble", formats.is_in_trouble)
register.filter("plan_lines", plan_descriptions.lines)
register.filter("priced_meters", plan_descriptions.priced_meters)
register.filter("client_limits", plan_descriptions.client_limits)
register.filter("type_words", plan_descriptions.type_words)
register.filter("space_type_words", plan_descriptions.space_type_words)
register.filter("hour_price", plan_descriptions.hour_price)


@register.simple_tag(takes_context=True)
def plan_title(context: Mapping[str, Any], plan: PlanDefinition) -> str:
    """Return the plan's title, and how it relates to the plan that the tenant has (``current``).

    A page for somebody who has no plan yet has no ``current``.
    """
    current = context.get("current")
    if plan == current:
        return f"{plan.title} (now)"
    is_new_version = current is not None and plan.key == current.key
    return f"{plan.title} (new version)" if is_new_version else plan.title


@register.inclusion_tag("console/parts/learn_more.html", takes_context=True)
def learn_more(context: Mapping[str, Any]) -> dict[str, object]:
    """Render a link to the page of the docs site that explains the portal page being rendered."""
    # An error page may be rendered for a path without a route, and without a request.
    match = getattr(context.get("request"), "resolver_match", None)
    return {"help": help_pages.of_route(match.url_name if match else None)}


@register.simple_tag(takes_context=True)
def log_out_url(context: Mapping[str, Any]) -> str:
    """Return the URL to which the log-out form is posted.

    If the person logged in through the identity provider, the log-out also ends the provider's
    session. Otherwise the provider would log the same person in again without a question.
    """
    request = context.get("request")
    if settings.OIDC_ISSUER and request and request.session.get("oidc_id_token"):
        return reverse("oidc_logout")
    return reverse("console:logout")


@register.filter
def money(amount_minor: int, currency: str) -> str:
    """Return an amount, given in minor units, as text with its currency."""
    return currencies.display(amount_minor, currency)


@register.filter
def signed_money(amount_minor: int, currency: str) -> str:
    """Return a difference, given in minor units, as text with its sign and its currency."""
    return ("+" if amount_minor > 0 else "") + currencies.display(amount_minor, currency)


@register.filter
def figure(value: Decimal | int) -> str:
    """Return a number as text, with thousands separators and at most three decimals."""
    return charts.words(Decimal(value))


@register.simple_tag
def live_figure(value: Decimal | int | float | None) -> str:
    """Return a live value as text; ``not known`` for None."""
    # By ``str``: the exact value of a float has digits that nobody measured.
    return "not known" if value is None else charts.words(Decimal(str(value)))


@register.filter
def label_pairs(labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return labels as (key, value), sorted.

    ``labels.items`` in a template would be the value of the label ``items``, if there is one.
    """
    return sorted(labels.items())


@register.filter
def of_id(rows: Mapping[str, Any], id: str) -> Any:
    """Return the value that the mapping ``rows`` has for the key ``id``; None if it has none."""
    return rows.get(id)


@register.filter
def ago(moment: datetime) -> str:
    """Return how long ago ``moment`` was: ``3 hours ago``; ``just now`` below a minute."""
    return formats.ago(moment, timezone.now())


@register.filter
def day_in(moment: datetime, zone_name: str) -> date:
    """Return the day of ``moment`` in a time zone; in UTC if the system does not know the zone."""
    try:
        return periods.day_of(moment, zone_name)
    except Invalid:  # such as a zone that a newer time zone database lacks
        return periods.day_of(moment, "UTC")


@register.filter
def last_day_in(end: datetime, zone_name: str) -> date:
    """Return the last day in a time zone of what is over at ``end``."""
    return day_in(end - timedelta(microseconds=1), zone_name)


@register.filter
def literal(text: str) -> SafeString:
    """Return ``text`` as a JSON string, which is also a literal of Python, Java and JavaScript.

    It is not escaped for HTML. Use it only in the plain-text templates of client programs: the page
    escapes their output as a whole.
    """
    return mark_safe(json.dumps(text, ensure_ascii=False))


@register.simple_tag
def svg_chart(chart: charts.BarChart) -> SafeString:
    """Return a chart as inline SVG."""
    return charts.build_svg(chart)


@register.simple_tag
def options(groups: Iterable[tuple[str | None, Sequence[Mapping[str, Any]], int]]) -> SafeString:
    """Return the options of a select, from ``optgroups`` of its widget; texts are escaped.

    In Python, because a template takes four times as long for each option.
    """
    written = []
    for title, choices, _ in groups:
        if title:
            written.append(f'\n  <optgroup label="{html.escape(str(title))}">')
        written += map(_option, choices)
        if title:
            written.append("\n  </optgroup>")
    return mark_safe("".join(written))


def _option(choice: Mapping[str, Any]) -> str:
    """Return an option as HTML; an attribute that is True has no value."""
    attributes = "".join(
        f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'
        for name, value in choice["attrs"].items()
        if value is not False
    )
    value, label = html.escape(str(choice["value"])), html.escape(str(choice["label"]))
    return f'\n  <option value="{value}"{attributes}>{label}</option>'


@register.simple_tag
def when(moment: datetime | None, missing: str = "never") -> SafeString | str:
    """Return ``moment`` as a ``<time>`` element in UTC, such as ``21 Nov 2026, 10:04``.

    ``missing`` is the text for None.
    """
    if moment is None:
        return missing
    shown = timezone.localtime(moment, timezone.get_default_timezone())
    return format_html(
        '<time datetime="{}">{}</time>', moment.isoformat(), shown.strftime("%-d %b %Y, %H:%M")
    )


@register.simple_tag
def message_property(name: str, value: object) -> SafeString | str:
    """Return the property ``name`` of a message as text; its times as ``when`` shows them.

    A sender may have set a value of any type: what is no time is shown as it is.
    """
    if name in _MESSAGE_TIMES and isinstance(value, int):
        instant = instants.of_message(value)
        if instant:
            return when(instant)
    return str(value)
