"""The auth service: it checks the SASL logins that routers relay. Part of the data path."""
