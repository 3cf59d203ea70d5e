"""Values over all cases at once."""

from __future__ import annotations

from math import exp, inf

import pytest

from pytest_llmeval.errors import UserError
from pytest_llmeval.stats import pooled, pooled_label


@pytest.mark.parametrize(
    ("form", "counts", "value"),
    [
        ("f1", [(1, 0, 0), (1, 2, 1)], 4 / 7),
        ("f1", [(0, 0, 0)], 1),
        ("f1", [(0, 1, 0)], 0),
        ("ratio", [(1, 4), (2, 2)], 0.5),
        ("ratio", [(0, 0)], 0),
        ("ratio", [(3, 0)], 1),
        ("exp_rate", [(-2, 1), (-2, 3)], exp(1)),
        ("exp_rate", [(-1e9, 1)], inf),
        ("exp_rate", [(0, 0)], None),
        ("bits", [(0, 0)], None),
        ("bits", [(-8, 4)], 2 / 0.6931471805599453),
        ("bleu", [(4, 3, 2, 1, 4, 3, 2, 1, 4, 4)], 1),
        ("bleu", [(4, 3, 2, 1, 4, 3, 2, 1, 4, 8)], exp(-1)),
        ("bleu", [(2, 1, 0, 0, 2, 1, 0, 0, 2, 2)], 0),
        ("bleu_none", [(2, 1, 0, 0, 4, 3, 2, 1, 4, 4)], 0),
        ("bleu_none", [(2, 2, 1, 1, 4, 3, 2, 1, 4, 4)], (1 / 6) ** 0.25),
        ("bleu_add_one", [(0, 0, 0, 0, 4, 3, 2, 1, 4, 4)], (1 / 120) ** 0.25),
        ("bleu_add_one", [(0, 0, 0, 0, 0, 0, 0, 0, 0, 4)], 0),
        ("bleu", [(0, 0, 0, 0, 4, 3, 2, 1, 4, 4)], 0),
        ("chrf2", [(2, 2, 2, 0, 0, 0)], 1),
        ("chrf2", [(0, 2, 0)], 0),
        ("chrf2", [(2, 2, 0)], 0),
        ("bleu", [], None),
    ],
)
def test_values(
    form: str, counts: list[tuple[float, ...]], value: float | None
) -> None:
    assert pooled(form, counts) == (value if value is None else pytest.approx(value))


def test_only_f1_is_called_micro() -> None:
    assert (pooled_label("f1"), pooled_label("bleu")) == ("micro", "corpus")


@pytest.mark.parametrize(
    ("form", "counts", "message"),
    [
        (
            "blue",
            [(1,)],
            "there is no form 'blue' of a pooled value; there are: bits, ",
        ),
        ("f1", [(1, 2, 3), (1, 2)], "counts for 'f1' have different lengths"),
    ],
)
def test_what_cant_be_added_up_is_refused(
    form: str, counts: list[tuple[float, ...]], message: str
) -> None:
    with pytest.raises(UserError) as caught:
        pooled(form, counts)

    assert str(caught.value).startswith(message)
