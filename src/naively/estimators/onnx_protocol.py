"""The protocol by which skl2onnx converts an estimator that it does not know, alone or in a pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from naively.learn.predicting import Predictor


class OnnxProtocol(Predictor):
    """Adds what `skl2onnx.to_onnx` needs of an estimator of arrays."""

    def onnx_parser(self) -> Callable[..., list[tuple[str, Any]]]:
        """Return a function that names the outputs, with their types."""

        def outputs(scope: Any = None, inputs: Any = None) -> list[tuple[str, Any]]:
            from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType, StringTensorType

            label = Int64TensorType if self.classes_.dtype.kind in "biu" else StringTensorType
            return [("label", label([None])), ("probabilities", DoubleTensorType([None, len(self.classes_)]))]

        return outputs

    def onnx_shape_calculator(self) -> Callable[[Any], None]:
        """Return a function that sets the types of the outputs."""

        def calculate(operator: Any) -> None:
            for variable, (_, kind) in zip(operator.outputs, self.onnx_parser()(), strict=True):
                variable.type = kind

        return calculate

    def onnx_converter(self) -> Callable[[Any, Any, Any], None]:
        """Return a function that adds the nodes of the model."""

        def convert(scope: Any, operator: Any, container: Any) -> None:
            from skl2onnx.common.data_types import DoubleTensorType, StringTensorType
            from skl2onnx.helpers import add_onnx_graph

            made = self.to_onnx()
            textual = made.graph.input[0].type.tensor_type.elem_type == 8  # TensorProto.STRING
            parts = []
            for variable in operator.inputs:
                part = scope.get_unique_variable_name("part")
                kind = 8 if textual else 11  # TensorProto.DOUBLE
                name = scope.get_unique_operator_name("Cast")
                container.add_node("Cast", variable.onnx_name, part, name=name, op_version=13, to=kind)
                parts.append(part)
            rows = scope.declare_local_variable("rows", (StringTensorType if textual else DoubleTensorType)())
            name = scope.get_unique_operator_name("Concat")
            container.add_node("Concat", parts, rows.onnx_name, name=name, op_version=13, axis=1)
            add_onnx_graph(scope, _With(operator, [rows]), container, made)

        return convert


class _With:
    """An operator with other inputs."""

    def __init__(self, operator: Any, inputs: list[Any]) -> None:
        self.inputs, self.outputs = inputs, operator.outputs
