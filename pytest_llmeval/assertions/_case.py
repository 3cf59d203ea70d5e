"""The check that a case's kind brings: asked, read and scored in one line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_llmeval import kinds
from pytest_llmeval.assertions._arguments import checked_threshold
from pytest_llmeval.assertions._settle import settle_score
from pytest_llmeval.assertions._text import scored
from pytest_llmeval.assertions.message import unscored_text
from pytest_llmeval.errors import ConfigError, UnscoredError
from pytest_llmeval.evaluate import Generator, not_awaited
from pytest_llmeval.kinds import UNSET, KindUse
from pytest_llmeval.prompts import Template, render
from pytest_llmeval.recorder import Plan, current_sample
from pytest_llmeval.types import Case, Response, Score

__all__ = ["assert_case"]


def assert_case(
    case: Case,
    generator: Any,
    *,
    kind: Any = None,
    metric: str | None = None,
    threshold: Any = UNSET,
    force: bool = False,
    name: str | None = None,
    **options: Any,
) -> Score:
    """Ask what the case's kind asks, and fail unless the kind's metric holds.

    The model is asked for a reply only where the metric looks at one; else it is asked
    how likely texts are.

    Args:
        case: The row.
        generator: The model under test; or a reply that was had already.
        kind: As in the marker, which need not say it then.
        metric: Another metric than the kind's (``math``, ``choice_loglik``).
        threshold: Least value; greatest where lower is better. None keeps the value
            and holds it against nothing.
        force: Whether the model answers also where no answer is needed; the reply then
            stands in the record.
        name: The check's name in reports.
        **options: Options of the metric.

    Raises:
        ConfigError: There is no such kind, metric or option, or no kind is said.
        EvalAssertionError: It does not hold.
        MissingExtraError: The metric needs an extra that isn't installed.
        UnscoredError: The row is none of the kind, or could not be scored.
    """
    __tracebackhide__ = True
    _check_case(case)
    plan = _plan()
    use = _use(kind, plan).changed(metric, threshold, options)
    if use.threshold is not None:
        checked_threshold(use.threshold, use.metric)
    if (problem := kinds.row_problem(use.kind, case)) is not None:
        raise UnscoredError(problem, cause="data")
    if use.asks_model:
        score = _by_likelihood(case, generator, use, plan, force)
    else:
        score = scored(
            use.metric, _reply(case, generator, use, plan), case, **use.options
        )
    return _settled(score, use, name)


def _check_case(case: Any) -> None:
    if not isinstance(case, Case):
        message = f"assert_case takes the case first, and got {case!r:.80}"
        raise ConfigError(message)


def _plan() -> Plan:
    sample = current_sample()
    return sample.run.plan if sample else Plan()


def _use(kind: Any, plan: Plan) -> KindUse:
    if kind is not None:
        return kinds.kind_use(kind)
    if plan.kind is not None:
        found: KindUse = plan.kind
        return found
    message = (
        f"no kind is said: give it in the marker, @pytest.mark.llmeval(..., kind='qa'), "
        f"or here, kind='qa'; kinds: {', '.join(kinds.KINDS)}"
    )
    raise ConfigError(message)


def _reply(case: Case, generator: Any, use: KindUse, plan: Plan) -> Any:
    """Return the reply to a case: the one given, or the model's."""
    __tracebackhide__ = True
    if (message := not_awaited(generator, "generator")) is not None:
        raise ConfigError(message)
    if not callable(generator):
        return generator
    if not isinstance(generator, Generator):
        return generator(case)  # a user's own fixture
    prompt = use.kind.prompt if plan.prompt is None else None
    return generator(case, prompt=prompt)


def _by_likelihood(
    case: Case, generator: Any, use: KindUse, plan: Plan, force: bool
) -> Score:
    __tracebackhide__ = True
    if isinstance(generator, Response | str):
        message = (
            f"{use.metric} asks the model how likely texts are: give the generator, and "
            f"not a reply"
        )
        raise ConfigError(message)
    if force:
        if use.kind.prompt is None:
            message = (
                f"the kind {use.kind.name!r} has no question that could be answered"
            )
            raise ConfigError(message)
        _reply(case, generator, use, plan)
    options = dict(use.options)
    template: Template | None = plan.prompt if plan.has_own_prompt else None
    if template is not None and use.kind.prompt is not None:
        options.setdefault("context", render(template, case).text)
    return scored(use.metric, generator, case, **options)


def _settled(score: Score, use: KindUse, name: str | None) -> Score:
    """Hold a score against its bar, or keep it where there is none."""
    __tracebackhide__ = True
    if use.threshold is not None:
        operator = ">=" if score.higher_is_better else "<="
        is_whole = score.binary and use.threshold == 1
        return settle_score(
            score, "==" if is_whole else operator, use.threshold, name=name
        )
    check = replace(score.check(">=", 0, name=name), threshold=None, passed=None)
    if (sample := current_sample()) is not None:
        sample.add_check(check)
    if score.value is None:
        raise UnscoredError(unscored_text(check), cause=score.cause or "data")
    return score
