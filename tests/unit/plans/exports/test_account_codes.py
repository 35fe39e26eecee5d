"""Which accounts and groups of accounts may have a code."""

import pytest

from controlplane.core.errors import Invalid
from plans.exports import account_codes
from plans.models import AccountCode
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db


def change(**codes: str) -> dict[str, str]:
    named = {name.replace("__", ":"): code for name, code in codes.items()}
    return account_codes.change(legal_entity="wp", codes=named, by=STAFF)


@pytest.mark.parametrize(
    "account",
    [
        *account_codes.GROUPS,
        *account_codes.ACCOUNTS,
        "revenue:plan_fee",
        "revenue:messages",
        "revenue:space_hours",
        "revenue:commitment",
        "revenue:discount",
        "credit:wp",
        "prepaid:wp",
        "promotional:wp",
    ],
)
def test_accounts_of_the_ledger_may_have_a_code(account: str) -> None:
    found = account_codes.change(legal_entity="wp", codes={account: "1"}, by=STAFF)

    assert found == {account: "1"}


@pytest.mark.parametrize(
    "account",
    [
        "receivable:foo",
        "tax:",
        "revenue:",
        "revenue:foo",
        "credit:other",
        "credit:",
        "foo",
        "",
        # Names of arguments of the error.
        "code",
        "message",
    ],
)
def test_accounts_that_do_not_exist_are_refused(account: str) -> None:
    with pytest.raises(Invalid) as refused:
        account_codes.change(legal_entity="wp", codes={account: "1"}, by=STAFF)

    assert refused.value.error_code == "account_codes.invalid"
    assert refused.value.fields == {"codes": [f"{account}: there is no such account."]}
    assert not AccountCode.objects.exists()


def test_a_code_that_was_set_for_no_account_can_still_be_removed() -> None:
    AccountCode.objects.create(legal_entity="wp", account="receivable:foo", code="1")

    assert change(receivable__foo="") == {}
    with pytest.raises(Invalid):
        change(receivable__foo="")
