from __future__ import annotations

import numpy as np
import pytest

from gate.model.case import CaseId
from gate.store.series import suspects_between
from tests.support.histories import Noise, change, creep, flat, history, record, sha, step

CASE = CaseId("parse", "time", "", "mean")


def test_the_culprits_of_a_creep_stand_in_front() -> None:
    rng = np.random.default_rng(1)
    found_of = 0
    for seed in range(20):
        true = creep(rng, 40, 5, within=30, size=0.04)
        culprits = {sha(int(n) + 1) for n in np.flatnonzero(np.diff(true))}
        found = suspects_between(history(seed, {"parse": true}), CASE, sha(0), sha(40), 1)
        assert found is not None
        found_of += len({each.commit for each in found[:5]} & culprits)
    # 4% is more than four standard errors of a ratio
    assert found_of >= 95


def test_shares_are_of_what_goes_in_the_direction() -> None:
    found = suspects_between(history(1, {"parse": step(30, 9, 0.2)}), CASE, sha(0), sha(30), 1)
    assert found is not None
    assert found[0].commit == sha(9) and found[0].log_ratio > 0.1
    assert sum(each.share for each in found) == pytest.approx(1)
    assert all(each.log_ratio > 0 for each in found)


def test_a_noisy_ratio_stands_behind_a_precise_one_of_the_same_size() -> None:
    changes = [change("parse", 0.0, 0, 1e-5, 5) for _ in range(9)]
    changes[3] = change("parse", 0.05, 0, 1e-2, 5)
    changes[6] = change("parse", 0.05, 0, 1e-5, 5)
    found = suspects_between([record(n, [c]) for n, c in enumerate(changes, 1)], CASE, sha(0), sha(9), 1)
    assert found is not None
    assert [each.commit for each in found[:2]] == [sha(7), sha(4)]


def test_proofs_of_sameness_are_no_suspects_and_do_not_hide_others() -> None:
    records = history(3, {"parse": step(20, 9, 0.1)}, Noise())
    same = change("parse", 0.0, 0.0, 0.0, 5, base=None, head=None, df=None, verdict="identical", method="identical")
    records[4] = record(5, [same])
    found = suspects_between(records, CASE, sha(0), sha(20), 1)
    assert found is not None
    assert found[0].commit == sha(9)
    assert found[0].share > 0.5
    assert sha(5) not in {each.commit for each in found}


def test_a_gap_is_no_suspect() -> None:
    records = [each for each in history(1, {"parse": flat(20)}) if each.commit not in (sha(8), sha(9))]
    found = suspects_between(records, CASE, sha(0), sha(20), 1)
    assert found is not None
    against = suspects_between(records, CASE, sha(0), sha(20), -1)
    assert against is not None
    # 1 to 7 and 10 to 20, in one direction or the other
    assert {each.commit for each in (*found, *against)} == {sha(n) for n in range(1, 21)} - {sha(8), sha(9)}


def test_what_is_not_in_the_chain_has_no_suspects() -> None:
    records = history(1, {"parse": flat(20)})
    assert suspects_between(records, CASE, sha(3), sha(99), 1) is None
    assert suspects_between(records, CASE, sha(9), sha(3), 1) is None
    assert suspects_between(records, CaseId("other", "time", "", "mean"), sha(0), sha(20), 1) is None
