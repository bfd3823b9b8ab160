"""ONNX: a graph that scores rows."""
