"""naively show: show what a model has learnt."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from naively.cli.console import Console
from naively.cli.models import load, summary, whole
from naively.cli.progress import megabytes
from naively.errors import InputError, nearest
from naively.learn.estimates import with_margin


def run(arguments: Namespace, console: Console) -> None:
    learner, about = load(arguments.model, verify=arguments.verify)
    classes = learner.classes_.tolist()
    chosen = _class_to_show(classes, arguments.label)
    facts = {"model": f"{about['kind']}{', frozen' if about['frozen'] else ''}", **summary(learner)}
    facts |= _settings(learner, about)
    telling = {} if about["frozen"] else _telling(learner, arguments.top)
    counts = learner.class_count_.tolist()
    shares = learner._prior_rule().log(learner._model.ledger.classes, learner._model.ledger.rows)
    priors = _by_label(learner, shares)
    if chosen is None:
        console.facts(facts)
        console.say()
        console.table(
            ["class", "rows", "prior", "speaks most for it"],
            [[str(c), whole(n), priors[c], _names(telling.get(c, []))] for c, n in zip(classes, counts, strict=True)],
            align="lrrl",
        )
    else:
        console.facts({"class": str(chosen), "rows": whole(counts[classes.index(chosen)]), "prior": priors[chosen]})
        console.say()
        console.table(["speaks for it", "by"], telling.get(chosen, []), align="lr")
    console.result(
        {
            "file": arguments.model,
            **{name: about.get(name) for name in ("kind", "frozen", "version", "bytes", "target", "text", "data")},
            "parameters": {name: _plain(value) for name, value in learner.parameters().items()},
            "rows": sum(counts),
            "classes": [
                {"class": c, "rows": n, "prior": priors[c], "telling": [list(pair) for pair in telling.get(c, [])]}
                for c, n in zip(classes, counts, strict=True)
            ],
            "verified": arguments.verify,
        }
    )


def _class_to_show(classes: list[Any], label: str | None) -> Any:
    if label is None:
        return None
    by_name = {str(name): name for name in classes}
    if label not in by_name:
        raise InputError(
            f"there is no class {label!r}{nearest(label, by_name)}; there are {', '.join(list(by_name)[:20])}"
        )
    return by_name[label]


def _settings(learner: Any, about: dict[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if getattr(learner, "reads_text", False):
        resolved = learner._resolved(learner._model)
        facts["recipe"] = (
            f"{resolved['family']}, {resolved['weighting']}, n-grams {resolved['ngrams'][0]}-{resolved['ngrams'][1]}, "
            f"tokens {resolved['tokens']}"
        )
        if not about["frozen"]:
            alpha = learner.chosen_.alpha
            facts["alpha"] = f"{alpha:.4g}" if isinstance(alpha, (int, float)) else str(alpha)
    if hasattr(learner, "temperature_"):
        facts["temperature"] = learner.temperature_
        constants = getattr(learner._calibration(learner._model), "offsets", None)
        if constants is not None:
            pairs = zip(learner.classes_.tolist(), constants.tolist(), strict=True)
            facts["constants"] = ", ".join(f"{label} {constant:+.4g}" for label, constant in list(pairs)[:20])
    accuracy, margin = about.get("accuracy"), about.get("margin")
    if isinstance(accuracy, float) and isinstance(margin, float) and margin > 0.0:
        facts["accuracy"] = f"{with_margin(accuracy, margin)} on rows like those that it was trained on"
    for name, title in (("target", "label column"), ("text", "text column")):
        if about.get(name) is not None:
            facts[title] = about[name]
    if isinstance(about.get("data"), list):
        facts["trained on"] = ", ".join(map(str, about["data"]))
    facts["file"] = f"{megabytes(about['bytes'])}, written by naively {about['version']}"
    return facts


def _telling(learner: Any, top: int) -> dict[Any, list[tuple[str, float]]]:
    """Return the words, or the values of columns, that speak most for each class."""
    if hasattr(learner, "top_words"):
        return learner.top_words(top)
    if not hasattr(learner, "schema_"):
        return {}
    from naively.cli.values import telling_values

    return telling_values(learner, top)


def _by_label(learner: Any, logs: Any) -> dict[Any, float]:
    import numpy as np

    names = learner._model.ledger.classes.names.tolist()
    return dict(zip(names, np.exp(logs).tolist(), strict=True))


def _names(pairs: list[tuple[str, float]]) -> str:
    return ", ".join(name for name, _ in pairs)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, int, float, bool)) else repr(value)
