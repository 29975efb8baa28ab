"""What a hostile program tries: each says on standard error what came of it, "refused ERRNO" where the system said no."""

import ctypes
import errno
import os
import signal
import socket
import sys

libc = ctypes.CDLL(None, use_errno=True)
PIDFD_OPEN, PIDFD_GETFD, ADD_RULE = 434, 438, 445
READV = {"x86_64": 310, "aarch64": 270}[os.uname().machine]
TGKILL = {"x86_64": 234, "aarch64": 131}[os.uname().machine]
HANDLES = {"x86_64": (303, 304), "aarch64": (264, 265)}[os.uname().machine]


def call(*arguments: object) -> int:
    done: int = libc.syscall(*arguments)
    if done < 0:
        raise OSError(ctypes.get_errno(), "")
    return done


def write(path: str) -> None:
    with open(path, "a") as file:
        file.write("stolen\n")


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(64)


def make(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL))


def truncate(path: str) -> None:
    os.truncate(path, 0)


def remove(path: str) -> None:
    os.unlink(path)


def rename(path: str, to: str) -> None:
    os.rename(path, to)


def hard_link(path: str, to: str) -> None:
    os.link(path, to)


def follow(path: str) -> str:
    return os.readlink(path)


def kill(pid: str, number: str) -> None:
    os.kill(int(pid), int(number))


def thread_kill(pid: str, tid: str) -> None:
    call(TGKILL, int(pid), int(tid), signal.SIGSTOP)


def lower(pid: str) -> None:
    """Lower a limit as far as it is, which is within everybody's rights, by both ways of 64 bits to call it."""
    import resource

    limit = resource.prlimit(int(pid), resource.RLIMIT_CPU)
    if os.uname().machine == "x86_64":
        packed = b"".join((each & (1 << 64) - 1).to_bytes(8, "little") for each in limit)
        if libc.syscall(0x40000000 | 302, int(pid), int(resource.RLIMIT_CPU), packed, None) >= 0:
            return
    resource.prlimit(int(pid), resource.RLIMIT_CPU, limit)


def flags(path: str) -> None:
    """Set a file's flags, as they are: with others all that is written there would be synchronous."""
    import fcntl

    fd = os.open(path, os.O_RDONLY)
    fcntl.ioctl(fd, 0x40086602, fcntl.ioctl(fd, 0x80086601, bytes(8)))


def ptrace(pid: str) -> None:
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(16, int(pid), 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "")


def seize(pid: str) -> None:
    if libc.ptrace(0x4206, int(pid), 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "")


def memory(pid: str) -> str:
    with open(f"/proc/{pid}/mem", "rb"):
        return "opened"


def readv(pid: str) -> None:
    buffer = ctypes.create_string_buffer(8)
    local = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    # of a child it is the same place
    remote = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    done = libc.syscall(
        READV, *map(ctypes.c_long, (int(pid), ctypes.addressof(local), 1, ctypes.addressof(remote), 1, 0))
    )
    if done < 0:
        raise OSError(ctypes.get_errno(), "")


def descriptor(pid: str) -> None:
    pidfd = call(PIDFD_OPEN, int(pid), 0)
    call(PIDFD_GETFD, pidfd, 0, 0)


def own_child(attack: str) -> None:
    child = os.fork()
    if not child:
        signal.pause()
    try:
        globals()[attack](str(child))
    finally:
        os.kill(child, signal.SIGKILL)


def abstract(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\0" + name)


def hypervisor() -> None:
    """Make what is connected with servers of the machine that this virtual one is on."""
    socket.socket(40, socket.SOCK_STREAM).close()


def handle_of(path: str) -> str:
    """Return the handle of a file, in hexadecimal digits."""
    made = ctypes.create_string_buffer(8 + 128)
    ctypes.memmove(made, (128).to_bytes(4, sys.byteorder), 4)
    mount = ctypes.c_int()
    call(HANDLES[0], -100, path.encode(), made, ctypes.byref(mount), 0)
    return made.raw.hex()


def by_handle(known: str) -> bytes:
    """Open by inode number, as root's right to read everything allows."""
    return os.read(call(HANDLES[1], os.open("/", os.O_RDONLY), bytes.fromhex(known), os.O_RDONLY), 64)


def names_by_handle(known: str) -> list[str]:
    """List a directory, which Landlock lets be read everywhere."""
    return os.listdir(call(HANDLES[1], os.open("/", os.O_RDONLY), bytes.fromhex(known), os.O_RDONLY))


def handle(path: str) -> bytes:
    """Open by a handle that is asked for inside."""
    return by_handle(handle_of(path))


def descriptors() -> list[str]:
    """List what is open beside the standard streams."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append(f"{name}:{os.readlink(f'/proc/self/fd/{name}')}")
        except OSError:
            continue
    return sorted(each for each in found if int(each.partition(":")[0]) > 2 and "/proc/" not in each)


def widen() -> str:
    """Add the right to write everything to each ruleset that is open."""
    beneath = os.open("/", os.O_PATH)
    packed = (1 << 1 | 1 << 8).to_bytes(8, sys.byteorder) + beneath.to_bytes(4, sys.byteorder)
    for fd in range(3, 256):
        if libc.syscall(ADD_RULE, fd, 1, packed, 0) == 0:
            return "widened"
    raise OSError(errno.EBADF, "")


def status(field: str) -> str:
    with open("/proc/self/status") as file:
        return next(line for line in file if line.startswith(field)).split()[1]


def mount() -> None:
    if libc.unshare(0x10000000 | 0x00020000) < 0 or libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) < 0:
        raise OSError(ctypes.get_errno(), "")


def device(path: str) -> None:
    os.mknod(path, 0o020666, os.makedev(1, 1))


def root() -> int:
    os.setuid(0)
    return os.getuid()


def threads(pid: str) -> str:
    """Look for a thread of another process whose memory can be opened."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/mem", "rb"):
                return "opened"
        except OSError:
            continue
    raise OSError(errno.EACCES, "")


def daemon(path: str) -> None:
    """Leave processes behind that fork faster than they are found, and write as long as they live."""
    if os.fork():
        return
    os.setsid()
    import time

    end = time.monotonic() + 60
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        write(path)
        time.sleep(0.001)
    os._exit(0)


def attempt(attack: str, *arguments: str) -> str:
    try:
        said = globals()[attack](*arguments)
    except OSError as error:
        return f"refused {errno.errorcode.get(error.errno or 0, '')}"
    return "done" if said is None else str(said)


def each_of(arguments: list[str]) -> str:
    """Make one attack after the other, divided by "--": each says a line."""
    attacks: list[list[str]] = [[]]
    for argument in arguments:
        if argument == "--":
            attacks.append([])
        else:
            attacks[-1].append(argument)
    return "\n".join(attempt(*each) for each in attacks)


if __name__ == "__main__":
    print(each_of(sys.argv[1:]), file=sys.stderr)
