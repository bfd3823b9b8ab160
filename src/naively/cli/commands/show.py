"""naively show: show what a model has learnt."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from naively.cli.console import Console
from naively.cli.models import alpha_text, load, recipe_text, summary, whole
from naively.errors import InputError, nearest
from naively.learn.estimates import with_margin
from naively.report import megabytes


def run(arguments: Namespace, console: Console) -> None:
    learner, about = load(arguments.model, verify=arguments.verify)
    classes = learner.classes_.tolist()
    chosen = _class_to_show(classes, arguments.label)
    facts = {"model": f"{about['kind']}{', frozen' if about['frozen'] else ''}", **summary(learner)}
    facts |= _settings(learner, about)
    telling = {} if about["frozen"] else _telling(learner, arguments.top)
    counts = learner.class_count_.tolist()
    priors = dict(zip(classes, learner.class_prior_.tolist(), strict=True))
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
        chosen = learner.chosen_
        facts["recipe"] = f"{recipe_text(chosen)}, tokens {learner.parameters()['tokens']}"
        if chosen.alpha is not None:
            facts["alpha"] = alpha_text(chosen.alpha)
    if hasattr(learner, "temperature_"):
        facts["temperature"] = learner.temperature_
        constants = getattr(learner.calibration_, "offsets", None)
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
    for name in ("top_words", "top_values"):
        if hasattr(learner, name):
            return getattr(learner, name)(top)
    return {}


def _names(pairs: list[tuple[str, float]]) -> str:
    return ", ".join(name for name, _ in pairs)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, int, float, bool)) else repr(value)
