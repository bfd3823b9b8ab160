"""Estimators from counts that a database made, and back: see `naively.count.grouped`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from naively.count.ledger import Ledger
from naively.count.tally import Tally
from naively.errors import InputError
from naively.families.blocks.matrix import ArrayBlock
from naively.families.blocks.text import TextsBlock
from naively.learn.model import Model

if TYPE_CHECKING:
    from typing_extensions import Self

    from naively.count.grouped import Grouped


class _Countable:
    tally_: Tally

    def to_counts(self) -> Any:
        """Return the counts as a `pyarrow.Table`, as `from_counts` takes it: one row for each class, column and value.

        Rows without a column hold the number of rows of each class.
        """
        from naively.count.grouped import grouped_table

        return grouped_table(self.tally_)


class FeaturesFromCounts(_Countable):
    """An estimator of counts of features."""

    @classmethod
    def from_counts(
        cls, table: Any, rows_per_class: Mapping[Any, int] | None = None, *, columns: Any = None, **parameters: Any
    ) -> Self:
        """Return a model of counts that were made elsewhere, as by GROUP BY in a database.

        >>> from naively import MultinomialNB
        >>> table = {"class": ["x", "x", "y"], "column": [0, 1, 1], "count": [7, 1, 5]}
        >>> model = MultinomialNB.from_counts(table, {"x": 3, "y": 2}, alpha=0.5)
        >>> model.predict_proba([[1, 0]]).round(2).tolist()
        [[0.94, 0.06]]

        Parameters
        ----------
        table : table of Arrow, pandas or polars, or dict of columns
            One row for each class and column that was seen: `class`, `column` (the name or the number of the feature)
            and `count`, a whole number: for `BernoulliNB` the rows in which it is there, else the sum over the rows.
            `missing`, for `BernoulliNB` and `PoissonNB`, is the number of rows in which it is not known. Rows of the
            same class and column are added up.
        rows_per_class : dict of numbers by label, default=None
            Number of rows of each class; None: the rows of the table whose column is null have it as their count.
        columns : list, default=None
            All features, in their order; None: those in the table, sorted.
        **parameters
            Parameters of the estimator.

        Returns
        -------
        model : estimator
        """
        from naively.count.grouped import Grouped

        grouped = Grouped.of(table, rows_per_class)
        kind: Any = cls
        model = kind(**parameters)
        model._validate_params()
        tally = Tally(grouped.classes, grouped.rows, {ArrayBlock.name: model._part_of(grouped, columns)})
        found: Self = kind.from_tally(tally, **parameters)
        return found

    def _part_of(self: Any, grouped: Grouped, columns: Any) -> Any:
        return grouped.features(self._family().kind, columns)


class NumbersFromCounts(FeaturesFromCounts):
    """An estimator of sums of numbers."""

    @classmethod
    def from_counts(
        cls, table: Any, rows_per_class: Mapping[Any, int] | None = None, *, columns: Any = None, **parameters: Any
    ) -> Self:
        """Return a model of numbers that were grouped elsewhere, as by GROUP BY in a database.

        >>> from naively import GaussianNB
        >>> table = {"class": ["x", "x", "y"], "column": [0, 0, 0], "value": [1.0, 3.0, 8.0], "count": [1, 1, 5]}
        >>> GaussianNB.from_counts(table, {"x": 2, "y": 5}).theta_.tolist()
        [[2.0], [8.0]]

        Parameters
        ----------
        table : table of Arrow, pandas or polars, or dict of columns
            One row for each class, column and value: `class`, `column` (the name or the number of the feature), `value`
            and `count`. Then the model is that of the rows. Or one row for each class and column, with `count`, `sum`
            and `squares` (Σx²) in place of `value`: these are rounded, so that a variance has lost as many digits as
            the square of the mean is larger than it.
        rows_per_class : dict of numbers by label, default=None
            Number of rows of each class; None: the rows of the table whose column is null have it as their count.
        columns : list, default=None
            All features, in their order; None: those in the table, sorted.
        **parameters
            Parameters of the estimator.

        Returns
        -------
        model : estimator
        """
        return super().from_counts(table, rows_per_class, columns=columns, **parameters)

    def _part_of(self: Any, grouped: Grouped, columns: Any) -> Any:
        return grouped.numbers(columns)


class TextsFromCounts(_Countable):
    """An estimator of counts of words."""

    @classmethod
    def from_counts(cls, table: Any, rows_per_class: Mapping[Any, int] | None = None, **parameters: Any) -> Self:
        """Return a model of counts of words that were made elsewhere, as by GROUP BY in a database.

        >>> from naively import TextClassifier
        >>> table = {"class": ["x", "y"], "value": ["good", "bad"], "count": [7, 5], "documents": [3, 2]}
        >>> TextClassifier.from_counts(table, {"x": 3, "y": 2}).predict(["so good"]).tolist()
        ['x']

        Parameters
        ----------
        table : table of Arrow, pandas or polars, or dict of columns
            One row for each class and word that was seen: `class`, `value` (the word, or words with one blank between
            them), `count` (its occurrences) and `documents` (the texts with it). A null value counts the texts that are
            missing. `weight`, which weighting="tfidf" needs, is there in tables of `to_counts`; without it, `weights`
            is False. Words must be what the model would make of a text: see `tokens`, `ngrams` and `lowercase`.
        rows_per_class : dict of numbers by label, default=None
            Number of texts of each class; None: the rows of the table whose `column` is null have it as their count.
        **parameters
            Parameters of the estimator; what is "auto" is as for few texts: multinomial, by counts of single words.

        Returns
        -------
        model : estimator
        """
        from naively.count.grouped import Grouped

        grouped = Grouped.of(table, rows_per_class)
        if "weight" not in grouped.table.column_names:
            parameters = {"weights": False, **parameters}
        model: Any = cls(**parameters)
        model._validate_params()
        model._copy_parameters()
        words = model._words(None)
        if words.buckets is not None:
            raise InputError("hashing: counts of words by name are not hashed; leave it out")
        given = None if words.vocabulary is None else words.no_words()
        part: Any = grouped.words(words.kind, given, words.tokens.ngrams if words.split else None)
        tally = Tally(grouped.classes, grouped.rows, {TextsBlock.part: part})
        model._commit(Model(Ledger.of(tally), counted=model._counted()))
        found: Self = model
        return found
