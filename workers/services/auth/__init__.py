"""The auth service: routers relay their clients' SASL logins to it. Part of the data path."""
