"""Publishes a catalog in an installation's database, or only shows what would change.

``waypost catalog`` runs this module as a separate process with the installation's environment. In a
cluster, operators run it in a pod.
"""

import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import django

from controlplane.cli import output
from controlplane.cli.output import Format
from controlplane.core.errors import Invalid
from plans.catalog import parsing
from plans.catalog.definitions import Catalog
from plans.rating import money

_MONEY = ("tenant", "plan", "month", "then", "draft", "difference")


def main() -> None:
    """Print what publishing does to each plan, then publish the catalog.

    The first argument is the path of the catalog's YAML file. Unchanged plans are printed too. With
    ``--dry-run`` nothing is published, and the last month of each tenant is priced under the
    catalog. ``--diff`` prints the changed values only, and that money. ``--effective=`` is an
    instant at which the catalog takes effect, and with ``--at-once`` subscriptions that follow
    their plan do not wait for the beginning of a month. ``--output=`` names the format of the lists
    and of errors.
    """
    # Without a parser of options: `waypost catalog` has checked them.
    options = dict(word.partition("=")[::2] for word in sys.argv[2:])
    form = output.answer_in(Format(options["--output"]) if "--output" in options else Format.TABLE)
    with output.refusals():
        django.setup()
        text = _read(Path(sys.argv[1]))
        catalog = parsing.parse(text)
        if "--diff" in options:
            _show_difference(catalog, form)
            return
        _show_changes(catalog, form)
        if "--dry-run" not in options:
            _publish(text, options)
        elif not form.is_document:  # a document is one list
            _show_difference(catalog, form)


def _publish(text: str, options: dict[str, str]) -> None:
    # Models can be imported only after ``django.setup``.
    from django.utils import timezone

    from controlplane.core.audit import Actor
    from tenants.actions import catalog_drafts
    from tenants.actions.catalog_drafts import Timing

    # Nobody is logged in: the process has the environment of the installation.
    by, effective = Actor("operator:command-line"), options.get("--effective")
    at = datetime.fromisoformat(effective) if effective else None
    catalog_drafts.publish(
        draft=catalog_drafts.prepare(yaml=text, by=by),
        timing=Timing(at, "--at-once" not in options),
        by=by,
        now=timezone.now(),
    )


def _show_changes(catalog: Catalog, form: Format) -> None:
    from plans.catalog import publishing

    rows = [
        {
            "what": change.section,
            "key": change.key,
            "change": change.kind,
            "tenants": change.n_subscribers,
        }
        for change in publishing.preview(catalog)
    ]
    output.show_rows(rows, ["what", "key", "change", "tenants"], form)


def _show_difference(catalog: Catalog, form: Format) -> None:
    """Print each changed value, and last month's net amounts: of tenants, by plan, in total."""
    from tenants.actions import catalog_drafts

    document = dict(catalog.document)
    words = [
        {"what": row.section, "key": row.key, "change": row.kind, "sentence": sentence}
        for row in catalog_drafts.compared(document)
        for sentence in row.sentences
    ]
    money = _last_month(document)
    if form.is_document:
        output.show_document({"changes": words, "months": money}, form)
        return
    output.show_rows(words, ["what", "key", "change", "sentence"], form)
    output.show_rows(money, _MONEY, form)


def _last_month(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each tenant and month; then the sums of each plan, and those of all plans.

    Each plan has a row for each currency.
    """
    from django.utils import timezone

    from plans.invoicing import back_testing, rated_period
    from plans.rating.periods import day_of

    prices = back_testing.prices_of(document)
    found: list[dict[str, Any]] = []
    sums: dict[tuple[str, str], list[int]] = {}
    for batch in back_testing.batches(timezone.now(), 1):
        rated = back_testing.rate(batch, prices, rated_period.from_copy)
        for slug, reason in rated.held.items():
            output.say(f"{slug} is not rated: {reason}")
        for row in rated.rows:
            amounts = (row.present_net_minor, row.draft_net_minor)
            month = day_of(row.month_starts_at, row.tenant.billing_time_zone).isoformat()
            found.append({"tenant": row.tenant.slug, "plan": row.plan, "month": month,
                          **_shown(*amounts, row.currency)})  # fmt: skip
            # By currency: amounts of two currencies have no sum.
            for plan in (row.plan, "all plans"):
                summed = sums.setdefault((plan, row.currency), [0, 0])
                summed[0], summed[1] = summed[0] + amounts[0], summed[1] + amounts[1]
    # The sums over all plans stand last, whatever the keys of the plans are.
    ordered = sorted(sums.items(), key=lambda item: (item[0][0] == "all plans", item[0]))
    return found + [
        {"tenant": "", "plan": plan, "month": "", **_shown(both[0], both[1], currency)}
        for (plan, currency), both in ordered
    ]


def _shown(present: int, draft: int, currency: str) -> dict[str, str]:
    amounts = {"then": present, "draft": draft, "difference": draft - present}
    return {name: money.display(amount, currency) for name, amount in amounts.items()}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Invalid(
            f"{path} is not UTF-8 text (byte {error.start}): save it as UTF-8.",
            code="catalog.not_text",
        ) from error


if __name__ == "__main__":
    main()
