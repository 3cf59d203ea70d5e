"""lm-evaluation-harness's task files: its prompts, its numbers, mistakes in a file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from statistics import stdev
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data" / "tasks"
EXPECTED = json.loads((DATA / "expected.json").read_text("utf-8"))["results"]
NAMES = tuple(EXPECTED)

#: The model of expected.json: it knows the very prompts that lm-eval sent.
MODEL = """
import json, zlib
from pathlib import Path

LINES = Path(__file__).with_name("expected_requests.jsonl").read_text("utf-8")
RAW = {r["prompt"]: r["raw"] for r in map(json.loads, LINES.splitlines()) if "raw" in r}

class Model:
    def generate(self, prompt, **params):
        return RAW[prompt.text]
    def loglikelihood(self, context, continuation):
        c = zlib.crc32((context + "\\x1f" + continuation).encode())
        return -(c % 10000) / 1000, c % 3 == 0
    def loglikelihood_rolling(self, text):
        data = text.encode()
        return -len(data) * (1 + (zlib.crc32(data) % 100) / 100)

model = Model()
"""
TASK = """\
task: demo
dataset_path: json
dataset_kwargs:
  data_files: {test: rows.jsonl}
test_split: test
doc_to_text: "{{q}}"
doc_to_target: a
metadata: {version: 1.0}
"""
ROWS = [{"q": "one?", "a": "1"}, {"q": "two?", "a": "2"}, {"q": "three?", "a": "3"}]


@pytest.fixture
def demo(suite: Any) -> Any:
    suite.write(
        app="def answer(prompt):\n    return prompt.split()[-1].strip('?')\n",
        llmeval_yaml='generator: "python:app:answer"\n',
        utils_py="def shout(doc):\n    return doc['q'].upper()\n"
        "def results(doc, results):\n    return {'own': len(results[0])}\n"
        "def keep(docs):\n    return docs.filter(lambda d: d['q'] != 'two?')\n"
        "def broken(docs):\n    raise ValueError('odd')\n",
    )
    suite.rows("rows.jsonl", ROWS)
    suite.pytester.syspathinsert()
    return suite


def write(suite: Any, text: str, name: str = "demo.llmeval.yaml") -> None:
    (suite.path / name).write_text(text, "utf-8")


def with_data(suite: Any) -> None:
    shutil.copytree(DATA, suite.path, dirs_exist_ok=True)
    suite.write(app=MODEL, llmeval_yaml='generator: "python:app:model"\n')
    suite.pytester.syspathinsert()
    paths = "\n  ".join(f"{name}.yaml" for name in NAMES)
    suite.pytester.makeini(
        f"[pytest]\nllmeval_allow_functions = true\nllmeval_task_paths =\n  {paths}\n"
    )


@pytest.mark.parametrize("arguments", [[], ["-n", "2"]])
def test_prompts_and_results_are_those_of_lm_eval(
    suite: Any, arguments: list[str]
) -> None:
    with_data(suite)

    result, data = suite.report(*arguments)

    assert result.ret == 0
    assert data["totals"]["unscored"] == 0  # an unknown prompt would be a KeyError
    found = {test["name"]: test["metrics"] for test in data["tests"]}
    for name in NAMES:
        values = {k: m["mean"] for k, m in found[name].items()}
        errors = {
            k.replace(",", "_stderr,"): m["stderr"] for k, m in found[name].items()
        }
        wanted = {
            key: None if value == "N/A" else value
            for key, value in EXPECTED[name].items()
            if "," in key
        }
        assert values | errors == pytest.approx(wanted, abs=1e-9)


def test_logged_samples_are_those_of_lm_eval(suite: Any) -> None:
    with_data(suite)

    suite.run("--llmeval-log-samples=logs")

    wanted = read_lines(DATA / "expected_samples.jsonl")
    found = {
        (name, line["doc_id"], line["filter"]): line
        for name in NAMES
        for path in (suite.path / "logs").glob(f"samples_{name}_*.jsonl")
        for line in read_lines(path)
    }
    assert len(found) == len(wanted)
    for line in wanted:
        got = found[line["task"], line["doc_id"], line["filter"]]
        for key in line.keys() - {"task", "values"}:
            assert got[key] == line[key], (line["task"], line["doc_id"], key)
        for name, value in line["values"].items():
            nothing = value in (None, "NaN") or value != value
            assert got[name] is None if nothing else same(got[name], value)


def same(got: Any, value: Any) -> bool:
    if isinstance(value, list):
        return all(same(g, v) for g, v in zip(got, value, strict=True))
    return bool(got == pytest.approx(value, abs=1e-9))


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_task_scores_and_passes(demo: Any) -> None:
    write(demo, TASK)

    result, data = demo.report()

    result.assert_outcomes(passed=3)
    (test,) = data["tests"]
    assert test["name"] == "demo"
    assert test["metrics"]["exact_match,none"]["mean"] == 0.0
    assert data["cases"][2]["source"] == "rows.jsonl:3"


def test_a_gate_of_a_metric_may_stand_in_metadata(demo: Any) -> None:
    gate = "metadata: {llmeval: {gate: 'pass_rate >= 0.5'}}"
    write(demo, TASK.replace("metadata: {version: 1.0}", gate))

    _, data = demo.report()

    assert [g["state"] for g in data["gates"]] == ["holds"]


@pytest.mark.parametrize(
    ("aggregation", "bar", "state", "value"),
    [
        ("median", "own,none >= 4", "holds", 5.0),  # the mean is 4
        ("median", "own,none >= 4.5", "holds", 5.0),
        ("median", "own,none >= 5.5", "fails", 5.0),
        ("nanmean", "own,none >= 4.5", "fails", 13 / 3),
        ("!function utils.total", "own,none >= 4", "undecided", None),
    ],
)
def test_a_gate_is_about_the_value_that_the_report_has(
    demo: Any, aggregation: str, bar: str, state: str, value: float | None
) -> None:
    demo.pytester.makeini("[pytest]\nllmeval_allow_functions = true\n")
    demo.write(
        utils_py="def results(doc, results):\n    return {'own': len(results[0])}\n"
        "def total(items):\n    return sum(items)\n"
    )
    demo.rows("rows.jsonl", [{"q": q, "a": "1"} for q in ("one?", "seven?", "eight?")])
    metrics = f"metric_list: [{{metric: own, aggregation: {aggregation}}}]\n"
    own = f"{{llmeval: {{gate: '{bar}'}}}}"
    write(demo, TASK.replace("{version: 1.0}", own) + metrics
          + "process_results: !function utils.results\n")  # fmt: skip

    _, data = demo.report()

    (gate,) = data["gates"]
    assert (gate["state"], gate["value"]) == (state, pytest.approx(value))


def test_includes_merge_and_may_share_a_base(demo: Any) -> None:
    write(demo, TASK.replace("task: demo\n", ""), "_base")
    write(demo, "include: _base\ndescription: 'D {{q}} '\n", "_left")
    write(demo, "include: _base\ntag: [a]\n", "_right")
    write(demo, "include: [_left, _right]\ntask: demo\n")

    _, data = demo.report("-m", "a")

    assert data["totals"]["passed"] == 3


def test_functions_of_files_beside_the_task_run_where_allowed(demo: Any) -> None:
    demo.pytester.makeini("[pytest]\nllmeval_allow_functions = true\n")
    text = TASK.replace('"{{q}}"', "!function utils.shout")
    write(
        demo,
        text + "process_docs: !function utils.keep\n"
        "process_results: !function utils.results\n",
    )

    _, data = demo.report()

    assert data["totals"]["passed"] == 2
    assert data["tests"][0]["metrics"]["own,none"]["mean"] == 4.0


def test_examples_are_drawn_by_the_seed_and_never_the_row_itself(demo: Any) -> None:
    generator = Random(1234)
    wanted = []
    for row in ROWS:
        drawn = [one for one in generator.sample(ROWS, 2) if one != row][:1]
        wanted.append(f"{drawn[0]['q']} {drawn[0]['a']}\n\n{row['q']}")
    demo.write(
        app=f"def answer(prompt):\n    return 'yes' if prompt in {wanted!r} else 'no'\n"
    )
    write(demo, TASK.replace("doc_to_target: a", "doc_to_target: 'yes'").replace(
        "metadata", "fewshot_config: {doc_to_target: a}\nnum_fewshot: 1\nmetadata"))  # fmt: skip

    _, data = demo.report()

    assert data["tests"][0]["metrics"]["exact_match,none"]["mean"] == 1.0


def test_the_command_line_says_how_many_examples(demo: Any) -> None:
    demo.write(app="def answer(prompt):\n    return str(prompt.count('?'))\n")
    write(demo, TASK)
    write(demo, TASK.replace("demo", "none") + "num_fewshot: 0\n", "b.llmeval.yaml")

    _, data = demo.report("--llmeval-num-fewshot=2")

    found = [t["metrics"]["exact_match,none"]["mean"] for t in data["tests"]]
    assert found == pytest.approx([1 / 3, 1 / 3])  # three texts, and one
    replies = [c["samples"][0]["response"] for c in data["cases"]]
    assert replies == ["1", "1", "1", "3", "3", "3"]


def test_values_may_be_numbers_and_lists_of_packages_for_arrays(demo: Any) -> None:
    demo.pytester.makeini("[pytest]\nllmeval_allow_functions = true\n")
    demo.write(
        arrays_py="from array import array\n"
        "class Number:\n    def tolist(self):\n        return 0.5\n"
        "def results(doc, results):\n"
        "    return {'one': Number(), 'all': array('d', [1.0, 2.0])}\n"
        "def total(items):\n    return sum(sum(one) for one in items)\n"
    )
    text = "process_results: !function arrays.results\nmetric_list:\n"
    metrics = (
        "  - {metric: one}\n  - {metric: all, aggregation: !function arrays.total}\n"
    )
    write(demo, TASK + text + metrics)

    _, data = demo.report()

    found = {k: (m["mean"], m["n"]) for k, m in data["tests"][0]["metrics"].items()}
    assert found == {"one,none": (0.5, 3), "all,none": (9.0, 3)}


def test_the_median_is_the_upper_one(demo: Any) -> None:
    demo.pytester.makeini("[pytest]\nllmeval_allow_functions = true\n")
    metrics = "metric_list: [{metric: own, aggregation: median}]\n"
    write(demo, TASK + metrics + "process_results: !function utils.results\n")

    _, data = demo.report("--llmeval-limit=2")

    assert data["tests"][0]["metrics"]["own,none"]["mean"] == 3.0


def test_an_answer_ends_at_a_stop_text_whatever_the_server_does(demo: Any) -> None:
    demo.write(app="def answer(prompt):\n    return '1\\nQ: more'\n")
    write(
        demo, TASK + "generation_kwargs: {until: ['Q:', \"\\n\"], do_sample: False}\n"
    )

    _, data = demo.report()

    assert data["tests"][0]["metrics"]["exact_match,none"]["mean"] == pytest.approx(
        1 / 3
    )


def test_repeats_ask_several_times(demo: Any) -> None:
    demo.write(
        app="from itertools import count\nturn = count()\n"
        "def answer(prompt):\n    return 'x' if next(turn) % 3 == 0 else '1'\n"
    )
    filters = (
        "repeats: 3\nfilter_list:\n  - name: vote\n    filter:\n"
        "      - {function: majority_vote}\n      - {function: take_first}\n"
    )
    write(demo, TASK + filters)

    _, data = demo.report("--llmeval-limit=1")

    assert data["tests"][0]["metrics"]["exact_match,vote"]["mean"] == 1.0


def test_standard_errors_are_drawn_as_often_as_is_asked_for(demo: Any) -> None:
    demo.pytester.makeini("[pytest]\nllmeval_allow_functions = true\n")
    metrics = "metric_list: [{metric: own, aggregation: median}]\n"
    text = TASK + metrics + "process_results: !function utils.results\n"
    for number, count in enumerate((0, 1000, 2500)):
        own = f"{{llmeval: {{bootstrap_iters: {count}}}}}"
        name = f"d{number}.llmeval.yaml"
        write(demo, text.replace("{version: 1.0}", own).replace("demo", name[:2]), name)

    _, data = demo.report()

    none, once, twice = (t["metrics"]["own,none"]["stderr"] for t in data["tests"])
    draws = [Random(seed) for seed in (0, 1)]
    medians = [
        sorted(draw.choices([3.0, 3.0, 5.0], k=3))[1]
        for draw in draws
        for _ in range(1000)
    ]
    assert none is None
    assert once == pytest.approx(stdev(medians[:1000]), abs=1e-12)
    assert twice == pytest.approx(stdev(medians), abs=1e-12)  # in whole thousands


def test_repeated_cases_have_no_standard_error(demo: Any) -> None:
    write(demo, TASK.replace("{version: 1.0}", "{llmeval: {repeat: 2}}"))

    _, data = demo.report()

    metric = data["tests"][0]["metrics"]["exact_match,none"]
    assert (metric["n"], metric["stderr"]) == (6, None)


def test_a_target_that_looks_like_a_list_is_one_where_the_template_makes_one(
    demo: Any,
) -> None:
    demo.rows("rows.jsonl", [{"q": "x", "a": "[1, 2]", "several": ["[1, 2]", "b"]}])
    demo.write(app="def answer(prompt):\n    return '[1, 2]'\n")
    own = {"a": "'{{a}}'", "b": "'{{several}}'", "c": "'{{a}}'"}
    for name, target in own.items():
        compat = "{llmeval: {compat: lm_eval}}" if name == "c" else "{}"
        text = TASK.replace("doc_to_target: a", f"doc_to_target: {target}")
        text = text.replace("{version: 1.0}", compat).replace("demo", name)
        write(demo, text, f"{name}.llmeval.yaml")

    _, data = demo.report()

    found = [t["metrics"]["exact_match,none"]["mean"] for t in data["tests"]]
    assert found == [1.0, 1.0, 0.0]  # the last one is 1 or 2


@pytest.mark.parametrize(
    ("compat", "is_list", "answer"),
    [("", 0.0, "1"), ("compat: lm_eval", 1.0, "1E")],
)
def test_what_lm_eval_distorts_is_switched_on_alone(
    demo: Any, compat: str, is_list: float, answer: str
) -> None:
    demo.pytester.makeini("[pytest]\nllmeval_allow_functions = true\n")
    demo.write(
        app="def answer(prompt):\n    return '1Ex'\n",
        own_py="def kind(references, predictions):\n"
        "    return float(isinstance(predictions[0], list))\n",
    )
    demo.rows("rows.jsonl", [{"q": "x", "a": [answer, "2"]}])
    text = "generation_kwargs: {until: [a, b, c, x, E]}\nmetric_list:\n"
    metrics = "  - {metric: exact_match}\n  - {metric: !function own.kind, aggregation: mean}\n"
    own = f"{{llmeval: {{{compat}}}}}"
    write(demo, TASK.replace("{version: 1.0}", own) + text + metrics)

    _, data = demo.report()

    found = {k: m["mean"] for k, m in data["tests"][0]["metrics"].items()}
    assert found == {"exact_match,none": 1.0, "kind,none": is_list}


SHOWN = """\
task: demo
dataset_path: json
dataset_kwargs:
  data_files: {train: rows.jsonl, test: rows.jsonl}
fewshot_split: train
test_split: test
fewshot_config: {sampler: first_n}
num_fewshot: 1
description: Be brief.
doc_to_text: "{{q}}"
doc_to_target: a
gen_prefix: "It is"
"""
SYSTEM = ("system", "Be brief.")
SHOT = [("user", "one?"), ("assistant", "It is 1")]
ASKED = [("user", "two?"), ("assistant", "It is")]


def sent(suite: Any) -> list[tuple[str, str]]:
    """Return the messages that the second case sent."""
    cases = [line for line in suite.journal() if "samples" in line]
    prompt = cases[1]["samples"][0]["calls"][0]["prompt"]
    return [(message["role"], message["content"]) for message in prompt]


@pytest.mark.parametrize(
    ("own", "options", "messages"),
    [
        ("", [], [("user", "Be brief.one? It is 1\n\ntwo? It is")]),
        ("apply_chat_template: true", [], [SYSTEM, *SHOT, *ASKED]),
        ("fewshot_as_multiturn: true", [], [SYSTEM, *SHOT, *ASKED]),
        ("", ["apply-chat-template"], [SYSTEM, *SHOT, *ASKED]),
        ("", ["apply-chat-template", "fewshot-as-multiturn=false"],
         [SYSTEM, ("user", "one? It is 1\n\ntwo?"), ASKED[1]]),
        ("apply_chat_template: true", ["system-instruction=You know."],
         [("system", "You know.\n\nBe brief."), *SHOT, *ASKED]),
        ("system_instruction: 'You know. '", [],
         [("user", "You know. Be brief.one? It is 1\n\ntwo? It is")]),
    ],
)  # fmt: skip
def test_prompts_may_be_messages_of_a_chat(
    demo: Any, own: str, options: list[str], messages: list[tuple[str, str]]
) -> None:
    write(demo, SHOWN + f"metadata: {{llmeval: {{{own}}}}}\n")

    result = demo.run(*(f"--llmeval-{option}" for option in options))

    assert result.ret == 0
    assert sent(demo) == messages


@pytest.mark.parametrize(
    "value", ["max_gen_toks=7,top_p=0.5", '{"max_gen_toks": 7, "top_p": 0.5}']
)
def test_the_command_line_lays_its_generation_over_a_task_s(
    demo: Any, value: str
) -> None:
    demo.write(
        app="def answer(prompt, **params):\n    return repr(sorted(params.items()))\n"
    )
    write(demo, TASK)

    demo.run("--llmeval-limit=1", f"--llmeval-gen-kwargs={value}")

    (call,) = demo.journal()[1]["samples"][0]["calls"]
    assert call["response"]["text"] == repr(
        [("max_tokens", 7), ("stop", ["\n\n"]), ("temperature", 0.0), ("top_p", 0.5)]
    )


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ("gen-kwargs=x", "is KEY=VALUE,KEY=VALUE or a JSON object, not 'x'"),
        ("gen-kwargs={x", "is KEY=VALUE,KEY=VALUE or a JSON object, not '{x'"),
        ("fewshot-as-multiturn=1", "is true or false, not '1'"),
    ],
)
def test_options_of_tasks_are_refused_before_anything_runs(
    demo: Any, option: str, complaint: str
) -> None:
    write(demo, TASK)

    result = demo.run(f"--llmeval-{option}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --llmeval-*{complaint}"])


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("doc_to_target: a", "doc_to_target: 0\ndoc_to_choice: [x, y]\n"
         "output_type: multiple_choice\nmetric_list: [{metric: acc, ignore_case: true}]",
         "metric_list: acc: ignore_case has no effect"),
        ("metadata:", "generation_kwargs: {num_beams: 4}\nmetadata:",
         "generation_kwargs: num_beams 4 has no effect"),
        ("metadata:", "fewshot_config: {fewshot_indices: [1]}\nmetadata:",
         "fewshot_indices has no effect"),
    ],
)  # fmt: skip
def test_what_lm_eval_passes_over_draws_a_warning(
    demo: Any, old: str, new: str, complaint: str
) -> None:
    write(demo, TASK.replace(old, new, 1))

    result = demo.run("-W", "default")

    assert "errors" not in result.parseoutcomes()
    result.stdout.fnmatch_lines(
        [f"*EvaluationWarning: demo.llmeval.yaml: {complaint}*"]
    )


def test_choices_are_skipped_for_a_model_without_likelihoods(demo: Any) -> None:
    text = TASK.replace("doc_to_target: a", 'doc_to_target: 0\ndoc_to_choice: ["1", x]')
    write(demo, text + "output_type: multiple_choice\n")

    result, data = demo.report("-rs")

    assert data["totals"]["skipped"] == 3
    result.stdout.fnmatch_lines(["SKIPPED*gives no log-probabilities of a given text*"])


def test_what_is_sent_is_what_the_task_says(demo: Any) -> None:
    demo.write(
        app="def answer(prompt, **params):\n    return repr(sorted(params.items()))\n"
    )
    text = "generation_kwargs: {until: [a, b, c, d, e], max_gen_toks: 9, top_p: 0.5}\n"
    write(demo, TASK + text)

    demo.run("--llmeval-limit=1")

    (call,) = demo.journal()[1]["samples"][0]["calls"]
    assert call["response"]["text"] == repr(
        [("max_tokens", 9), ("stop", ["a", "b", "c", "d"]), ("temperature", 0.0),
         ("top_p", 0.5)]
    )  # fmt: skip


def test_metadata_may_hold_checks_of_the_reply(demo: Any) -> None:
    own = "metadata: {llmeval: {assert: [{contains: {expected: TWO}}]}}"
    write(demo, TASK.replace("metadata: {version: 1.0}", own))

    result, data = demo.report()

    result.assert_outcomes(passed=1, failed=2)
    assert set(data["tests"][0]["metrics"]) == {"exact_match,none", "contains"}


def test_columns_say_where_our_fields_stand(demo: Any) -> None:
    demo.rows("rows.jsonl", [{"q": "one?", "a": "1", "more": {"ideal": "one"}}])
    own = (
        "{llmeval: {columns: {expected: more.ideal, input: q}, assert: [exact], "
        "repeat: 2, min_sample_rate: 0.5}}"
    )
    write(demo, TASK.replace("{version: 1.0}", own))

    result, data = demo.report()

    result.assert_outcomes(passed=1)
    (case,) = data["cases"]
    assert [sample["status"] for sample in case["samples"]] == ["passed"] * len(
        case["samples"]
    )
    assert data["tests"][0]["metrics"]["exact_match,none"]["mean"] == 0.0  # against a


def test_a_kind_reads_the_reply_that_was_had(demo: Any) -> None:
    rows = [
        {"q": f"{n}?", "a": n, "question": n, "choices": ["one", "two"], "answer": n}
        for n in ("one", "two")
    ]
    demo.rows("rows.jsonl", rows)
    demo.write(app="def answer(prompt):\n    return 'B'\n")
    own = "{llmeval: {kind: choice, columns: {label: answer, input: question}}}"
    write(demo, TASK.replace("{version: 1.0}", own))

    result, data = demo.report()

    result.assert_outcomes(passed=1, failed=1)
    assert [c["samples"][0]["calls"] for c in data["cases"]] != [[], []]
    assert all(len(c["samples"][0]["calls"]) == 1 for c in data["cases"])
    assert data["tests"][0]["metrics"]["choice"]["mean"] == 0.5


def test_a_reply_is_compared_with_one_that_was_kept(demo: Any) -> None:
    demo.rows("rows.jsonl", [{"q": "one?", "a": "1", "kept": "a long old answer"}])
    demo.write(
        app="def answer(prompt):\n    return 'new'\n"
        "def judge(prompt):\n"
        "    first, second = prompt.find('new'), prompt.find('a long old answer')\n"
        "    return 'Response ' + ('A' if first < second else 'B')\n",
    )
    own = (
        "{llmeval: {judge: 'python:app:judge', "
        "assert: [{pairwise: {against: kept, expect: [win]}}]}}"
    )
    write(demo, TASK.replace("{version: 1.0}", own))

    result, data = demo.report()

    assert data["tests"][0]["metrics"]["pairwise"]["n"] == 1
    result.assert_outcomes(passed=1)


def test_an_include_that_is_commented_out_draws_a_warning(demo: Any) -> None:
    write(demo, "#include: base.yaml\n" + TASK)

    result = demo.run()

    result.stdout.fnmatch_lines(
        ["*demo.llmeval.yaml:1: '#include: base.yaml' is a co*"]
    )


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("doc_to_text", "doc_to_txt", "yaml:6: *unknown key 'doc_to_txt' (did you mean"),
        ("json", "hub/name", "yaml:2: *dataset_path 'hub/name' is not local"),
        ("rows.jsonl", "no.jsonl", "yaml:3: *no.jsonl: there is no such file"),
        ("rows.jsonl", "https://x/y.jsonl", "yaml:3: *no local path"),
        ("rows.jsonl", "../../r.jsonl", "yaml:3: *outside the root directory"),
        ("test_split: test", "test_split: tst", "yaml:5: *no split 'tst' (did you mean"),
        ("test_split: test", "tag: a", "neither test_split nor validation_split"),
        ("{{q}}", "{{qq}}", "rows.jsonl:1: *'qq' is undefined (did you mean 'q'?)"),
        ("{{q}}", "{{q", "yaml:6: *doc_to_text: *not a Jinja template"),
        ("{{q}}", "{{q.__class__.__mro__}}", "SecurityError"),
        ("{{q}}", "{{q.format.__globals__}}", "SecurityError"),
        ('"{{q}}"', "!function utils.shout", "yaml:6: *llmeval_allow_functions"),
        ("metadata:", "unsafe_code: true\nmetadata:", "yaml:8: *code of replies"),
        ("metadata:", "include: nope\nmetadata:", "yaml:8: *include: nope: there is no"),
        ("metadata:", "include: demo.llmeval.yaml\nmetadata:", "includes this file again"),
        ("metadata:", "output_type: generate\nmetadata:", "yaml:8: *output_type is"),
        ("metadata:", "num_fewshot: 7\nmetadata:", "yaml:8: *8 examples are needed, 3"),
        ("metadata:", "metric_list: [{metric: exakt_match}]\nmetadata:",
         "yaml:8: *no metric 'exakt_match' (did you mean 'exact_match'?)"),
        ("metadata:", "metric_list: [{metric: acc}]\nmetadata:",
         "no metric 'acc'*it is one of multiple_choice, loglikelihood"),
        ("metadata:", "metric_list: [{metric: exact_match, ignore_cse: true}]\nmetadata:",
         "no option 'ignore_cse'"),
        ("metadata:", "metric_list: [{metric: exact_match, aggregation: mode}]\nmetadata:",
         "aggregation 'mode' is not supported"),
        ("metadata:", "filter_list: [{name: n, filter: [{function: regx}]}]\nmetadata:",
         "yaml:8: *no filter 'regx' (did you mean 'regex'?)"),
        ("metadata:", "filter_list: [{name: n, filter: [{function: regex, "
         "regex_pattern: '('}]}]\nmetadata:", "'(' is not a regular expression"),
        ("metadata:", "generation_kwargs: {untl: x}\nmetadata:",
         "yaml:8: *'untl' is not known (did you mean 'until'?)"),
        ("metadata:", "fewshot_config: {smpler: x}\nmetadata:", "unknown key 'smpler'"),
        ("metadata:", "filter_list: [{name: n, filter: [{function: lowercase}]}]\n"
         "metadata:", "yaml:8: *'n' ends in a list of replies"),
        ("metadata:", "output_type: loglikelihood\nrepeats: 2\nmetadata:",
         "yaml:9: *repeats: loglikelihood asks what is the same"),
        ("metadata:", "output_type: loglikelihood\nfilter_list: [{name: n, filter: "
         "[{function: lowercase}]}]\nmetadata:", "yaml:9: *has no replies to be filtered"),
        ("{version: 1.0}", "{llmeval: {assert: [exat]}}", "yaml:8: *no check 'exat'"),
        ("{version: 1.0}", "{llmeval: {gte: x}}", "yaml:8: *unknown key 'gte'"),
        ("{version: 1.0}", "{llmeval: {kind: chioce}}", "yaml:8: *'chioce'"),
        ("{version: 1.0}", "{llmeval: {columns: {expected: nope}}}", "yaml:8: *columns: "),
        ("metadata: {version: 1.0}", "output_type: loglikelihood\nmetadata: {llmeval: "
         "{kind: qa}}", "yaml:9: *kind is about replies, and loglikelihood asks for none"),
        ("{version: 1.0}", "{llmeval: {compat: x}}", "yaml:8: *compat is lm_eval"),
    ],
)  # fmt: skip
def test_mistakes_are_collection_errors_with_file_and_line(
    demo: Any, old: str, new: str, complaint: str
) -> None:
    write(demo, TASK.replace(old, new, 1))

    result = demo.run()

    result.assert_outcomes(errors=1)
    pattern = complaint.replace("[", "[[]")
    result.stdout.fnmatch_lines([f"*demo.llmeval*{pattern}*"])


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("utils.nope", "has no function 'nope'"),
        ("utils.shot", "has no function 'shot' (did you mean 'shout'?)"),
        ("nowhere.shout", "there is no file nowhere.py"),
        ("os.system", "there is no file os.py"),
        ("...etc.passwd", "module.name of a file beside the task"),
        ("broken.f", "needs what is not installed: *no_such_module"),
        ("link.f", "outside the root directory"),
    ],
)
def test_functions_stay_inside_the_root_directory(
    demo: Any, tmp_path_factory: pytest.TempPathFactory, name: str, complaint: str
) -> None:
    demo.pytester.makeini("[pytest]\nllmeval_allow_functions = true\n")
    demo.write(broken_py="import no_such_module\n")
    outside = tmp_path_factory.mktemp("outside") / "link.py"
    outside.write_text("def f(doc): return 'x'\n")
    (demo.path / "link.py").symlink_to(outside)
    write(demo, TASK.replace('"{{q}}"', f"!function {name}"))

    result = demo.run()

    result.stdout.fnmatch_lines([f"*demo.llmeval.yaml:6: *{complaint}*"])
