#!/usr/bin/env python3
"""Makes what lies beside it: runs, histories and an export, written by a real iolag.

usage: unshare --mount --uts --propagation private python3 write.py IOLAG IOLAG_FUSE_FIXTURE RESULT

Root, /dev/fuse and PostgreSQL are needed, and an x86-64. In name spaces of its own the machine is called login1, and later
login2, and has a kernel and a boot id that are made up: so nothing tells where this was made, and every machine that reads it
is another one. Nothing is changed in what iolag wrote. RESULT is a directory that is not there yet.
"""

import array
import ctypes
import fcntl
import glob
import json
import os
import pathlib
import pwd
import select
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import time

ROOT = pathlib.Path("/tmp/iolag-fixture")
BOOT_ID = "/proc/sys/kernel/random/boot_id"
STORE, TARGET, SCRATCH = ROOT / "store", ROOT / "target", ROOT / "scratch"
HISTORY = ROOT / "history.sqlite"
ENVIRONMENT = {
    "PATH": f"{ROOT}/bin:/usr/bin:/bin", "HOME": f"{ROOT}/home", "USER": "ann", "SHELL": "/bin/sh", "TZ": "UTC",
    "LANG": "C.UTF-8",
}
PORT = 54329

# A mount that hangs, a command that fails, something to compare with.
WATCH = f"""
every = "500ms"
jitter = "0"
soft-deadline = "100ms"
deadline = "5s"
grace = "200ms"
runtime = "{ROOT}/run"
history = "{HISTORY}"
[task.create]
files = 3
[task.open-read]
deadline = "800ms"
[task.refused]
command = ["sh", "-c", "exit 3"]
[[target]]
name = "/home"
directory = "{TARGET}"
tasks = ["create", "refused"]
[[target]]
name = "/scratch"
directory = "{SCRATCH}"
tasks = ["open-read"]
[[covariate]]
name = "users"
command = ["echo", "4.5"]
unit = "users"
"""

# What takes longer than it may, or than anybody waits.
LONG = f"""
soft-deadline = "100ms"
deadline = "5m"
grace = "200ms"
control = false
runtime = "{ROOT}/run"
history = "{HISTORY}"
[task.endless]
command = ["sleep", "600"]
deadline = "150ms"
[task.nap]
command = ["sleep", "600"]
[[target]]
name = "/home"
directory = "{TARGET}"
"""

# What another program measured: every half hour, two digits, one that did not end.
LISTED = [600 if slot == 7 else (13 + slot * 37 % 19) / 100 for slot in range(20)]
TIMINGS = "time,list,users\n" + "".join(
    f"2026-11-20 {8 + slot // 2:02}:{slot % 2 * 30:02},{seconds},{slot % 5}\n" for slot, seconds in enumerate(LISTED)
)
EVENTS = (
    "time,end,text,kind,target,link\n"
    "2026-11-20 12:15,2026-11-20 13:45,\"Maintenance, all file systems\",maintenance,,\n"
    "2026-11-20 16:00,,Directory service moved,change,/home,https://tickets.example/9\n"
)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    iolag, fuse, result = (pathlib.Path(path).absolute() for path in sys.argv[1:])
    under_another_kernel()
    result.mkdir(parents=True)
    ROOT.mkdir(exist_ok=True)
    mount("-t", "tmpfs", "-o", "size=512m,mode=755", "disk", ROOT)
    for name in ["bin", "home", "run", "target", "backing", "scratch"]:
        (ROOT / name).mkdir()
    mount("-t", "tmpfs", "-o", "size=64m,mode=755", "home", TARGET)
    shutil.copy(iolag, ROOT / "bin/iolag")
    os.chdir(ROOT)

    be("login1", "11111111-0000-4000-8000-000000000001")
    with Mount(fuse) as scratch:
        write_store(scratch)
        shutil.copytree(STORE, result / "store")
        write_history(scratch)
    with Server() as server:
        be("login2", "22222222-0000-4000-8000-000000000002")
        write_server(server)
        be("login1", "11111111-0000-4000-8000-000000000001")
        merge(server, result)


# The machine.

def under_another_kernel():
    """Goes on in a child. When it, or anybody that it starts, asks for the kernel's name (uname), this process answers."""
    parent, child = socket.socketpair()
    process = os.fork()
    if process == 0:
        child.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener_for_uname()]))])
        parent.close()
        child.close()
        return
    child.close()
    _, [(_, _, sent)], _, _ = parent.recvmsg(1, socket.CMSG_SPACE(4))
    answer_all(struct.unpack("i", sent)[0])
    os._exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) & 0xff)


def listener_for_uname():
    """A descriptor on which calls of uname by this process and its children wait (seccomp(2), seccomp_unotify(2))."""
    load_number, is_equal, answer = 0x20, 0x15, 0x06
    program = b"".join(struct.pack("HBBI", *step) for step in [
        (load_number, 0, 0, 0), (is_equal, 0, 1, 63), (answer, 0, 0, 0x7FC00000), (answer, 0, 0, 0x7FFF0000),
    ])
    steps = ctypes.create_string_buffer(program)
    rules = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(steps)))
    listener = ctypes.CDLL(None, use_errno=True).syscall(317, 1, 8, rules)
    assert listener >= 0, os.strerror(ctypes.get_errno())
    return listener


def answer_all(listener):
    """Until nobody is left who could ask."""
    asked, answered = 0xC0502100, 0xC0182101
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    while not any(event & select.POLLHUP for _, event in waiting.poll()):
        question = bytearray(80)
        try:
            fcntl.ioctl(listener, asked, question)
            identity, process = struct.unpack_from("QI", question)
            kernel = [b"6.1.0-example", b"#1 SMP PREEMPT_DYNAMIC"]
            machine = [b"Linux", os.uname().nodename.encode(), *kernel, b"x86_64", b"(none)"]
            with open(f"/proc/{process}/mem", "r+b", buffering=0) as memory:
                memory.seek(struct.unpack_from("Q", question, 32)[0])
                memory.write(struct.pack("65s" * 6, *machine))
            fcntl.ioctl(listener, answered, bytearray(struct.pack("QqiI", identity, 0, 0, 0)))
        except FileNotFoundError:
            # Who asked was killed meanwhile.
            pass


def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True)


def be(host, boot_id):
    """From now on the machine has this name and this boot id."""
    socket.sethostname(host)
    (ROOT / f"boot-{host}").write_text(boot_id + "\n")
    mount("--bind", ROOT / f"boot-{host}", BOOT_ID)


def start(*arguments):
    command = ["iolag", *map(str, arguments)]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, env=ENVIRONMENT, stdin=nowhere, stdout=nowhere, stderr=subprocess.PIPE, text=True)


def iolag(*arguments, code=0):
    running = start(*arguments)
    _, errors = running.communicate()
    assert running.returncode == code, f"{arguments}: {running.returncode}: {errors}"


def wait_for(what, look):
    end = time.monotonic() + 60
    while not look():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.01)


class Mount:
    """A file system that is slow, or hangs, as it is told."""

    def __init__(self, fuse):
        self.control = ROOT / "control"
        self.server = subprocess.Popen([fuse, ROOT / "backing", SCRATCH, self.control, "300"], stdin=subprocess.PIPE)
        wait_for("the mount", self.control.exists)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stdin.close()
        self.server.wait()

    def tell(self, command):
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(self.control))
            control.sendall(command.encode() + b"\n")
            control.recv(100)


# The store.

def write_store(scratch):
    bench = ["--store", STORE, "bench", "metadata"]
    size = ["-n2", "-D2", "-P12", "-I8", "-R2", "-S", "100"]
    iolag(*bench, TARGET, *size, "--detail", "calls", "--label", "kind=complete", "--seed", "7", "-q")
    # Slow to make files, for few samples.
    scratch.tell("delay create * 3")
    iolag("--store", STORE, "check", SCRATCH, "--budget", "1s", "--stream-size", "256KiB", "--label", "kind=check", "-q")
    scratch.tell("release")
    faults = f"faulty:create:enospc@#9,stat:hang=400ms@#4,read:hang@#11:{TARGET}"
    limits = ["--deadline", "150ms", "--on-hang", "wait", "--give-up-after", "600ms"]
    iolag(*bench, faults, *limits, "-n2", "-D1", "-P12", "-I8", "-R2", "--label", "kind=faults", "-q", code=4)
    iolag(*bench, TARGET, "--clients", "1,2", "-D1", "-P12", "-I8", "-R2", "--label", "kind=sweep", "-q")
    write_killed_run(bench)


def write_killed_run(bench):
    """Some client hangs for ever, the others go on; then everybody is killed. If no client hung, or so late that the samples
    before its hang were still in memory, it has to be made once more."""
    slow = f"delayed:8ms~exp:faulty:stat:hang=300ms@#15,read:hang@0.015:{TARGET}"
    limits = ["--deadline", "150ms", "--on-hang", "wait"]
    arguments = [*bench, slow, *limits, "-n3", "-D1", "-P60", "-I60", "-R50", "--label", "kind=killed", "--seed", "3"]
    running = start(*arguments)
    for line in running.stderr:
        if "measuring" in line:
            break
    time.sleep(2.2)
    # The keeper first, so that it replaces nobody.
    for process in [running.pid, *descendants(running.pid)]:
        os.kill(process, signal.SIGKILL)
    running.wait()
    assert list(STORE.glob("runs/*/spool/ring-*.spool")), "the run had ended before it was killed"


def descendants(process):
    """A snapshot; the children of the keeper have none that outlive them."""
    found = []
    for path in glob.glob(f"/proc/{process}/task/*/children"):
        for child in map(int, pathlib.Path(path).read_text().split()):
            found += [child, *descendants(child)]
    return found


# The history of login1, in SQLite.

def write_history(scratch):
    (ROOT / "iolag.toml").write_text(WATCH)
    (ROOT / "timings.csv").write_text(TIMINGS)
    (ROOT / "events.csv").write_text(EVENTS)
    on = ["--history", HISTORY]
    # A hang that ends.
    watch = start("watch", "-c", "iolag.toml", "-q")
    wait_for("the first sample", lambda: count("outcome = 0") > 8)
    iolag("note", "cache enabled", "--target", "/home", "--kind", "change", "--link", "https://tickets.example/7", *on, "-q")
    scratch.tell("hang * *")
    wait_for("a hung probe and slots that it holds up", lambda: count("outcome = 3") == 1 and count("outcome = 5") >= 3)
    scratch.tell("release")
    wait_for("the late end", lambda: count("outcome = 4") == 1)
    stop(watch, 0)
    # A time-out, and a task that is under way when the watch is told to stop.
    (ROOT / "long.toml").write_text(LONG)
    iolag("watch", "--once", "-c", "long.toml", "--tasks", "endless", "-q", code=0)
    watch = start("watch", "--once", "-c", "long.toml", "--tasks", "nap", "-q")
    wait_for("the nap", lambda: "nap" in status())
    stop(watch, 0)
    # A hang that has not ended yet.
    watch = start("watch", "-c", "iolag.toml", "-q")
    late = count("1 = 1")
    wait_for("a round", lambda: count("1 = 1") > late + 6)
    scratch.tell("hang * *")
    wait_for("a hung probe", lambda: count("outcome = 3") == 1)
    stop(watch, 1)
    scratch.tell("release")
    series = ["--value", "list=list@/home", "--value", "users=users logged in[users]"]
    iolag("import", "timings.csv", *series, "--time-zone", "UTC", "--deadline", "600s", "--host", "login0", *on, "-q")
    iolag("import", "--events", "events.csv", "--time-zone", "UTC", *on, "-q")


def status():
    """What the watch is doing; nothing if there is none."""
    command = ["iolag", "watch", "--status", "-c", "long.toml", "--json", "-"]
    shown = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True).stdout
    return json.dumps(json.loads(shown)["in_flight"]) if shown else ""


def count(condition):
    """How many samples there are in the history so far."""
    try:
        with sqlite3.connect(f"file:{HISTORY}?mode=ro", uri=True) as history:
            return history.execute(f"SELECT count(*) FROM sample WHERE {condition}").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def stop(watch, code):
    watch.send_signal(signal.SIGINT)
    _, errors = watch.communicate()
    assert watch.returncode == code, f"{watch.returncode}: {errors}"


# The history of login2, in PostgreSQL.

class Server:
    """A server of the newest version that is installed, on the loopback."""

    def __enter__(self):
        self.programs = max(pathlib.Path("/usr/lib/postgresql").iterdir(), key=lambda path: int(path.name)) / "bin"
        self.data = ROOT / "postgres"
        self.data.mkdir()
        account = pwd.getpwnam("postgres")
        os.chown(self.data, account.pw_uid, account.pw_gid)
        self.account = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self.run("initdb", "--auth=trust", "--username=iolag", "--locale=C", "--encoding=UTF8", "--pgdata", self.data)
        self.client = ["--host=127.0.0.1", f"--port={PORT}", "--username=iolag"]
        options = [f"--port={PORT}", "--listen_addresses=127.0.0.1", f"--unix_socket_directories={self.data}", "--fsync=off"]
        log = open(ROOT / "postgres.log", "w")
        self.server = subprocess.Popen([self.programs / "postgres", "-D", self.data, *options], stderr=log, **self.account)
        wait_for("the server", lambda: self.ask("SELECT 1", "postgres").returncode == 0)
        self.ask("CREATE DATABASE iolag", "postgres").check_returncode()
        self.url = f"postgres://iolag@127.0.0.1:{PORT}/iolag"
        return self

    def __exit__(self, *_):
        self.server.send_signal(signal.SIGINT)
        self.server.wait()

    def run(self, program, *arguments):
        subprocess.run([self.programs / program, *arguments], check=True, stdout=subprocess.DEVNULL, **self.account)

    def ask(self, statement, database):
        return subprocess.run([self.programs / "psql", *self.client, "-d", database, "-c", statement], capture_output=True)

    def dump(self):
        dump = [self.programs / "pg_dump", *self.client, "--no-owner", "--no-privileges", "iolag"]
        lines = subprocess.run(dump, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines(keepends=True)
        # Commands of newer versions of psql, which older ones refuse; they guard against dumps of strangers.
        return "".join(line for line in lines if not line.startswith(("\\restrict", "\\unrestrict")))


def write_server(server):
    on = ["--history", server.url]
    tasks = ["--tasks", "stat,create", "--rounds", "4", "--every", "300ms", "--runtime", ROOT / "run"]
    iolag("watch", TARGET, *tasks, *on, "-q")
    moments = ["--at", "2026-11-21 18:00", "--until", "2026-11-21 18:30"]
    iolag("note", "two hosts, one site: Straße & \"quotes\"", "--host", "login2", *moments, *on, "-q")


def merge(server, result):
    """Each history gets what the other one has."""
    exports = [ROOT / "login1.jsonl", ROOT / "login2.jsonl"]
    for history, export in zip([HISTORY, server.url], exports):
        iolag("export", "history", "--history", history, "-o", export, "-q")
    for history, export in zip([HISTORY, server.url], reversed(exports)):
        iolag("import", export, "--history", history, "-q")
    final = [result / "history.jsonl", ROOT / "of-the-server.jsonl"]
    for history, export in zip([HISTORY, server.url], final):
        iolag("export", "history", "--history", history, "-o", export, "-q")
    assert final[0].read_bytes() == final[1].read_bytes(), "the two histories differ"
    (result / "history.sql").write_text(server.dump())
    # One file: the log is written into it.
    with sqlite3.connect(HISTORY) as history:
        assert history.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    history.close()
    shutil.copy(HISTORY, result / "history.sqlite")


if __name__ == "__main__":
    main()
