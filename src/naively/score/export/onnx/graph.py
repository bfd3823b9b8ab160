"""Graph: nodes and constants of an ONNX model, as they are added."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.errors import InputError

OPSET, ML_OPSET, IR = 19, 3, 9


def onnx() -> Any:
    """Return the library; it is needed for nothing else."""
    try:
        import onnx
    except ImportError:
        raise InputError('to_onnx needs the library onnx: pip install "naively[onnx]"') from None
    return onnx


class Graph:
    """Nodes that are added one by one; equal constants are kept once."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.constants: dict[tuple[Any, ...], str] = {}
        self.initializers: list[Any] = []
        self.domains = {"": OPSET, "ai.onnx.ml": ML_OPSET}

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Return the name of a constant."""
        array = np.ascontiguousarray(value, dtype)
        content = tuple(array.ravel().tolist()) if dtype is object else array.tobytes()
        key = (content, array.shape, array.dtype.str)
        if key not in self.constants:
            self.constants[key] = f"constant{len(self.constants)}"
            self.initializers.append(onnx().numpy_helper.from_array(array, self.constants[key]))
        return self.constants[key]

    def input(self, name: str, kind: str, columns: int) -> str:
        """Declare an input of rows by columns: "string" or "double"."""
        types = {"string": onnx().TensorProto.STRING, "double": onnx().TensorProto.DOUBLE}
        self.inputs.append(onnx().helper.make_tensor_value_info(name, types[kind], [None, columns]))
        return name

    def add(self, operator: str, *operands: str, domain: str = "", output: str | None = None, **attributes: Any) -> str:
        """Add a node; return the name of its result."""
        output = output or f"{operator.lower()}{len(self.nodes)}"
        self.domains.setdefault(domain, 1)
        made = onnx().helper.make_node(operator, list(operands), [output], name=output, domain=domain, **attributes)
        self.nodes.append(made)
        return output

    def cast(self, value: str, kind: str) -> str:
        types = {"double": onnx().TensorProto.DOUBLE, "int64": onnx().TensorProto.INT64}
        return self.add("Cast", value, to=types[kind])

    def row_sums(self, value: str) -> str:
        """Return the sum of each row, as one column."""
        return self.add("ReduceSum", value, self.constant([1], np.int64), keepdims=1)

    def row_highest(self, value: str) -> str:
        """Return the highest value of each row, as one column."""
        return self.add("ReduceMax", value, self.constant([1], np.int64), keepdims=1)

    def model(self, name: str, outputs: list[Any]) -> Any:
        helper, used = onnx().helper, {name for node in self.nodes for name in node.input}
        constants = [constant for constant in self.initializers if constant.name in used]
        graph = helper.make_graph(self.nodes, name, self.inputs, outputs, constants)
        opsets = [helper.make_opsetid(domain, version) for domain, version in self.domains.items()]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=IR, producer_name="naively")
        onnx().checker.check_model(made)
        return made
