"""What the proof of "identical" cannot see (docs/security.md): each line is a benchmark that is called identical."""

from tests.hostile.conftest import PLAN, Stage

# by line: what the build does in each side's own way, "one" or "two", and what the benchmark does
UNSEEN = {
    "time": (":", "[ $(date +%Y) -gt 2020 ] || cat which"),
    "chance": (":", "[ $(od -An -N4 -tu4 /dev/urandom) -ge 0 ] || cat which"),
    "seed": ("echo x > s; [ $PERFGATE_SEED != 123456789 ] || cp which s", "cat s"),
    "environment": (":", "env | grep -q =head$ && sleep 0.01; true"),
    "mtime": ("touch t u; [ $W = one ] || touch -d 2001-01-01 t", "[ t -ot u ] && sleep 0.01; true"),
    "directory": ("mkdir d; [ $W = one ] || (cd d; touch $(seq 2000); rm *)", "stat -c %s d"),
    "name": ("touch n; [ $W = one ] || ln -f n ~/n", "stat -c %h n"),
    "page": (
        "yes | head -c 81920 >p; head -c 4096 /dev/zero >>p; [ $W = one ] || { cp --sparse=always p P; mv P p; }",
        "stat -c %b p",
    ),
    "back": ("echo x > b", "cat b"),
}
WRITER = "cp b kept; echo 9 > b; cat b; cat kept > b\n"


def test_is_identical(stage: Stage) -> None:
    build = "\n".join(f"(W=$(cat which); {make}) || exit" for make, _ in UNSEEN.values())
    benchmarks = "".join(f"[[benchmark]]\nname = '{name}'\ncommand = '{ask}'\n" for name, (_, ask) in UNSEEN.items())
    writer = '[[benchmark]]\nname = "writer"\ncommand = "sh writer.sh"\n'
    config = f"[gate]\nthreshold = '900%'\n{PLAN}[build]\ncommand = '''{build}'''\n{writer}{benchmarks}"
    stage.commit(config, {"which": "one", "writer.sh": WRITER}, {"which": "two", "writer.sh": f"{WRITER}\n"})
    stage.check()
    assert {each: stage.verdict(each) for each in UNSEEN} == dict.fromkeys(UNSEEN, "identical"), stage.shown
    assert stage.verdict("writer") != "identical"
