"""Words of texts as nodes: split and counted by operators of onnxruntime, or counts as an input."""

from __future__ import annotations

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.score.export.characters import Ranges, characters_of, check_exportable
from naively.score.export.onnx.graph import Graph
from naively.score.export.terms import Words

_PADDING = "\x01"  # no word


def counts_of(graph: Graph, term: Words, text: str) -> tuple[str, Array] | None:
    """Return how often each word is in each text, and the numbers of these words; None if the model has none."""
    tokens, name = term.tokens, f"column {term.column!r}"
    check_exportable(name, tokens, term.words)
    if tokens.stop_words and tokens.ngrams[1] > 1:
        raise InputError(f"{name}: sequences without stop words are not exported; use to_onnx(texts='counts')")
    low, high = tokens.ngrams
    by_length: list[list[tuple[int, list[str]]]] = [[] for _ in range(high)]
    for number, word in enumerate(term.words):
        parts = word.split(" ")
        if low <= len(parts) <= high:
            by_length[len(parts) - 1].append((number, parts))
    placed = [number for words in by_length for number, _ in words]
    if not placed:
        return None
    flat = graph.add("Reshape", text, graph.constant([-1], np.int64))
    if tokens.lowercase:
        flat = graph.add("StringNormalizer", flat, case_change_action="LOWER", locale="C.UTF-8")
    split = graph.add(
        "Tokenizer", flat, domain="com.microsoft", mark=0, mincharnum=2 if tokens.kind == "sklearn" else 1,
        pad_value=_PADDING, tokenexp=_pattern(tokens.kind),
    )  # fmt: skip
    starts = np.cumsum([0, *(len(words) * (n + 1) for n, words in enumerate(by_length))])[:-1]
    counts = graph.add(
        "TfIdfVectorizer", split, mode="TF", min_gram_length=low, max_gram_length=high, max_skip_count=0,
        ngram_counts=starts.tolist(), ngram_indexes=list(range(len(placed))),
        pool_strings=[part for words in by_length for _, parts in words for part in parts],
    )  # fmt: skip
    return graph.cast(counts, "double"), np.array(placed)


def _pattern(kind: str) -> str:
    characters = characters_of(kind)
    return "|".join(f"{_class(ranges)}+" for ranges in (characters.word, characters.spaceless) if ranges)


def _class(ranges: Ranges) -> str:
    return "[" + "".join(f"\\x{{{a:x}}}" if a == b else f"\\x{{{a:x}}}-\\x{{{b:x}}}" for a, b in ranges) + "]"


def weighted(graph: Graph, term: Words, counts: str, idf: Array | None) -> str:
    """Return what weights of words are multiplied by: counts, presence or tf-idf."""
    if term.weighting == "counts":
        return counts
    zero = graph.constant([0.0])
    held = graph.add("Greater", counts, zero)
    if term.weighting == "binary":
        return graph.cast(held, "double")
    one = graph.constant([1.0])
    log = graph.add("Add", graph.add("Log", graph.add("Where", held, counts, one)), one)
    weight = graph.add("Mul", graph.add("Where", held, log, zero), graph.constant(idf))
    length = graph.add("Sqrt", graph.row_sums(graph.add("Mul", weight, weight)))
    return graph.add("Div", weight, graph.add("Where", graph.add("Greater", length, zero), length, one))
