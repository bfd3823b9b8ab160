"""The export of a model as ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from naively.errors import InputError
from naively.score.export.onnx.graph import onnx
from naively.score.export.onnx.scorer import Scorer
from naively.score.export.terms import Terms

TEXTS = ("words", "counts")


def to_onnx(terms: Terms, *, array: Sequence[str] | None, texts: str) -> Any:
    """Return the ONNX model; see `Predictor.to_onnx`."""
    if texts not in TEXTS:
        raise InputError(f"texts must be one of {', '.join(TEXTS)}, got {texts!r}")
    if not terms.terms:
        raise InputError(f"{terms.who}: no column says anything of the classes, so that there is no input to score")
    helper, kinds = onnx().helper, onnx().TensorProto
    scorer = Scorer(terms, array, texts)
    scorer.declare()
    scorer.add()
    place, _ = scorer.chances()
    whole = all(isinstance(label, (bool, int)) for label in terms.labels)
    labels = scorer.graph.constant(list(map(int if whole else str, terms.labels)), np.int64 if whole else object)
    scorer.graph.add("Gather", labels, place, output="label")
    outputs = [
        helper.make_tensor_value_info("label", kinds.INT64 if whole else kinds.STRING, [None]),
        helper.make_tensor_value_info("probabilities", kinds.DOUBLE, [None, len(terms.labels)]),
    ]
    return scorer.graph.model(terms.who, outputs)
