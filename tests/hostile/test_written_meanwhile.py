"""A benchmark that is measured writes, removes or replaces what another one reads, lists or asks about (S4)."""

from tests.hostile.conftest import PLAN, Stage

BUILD = """\
for w in WAYS; do
  [ -e $w/st ] || { mkdir -p $w/d; echo 0.002 > $w/st; echo 0.03 > $w/slow; ln -s st $w/l; }
done
cc -o C/w w.c
"""
BENCHMARKS = """\
[[benchmark]]
name = "w-{0}"
command = "sh -c 'cd {0} && {1}'"
[[benchmark]]
name = "a-{0}"
command = "sh a.sh {0}"
"""
WAYS = {
    "replace": 'open("new","w").write(T); os.replace("new","st")',
    "append": 'open("st","a").write(T)',
    "in-place": 'open("st","r+").write(T)',
    "retarget": 'os.path.lexists("l") and os.unlink("l"); os.symlink("slow" if T > "0.002" else "st","l")',
    "create": 'os.path.exists("st") and os.unlink("st"); open("st","x").write(T)',
    "listing": 'open("d/" + T, "w")',
    "mkdir": 'os.makedirs("d/" + T, exist_ok=True)',
    "mode": 'os.chmod("st", 0o600 if T > "0.002" else 0o644)',
    "mmap": 'import mmap; f = open("st","r+b"); m = mmap.mmap(f.fileno(), 0); m[:5] = T.encode(); m.close()',
    "outside": 'open(os.path.expanduser("~/st-of-w"), "w").write(T)',
}
READS = "cd $1; cat l 2>&1; ls -l l d; [ -r st ]; [ $1 = outside ] && cat ~/st-of-w 2>&1; exit 0\n"
C = '#include <stdio.h>\nint main(void) { FILE *f = fopen("st", "w"); fputs("TEXT", f); return fclose(f); }\n'


def writers(text: str) -> dict[str, str]:
    files = {f"{way}/w.py": f"import os\nT = '{text}'\n{how}\n" for way, how in WAYS.items()}
    return {**files, "w.c": C.replace("TEXT", text), "C/x": "", "mine/w.py": f"T = '{text}'"}


def test_is_not_identical(stage: Stage) -> None:
    names = [*WAYS, "C", "mine"]
    how = {"C": "./w"}
    build = f'[build]\ncommand = """{BUILD.replace("WAYS", " ".join(names))}"""\n'
    config = PLAN + build + "".join(BENCHMARKS.format(way, how.get(way, "python3 -IS w.py")) for way in names)
    stage.commit(config, {"a.sh": READS, **writers("0.002")}, writers("0.003"))
    stage.check()
    found = {each: stage.verdict(f"a-{each}") for each in names}
    assert [each for each in found if found[each] == "identical"] == ["mine"], stage.shown
    assert stage.code == 0


def test_what_is_written_after_the_first_round_is_not_identical_either(stage: Stage) -> None:
    """The benchmark that writes waits for the second build: what was proved has no values, and the run has failed."""
    build = "echo x >> ~/builds; echo 0.002 > st; [ $(wc -l < ~/builds) -lt 2 ] || touch second"
    config = f"{PLAN}[build]\ncommand = '''{build}'''\n"
    config += "".join(f'[[benchmark]]\nname = "{name}"\ncommand = "sh {name}.sh"\n' for name in "wa")
    writes = "[ ! -e second ] || echo {} > st"
    stage.commit(config, {"a.sh": "cat st", "w.sh": writes.format(1)}, {"w.sh": writes.format(2)})
    stage.check()
    assert (stage.code, stage.verdict("a")) == (4, "none"), stage.shown
    assert "a is not proved unaffected, and was not measured: st," in stage.shown
