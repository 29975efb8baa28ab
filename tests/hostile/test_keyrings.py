"""Keys of whoever started perfgate: tickets and passwords are kept in a session's keyring (S8)."""

import ctypes
import os

import pytest

from tests.hostile.conftest import PLAN, Stage

ADD, KEYCTL = (248, 250) if os.uname().machine == "x86_64" else (217, 219)
JOIN, SEARCH, READ, SESSION = 1, 10, 11, -3
PROGRAM = f"""\
import ctypes, sys
call = ctypes.CDLL(None).syscall
key = call({KEYCTL}, {SEARCH}, {SESSION}, b"user", b"perfgate-ticket", 0)
taken = ctypes.create_string_buffer(64)
if key > 0 and call({KEYCTL}, {READ}, key, taken, 64) > 0:
    print("REACHED", taken.value, file=sys.stderr)
    sys.exit(3)
call({ADD}, b"user", b"perfgate-left", b"left", 4, {SESSION})
"""


def with_a_ticket() -> None:
    call = ctypes.CDLL(None, use_errno=True).syscall
    if call(KEYCTL, JOIN, None) < 0 or call(ADD, b"user", b"perfgate-ticket", b"secret", 6, SESSION) < 0:
        os._exit(77)


def test_no_key_is_found(stage: Stage) -> None:
    config = f'{PLAN}[build]\ncommand = "python3 -IS k.py"\n[[benchmark]]\nname = "b"\ncommand = "python3 -IS k.py"\n'
    stage.commit(config, {"k.py": PROGRAM}, {"k.py": f"{PROGRAM}\n"})
    stage.check(before=with_a_ticket)
    if stage.code == 77:
        pytest.skip("this system has no keyrings")
    assert "REACHED" not in stage.shown
    assert stage.code == 0, stage.shown
