"""`python3 -m textstats.sample COUNT`: prints a text of COUNT words, always the same one."""

import random
import sys

SYLLABLES = ("an", "ber", "cor", "dé", "el", "fir", "gan", "hol", "in", "jor", "kel", "lu", "mar", "nor", "øst", "per")


def sample(count: int) -> str:
    """Made-up words of one to four syllables, ten a line, the first of each line with a capital."""
    numbers = random.Random(1)
    made = ["".join(numbers.choices(SYLLABLES, k=numbers.randint(1, 4))) for _ in range(count)]
    lines = [" ".join(made[at : at + 10]).capitalize() + "." for at in range(0, count, 10)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(sample(int(sys.argv[1])))
