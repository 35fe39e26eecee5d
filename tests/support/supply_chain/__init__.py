"""What the product is made of, and what is known about it: `make sbom` and `make audit`."""
