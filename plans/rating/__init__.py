"""Prices usage: price models, months, money, periods. Pure: no database and no clock."""
