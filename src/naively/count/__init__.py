"""Counting: cells, tallies, moments, the ledger that grows, and vocabularies."""
