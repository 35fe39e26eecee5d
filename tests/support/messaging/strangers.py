"""TLS connections that never log in, as anybody can open them."""

import select
import socket
import ssl

SASL_HEADER = b"AMQP\x03\x01\x00\x00"


def silent(at: tuple[str, int], certificate_pem: str, sent: bytes = SASL_HEADER) -> ssl.SSLSocket:
    """Return a TLS connection that sends ``sent`` and nothing else."""
    context = ssl.create_default_context(cadata=certificate_pem)
    context.check_hostname = False
    found = context.wrap_socket(socket.create_connection(at, timeout=20))
    found.sendall(sent)
    return found


def has_ended(stranger: socket.socket) -> bool:
    """Return whether the peer has closed; reads what it sent before."""
    stranger.settimeout(0.5)
    while select.select([stranger], [], [], 0)[0]:
        try:
            if not stranger.recv(4096):
                return True
        except ssl.SSLWantReadError:
            return False
        except OSError:
            return True
    return False
