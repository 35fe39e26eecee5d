"""Stores the codes that a legal entity's accounting system has for ledger accounts. Staff only."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Invalid
from plans.models import AccountCode

# Groups of accounts: ``revenue`` stands for ``revenue:messages``, ``revenue:plan_fee`` and so on.
GROUPS = ("revenue", "credit", "prepaid", "promotional")
ACCOUNTS = (
    "receivable", "tax", "cash_clearing", "bad_debt", "promotion_expense", "breakage",
)  # fmt: skip


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

    An empty code removes the row. Other rows stay. Idempotent.

    Raises:
        Invalid: an account does not exist, or a code is longer than 40 characters.
    """
    wrong = {
        account: ["There is no such account."]
        for account in codes
        if account.partition(":")[0] not in (*GROUPS, *ACCOUNTS)
    } | {account: ["At most 40 characters."] for account, code in codes.items() if len(code) > 40}
    if wrong:
        raise Invalid(
            f"These accounts or codes are not valid: {', '.join(sorted(wrong))}.",
            code="account_codes.invalid",
            **wrong,
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


def of_entity(legal_entity: str) -> dict[str, str]:
    """Return {account or group: code} of a legal entity, in the order of the accounts' names."""
    rows = AccountCode.objects.filter(legal_entity=legal_entity).order_by("account")
    return dict(rows.values_list("account", "code"))
