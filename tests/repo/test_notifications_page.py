"""docs/notifications.md names every kind of event, every chat service and the pauses of retries."""

from tenants.notifications import chat_services, deliveries, event_kinds
from tests.support import source_tree

TEXT = (source_tree.ROOT / "docs" / "notifications.md").read_text()


def test_every_kind_of_event_is_described() -> None:
    table = TEXT[TEXT.index("| Kind |") : TEXT.index("## Mails")]

    assert [key for key in event_kinds.BY_KEY if f"`{key}`" not in table] == []


def test_every_chat_service_is_named() -> None:
    assert [row.title for row in chat_services.REGISTRY if row.title not in TEXT] == []


def test_the_pauses_between_attempts_are_those_of_the_code() -> None:
    units = ((3600, "h"), (60, "min"), (1, "s"))

    def shown(seconds: int) -> str:
        size, unit = next(pair for pair in units if seconds >= pair[0])
        return f"{seconds // size} {unit}"

    pauses = [shown(seconds) for seconds in deliveries.BACKOFF_SECONDS]
    expected = f"{', '.join(pauses[:-1])} and {pauses[-1]}"
    assert expected in TEXT.replace("\n", " ")
