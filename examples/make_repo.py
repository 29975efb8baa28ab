"""Turns an example into a git repository: `python examples/make_repo.py tokenizer DEST`.

The branch main (and the tag base) is the example as it is here. The branches regression, improvement, no-change and
documentation each add one commit to it, from the patch of that name in the example's changes/, if there is one. The
same example always gives the same commits.
"""

import argparse
import os
import shutil
import subprocess
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
CHANGES = ("regression", "no-change", "improvement", "documentation")
# What tools leave in an example when it is built where it lies.
LEFT_BEHIND = ("build", "target", "bench.tests", "node_modules", "sample.txt", ".perfgate", "__pycache__", "*.class")

# The user's own settings (hooks, signing, line endings, a template) must neither run nor affect the commits.
ISOLATED = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TEMPLATE_DIR": "",
    **{f"GIT_{who}_NAME": "perfgate example" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "example@perfgate.invalid" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": "2026-01-05T09:00:00+00:00" for who in ("AUTHOR", "COMMITTER")},
}


def git(repository: Path, *arguments: str) -> None:
    """Run git in this repository, whatever repository the current directory is in."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *arguments], cwd=repository, env=inherited | ISOLATED, check=True, stdout=subprocess.DEVNULL)


def make_repository(example: str, destination: Path) -> None:
    """Write the example's repository into a directory that does not exist yet, or is empty."""
    source = EXAMPLES / example
    leave_out = shutil.ignore_patterns("changes", *LEFT_BEHIND)
    if destination.exists() and any(destination.iterdir()):
        raise FileExistsError(f"{destination} is not empty")
    shutil.copytree(source, destination, ignore=leave_out, dirs_exist_ok=True)
    git(destination, "init", "--quiet", "--initial-branch=main")
    git(destination, "add", "--all")
    git(destination, "commit", "--quiet", f"--message=The example {example}")
    git(destination, "tag", "base")
    for change in CHANGES:
        patch = source / "changes" / f"{change}.patch"
        if not patch.exists():
            # a study has no patches: it compares settings, not commits
            continue
        message, _, _ = patch.read_text(encoding="utf-8").partition("diff --git ")
        git(destination, "switch", "--quiet", "--create", change, "main")
        git(destination, "apply", "--index", str(patch))
        git(destination, "commit", "--quiet", f"--message={message}")
    git(destination, "switch", "--quiet", "main")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Turns an example into a git repository.")
    parser.add_argument("example", choices=sorted(path.parent.name for path in EXAMPLES.glob("*/perfgate.toml")))
    parser.add_argument("destination", type=Path, help="a directory that does not exist yet, or is empty")
    arguments = parser.parse_args()
    try:
        make_repository(arguments.example, arguments.destination)
    except (OSError, subprocess.CalledProcessError) as error:
        parser.exit(1, f"make_repo: {error}\n")


if __name__ == "__main__":
    main()
