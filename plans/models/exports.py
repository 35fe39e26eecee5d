"""The model of what an accounting system calls the accounts of the ledger."""

from django.db import models

from controlplane.core.models import Timestamped


class AccountCode(Timestamped):
    """The code that an accounting system has for a ledger account of one legal entity.

    Key: (legal_entity, account). ``account`` is the name of an account, or what stands before the
    colon of several (``revenue`` for ``revenue:messages``). An account without a row has its name
    as code.
    """

    legal_entity = models.CharField(max_length=63)
    account = models.CharField(max_length=80)
    code = models.CharField(max_length=40)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["legal_entity", "account"], name="account_code_once")
        ]
