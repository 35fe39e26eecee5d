"""The database backend that ``settings.DATABASES`` names; Django imports its module ``base``."""
