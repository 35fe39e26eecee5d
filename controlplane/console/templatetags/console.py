"""The portal's template filters: thin names for ``formats``, ``charts`` and ``plans.money``."""

import json
from datetime import datetime
from decimal import Decimal

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from controlplane.console import charts, formats, plan_words
from plans import money as currencies

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
register.filter("plan_lines", plan_words.lines)
register.filter("type_words", plan_words.type_words)
register.filter("hour_price", plan_words.hour_price)


@register.filter
def money(amount_minor: int, currency: str) -> str:
    """Return an amount in minor units for people."""
    return currencies.display(amount_minor, currency)


@register.filter
def figure(value: Decimal | int) -> str:
    """Return a number with thousands separators."""
    return charts.words(Decimal(value))


@register.filter
def ago(moment: datetime) -> str:
    """Return how long ago ``moment`` was."""
    return formats.ago(moment, timezone.now())


@register.filter
def literal(text: str) -> SafeString:
    """Return a string literal that Python, Java and JavaScript read alike (JSON's).

    Only for plain-text programs, which pages escape as a whole.
    """
    return mark_safe(json.dumps(text, ensure_ascii=False))


@register.simple_tag
def svg_chart(chart: charts.BarChart) -> SafeString:
    """Return a chart as inline SVG."""
    return charts.build_svg(chart)


@register.simple_tag
def when(moment: datetime | None, missing: str = "never") -> SafeString | str:
    """Return a moment as ``21 Nov 2026, 10:04`` in UTC with its exact value for machines."""
    if moment is None:
        return missing
    shown = timezone.localtime(moment, timezone.get_default_timezone())
    return format_html(
        '<time datetime="{}">{}</time>', moment.isoformat(), shown.strftime("%-d %b %Y, %H:%M")
    )
