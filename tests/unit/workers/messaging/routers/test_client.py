"""What the router's answers become: values that outlive the message they came in."""

from proton import Message

from workers.messaging.routers.client import Reply


def test_a_binary_value_is_a_copy() -> None:
    sent = Message(body={"name": b"\x00\x01", "names": [b"\x02"]}, properties={"statusCode": 200})
    received = Message()
    received.decode(sent.encode())

    reply = Reply.of(received)

    # A view of the message's memory would show other bytes once the message is gone.
    assert type(reply.body["name"]) is bytes
    assert reply.body == {"name": b"\x00\x01", "names": [b"\x02"]}
    assert reply.status == 200
