"""Processes the messages of an address and rejects those it cannot read: python3 worker.py orders

Ends when no message came for two seconds. A rejected message becomes a dead letter.
"""

import json
import os
import sys

from proton import SSLDomain, Timeout
from proton.utils import BlockingConnection

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
receiver = connection.create_receiver(sys.argv[1], credit=100)
while True:
    try:
        message = receiver.receive(timeout=2)
    except Timeout:
        break
    try:
        order = json.loads(message.body)
    except ValueError:
        # Another delivery would not help, so the message goes to the dead letters at once.
        print("rejected:", message.body)
        receiver.reject()
    else:
        print("processed:", order)
        receiver.accept()
connection.close()
