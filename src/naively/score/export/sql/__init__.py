"""SQL: a query that scores the rows of a table, and the table of weights that it joins."""
