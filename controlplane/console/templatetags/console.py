"""The portal's template filters and tags.

They give templates the functions of ``formats``, ``charts``, ``plan_descriptions`` and ``money``.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from controlplane.console import charts, formats, plan_descriptions
from plans.rating import money as currencies

register = template.Library()
register.filter("phase_class", formats.phase_class)
register.filter("invoice_class", formats.invoice_class)
register.filter("step_class", formats.step_class)
register.filter("quantity", formats.quantity)
register.filter("plain_words", formats.plain_words)
register.filter("operation_class", formats.operation_class)
register.filter("operation_words", formats.operation_words)
register.filter("change_words", formats.change_words)
register.filter("limit_words", formats.limit_words)
register.filter("problem_words", formats.problem_words)
register.filter("plan_lines", plan_descriptions.lines)
register.filter("type_words", plan_descriptions.type_words)
register.filter("space_type_words", plan_descriptions.space_type_words)
register.filter("hour_price", plan_descriptions.hour_price)


@register.filter
def money(amount_minor: int, currency: str) -> str:
    """Return an amount, given in minor units, as text with its currency."""
    return currencies.display(amount_minor, currency)


@register.filter
def figure(value: Decimal | int) -> str:
    """Return a number as text, with thousands separators and at most three decimals."""
    return charts.words(Decimal(value))


@register.simple_tag
def live_figure(value: Decimal | int | float | None) -> str:
    """Return a live value as text; ``not known`` for None."""
    return "not known" if value is None else charts.words(Decimal(str(value)))


@register.filter
def of_id(rows: Mapping[str, Any], id: str) -> Any:
    """Return the value that the mapping ``rows`` has for the key ``id``; None if it has none."""
    return rows.get(id)


@register.filter
def ago(moment: datetime) -> str:
    """Return how long ago ``moment`` was: ``3 hours ago``; ``just now`` below a minute."""
    return formats.ago(moment, timezone.now())


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
