"""The text of a failed probe."""

from collections.abc import Callable
from unittest.mock import Mock

import pytest
from proton import Timeout

from workers.messaging import management
from workers.messaging.observed import ManagementTarget
from workers.messaging.probe import ProbeFailed, through_broker
from workers.messaging.routers.probing import through_router


@pytest.mark.parametrize("probe", [through_broker, through_router])
@pytest.mark.parametrize(
    ("error", "text"),
    [(Timeout("no credit"), "a: no credit"), (Timeout(), "a: Timeout"), (OSError(), "a: OSError")],
)
def test_a_failed_probe_says_why(
    probe: Callable[[ManagementTarget, str], float],
    error: Exception,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection = Mock(create_receiver=Mock(side_effect=error))
    monkeypatch.setattr(management, "open_connection", Mock(return_value=connection))

    with pytest.raises(ProbeFailed) as failure:
        probe(Mock(), "a")

    assert str(failure.value) == text
