"""Exporters: a model's tables as terms, and the terms as SQL or ONNX."""
