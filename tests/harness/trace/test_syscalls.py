"""The table of calls against the kernel's own headers."""

import re
from pathlib import Path

import pytest

from harness.trace import syscalls

HEADERS = {
    "x86_64": [Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")],
    "aarch64": [Path("/usr/include/asm-generic/unistd.h")],
}
# the kernel's names for what has two of them
OTHERS = {"newfstatat": ("fstatat",), "truncate": ("truncate64",), "statfs": ("statfs64",)}


@pytest.mark.parametrize("machine", HEADERS)
def test_numbers_are_those_of_the_kernel(machine: str) -> None:
    header = next((path for path in HEADERS[machine] if path.exists()), None)
    if header is None:
        pytest.skip("absent: the kernel's headers (no number was compared)")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    numbers = {name: int(number) for name, number in found}
    for number, name in syscalls.numbers(machine).items():
        names = (name, *OTHERS.get(name, ()))
        known = {numbers[each] for each in names if each in numbers}
        # headers may be older than the table
        assert known == {number} or (not known and number > max(numbers.values()))
    assert len(syscalls.numbers(machine)) > 60
