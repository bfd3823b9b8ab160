"""Words of texts: how they are counted, weighed and selected."""
