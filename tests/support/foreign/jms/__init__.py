"""A client of Qpid JMS in Java: fetched, compiled and run with the client's default settings."""
