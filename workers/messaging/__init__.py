"""Configure, read and probe the brokers and routers of spaces.

It also has the certificates that they use, and AMQP clients that make test traffic.
"""
