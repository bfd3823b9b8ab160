"""Families: what to count of a row, and how to weigh it.

A family supplies `count` (rows to a tally), `table` (counts and rules to a table), `sample` (rows from a table) and
the number of its parameters. Everything else is the same for all of them.
"""
