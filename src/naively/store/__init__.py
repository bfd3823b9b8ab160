"""Storage: values as bytes, written atomically, and locks."""
