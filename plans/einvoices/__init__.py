"""Electronic invoices by EN 16931, made from documents of invoices and credit notes. Pure."""
