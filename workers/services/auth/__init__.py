"""The auth service: it checks the SASL logins of clients that routers relay to it.

While no replica runs, no client can log in to a standard space; open connections go on.
"""
