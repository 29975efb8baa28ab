"""The command line that continues a study."""

import pytest

from gate.commands.study.measure import continuing
from gate.units import Duration


@pytest.mark.parametrize(
    ("given", "budget", "wanted"),
    [
        ("study", None, "perfgate study --resume"),
        # quoted for a shell
        ("study --set study.scale='plain", None, """perfgate study --set 'study.scale='"'"'plain' --resume"""),
        ("study --resume --quiet", None, "perfgate study --quiet --resume"),
        ("study --set study.budget=5m", None, "perfgate study --set study.budget=5m --resume"),
        ("study --set study.budget=5m --out x", 3600, "perfgate study --out x --resume --set study.budget=1h"),
        ("study measure --set=study.budget=5m", 90, "perfgate study measure --resume --set study.budget=90s"),
        (
            "study --set study.replicates=8 --set study.budget=5m --session 1",
            600,
            "perfgate study --set study.replicates=8 --session 1 --resume --set study.budget=10m",
        ),
        ("action measure", 600, None),
        ("", None, None),
    ],
)
def test_the_same_command_with_resume(given: str, budget: float | None, wanted: str | None) -> None:
    assert continuing(given.split(), None if budget is None else Duration(budget)) == wanted
