"""Metrics that a conftest.py or a module brings into a suite."""

from __future__ import annotations

import pytest

from tests.conftest import Suite

TEST = """
import pytest
from pytest_llmeval import assert_metric

@pytest.mark.llmeval([{"id": "a", "q": "?", "expected": "x"}], generator="python:app:answer")
def test_own(case, generator):
    assert_metric(generator(case, prompt="{{ q }}"), case, METRIC, threshold=0.5)
"""
APP = """
def answer(prompt):
    return "abcde"

def length(text, expected):
    return len(text) / 10, "its length"
"""
CONFTEST = """
def pytest_llmeval_metrics(config):
    import app
    return RETURNED
"""


@pytest.mark.parametrize("numprocesses", ["0", "1"])
def test_a_conftest_brings_metrics_by_a_hook(suite: Suite, numprocesses: str) -> None:
    conftest = CONFTEST.replace("RETURNED", '{"length": app.length}')
    suite.write(app=APP, conftest=conftest, test_own=TEST.replace("METRIC", '"length"'))

    result, report = suite.report("-n", numprocesses)

    result.assert_outcomes(passed=1)
    assert report["tests"][0]["metrics"]["length"]["mean"] == 0.5


def test_a_metric_stands_in_a_module(suite: Suite) -> None:
    suite.write(app=APP, test_own=TEST.replace("METRIC", '"app:length"'))

    result, report = suite.report()

    result.assert_outcomes(passed=1)
    assert report["tests"][0]["metrics"]["app:length"]["n"] == 1


def test_a_hook_that_returns_no_metrics_is_refused(suite: Suite) -> None:
    conftest = CONFTEST.replace("RETURNED", "[app.length]")
    suite.write(app=APP, conftest=conftest, test_own=TEST.replace("METRIC", '"length"'))

    result = suite.run()

    assert result.ret != 0
    assert "pytest_llmeval_metrics lists <function length" in result.stdout.str()


def test_a_misspelt_hook_is_pytests_to_refuse(suite: Suite) -> None:
    suite.write(
        conftest="def pytest_llmeval_metric(config): ...", test_a="def test_a(): ..."
    )

    result = suite.run()

    assert (
        "unknown hook 'pytest_llmeval_metric'"
        in result.stderr.str() + result.stdout.str()
    )


def test_an_embeddings_endpoint_gives_similarity(suite: Suite) -> None:
    app = """
        class Model:
            def generate(self, prompt, **params):
                return "abc"

            def embed(self, texts):
                return [[float(len(text)), 1.0] for text in texts]

        model = Model()
    """.replace("\n        ", "\n")
    test = """
        import pytest
        from pytest_llmeval import assert_metric

        @pytest.mark.llmeval([{"id": "a", "q": "?", "expected": "xyz"}])
        def test_near(case, generator):
            assert_metric(
                generator(case, prompt="{{ q }}"), case, "similarity", threshold=0.99,
                embedder=generator,
            )
    """.replace("\n        ", "\n")
    suite.write(app=app, test_near=test)

    suite.run("--llmeval-generator=python:app:model").assert_outcomes(passed=1)
