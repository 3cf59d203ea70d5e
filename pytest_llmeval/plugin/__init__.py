"""The pytest plugin: hooks that delegate.

Loaded by every pytest run of everyone who has the package installed, so nothing here
imports another room before an evaluation is collected (ARCHITECTURE.md, "Start-up").
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_llmeval.plugin._internals import own_fixtures_used
from pytest_llmeval.plugin.fixtures import (
    NAMES,
    generator,
    judge,
    llm_client,
    llmeval,
)
from pytest_llmeval.plugin.options import add_options, is_any_given

__all__ = ["generator", "judge", "llm_client", "llmeval"]

_MARKER = (
    "llmeval(dataset=None, *, columns=None, prompt=None, system=None, generator=None, "
    "judge=None, kind=None, limit=None, concurrency=None, repeat=1, "
    "min_sample_rate=1.0, gate=None): the test "
    "evaluates an LLM application, once for each case of the dataset"
)
_CALIBRATION = (
    "llmeval_calibration(labels, *, judge=None, label='label', columns=None, limit=None, "
    "gate='kappa >= 0.6'): the test asks a judge about replies that people have "
    "labelled; its verdicts are held against theirs"
)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks of ours."""
    from pytest_llmeval.plugin import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the --llmeval-* options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; refuse an installation that is not whole."""
    config.addinivalue_line("markers", _MARKER)
    config.addinivalue_line("markers", _CALIBRATION)
    _refuse_namesake()
    if config.getoption("dist", "no") != "no":
        config.pluginmanager.register(_Controller(config), "llmeval-controller")
    if config.getini("llmeval_task_paths"):
        from pytest_llmeval.plugin.task_paths import task_paths

        task_paths(config)  # what is not there is told
    if is_any_given(config):
        from pytest_llmeval.plugin.settings import check_options

        settings = check_options(config)
        if settings.resume is not None or settings.rescore is not None:
            from pytest_llmeval.plugin.earlier import settle_earlier

            settle_earlier(config, settings)
        # To fail when nothing was scored, which is also when nothing was there; to
        # tell of a baseline that can't be read before anything runs.
        if settings.require is not None or settings.compare is not None:
            _start_run(config)


def _start_run(config: pytest.Config) -> None:
    from pytest_llmeval.errors import UserError
    from pytest_llmeval.plugin.run import run_of

    try:
        run_of(config)
    except UserError as exc:
        raise pytest.UsageError(str(exc)) from exc


def _refuse_namesake() -> None:
    """Refuse the unrelated distribution pytest-llmeval, which has our import name.

    Its plugin is a file where ours is a folder, and its empty __init__ replaces ours.
    """
    if os.path.exists(os.path.dirname(__file__) + ".py"):
        message = (
            "two distributions hold the package pytest_llmeval: "
            "pytest-llm-regression (this plugin) and pytest-llmeval, an unrelated "
            "project; run `pip uninstall -y pytest-llmeval pytest-llm-regression` and "
            "`pip install pytest-llm-regression`"
        )
        raise pytest.UsageError(message)


class _Controller:
    """Waits on an xdist controller for the first report that carries a record."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.evaluations: set[str] = set()
        """Tests known by now, without their parameters."""
        self.has_crash = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Make the run at the first; it hears of further reports by itself."""
        if not hasattr(report, "llmeval") and not hasattr(report, "llmeval_begun"):
            return
        is_first = not self.evaluations
        self.evaluations.add(report.nodeid.partition("[")[0])
        if is_first:
            from pytest_llmeval.plugin.run import run_of

            run_of(self.config).pytest_runtest_logreport(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker how tests are handed out, and whether one has crashed."""
        node.workerinput["llmeval_dist"] = self.config.getoption("dist")
        node.workerinput["llmeval_careful"] = self.has_crash
        if is_any_given(self.config):
            from pytest_llmeval.plugin.earlier import tell_worker

            tell_worker(self.config, node)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object) -> None:
        """Note a crash: from then on it must show which case crashes."""
        self.has_crash = self.has_crash or error is not None

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Hand out evaluations in blocks, where xdist's own default would be used."""
        if config.getoption("dist") != "load":
            return None
        from pytest_llmeval.plugin.blocks import make_scheduler

        return make_scheduler(config, log, evaluations=self.evaluations)


def _is_marked(node: Any) -> bool:
    names = ("llmeval", "llmeval_calibration")
    return any(node.get_closest_marker(name) is not None for name in names)


def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> pytest.Collector | None:
    """Collect a YAML task."""
    if file_path.suffix not in {".yaml", ".yml"}:
        return None
    from pytest_llmeval.plugin.task_paths import is_task_path

    if not is_task_path(file_path, parent.session):
        return None
    from pytest_llmeval.plugin.task_files import TaskFile

    file: pytest.Collector = TaskFile.from_parent(parent, path=file_path)
    return file


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a marked function its cases."""
    used = own_fixtures_used(metafunc, NAMES, f"{__name__}.fixtures")
    if used or _is_marked(metafunc.definition):
        from pytest_llmeval.plugin.collect import parametrize

        parametrize(metafunc, used)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Mark tests that use our fixtures, before -m selects."""
    found = False
    for item in items:
        if item.get_closest_marker("llmeval") is None:
            if not _is_marked(item) and not own_fixtures_used(
                item, NAMES, f"{__name__}.fixtures"
            ):
                continue
            item.add_marker("llmeval")
        found = True
    if found:
        from pytest_llmeval.plugin.collect import select
        from pytest_llmeval.plugin.run import run_of

        run_of(config)
        select(config, items)


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    """Run an ``async def`` evaluation that no other plugin claims."""
    if pyfuncitem.get_closest_marker("llmeval") is None:
        return None
    from pytest_llmeval.plugin.bodies import call_body, call_samples
    from pytest_llmeval.plugin.run import run_of

    return call_samples(pyfuncitem, run_of(pyfuncitem.config)) or call_body(pyfuncitem)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Write the report between the failures and the short summary."""
    run = config.pluginmanager.getplugin("llmeval-run")
    if run is not None and not run.is_worker:
        from pytest_llmeval.plugin.summary import write_report

        write_report(terminalreporter, run)


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    """Explain a plain ``assert f1(response, case) >= 0.6`` that failed."""
    types = sys.modules.get("pytest_llmeval.types")
    if types is None or not any(isinstance(x, types.Score) for x in (left, right)):
        return None
    from pytest_llmeval.plugin.native import explain_comparison

    return explain_comparison(op, left, right)
