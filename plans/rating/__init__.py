"""Prices usage: price models, billing months, money, periods. Pure: no database and no clock."""
