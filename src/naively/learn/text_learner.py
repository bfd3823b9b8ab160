"""Learning texts: counting all words that a recipe may need, and choosing the recipe from a sample of the texts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Ledger
from naively.count.tally import Tally
from naively.errors import InputError, warn_caller
from naively.families.base import rows_per_class
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.text import TextsBlock
from naively.families.words.block import Words
from naively.learn.calibrate import CalibratingLearner
from naively.learn.choose import (
    FEWEST,
    SAMPLED,
    TOO_FEW,
    Choice,
    Question,
    choose_recipe,
    is_open,
    orders_to_count,
    read_sample,
    readings_of,
    resolved_recipe,
)
from naively.learn.learner import Batch
from naively.learn.model import Model
from naively.learn.recipes import Candidates, Progress
from naively.learn.sample import KeptRows, Limits, Sample
from naively.learn.words import COUNTED, frozen, value_text, words_family, words_rule
from naively.names import Index
from naively.read.frame import Frame
from naively.read.label_codes import check_weights, counted_codes, number_labels, sorted_index
from naively.read.labels import labels_of, rows_to_count
from naively.read.matrix import RowError
from naively.score.priors import Empirical, Prior, prior_of
from naively.threads import threads

PAIRS = "pairs"
"""The name of the counts of single words and pairs, beside those of single words alone."""


class TextLearner(CalibratingLearner):
    """A learner of texts.

    As long as it is open whether a recipe takes pairs of words, single words and pairs are counted side by side; a
    state that is decided (`_model`) has the counts of its recipe alone.
    """

    threads: int | None

    def _parameters(self) -> dict[str, Any]:
        """Return all parameters of `TextClassifier`, by name."""
        raise NotImplementedError

    def _resolved(self, model: Model | None) -> dict[str, Any]:
        """Return the parameters with the choices in place of "auto"."""
        return resolved_recipe(None if model is None else _recipe(model), self._parameters())

    def _words(self, model: Model | None) -> Words:
        """Return the family of words for the present parameters."""
        return words_family(self._who, self._resolved(model))

    def _blocks_of(self, model: Model | None) -> Blocks:
        return Blocks(self._who, (TextsBlock(self._words(model)),))

    def _counting_blocks(self, model: Model | None) -> Blocks:
        """Return the blocks of all words that a recipe may need, as long as it is open which are."""
        if model is not None and PAIRS not in model.ledger.counted:
            return self._blocks_of(model)
        words = self._words(None)
        orders = orders_to_count(self._parameters()) if model is None else tuple(n for n, _ in Candidates().ngrams)
        named = zip(("words", PAIRS), orders, strict=False)
        return Blocks(self._who, tuple(TextsBlock(words.with_ngrams(ngrams), name) for name, ngrams in named))

    def _rule(self) -> Any:
        return self._rule_for(self._model if "_state" in vars(self) else None)

    def _rule_for(self, model: Model | None) -> Any:
        resolved = self._resolved(model)
        return words_rule(resolved["alpha"], resolved["family"])

    def _prior_rule(self) -> Prior:
        return prior_of(self._value("prior"), Empirical())

    def _counted(self) -> dict[str, Any]:
        return {name: frozen(self._value(name)) for name in COUNTED}

    def _check_counted(self, model: Model) -> None:
        self._validate_params()
        for name, value in model.counted.items():
            now = frozen(self._value(name))
            if now != value:
                raise InputError(f"counted with {name}={value_text(value)}, now it is {value_text(now)}; fit again")

    def _identity(self) -> tuple[Any, ...]:
        """Models that chose different recipes can be merged if their counts agree."""
        resolved = resolved_recipe(None, self._parameters())
        family = words_family(self._who, resolved)
        return family, words_rule(resolved["alpha"], resolved["family"]), self._prior_rule()

    @property
    def _is_open(self) -> bool:
        """True if all counts exist that a recipe may need."""
        return "_state" in vars(self) and PAIRS in self._state.features

    def _state_to_merge(self, learner: Any) -> Model:
        state, mine = super()._state_to_merge(learner), self._state
        if (PAIRS in state.ledger.counted) == (PAIRS in mine.ledger.counted):
            ngrams = {tuple(self._resolved(each)["ngrams"]) for each in (mine, state)}
            if PAIRS in mine.ledger.counted or len(ngrams) == 1:
                return state
        elif PAIRS in mine.ledger.counted:
            raise InputError("merge models that were loaded from files before those that were not")
        else:  # pairs are counted too
            ngrams = {tuple(self._resolved(mine)["ngrams"])}
            if ngrams <= {(1, 1), Candidates().longest}:
                return _with_words_of(state, ngrams == {(1, 1)})
        raise InputError(
            "merge takes estimators with the same parameters, but these have chosen to count differently "
            f"(chosen_.ngrams {', '.join(map(str, sorted(ngrams)))}): fit them with choose=False, or ngrams= given"
        )

    def _planned(self, X: Any, y: Any) -> Model:
        return self._uncounted(self._counting_blocks(None))

    def _begun(self, batch: Batch, declared: Index) -> Model:
        blocks, limits, words = self._counting_blocks(None), self._limits(), self._words(None)
        plain = words.vocabulary is None and words.buckets is None
        if limits is SAMPLED and plain and len(batch.frame) >= FEWEST:
            sample = Sample(limits).with_rows(batch.frame, batch.codes, batch.classes, batch.weight).settled
            each = float(len(batch.codes)) if batch.weight is None else float(batch.weight.sum())
            same = sample.n_rows == len(batch.frame) or sample.groups[0].exact.dtype == np.int64  # copies included
            if same and sample.weight_of(batch.classes).sum() >= each * (1 - 1e-12):
                return self._read_once(blocks, sample, declared)
        return self._counted_first(blocks, batch, declared, blocks.no_features())

    def _read_once(self, blocks: Blocks, sample: Sample, declared: Index) -> Model:
        """Return the state with the texts of a sample counted; they are read for all blocks, and to choose, at once."""
        [group], classes = sample.groups, sample.classes
        longest: Any = blocks.blocks[-1].family
        rows = read_sample(longest, group)
        readings = {longest.tokens: rows}
        if len(blocks.blocks) > 1:
            single: Any = blocks.blocks[0].family
            readings[single.tokens] = rows.single_words()
        parts: dict[str, Any] = {}
        codes = group.codes.astype(np.int32)
        weight = None if (group.weight == 1.0).all() else group.weight
        for block, read in zip(reversed(blocks.blocks), readings.values(), strict=True):
            parts[block.name] = block.count(Frame.of_rows(read), codes, classes, read.words, weight)
        readings_of(group).update(readings)
        tally = Tally(classes, rows_per_class(codes, weight, classes.size), parts)
        return replace(Model(Ledger.of(tally), np.float64, declared, self._counted()), sample=sample)

    def _counted_first(self, blocks: Blocks, batch: Batch, declared: Index, features: Any) -> Model:
        """Return the state after the first texts are counted."""
        tally = blocks.count(batch.frame, batch.codes, batch.classes, features, batch.weight)
        return Model(Ledger.of(tally), np.float64, declared, self._counted())

    def _limits(self) -> Limits | None:
        return SAMPLED if is_open(self._parameters()) else super()._limits()

    def _with_sample(self, learnt: Model, before: Model | None, batch: Batch) -> Model:
        if before is None and learnt.sample is not None:
            return learnt  # its texts have been counted
        return super()._with_sample(learnt, before, batch)

    # --- deciding

    def settle(self, progress: Progress = lambda done: None) -> Any:
        """Choose the recipe and fit the calibration now; otherwise, that is done when they are first needed.

        Parameters
        ----------
        progress : callable, default=nothing
            Gets the share of the work that is done, from 0 to 1.

        Returns
        -------
        self : object
        """
        self._check_fitted()
        state = self._state
        state.decided = self._decide(state, progress)
        self._finish_calibration(state.decided)
        for group in () if state.sample is None else state.sample.groups:
            readings_of(group).clear()
        return self

    def _decided(self, state: Model) -> Model:
        if state.decided is None:
            state.decided = self._decide(state)
        return state.decided

    def _decide(self, state: Model, progress: Progress = lambda done: None) -> Model:
        """Return the state with a recipe, and the words that it counts."""
        if state.ledger.parts is None:
            return state
        choice = self._choice(state, progress) if state.learns_from_sample else state.chosen
        if isinstance(choice, str) and choice != TOO_FEW:
            warn_caller(
                f"no recipe was chosen, since {choice}; single words are counted with family='multinomial': give "
                "family, weighting and ngrams to decide it yourself",
            )
        if PAIRS not in state.ledger.parts:
            return state if choice is state.chosen else replace(state, chosen=choice)
        decided = replace(state, chosen=choice)
        return _with_words_of(decided, self._resolved(decided)["ngrams"] == (1, 1))

    def _choice(self, state: Model, progress: Progress) -> Choice | None:
        """Choose the recipe from the sample; the last choice is kept as long as nothing that it depends on changes."""
        parameters = self._parameters()
        if not is_open(parameters):
            return state.chosen
        if PAIRS not in state.ledger.counted:  # the file that the model is from has only the words of its recipe
            resolved = self._resolved(state)
            parameters |= {name: resolved[name] for name in ("ngrams", "min_df")}
        classes = sorted_index(state.ledger.classes.names)
        question = Question(self._words(None), parameters, self._prior_rule())
        n_rows, found = float(state.ledger.rows.sum()), None
        for sample in state.sample.rows_for(classes):
            key = (*question.key, sample.level(n_rows))
            known, found = sample.found.get("choice", (None, None))
            if known != key:
                found = choose_recipe(question, sample, classes, n_rows, progress)
                sample.found["choice"] = key, found
        return found

    def _after_learning(self, model: Model, batch: Batch) -> None:
        if not any(len(level.cells) for part in model.ledger.counted.values() for level in part.levels):
            warn_caller(
                "no text has a word that is counted, so the model knows nothing but how frequent each class is",
            )
        self._rule_for(model)

    def learn_batches(self, batches: Iterable[tuple[Any, Any]]) -> Iterator[int]:
        """Count batches of (texts, labels) on top of what was counted before, several at a time.

        Batches are added up in order. The number of texts is yielded after each batch, when the model has learnt it and
        all batches before it. No calibration is fitted: see `judge`.

        Parameters
        ----------
        batches : iterable of (texts, labels)
            As for `partial_fit`.
        """
        from concurrent.futures import ThreadPoolExecutor

        self._validate_params()
        begun: deque[tuple[Any, Batch]] = deque()
        model = self.__dict__.get("_state")
        classes = None if model is None else model.ledger.classes
        n_threads = self.threads or threads()
        with ThreadPoolExecutor(n_threads) as pool:
            try:
                for X, y in batches:
                    if "_state" not in self.__dict__ and not begun:
                        self.partial_fit(X, y)
                        classes = self._state.ledger.classes
                        yield len(y)
                        continue
                    batch = self._checked(self._words(None), X, y, classes, None)
                    classes = batch.classes
                    begun.append((pool.submit(self._count_alone, self._state, batch), batch))
                    if len(begun) >= n_threads:
                        yield self._take_up(*begun.popleft())
                while begun:
                    yield self._take_up(*begun.popleft())
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _count_alone(self, model: Model, batch: Batch) -> Tally:
        """The tally of a batch, with words numbered by themselves unless their numbers are known beforehand."""
        blocks, words = self._counting_blocks(model), self._words(None)
        each: tuple[Any, ...] = blocks.blocks
        alone = tuple(replace(block, family=replace(block.family, threads=1)) for block in each)
        fixed = words.vocabulary is not None or words.buckets is not None
        features = model.features if fixed else blocks.no_features()
        return replace(blocks, blocks=alone).count(batch.frame, batch.codes, batch.classes, features, batch.weight)

    def _take_up(self, counted: Any, batch: Batch) -> int:
        tally = counted.result()
        with self._lock:
            model = self._state
            words = self._words(None)
            parts = {name: words.placed(part, model.features[name]) for name, part in tally.parts.items()}
            learnt = model.after(model.ledger.add(replace(tally, parts=parts)))
            self._commit(self._with_sample(learnt, model, batch))
        return len(batch.codes)

    def _batch(
        self, model: Model | None, blocks: Blocks | None, X: Any, y: Any, classes: Index | None, sample_weight: Any
    ) -> Batch:
        words: Any = self._words(None) if blocks is None else blocks.blocks[0].family
        return self._checked(words, X, y, classes, sample_weight)

    def _checked(
        self, words: Words, X: Any, y: Any, classes: Index | None, sample_weight: Any, *, all_rows: bool = False
    ) -> Batch:
        """Return texts that have a label, with labels and weights; texts of weight 0 are left out unless `all_rows`."""
        if y is None:
            raise InputError(f"{self._who} requires y to be passed, but the target y is None")
        texts = words.tokens.texts(X)
        y, known = labels_of(y, len(texts))
        if not len(texts):
            raise InputError("Found array with 0 sample(s): there is no text to count")
        weight = check_weights(sample_weight, len(texts))
        counted_rows = known if all_rows else rows_to_count(known, weight)
        if counted_rows is not None:
            texts, y = texts.take(np.flatnonzero(counted_rows)), y[counted_rows]
            weight = None if weight is None else weight[counted_rows]
        try:
            codes, index = number_labels(y, classes)
        except RowError as error:
            raise error.among(counted_rows) from None
        return Batch(Frame.of_rows(texts), codes, index, weight, counted_rows)

    def _labelled(self, model: Model, X: Any, y: Any, sample_weight: Any) -> tuple[Frame, Array, Array | None]:
        words, known = self._words(model), model.ledger.classes
        batch = self._checked(words, X, y, known, sample_weight, all_rows=True)
        codes = counted_codes(batch.codes, batch.classes, known, batch.weight)
        [features] = model.features.values()
        return Frame.of_rows(words.read(batch.frame.whole, features)), codes, batch.weight

    def _rows_to_judge(self, model: Model, blocks: Blocks, group: KeptRows, chosen: Array) -> Frame:
        """Return texts as rows of words in the order in which the sample has them, whatever numbers they have."""
        words: Any = blocks.blocks[0].family
        [features] = model.features.values()
        if words.vocabulary is not None or words.buckets is not None:
            return Frame.of_rows(words.read(group.frame.whole.take(chosen), features))
        rows = read_sample(words, group, int(chosen[-1]) + 1).take(chosen)
        if rows.words is not features:
            _, moved = features.grown(rows.words)
            rows = rows.renumbered(moved, features)
        return Frame.of_rows(rows)


def _recipe(model: Model) -> Any:
    """Return the chosen recipe; None if no recipes were compared."""
    return model.chosen.recipe if isinstance(model.chosen, Choice) else None


def _with_words_of(state: Model, single: bool) -> Model:
    """Return a state that has counted single words, or also pairs, as the one that it keeps."""
    parts = {"words": state.ledger.counted["words" if single else PAIRS]}
    return replace(state, ledger=replace(state.ledger, parts=parts))
