"""A message whose encoding was cut is shown as such, wherever the cut is."""

from proton import Message

from workers.messaging.encoded_message import shown

ROW = {
    "id": 7,
    "sent": 1,
    "expires": 0,
    "size": 20_000,
    "durable": True,
    "priority": 4,
    "group": "",
    "deliveries": 0,
    "from": "",
}


def test_a_cut_before_the_body_is_no_empty_message() -> None:
    encoded = bytes(Message(body="hello", properties={"long": "x" * 13_000}).encode())

    found = shown(ROW, encoded[: 12 * 1024])

    assert not found.is_whole
    assert found.body == ""


def test_every_cut_is_shown() -> None:
    encoded = bytes(Message(body="y" * 300, properties={"region": "north"}).encode())

    found = [shown(ROW, encoded[:cut]) for cut in range(1, len(encoded))]

    assert {message.is_whole for message in found} == {False}
    assert all(message.body == "y" * len(message.body) for message in found)


def test_a_whole_message_is_whole() -> None:
    encoded = bytes(Message(body="hello", properties={"region": "north"}).encode())

    found = shown(ROW, encoded)

    assert (found.body, found.is_whole) == ("hello", True)
    assert found.application_properties == {"region": "north"}
