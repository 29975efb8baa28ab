"""perfgate compare: two measurement files side by side, with intervals and without a gate."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, TextIO

import msgspec

from gate.cli.groups import RulesOptions
from gate.codes import Exit
from gate.commands.compare.decided import as_decided, is_one_run
from gate.commands.compare.formats import renderer
from gate.commands.compare.inputs import Chosen, Compared, Pair, compared, read_pair
from gate.commands.compare.rules import rules_of
from gate.commands.compare.table import Comparison, Screen, Source
from gate.decide import decide
from gate.report.outputs import colored
from gate.words.sentences import say

if TYPE_CHECKING:
    from gate.commands.compare.command import CompareOptions

_APART = (
    "measured separately: changes of the machine between the runs are part of every ratio, and no interval includes "
    "them; `perfgate check` measures both in turns"
)
_TWICE = "base and head are the same measurements: every ratio is 1, whatever was measured"
_EARLY = (
    "measured with early stopping: intervals here treat the number of builds as fixed, so they cover somewhat less; "
    "`perfgate decide` allows for it"
)


def run(options: CompareOptions, rules: RulesOptions, out: TextIO) -> int:
    """Print a comparison and return 0, whatever changed; 4 where there is nothing to compare.

    Raises:
        UserError: a file or a rule that cannot be used.
    """
    pair = read_pair(options.runs, options.side_a, options.side_b)
    policy = rules_of(pair.base.run, pair.head.run, rules, apart=pair.apart or pair.twice)
    found = compared(pair, policy.config, rules.benchmarks, options.metrics)
    report = decide(found.evidence, policy)
    again = len(report.findings) > 1 and (pair.apart or pair.twice or pair.rounds is not None)
    overall = decide(found.whole, policy).overall if again else report.overall
    report = msgspec.structs.replace(report, overall=overall)
    alone = is_one_run(pair)
    comparison = Comparison(
        report=as_decided(report, pair, rules) if alone else report,
        base=_source(pair.base),
        head=_source(pair.head),
        cautions=_cautions(pair, found),
        only=found.alone.only,
        identical={"base": pair.base.proved, "head": pair.head.proved},
        unlike=found.unlike,
        chief=found.chief,
        rounds=pair.rounds,
        alone=alone,
    )
    screen = Screen(colored(out), min(shutil.get_terminal_size((100, 24)).columns, 140))
    out.write(renderer(options.form)(comparison, screen))
    return Exit.PASS if comparison.report.findings or comparison.report.identical else Exit.ERROR


def _source(chosen: Chosen) -> Source:
    host = (chosen.run.host or {}).get("hostname") if chosen.run else None
    created = chosen.run.created if chosen.run else None
    return Source(chosen.name, chosen.side, chosen.commit, created, str(host) if host else None)


def _cautions(pair: Pair, found: Compared) -> list[str]:
    hosts = [*map(say, found.hosts)]
    told = [_TWICE] if pair.twice else [*hosts, _APART] if pair.apart else hosts
    return told if pair.rounds is None or is_one_run(pair) else [*told, _EARLY]
