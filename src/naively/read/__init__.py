"""Reading: tables, matrices, texts and labels as the arrays that are counted."""
