"""Families: what is counted of a row, and how it weighs.

A family supplies `count` (rows to a tally), `table` (counts and rules to a table), `sample` (rows from a table) and
the number of its parameters. Everything else is the same for all of them.
"""
