"""What must run one case at a time does, in the main thread, and the summary says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Suite

HEAD = """
import os, random, sys, threading, warnings
from unittest import mock
import pytest
from pytest_llmeval import assert_exact

ROWS = [{"id": f"c{n}", "question": str(n), "expected": str(n)} for n in range(3)]

def alone():
    assert threading.current_thread() is threading.main_thread()

"""
TEST = """
{decorator}
@pytest.mark.llmeval(ROWS, generator=str)
def test_a(case, generator{arguments}):
    {line}
    alone()
    assert_exact(generator(case), case)
"""


def written(
    suite: Suite, *, arguments: str = "", line: str = "pass", above: str = ""
) -> None:
    fixtures, _, decorator = above.partition("@@")
    suite.write(
        test_a=HEAD
        + fixtures
        + TEST.format(arguments=arguments, line=line, decorator=decorator.strip())
    )


FIXTURE = """
@pytest.fixture{options}
def own({arguments}):
    return 1
@@"""


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (
            {"arguments": ", tmp_path"},
            "the fixture 'tmp_path' is set up for every case",
        ),
        (
            {"arguments": ", capsys, tmp_path"},
            "the fixtures 'capsys', 'tmp_path' are set up for every case",
        ),
        (
            {"above": FIXTURE.format(options="(autouse=True)", arguments="")},
            "the fixture 'own' is set up for every case",
        ),
        (
            # For a plain function this is set up for every case, whatever it says.
            {
                "arguments": ", own",
                "above": FIXTURE.format(options="(scope='class')", arguments=""),
            },
            "the fixture 'own' is set up for every case",
        ),
        ({"arguments": ", request"}, "it uses the fixture 'request'"),
        ({"line": "os.environ['A'] = 'b'"}, "its body uses 'environ'"),
        (
            {"line": "sys.stdout = sys.stdout"},
            "its body assigns 'stdout'",
        ),
        (
            {"above": "@@ @mock.patch.dict('os.environ', {})"},
            "it is decorated by unittest.mock",
        ),
    ],
)
def test_the_reason_is_named(suite: Suite, given: dict[str, str], reason: str) -> None:
    written(suite, **given)

    result = suite.run()

    result.assert_outcomes(passed=3)
    assert f"one at a time: test_a ({reason})" in result.outlines


@pytest.mark.parametrize("options", [["-k", "c1"], ["--llmeval-concurrency=1"]])
def test_nothing_is_said_where_nothing_could_be_gained(
    suite: Suite, options: list[str]
) -> None:
    written(suite, arguments=", tmp_path")

    assert "one at a time" not in suite.run(*options).stdout.str()


def test_our_own_fixture_is_no_reason_but_a_project_s_of_that_name_is(
    suite: Suite,
) -> None:
    written(
        suite,
        arguments=", llmeval",
        above="\n@pytest.fixture\ndef llmeval():\n    return 1\n@@",
    )

    result = suite.run()

    result.assert_outcomes(passed=3)
    assert "the fixture 'llmeval' is set up for every case" in result.stdout.str()


def test_setup_methods_are_a_reason(suite: Suite) -> None:
    suite.write(
        test_a=HEAD
        + """
class TestA:
    def setup_method(self):
        self.count = 1

    @pytest.mark.llmeval(ROWS, generator=str)
    def test_a(self, case, generator):
        alone()
        assert self.count == 1
        assert_exact(generator(case), case)
"""
    )

    result = suite.run()

    result.assert_outcomes(passed=3)
    assert "one at a time: TestA::test_a (the fixture" in result.stdout.str()


def test_an_async_fixture_is_a_reason(suite: Suite) -> None:
    suite.write(
        conftest="""
import asyncio
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef, request):
    # What a plugin for async fixtures does.
    if fixturedef.argname == "answer":
        fixturedef.cached_result = (asyncio.run(fixturedef.func()), None, None)
        return fixturedef.cached_result[0]

@pytest.fixture(scope="session")
async def answer():
    return 42

@pytest.fixture(scope="session")
def twice(answer):
    return 2 * answer
""",
        test_a=HEAD + TEST.format(arguments=", twice", line="pass", decorator=""),
    )

    result = suite.run()

    result.assert_outcomes(passed=3)
    assert "the fixture 'answer' is async and has its own loop" in result.stdout.str()


@pytest.mark.parametrize("name", ["asyncio", "anyio"])
def test_a_test_that_another_plugin_claims_is_left_to_it(
    suite: Suite, name: str
) -> None:
    suite.write(
        conftest="""
import asyncio
import pytest

def pytest_configure(config):
    config.addinivalue_line("markers", "asyncio: a plugin's")
    config.addinivalue_line("markers", "anyio: a plugin's")

def pytest_pyfunc_call(pyfuncitem):
    args = {name: pyfuncitem.funcargs[name] for name in ("case", "generator")}
    asyncio.run(pyfuncitem.obj(**args))
    return True
""",
        test_a=HEAD
        + f"""
@pytest.mark.{name}
@pytest.mark.llmeval(ROWS, generator=str)
async def test_a(case, generator):
    alone()
    assert_exact(await generator.acall(case), case)
""",
    )

    result = suite.run()

    result.assert_outcomes(passed=3)
    assert "runs it)" in result.stdout.str()


def test_tests_with_one_reason_share_a_line(suite: Suite) -> None:
    test = TEST.format(arguments=", tmp_path", line="pass", decorator="")
    suite.write(
        test_a=HEAD + "".join(test.replace("test_a", f"test_{n}") for n in range(5))
    )

    result = suite.run()

    reason = "the fixture 'tmp_path' is set up for every case"
    line = f"one at a time: test_0, test_1, test_2 and 2 more ({reason})"
    assert line in result.outlines


def test_the_reason_arrives_from_workers(suite: Suite) -> None:
    written(suite, arguments=", tmp_path")

    result = suite.run("-n1")

    assert "one at a time: test_a (the fixture 'tmp_path'" in result.stdout.str()


@pytest.mark.parametrize("option", ["--pdb", "--trace"])
def test_a_person_who_steps_through_it_sees_one_at_a_time(
    suite: Suite, option: str
) -> None:
    written(suite)
    debugger = "class Debugger:\n    def __init__(self, *args, **kwargs): pass\n"
    debugger += "    def set_trace(self, *args): pass\n    reset = set_trace\n"
    debugger += "    def runcall(self, function, *args, **kwargs):\n"
    debugger += "        return function(*args, **kwargs)\n"
    suite.write(app=debugger)

    result = suite.run(option, "--pdbcls=app:Debugger")

    result.assert_outcomes(passed=3)
