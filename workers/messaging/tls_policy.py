"""The TLS versions and cipher suites of brokers, routers and the auth service.

TLS 1.2 and 1.3. Of TLS 1.2 only suites with forward secrecy and authenticated encryption: none with
CBC. Older versions have no such suite, so the list of suites alone keeps them out too.
"""

import ssl

_VERSIONS = ("TLSv1.2", "TLSv1.3")
# Suites of TLS 1.2: OpenSSL's name -> Java's.
_SUITES = {
    "ECDHE-ECDSA-AES128-GCM-SHA256": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305": "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    # For a public certificate with an RSA key.
    "ECDHE-RSA-AES128-GCM-SHA256": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "ECDHE-RSA-AES256-GCM-SHA384": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "ECDHE-RSA-CHACHA20-POLY1305": "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
}
# Java has one list for both versions; OpenSSL's lists of TLS 1.2 leave those of TLS 1.3 alone.
_SUITES_13 = ("TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256")
OPENSSL_SUITES = ":".join(_SUITES)  # as routers take it


def of_acceptor() -> str:
    """Return the options of a broker's acceptor."""
    suites = ",".join([*_SUITES_13, *_SUITES.values()])
    return f"enabledProtocols={','.join(_VERSIONS)};enabledCipherSuites={suites}"


def restrict(context: ssl.SSLContext, suites: str = OPENSSL_SUITES) -> None:
    """Limit a context to these versions and suites; ``suites`` is a list in OpenSSL's form."""
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(suites)
