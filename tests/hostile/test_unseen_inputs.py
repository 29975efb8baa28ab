"""What a build makes that is not a file of the tree: homes (S5), and what programs ask of files besides content (S7)."""

from tests.hostile.conftest import PLAN, Stage

# by benchmark: what the build does in each side's own way, "one" or "two"; and what the benchmark asks for
HOME = {
    "link": ("ln -sfn $PWD/$W ~/data", "cat ~/data/x"),
    "exists": ("[ $W = one ] || mkdir -p ~/x", "[ -d ~/x ] && sleep 0.01; true"),
    "listing": ("mkdir -p ~/y; touch ~/y/$W", "ls ~/y"),
    "library": ("mkdir -p ~/.local; ln -sfn $PWD/$W ~/.local/xlib", "cat ~/.local/xlib/x"),
    "file": ("cat which > ~/f", "cat ~/f"),
    "tree": ("cp -r $W ~/z", "ls ~/z; cat ~/z/x"),
    "mode": ("touch ~/m; [ $W = one ] || chmod 755 ~/m", "[ -x ~/m ] && sleep 0.01; true"),
}
ASKED = {
    "holes": ("head -c 5000000 /dev/zero > h; [ $W = one ] || { rm h; truncate -s 5000000 h; }", "stat -c %b h"),
    "links": ("echo > n; echo > m; [ $W = one ] || ln -f n m", "stat -c %h n"),
    "first": ("mkdir -p o; cd o; [ $W = one ] && touch a b || touch b a", "ls -U o"),
}
SAME = {
    "alike": (
        "mkdir -p ~/same/d; echo 1 > ~/same/d/x; ln -sfn ~/same ~/to",
        "ls ~/to/d; cat ~/to/d/x; echo 2 > ~/own; cat ~/own",
    ),
    # as pytest makes its cache
    "renamed": (":", "[ -d C ] || { d=$(mktemp -d ./c-XXXXXX); echo 1 > $d/x; mv -T $d C; }; cat C/x"),
}


def test_what_differs_is_measured(stage: Stage) -> None:
    every = {**HOME, **ASKED, **SAME}
    build = "\n".join(f"(W=$(cat which); {make}) || exit" for make, _ in every.values())
    benchmarks = "".join(f'[[benchmark]]\nname = "{name}"\ncommand = "{ask}"\n' for name, (_, ask) in every.items())
    config = f'{PLAN}[build]\ncommand = """{build}"""\n{benchmarks}'
    stage.commit(config, {"which": "one", "one/x": "0.002", "two/x": "0.03"}, {"which": "two"})
    stage.check()
    found = [each for each in every if stage.verdict(each) == "identical"]
    # this file system may have no order of its own
    assert [each for each in found if each != "first"] == [*SAME], stage.shown
    assert stage.code == 0, stage.shown


def test_the_order_of_a_directory(stage: Stage) -> None:
    """A file system in memory lists files in the order in which they were made."""
    memory = stage.in_memory()
    make, ask = ASKED["first"]
    config = f'{PLAN}[build]\ncommand = "(W=$(cat which); {make})"\n[[benchmark]]\nname = "b"\ncommand = "{ask}"\n'
    stage.commit(config, {"which": "one"}, {"which": "two"})
    stage.check(TMPDIR=str(memory))
    assert stage.verdict("b") != "identical", stage.shown


def test_what_is_left_out_of_a_suite_is_not_traced(stage: Stage) -> None:
    program = '[ "$1" = f ] || cat which\necho "running 1 test"\necho "test f ... bench: 12 ns/iter (+/- 3)"\n'
    config = f'{PLAN}[[benchmark]]\nname = "b"\ninstrument = "values"\nformat = "libtest"\ninclude = ["f"]\n'
    stage.commit(config + 'command = ["sh", "suite"]\n', {"which": "one", "suite": program}, {"which": "two"})
    stage.check()
    assert stage.verdict("b") == "identical", stage.shown
