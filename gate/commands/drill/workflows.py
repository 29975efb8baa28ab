"""perfgate drill --workflow: what in a workflow would swallow a verdict, with the line and what to write instead."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from gate.commands.drill.shell import keeps
from gate.config.rules import matches
from gate.config.types import Config
from gate.model import UserError

_OWN = re.compile(r"(^|/)perfgate@|^\./?$")
_RUN = re.compile(r"(?:\bperfgate|-m gate) +(check|measure|publish|decide)\b(?![^\n|&;]* --dry-run)")
_DECIDE = frozenset(["check", "publish", "decide"])
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)
_ENDS = re.compile(r"\bexit\b|\bsetFailed\b|\bfalse\b")
_GATED = ("pull_request", "pull_request_target", "merge_group")
_PUSHED = ("opened", "synchronize")
_DEFAULTS = ("main", "master")
_RIGHTS = {"status": "statuses", "check": "checks", "issue": "issues"}
"""What a token may write, by the input that asks for it."""

_LOST = "this script may end with 0 whatever perfgate finds"
_PLAIN = "let perfgate be a line of its own in `shell: bash`, which stops at it and sets pipefail"


class Swallowed(msgspec.Struct, frozen=True):
    """What would swallow a verdict: where it stands (lines from 1), what it does, and what to write instead."""

    file: str
    line: int
    what: str
    cure: str


class _Step(msgspec.Struct, frozen=True):
    """A step that runs perfgate: its job, what it does there, and where it stands."""

    job: Any
    name: str
    step: Any
    line: int

    @property
    def inputs(self) -> Mapping[str, Any]:
        return self.step.get("with") or {}

    @property
    def commands(self) -> Sequence[str]:
        return _RUN.findall(self.run) or [str(self.inputs.get("command") or "check")]

    @property
    def run(self) -> str:
        return str(self.step.get("run") or "")

    @property
    def decides(self) -> bool:
        return not _DECIDE.isdisjoint(self.commands)

    @property
    def measures(self) -> bool:
        return not {"check", "measure"}.isdisjoint(self.commands)


def swallowed(files: Sequence[Path], config: Config, paths: Sequence[str], branch: str | None) -> list[Swallowed]:
    """Name all that would swallow a verdict in workflows that gate pull requests.

    Args:
        files: the workflows, of which those without perfgate are passed over.
        config: of the project, for the names of its benchmarks.
        paths: files of the repository that the gate depends on.
        branch: the default branch; None: not known.

    Raises:
        UserError: a file that cannot be read, or no workflow that runs perfgate.
    """
    found: list[Swallowed] = []
    any_gate = False
    workflows = [(file, _read(file)) for file in files]
    # a workflow of this repository that the job of a gate calls is started by what starts that
    called = {
        str(job["uses"]).rpartition("/")[2]: _triggers(workflow)
        for _, workflow in workflows
        if set(_GATED) & set(_triggers(workflow))
        for job in (workflow.get("jobs") or {}).values()
        if str((job or {}).get("uses") or "").startswith("./")
    }
    for file, workflow in workflows:
        jobs = workflow.get("jobs") if isinstance(workflow, Mapping) else None
        own = [
            _Step(job, str(name), step, job["steps"].lc.item(number)[0] + 1)
            for name, job in (jobs or {}).items()
            for number, step in enumerate((job or {}).get("steps") or [])
            if _OWN.search(str(step.get("uses") or "")) or _RUN.search(str(step.get("run") or ""))
        ]
        steps = [step for step in own if step.measures or step.decides]
        triggers = called.get(file.name, _triggers(workflow))
        # one that is asked by comments is no gate that runs by itself
        if not steps or not set(_GATED) & set(triggers) or "issue_comment" in triggers:
            continue
        any_gate = True
        told = [*_of_triggers(workflow, triggers, steps, paths, branch)]
        for step in steps:
            told += [
                *_of_results(workflow, step, triggers),
                *_of_job(step, triggers),
                *_of_inputs(workflow, step, config, triggers),
            ]
        if not any(step.decides for step in steps):
            told.append((steps[0].line, "measures, and no job decides", "add the job that has `command: publish`"))
        found += [Swallowed(str(file), line, what, cure) for line, what, cure in sorted(told, key=lambda each: each[0])]
    if not any_gate:
        names = ", ".join(map(str, files)) or ".github/workflows"
        way = "`perfgate init --workflow pull-request` writes one"
        raise UserError(f"{names}: no workflow runs perfgate on pull requests: {way}")
    return found


Told = tuple[int, str, str]


def _read(file: Path) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        workflow = YAML().load(file.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: {getattr(error, 'strerror', None) or 'is no UTF-8'}", option="workflow") from None
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        raise UserError(f"{file}{line}: {getattr(error, 'problem', None) or 'is no YAML'}", option="workflow") from None

    # what is asked for keys must have keys
    def require(place: Any, key: Any, kind: type = Mapping) -> Any:
        listed = isinstance(place, list)
        found = place[key] if listed else place.get(key)
        if (listed or found is not None) and not isinstance(found, kind):
            line = (place.lc.item if listed else place.lc.key)(key)[0] + 1
            what = "a table" if kind is Mapping else "a list"
            raise UserError(
                f"{file}:{line}: {'nothing' if found is None else found} stands where {what} must be", option="workflow"
            )
        return {} if found is None else found

    if not isinstance(workflow, Mapping):
        return workflow
    require(workflow, "defaults")
    jobs = require(workflow, "jobs")
    for name in jobs:
        job = require(jobs, name)
        require(require(job, "defaults"), "run")
        steps = require(job, "steps", list)
        for number in range(len(steps)):
            require(require(steps, number), "with")
    return workflow


def _triggers(workflow: Any) -> Mapping[str, Any]:
    # YAML 1.1 reads a bare "on" as true
    given = workflow.get("on", workflow.get(True)) if isinstance(workflow, Mapping) else None
    if isinstance(given, Mapping):
        return {str(name): value or {} for name, value in given.items()}
    return {str(name): {} for name in ([given] if isinstance(given, str) else given or [])}


def _line(place: Any, key: str) -> int:
    return int(place.lc.key(key)[0]) + 1


def _of_triggers(
    workflow: Any, triggers: Mapping[str, Any], steps: Sequence[_Step], paths: Sequence[str], branch: str | None
) -> Iterator[Told]:
    on = workflow.get("on", workflow.get(True))
    if "workflow_call" in _triggers(workflow):
        return
    rights = [step.job.get("permissions", workflow.get("permissions")) for step in steps if step.measures]
    writes = any("write" in each.values() if isinstance(each, Mapping) else each != "read-all" for each in rights)
    if "pull_request_target" in triggers and writes:
        line = _line(on, "pull_request_target") if isinstance(on, Mapping) else _line(workflow, "on")
        yield line, "pull_request_target runs a stranger's code with a token that can write", "use `on: pull_request`"
    for name in _GATED:
        filters = triggers.get(name)
        if not isinstance(filters, Mapping):
            continue
        hidden = [path for path in paths if _is_filtered(path, filters, "paths")]
        for key in ("paths", "paths-ignore"):
            if key in filters and hidden:
                what = f"a change of {hidden[0]} starts no gate, and a required check then waits for ever"
                cure = f"leave `{key}` out: what cannot be slower is proved unaffected in seconds"
                yield _line(filters, key), what, cure
        kinds = filters.get("types", _PUSHED)
        missing = [each for each in _PUSHED if each not in _listed(kinds)]
        if name != "merge_group" and missing:
            what = "a pull request is opened" if "opened" in missing else "a commit is pushed to a pull request"
            yield _line(filters, "types"), f"no gate starts when {what}", f"add {missing[0]} to `types`"
        known = [branch] if branch is not None else list(_DEFAULTS)
        for key in ("branches", "branches-ignore"):
            if key in filters and all(_is_filtered(each, filters, "branches") for each in known):
                what = f"pull requests to {known[0]} start no gate"
                yield _line(filters, key), what, f"leave `{key}` out, or name it"


def _is_filtered(name: str, filters: Mapping[str, Any], kind: str) -> bool:
    """Return whether filters leave something out; the last pattern that matches decides."""
    kept = kind not in filters
    for pattern in _listed(filters.get(kind)):
        if _matches(str(pattern).removeprefix("!"), name):
            kept = not str(pattern).startswith("!")
    return not kept or any(_matches(str(each), name) for each in _listed(filters.get(f"{kind}-ignore")))


def _listed(given: Any) -> Sequence[Any]:
    return given if isinstance(given, (list, tuple)) else [] if given is None else [given]


def _matches(pattern: str, name: str) -> bool:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    meant = {"**/": "(.*/)?", "**": ".*", "*": "[^/]*", "?": "."}
    return re.fullmatch("".join(meant.get(part, re.escape(part)) for part in parts), name) is not None


def _of_results(workflow: Any, step: _Step, triggers: Mapping[str, Any]) -> Iterator[Told]:
    for place, what in ((step.job, f"job {step.name}"), (step.step, "the step")):
        goes_on = place.get("continue-on-error")
        read = place is step.step and _is_read_later(step, "outcome", "outputs")
        if goes_on is not None and _may_be(goes_on, triggers) and not read:
            line = _line(place, "continue-on-error")
            yield line, f"{what} is green whatever perfgate finds", "leave `continue-on-error` out"
    if not (step.run and step.decides) or _is_read_later(step, "outputs"):
        return
    defaults = [(place.get("defaults") or {}).get("run") or {} for place in (step.job, workflow)]
    shell = str(step.step.get("shell") or next((each["shell"] for each in defaults if "shell" in each), "sh"))
    script = _EXPRESSION.sub("expression", step.run)
    stops = shell in ("bash", "sh") or re.search(r"\s-[a-z]*e|errexit", shell) is not None
    pipefail = shell == "bash" or "pipefail" in shell
    known = re.match(r"(\S*/)?(bash|sh|dash)\b", shell)
    if not known or not keeps(script, _decides, stops=stops, pipefail=pipefail):
        yield _line(step.step, "run"), _LOST, _PLAIN


def _decides(words: Sequence[str]) -> bool:
    """Return whether these words of a shell run a gate, also behind `timeout 1h` or `uv run`."""
    plain = [word.strip("\"'") for word in words]
    if plain[0] in ("echo", "printf") or "--dry-run" in plain:
        return False
    programs = zip(["", *plain], plain, plain[1:], strict=False)
    return any(
        (word.rpartition("/")[2] == "perfgate" or (before == "-m" and word == "gate")) and command in _DECIDE
        for before, word, command in programs
    )


def _is_read_later(step: _Step, *values: str) -> bool:
    """Return whether another step of the job takes one of these values of the step, and can fail by it."""
    steps = step.job["steps"]
    names = [f"steps.{step.step.get('id')}.{value}" for value in values]
    rest = [str(dict(each)) for each in steps[steps.index(step.step) + 1 :]]
    return any(name in each and _ENDS.search(each) for each in rest for name in names)


def _of_job(step: _Step, triggers: Mapping[str, Any]) -> Iterator[Told]:
    """Name what keeps the job that decides from running: GitHub counts a skipped job as passed."""
    if not step.decides:
        return
    needs = step.job.get("needs") or []
    waits = [needs] if isinstance(needs, str) else [str(each) for each in needs]

    def runs(place: Any, result: str) -> bool:
        results = [result] * len(waits) if place is step.job else []
        return _may_be(place.get("if"), triggers, waits, result, results)

    for place in (step.job, step.step):
        if _tree_of(str(place.get("if", ""))) is None:
            what = f"not understood: whether `if: {place['if']}` is true in a pull request"
            yield _line(place, "if"), what, "leave `if` out, or write it more simply"
            return
        if not runs(place, "success"):
            yield _line(place, "if"), f"`if: {place['if']}` is never true in a pull request", "leave `if` out"
            return
    names, ended = ", ".join(waits), [result for result in ("failure", "cancelled", "skipped") if waits]
    if not all(runs(step.job, result) for result in ended):
        what = f"job {step.name} is skipped if {names} fails or is skipped, and a skipped check counts as passed"
        yield _line(step.job, "needs"), what, "add `if: ${{ always() }}` to the job"
    elif not all(runs(step.step, result) for result in ended):
        yield _line(step.step, "if"), f"nothing decides if {names} fails or is skipped", "leave `if` out of the step"


_OF_PULL = {"ref": "refs/pull/1/merge", "ref_name": "1/merge", "event.pull_request.merged": False}


def _may_be(
    condition: object, triggers: Mapping[str, Any], waits: Sequence[str] = (), result: str = "",
    results: Sequence[str] = (),
) -> bool:  # fmt: skip
    """Return whether a condition can be true where pull requests are gated, after jobs that ended with a result."""
    for event in (each for each in _GATED if each in triggers):
        known: dict[str, object] = {"github.event_name": event, "github.ref_type": "branch"}
        known |= {f"github.{name}": value for name, value in _OF_PULL.items() if event == "pull_request"}
        known |= {f"needs.{each.lower().replace('-', '_')}.result": result for each in waits}
        if _gives(condition, known, results) is not False:
            return True
    return False


def _of_inputs(workflow: Any, step: _Step, config: Config, triggers: Mapping[str, Any]) -> Iterator[Told]:
    """Name what perfgate is not given: commits, rights, benchmarks."""
    job = step.job
    for each in job.get("steps") or []:
        if step.measures and str(each.get("uses") or "").startswith("actions/checkout@"):
            depth = (each.get("with") or {}).get("fetch-depth")
            if str(depth) != "0":
                where = each["with"] if depth is not None else each
                line = _line(where, "fetch-depth" if depth is not None else "uses")
                yield line, "base is not in a shallow checkout", "add `fetch-depth: 0` under `with`"
    yield from _of_rights(workflow, step, triggers)
    names = [benchmark.name for benchmark in config.benchmark]
    suites = [benchmark.name for benchmark in config.benchmark if benchmark.measured.suite]
    globs = [
        *str(step.inputs.get("benchmark") or "").split(),
        *re.findall(r"--benchmark[ =]['\"]?([^\s'\"]+)", step.run),
    ]
    for glob in globs:
        of_suite = any(glob.startswith((f"{suite}/", "*")) for suite in suites)
        if not of_suite and not any(matches(glob, name) for name in names):
            yield step.line, f"{glob} names no benchmark", f"the benchmarks are {', '.join(names)}"


def _of_rights(workflow: Any, step: _Step, triggers: Mapping[str, Any]) -> Iterator[Told]:
    place = step.job if "permissions" in step.job else workflow
    given = place.get("permissions")
    if given is None or given == "write-all" or step.run:
        return
    rights = given if isinstance(given, Mapping) else {}
    wanted = [right for name, right in _RIGHTS.items() if str(step.inputs.get(name)).lower() == "true"]
    comments = str(step.inputs.get("comment")).lower() != "false"
    if step.decides and comments and set(_GATED[:2]) & set(triggers):
        wanted.append("pull-requests")
    for right in wanted:
        if rights.get(right) != "write":
            yield _line(place, "permissions"), f"the token cannot write {right}", f"add `{right}: write`"
    if step.measures and rights.get("contents") not in ("read", "write"):
        yield _line(place, "permissions"), "the token cannot read the commits", "add `contents: read`"


# --- what an `if` of a workflow gives, as far as it is known beforehand -----------------------------------------------

_SIGN = re.compile(r"'((?:[^']|'')*)'|&&|\|\||!(?!=)|\btrue\b|\bfalse\b|\bnull\b|\.\*|[\w.-]*-[\w.-]*")
_PYTHON = {"&&": " and ", "||": " or ", "!": "~", "true": "True", "false": "False", "null": "None", ".*": "._"}
_UNKNOWN: Final = ...
"""What only the run can tell."""


def _gives(text: object, known: Mapping[str, object], results: Sequence[str]) -> bool | None:
    """Return whether a job or a step with this `if` runs; None: that is not known beforehand, or not understood.

    Args:
        text: the condition as YAML gives it; None: there is none.
        known: values by the name of their property, in lower case; texts in lower case, since GitHub compares so.
        results: of what comes before: success, failure, cancelled or skipped.
    """
    source = "" if text is None else str(text).strip().lower()
    tree = _tree_of(source)
    success = all(each == "success" for each in results)
    status = {"always()": True, "success()": success, "failure()": "failure" in results, "cancelled()": False}
    value = _UNKNOWN if tree is None else _value(tree, {**known, **status})
    # without a function of status success() is meant as well
    if not success and not re.search(r"\b(always|success|failure|cancelled)\s*\(", source):
        value = False
    return None if value is _UNKNOWN else bool(value)


def _tree_of(source: str) -> ast.expr | None:
    """Read an expression by Python's grammar, in whose signs it is written first; None: it is not understood."""

    def sign(match: re.Match[str]) -> str:
        if match[1] is not None:
            return repr(match[1].replace("''", "'"))
        # a name with a hyphen, such as needs.my-job.result
        return _PYTHON.get(match[0]) or match[0].replace("-", "_")

    inner = source.removeprefix("${{").removesuffix("}}") if source.startswith("${{") else source
    try:
        return ast.parse(_SIGN.sub(sign, inner).strip() or "True", mode="eval").body
    except SyntaxError:
        return None


def _value(node: ast.expr, known: Mapping[str, object]) -> object:
    match node:
        case ast.Constant():
            return node.value
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            value = _value(operand, known)
            return value if value is _UNKNOWN else not value
        case ast.BoolOp(op=op, values=parts):
            ends = isinstance(op, ast.Or)
            values = [_value(part, known) for part in parts]
            decided = (each for each in values if each is not _UNKNOWN and bool(each) == ends)
            return next(decided, _UNKNOWN if _UNKNOWN in values else values[-1])
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as how], comparators=[right]):
            one, other = _value(left, known), _value(right, known)
            return _UNKNOWN if _UNKNOWN in (one, other) else (one == other) == isinstance(how, ast.Eq)
        case ast.Call(func=ast.Name(id="contains" | "startswith" | "endswith" as name), args=[first, second]):
            whole, part = _value(first, known), _value(second, known)
            if not isinstance(whole, (str, list)) or not isinstance(part, str):
                return _UNKNOWN
            if name == "contains":
                return part in whole
            return getattr(whole, name)(part) if isinstance(whole, str) else _UNKNOWN
        case ast.Call(func=ast.Name(id="fromjson"), args=[ast.Constant(value=str(text))]):
            try:
                return json.loads(text)
            except ValueError:
                return _UNKNOWN
    return known.get(ast.unparse(node), _UNKNOWN)
