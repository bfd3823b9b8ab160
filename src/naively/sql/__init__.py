"""SQL that counts: the query of a database whose result `from_counts` takes."""

from naively.sql.count_query import count_query

__all__ = ["count_query"]
