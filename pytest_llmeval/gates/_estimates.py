"""pass@k and pass^k over cases: what they are, and what they could be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_llmeval.errors import ConfigError
from pytest_llmeval.gates._measured import Measured
from pytest_llmeval.gates._read import Estimate, estimate_of, parse_gate
from pytest_llmeval.stats import mean, pass_at_k, pass_hat_k
from pytest_llmeval.types import Record

__all__ = ["measured_estimate", "refuse_too_few"]

#: Of cases that were never to be scored, nothing is estimated.
_LEFT_OUT = frozenset({"skipped", "xfailed", "not_run"})


def refuse_too_few(gates: Sequence[str], repeat: int) -> None:
    """Refuse gates about more samples than each case of a test has.

    Raises:
        ConfigError: There is such a gate.
    """
    for text in gates:
        name = parse_gate(text).name
        estimate = estimate_of(name)
        if estimate is not None and estimate.k > repeat:
            raise _too_few(name, estimate, repeat)


def _too_few(name: str, estimate: Estimate, most: int) -> ConfigError:
    message = (
        f"{name} needs {estimate.k} samples of a case, and there "
        f"{'is' if most == 1 else 'are'} {most}: give the marker repeat={estimate.k} "
        f"or more, or --llmeval-repeat={estimate.k}"
    )
    return ConfigError(message)


def measured_estimate(
    name: str, estimate: Estimate, records: Sequence[Record]
) -> Measured:
    """Return the mean over cases of the chance that one, or all, of k samples pass.

    A sample that was not scored, or not run, may be a pass or a failure.

    Args:
        name: As the gate has it.
        estimate: One or all, and k.
        records: Cases with fewer than k samples are left out.

    Raises:
        ConfigError: No case has k samples.
    """
    cases = [r for r in records if r.status not in _LEFT_OUT]
    enough = [record for record in cases if record.repeat >= estimate.k]
    if cases and not enough:
        raise _too_few(name, estimate, max(record.repeat for record in cases))
    chance = pass_hat_k if estimate.of_all else pass_at_k
    whole = [record for record in enough if record.is_whole]
    values = [_value(chance, r, r.count("passed"), estimate.k) for r in whole]
    lows = [_value(chance, r, r.count("passed"), estimate.k) for r in enough]
    highs = [
        _value(chance, r, r.repeat - r.count("failed"), estimate.k) for r in enough
    ]
    return Measured(
        value=mean(values),
        low=mean(lows) or 0.0,
        high=1.0 if not highs else mean(highs) or 0.0,
        n=len(whole),
        unknown=len(enough) - len(whole),
    )


def _value(
    chance: Callable[[int, int, int], float], record: Record, passed: int, k: int
) -> float:
    return chance(record.repeat, passed, k)
