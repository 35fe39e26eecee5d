"""Invoices from open to paid. Each name is imported from the module that defines it.

``invoice_closing`` makes a draft, ``issuing`` takes it to a paid invoice, ``previewing`` prices the
running period, ``invoice_verification`` recomputes an invoice, ``rendering`` makes pages and files.
"""
