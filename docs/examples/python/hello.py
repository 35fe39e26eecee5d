"""Sends one message to an address and receives it: python3 hello.py orders"""

import os
import sys

from proton import Message, SSLDomain
from proton.utils import BlockingConnection

address = sys.argv[1]
host, port = os.environ["WAYPOST_MESSAGING_HOST"], os.environ["WAYPOST_MESSAGING_PORT"]

tls = SSLDomain(SSLDomain.MODE_CLIENT)
tls.set_trusted_ca_db(os.environ["WAYPOST_MESSAGING_CA"])
tls.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)

connection = BlockingConnection(
    f"amqps://{host}:{port}",
    ssl_domain=tls,
    user=os.environ["WAYPOST_MESSAGING_USER"],
    password=os.environ["WAYPOST_MESSAGING_PASSWORD"],
)
receiver = connection.create_receiver(address, credit=100)
sender = connection.create_sender(address)
# Raises SendException if the message is rejected or released.
sender.send(Message(body="hello", durable=True))
message = receiver.receive(timeout=30)
print("received:", message.body)
receiver.accept()
connection.close()
