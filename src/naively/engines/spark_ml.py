"""Spark ML: an Estimator and its Model, for Pipelines; they are saved as Spark saves its own, the model as our file."""

from __future__ import annotations

import json
from typing import Any

from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasLabelCol, HasPredictionCol, HasWeightCol
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReader,
    MLWriter,
)

import naively
from naively.engines import spark
from naively.store.codec import Reader, Writer


class _Columns(HasLabelCol, HasPredictionCol, HasWeightCol):
    """The columns that are read and written. The probability is that of the predicted label, one number."""

    textCol: Any = Param(Params._dummy(), "textCol", "column of texts", TypeConverters.toString)
    probabilityCol: Any = Param(Params._dummy(), "probabilityCol", "probability's column", TypeConverters.toString)

    def _set_columns(self, names: dict[str, str | None]) -> None:
        self._setDefault(labelCol="label", predictionCol="prediction", probabilityCol="probability")
        self._set(**{name: value for name, value in names.items() if value is not None})

    def _column(self, name: str) -> str | None:
        param = self.getParam(name)
        return self.getOrDefault(param) if self.isDefined(param) else None


class NaiveBayesEstimator(Estimator[Any], _Columns, DefaultParamsReadable[Any], DefaultParamsWritable):
    """Naive Bayes for a Pipeline: `NaiveBayesEstimator(textCol="review").fit(df).transform(df)`.

    Parameters
    ----------
    model : TextClassifier or NaiveBayes, default=None
        The estimator whose parameters to use; None: `TextClassifier()` with `textCol`, else `NaiveBayes()`.
    labelCol, textCol, weightCol, predictionCol, probabilityCol : str
        Names of columns; without `textCol`, all other columns are read, as a table.
    """

    kind: Any = Param(Params._dummy(), "kind", "class of naively", TypeConverters.toString)
    parameters: Any = Param(Params._dummy(), "parameters", "its parameters, as JSON", TypeConverters.toString)

    def __init__(
        self,
        model: Any = None,
        *,
        labelCol: str | None = None,
        textCol: str | None = None,
        weightCol: str | None = None,
        predictionCol: str | None = None,
        probabilityCol: str | None = None,
    ):
        super().__init__()
        columns = {"labelCol": labelCol, "textCol": textCol, "weightCol": weightCol}
        self._set_columns({**columns, "predictionCol": predictionCol, "probabilityCol": probabilityCol})
        if model is not None:
            parameters = json.dumps(Writer().put(model.parameters(), "parameters"))
            self._set(kind=type(model).__name__, parameters=parameters)

    def _learner(self) -> Any:
        """Return the unfitted estimator of naively."""
        if not self.isDefined(self.kind):
            return None
        parameters = Reader({}).of(dict, json.loads(self.getOrDefault(self.parameters)))
        return getattr(naively, self.getOrDefault(self.kind))(**parameters)

    def _fit(self, dataset: Any) -> NaiveBayesModel:
        fitted = spark.fit(
            dataset, self.getLabelCol(), text=self._column("textCol"), weight=self._column("weightCol"),
            model=self._learner(),
        )  # fmt: skip
        return self._copyValues(NaiveBayesModel(fitted))


class NaiveBayesModel(Model, _Columns, DefaultParamsReadable[Any], DefaultParamsWritable):
    """The result of `NaiveBayesEstimator.fit`; `model` is the fitted estimator of naively."""

    def __init__(self, model: Any = None):
        super().__init__()
        self.model = model
        self._set_columns({})

    def _transform(self, dataset: Any) -> Any:
        return spark.predict(
            self.model, dataset, text=self._column("textCol"), prediction_col=self.getPredictionCol(),
            probability_col=str(self._column("probabilityCol")),
        )  # fmt: skip

    def write(self) -> MLWriter:
        """Return what writes this model to a folder."""
        return _ModelWriter(self)

    @classmethod
    def read(cls) -> Any:
        """Return what reads a model from a folder."""
        return _ModelReader(cls)


class _ModelWriter(MLWriter):
    def __init__(self, instance: NaiveBayesModel):
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession)
        pieces = list(enumerate(spark.pieces(self.instance.model.to_bytes())))
        self.sparkSession.createDataFrame(pieces, "piece int, data binary").write.parquet(f"{path}/model")


class _ModelReader(MLReader[Any]):
    def __init__(self, kind: Any):
        super().__init__()
        self.kind = kind

    def load(self, path: str) -> NaiveBayesModel:
        """Return the model that was saved in a folder."""
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession, f"{__name__}.NaiveBayesModel")
        rows = self.sparkSession.read.parquet(f"{path}/model").sort("piece").toArrow()
        instance = self.kind(naively.from_bytes(b"".join(rows.column("data").to_pylist())))
        instance._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(instance, metadata)
        return instance
