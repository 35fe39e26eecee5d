"""What the command says if a space refuses a link."""

import pytest
from proton import ProtonException

from controlplane.cli import amqp
from controlplane.core.errors import Denied


class Refused(ProtonException):
    """What proton raises if the peer ends a link with a condition."""

    condition = "amqp:unauthorized-access"


def test_a_refused_sender_learns_of_both_causes() -> None:
    with pytest.raises(Denied, match="waypost spaces show") as denied, amqp._explained("inbox"):
        raise Refused("AMQ229032: no permission='SEND'")

    assert denied.value.error_code == "messaging.denied"
    assert "Give the user a permission" in str(denied.value)
