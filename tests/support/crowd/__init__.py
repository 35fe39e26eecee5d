"""Many rows of every kind, and what every page and list of the URL map costs with them."""
