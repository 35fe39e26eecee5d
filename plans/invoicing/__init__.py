"""Invoices, from the close of a period to the payment. Import names from the defining module.

``invoice_closing`` makes a draft, ``issuing`` turns it into a numbered and paid invoice,
``previewing`` prices the running period, ``invoice_verification`` recomputes an invoice,
``rendering`` makes pages and files. The states are in ``states``.
"""
