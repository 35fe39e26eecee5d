"""Stores the codes that a legal entity's accounting system has for ledger accounts. Staff only."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Invalid
from plans.models import AccountCode
from plans.rating.month_price import FEE
from plans.rating.terms import COMMITMENT, DISCOUNT
from plans.usage import meters

# Groups of accounts: ``revenue`` stands for ``revenue:messages``, ``revenue:plan_fee`` and so on.
GROUPS = ("revenue", "credit", "prepaid", "promotional")
ACCOUNTS = (
    "receivable", "tax", "cash_clearing", "bad_debt", "promotion_expense", "breakage",
)  # fmt: skip
# What follows the colon in the accounts of ``revenue``: the meters of invoice lines.
_OF_REVENUE = frozenset({FEE, COMMITMENT, DISCOUNT, *meters.BY_SLUG})


@dataclass(frozen=True)
class Codes:
    """The codes of all legal entities, by (legal entity, account or group)."""

    by_key: Mapping[tuple[str, str], str]

    @classmethod
    def read(cls) -> "Codes":
        """Read the codes, by one query."""
        rows = AccountCode.objects.values_list("legal_entity", "account", "code")
        return cls({(entity, account): code for entity, account, code in rows})

    def of(self, legal_entity: str, account: str) -> str:
        """Return the code of an account: its own, else the code of its group, else its name."""
        group = account.partition(":")[0]
        keys = ((legal_entity, account), (legal_entity, group))
        return next((self.by_key[key] for key in keys if key in self.by_key), account)


def change(*, legal_entity: str, codes: Mapping[str, str], by: Actor) -> dict[str, str]:
    """Set codes of a legal entity by account or group; return all of its codes.

    An empty code removes the row, which may be that of an account that does not exist. Other rows
    stay.

    Raises:
        Invalid: an account does not exist, or a code is longer than 40 characters.
    """
    present = of_entity(legal_entity)
    wrong = {
        account: "there is no such account"
        for account, code in codes.items()
        # Earlier versions of Waypost stored codes of accounts that do not exist.
        if not _exists(account, legal_entity) and (code.strip() or account not in present)
    } | {account: "at most 40 characters" for account, code in codes.items() if len(code) > 40}
    if wrong:
        raise Invalid(
            f"These accounts or codes are not valid: {', '.join(sorted(wrong))}.",
            code="account_codes.invalid",
            codes=[f"{account}: {reason}." for account, reason in sorted(wrong.items())],
        )
    with transaction.atomic():
        before = of_entity(legal_entity)
        for account, code in sorted(codes.items()):
            if code.strip():
                AccountCode.objects.update_or_create(
                    legal_entity=legal_entity, account=account, defaults={"code": code.strip()}
                )
            else:
                AccountCode.objects.filter(legal_entity=legal_entity, account=account).delete()
        after = of_entity(legal_entity)
        if after != before:
            subject = audit.Subject("account_codes", legal_entity, legal_entity)
            audit.record(by, "account_codes.change", subject, before=before, after=after)
    return after


def _exists(account: str, legal_entity: str) -> bool:
    """Return whether the books of the legal entity may have this account or group of accounts."""
    if account in (*ACCOUNTS, *GROUPS):
        return True
    group, _, owner = account.partition(":")
    if group == "revenue":
        return owner in _OF_REVENUE
    return group in GROUPS and owner == legal_entity


def of_entity(legal_entity: str) -> dict[str, str]:
    """Return {account or group: code} of a legal entity, in the order of the accounts' names."""
    rows = AccountCode.objects.filter(legal_entity=legal_entity).order_by("account")
    return dict(rows.values_list("account", "code"))
