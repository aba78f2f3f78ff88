#!/usr/bin/env python3
"""Measures with two clients on network file systems, in an emulated machine (qemu).

    clients_guest.py KERNEL [--filereel PATH] [--only nfs,nfs-lost,nfs-outage,sshfs]
                     [--accel tcg] [--memory 4096] [--seconds 3600]

KERNEL is a package of a kernel as Debian makes them, see other_kernel.py, which boots it. The
machine has a server that exports a directory on ext4, and two clients with a host name, a network
and a mount of their own, both at the same path. `mpirun -np 2 filereel run … --clients mpi`
measures FC-Test, two workloads and a recording on

  nfs         the kernel's server; one client mounts it with NFS 4.1, the other with NFS 4.2
  sshfs       sftp-server, mounted through FUSE

and checks that the figures of the clients add up, that the bytes of a step come from the server
and not from a cache of a client, and that nothing is left on it. Then one of the clients

  nfs-lost    has its mount removed during a run: the run ends, and its files are removed
  nfs-outage  loses its network for some seconds: the run waits and goes on

The exit code is 0 if all of them ended well. The figures are those of an emulated machine: for
checks, not for comparisons. Without help by the processor (--accel kvm) all this takes about 15
minutes. Needs what other_kernel.py needs, mpirun, ip, mount.nfs4, rpc.nfsd, rpc.mountd, sshfs and
sftp-server (Debian: openmpi-bin, iproute2, nfs-common, nfs-kernel-server, sshfs,
openssh-sftp-server). No server runs on this machine: stop the one that the package starts.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from peers import HERE, argument_parser, run

MODULES = "nfsd,nfs,nfsv4,fuse,veth"
PLACE = pathlib.Path("/tmp/clients")  # in memory, as all of /tmp in the emulated machine
EXPORT, NAS = PLACE / "export", PLACE / "nas"
CLIENTS = 2
RESULT = PLACE / "result.json"
LIVE = PLACE / "live.jsonl"
LOST = PLACE / "lost"  # written when a client loses its mount
SFTP_SERVER = "/usr/lib/openssh/sftp-server"
TIMEOUT = 300  # seconds: processes of an emulated machine may be late
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_btl": "self,tcp", "TMPDIR": "/tmp", "FILEREEL_STATE_DIR": str(PLACE / "state")}

# Runs a command as one of the clients.
WRAPPER = f"""#!/bin/sh
client=$OMPI_COMM_WORLD_RANK
exec unshare --mount --uts sh -c '
  hostname client-'$client'
  {{mount}} || exit 1
  {{meanwhile}}
  "$@"
  code=$?
  umount -l {NAS}
  exit $code' - "$@"
"""
# The mount belongs to the network in which it was made.
MOUNT_NFS = (f"nsenter --net=/run/netns/client-'$client' mount -t nfs4 "
             f"-o vers=4.$(('$client' + 1)) 10.0.'$client'.1:/ {NAS}")
MOUNT_SSHFS = f"sshfs -o ssh_command={PLACE}/ssh server:{EXPORT} {NAS}"
LOSE_MOUNT = (f"if [ '$client' = 1 ]; then (while [ ! -e {RESULT} ]; do sleep 0.2; done; "
              f"umount -l {NAS}; touch {LOST}) & fi")

RANDOM_READ = """files: {name: data, count: 4, size: 1 MiB}
access: {size: 4 KiB, random: 100 %, reads: 100 %}
stop: {operations: 500}
"""
LONG = """files: {name: data, count: 4, size: 1 MiB}
access: {size: 4 KiB, random: 100 %, reads: 50 %}
stop: {time: 3 s}
"""


class Failed(Exception):
    pass


def expect(good, text):
    if not good:
        raise Failed(text)


def start_networks():
    """Client N has 10.0.N.2 in a network of its own, and the server 10.0.N.1."""
    for i in range(CLIENTS):
        name = f"client-{i}"
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"server-{i}", "type", "veth", "peer", "name", name, "netns", name)
        run("ip", "address", "add", f"10.0.{i}.1/30", "dev", f"server-{i}")
        run("ip", "link", "set", f"server-{i}", "up")
        run("ip", "-n", name, "address", "add", f"10.0.{i}.2/30", "dev", name)
        run("ip", "-n", name, "link", "set", name, "up")


def start_server():
    """NFS 4 only, which needs no rpcbind."""
    run("mount", "-t", "tmpfs", "none", "/var/lib/nfs")
    for name in ("v4recovery", "sm", "sm.bak"):
        os.mkdir(f"/var/lib/nfs/{name}")
    for name in ("etab", "rmtab"):
        pathlib.Path("/var/lib/nfs", name).touch()
    control = pathlib.Path("/proc/fs/nfsd")
    run("mount", "-t", "nfsd", "nfsd", control)
    for name in ("nfsv4leasetime", "nfsv4gracetime"):
        (control / name).write_text("10")  # seconds; the shortest
    run("exportfs", "-i", "-o", "rw,no_root_squash,no_subtree_check,fsid=0", f"*:{EXPORT}")
    run("rpc.mountd", "-N", "2", "-N", "3")
    run("rpc.nfsd", "-N", "3", "8")


def prepare():
    PLACE.mkdir()
    for place in (EXPORT, NAS):
        place.mkdir()
    with open(PLACE / "disk", "wb") as disk:
        disk.truncate(1 << 30)
    run("mkfs.ext4", "-q", PLACE / "disk")
    run("mount", "-o", "loop", PLACE / "disk", EXPORT)
    (EXPORT / "lost+found").rmdir()
    script("ssh", f"#!/bin/sh\nexec {SFTP_SERVER}\n")
    (PLACE / "random_read.yaml").write_text(RANDOM_READ)
    (PLACE / "long.yaml").write_text(LONG)


def script(name, text):
    path = PLACE / name
    path.write_text(text)
    path.chmod(0o755)


def bytes_served():
    """Read from and written to the NFS server since its start."""
    counters = pathlib.Path("/proc/net/rpc/nfsd").read_text()
    line = re.search(r"^io (\d+) (\d+)", counters, re.MULTILINE)
    return [int(number) for number in line.groups()]


def launch(filereel, mount, arguments, meanwhile=":"):
    script("wrapper", WRAPPER.format(mount=mount, meanwhile=meanwhile))
    for path in (RESULT, LOST):
        path.unlink(missing_ok=True)
    command = ["mpirun", "-np", CLIENTS, PLACE / "wrapper", filereel, "run", *arguments,
               "--near", NAS / "target", "--clients", "mpi", "--client-timeout", f"{TIMEOUT}s",
               "--json", RESULT]
    return subprocess.Popen([str(part) for part in command], cwd=PLACE,
                            env={**os.environ, **MPI}, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace")


def output_of(process, limit):
    try:
        return process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        process.terminate()
        raise Failed(f"no end after {limit} s: {process.communicate()[0]}") from None


def read_result():
    return json.loads(RESULT.read_text())


def samples_of(result):
    return [(one, sample) for one in result["measurements"] for sample in one["samples"]]


def check_left_behind():
    end = time.monotonic() + 60  # the janitor waits for killed processes
    while os.listdir(EXPORT) and time.monotonic() < end:
        time.sleep(0.5)
    left = [str(path.relative_to(EXPORT)) for path in EXPORT.rglob("*")]
    expect(not left, f"left in the export: {left[:10]}")


def check_sums(sample):
    clients = sample["clients"]
    names = [one["host"] for one in clients["each"]]
    expect(names == [f"client-{i}" for i in range(CLIENTS)], f"clients: {names}")
    for member in ("bytes", "files", "operations"):
        total = sum(one[member] for one in clients["each"])
        expect(sample[member] == total, f"{member}: {sample[member]}, sum of the clients {total}")
    ended = max(one["start_s"] + one["elapsed_s"] for one in clients["each"])
    expect(abs(sample["elapsed_s"] - ended) < 1e-6,
           f"elapsed: {sample['elapsed_s']}, last end {ended}")
    divergences = sample["divergences"]
    expect(divergences["count"] == 0, f"divergences: {divergences}")
    tree = sample.get("tree", {"differences": 0})
    expect(tree["differences"] == 0, f"tree: {tree}")


def check_result(result, file_system, option):
    expect(result["complete"], "incomplete")
    near = result["volumes"][0]
    expect(near["file_system"] == file_system, f"file system: {near['file_system']}")
    expect(option in near["mount_options"].split(","), f"mount options: {near['mount_options']}")
    for measurement, sample in samples_of(result):
        check_sums(sample)
        figures(measurement, sample)


def figures(measurement, sample):
    clients = sample["clients"]
    elapsed = sample["elapsed_s"]
    print(f"  {measurement['operation']}: {sample['bytes'] / elapsed / 1e6:.2f} MB/s, "
          f"{sample['operations'] / elapsed:.0f} operations/s, {elapsed:.3f} s, "
          f"durable {sample['durable_s']:.3f} s, cold by {sample['cold_method']}, "
          f"cached {sample.get('cached_before', 'unknown')}, "
          f"start skew {clients['start_skew_us']:.0f} µs, "
          f"clock error {clients['clock_error_us']:.0f} µs")


def measure(filereel, mount, file_system, option, *arguments):
    output = output_of(process := launch(filereel, mount, [*arguments, "--runs", "1"]), 1200)
    expect(process.returncode == 0, f"exit code {process.returncode}: {output}")
    result = read_result()
    check_result(result, file_system, option)
    expect(all(one["operations"] > 0 for _, sample in samples_of(result)
               for one in sample["clients"]["each"]), "a client did nothing")
    check_left_behind()


def measure_jobs(*where):
    measure(*where, "mp3", "--scale", "0.01", "--verify", "tree")
    measure(*where, "programs", "--scale", "0.005", "--verify", "tree")
    measure(*where, "random_read.yaml")
    measure(*where, "sysbench-fileio", "--scale", "0.001", "--time", "5s")
    measure(*where, "app-git-clone", "--verify", "tree")


def check_nfs(filereel):
    nfs = (filereel, MOUNT_NFS, "nfs4", "vers=4.1")
    read, written = bytes_served()
    measure(*nfs, "mp3", "--scale", "0.01", "--operations", "create,read")
    samples = {one["operation"]: sample for one, sample in samples_of(read_result())}
    for what, step, before, after in zip(("read", "written"), ("read", "create"), (read, written),
                                         bytes_served()):
        moved, cached = samples[step]["bytes"], samples[step].get("cached_before", 0)
        print(f"  the server has {what} {after - before} bytes, and the clients {moved}")
        expect(moved * (1 - cached) - 1 <= after - before < 1.1 * moved + 1e6, "that is another number")
    measure_jobs(*nfs)


def check_sshfs(filereel):
    measure_jobs(filereel, MOUNT_SSHFS, "fuse.sshfs", "rw")


def check_end(output, began):
    ended = time.time() - began
    reason = re.search(r"filereel: client 1 \(client-1\): .*was unmounted.*", output)
    expect(reason, output)
    print(f"  ended {ended:.1f} s later: {reason[0]}")
    result = read_result()
    expect(not result["complete"] and samples_of(result), "the results so far were not kept")
    check_left_behind()


def check_nfs_lost(filereel):
    process = launch(filereel, MOUNT_NFS, ["long.yaml", "--runs", "30"], LOSE_MOUNT)
    output = output_of(process, TIMEOUT + 300)
    expect(LOST.exists(), output)
    expect(process.returncode != 0, output)
    check_end(output, LOST.stat().st_mtime)


def nfs_clients():
    """Those that the server knows."""
    return sorted(re.search(r'^name: "(.*)"', info.read_text(), re.MULTILINE)[1]
                  for info in pathlib.Path("/proc/fs/nfsd/clients").glob("*/info"))


def check_nfs_outage(filereel):
    outage = 12  # seconds: more than the lease
    LIVE.unlink(missing_ok=True)
    process = launch(filereel, MOUNT_NFS, ["long.yaml", "--runs", "1", "--live-json", LIVE])
    while not (LIVE.exists() and LIVE.stat().st_size) and process.poll() is None:
        time.sleep(0.05)  # until the first second is measured
    names = nfs_clients()
    print(f"  clients of the server: {names}")
    for i in range(CLIENTS):
        expect(any(f"client-{i}" in name for name in names), "the server does not know it")
    run("ip", "link", "set", "server-1", "down")
    time.sleep(outage)
    run("ip", "link", "set", "server-1", "up")
    output = output_of(process, TIMEOUT)
    expect(process.returncode == 0, output)
    check_result(read_result(), "nfs4", "vers=4.1")
    slowest = max(one["latency_us"] for _, sample in samples_of(read_result())
                  for one in sample["slowest"]) / 1e6
    print(f"  slowest operation: {slowest:.1f} s")
    expect(slowest > outage - 2, "no operation has waited for the server")
    check_left_behind()


CHECKS = {"nfs": check_nfs, "sshfs": check_sshfs, "nfs-lost": check_nfs_lost,
          "nfs-outage": check_nfs_outage}


def inside(arguments):
    """In the emulated machine."""
    sys.stdout.reconfigure(line_buffering=True)
    if not re.search(r"^\S+ / 9p ", pathlib.Path("/proc/mounts").read_text(), re.MULTILINE):
        sys.exit("--inside is only for the emulated machine")
    run("hostname", "server")
    prepare()
    start_networks()
    start_server()
    failed = 0
    for name in arguments.only:
        print(f"== {name}")
        began = time.monotonic()
        try:
            CHECKS[name](arguments.filereel)
            print(f"PASS: {name} in {time.monotonic() - began:.0f} s")
        except (Failed, OSError, subprocess.CalledProcessError) as failure:
            print(f"FAIL: {name}: {failure}")
            failed += 1
            shutil.rmtree(EXPORT / "target", ignore_errors=True)
    return 1 if failed else 0


def outside(arguments):
    within = [sys.executable, os.path.abspath(__file__), "--inside",
              "--filereel", arguments.filereel, "--only", ",".join(arguments.only), arguments.kernel]
    options = [f"--{name}={getattr(arguments, name)}"
               for name in ("filereel", "accel", "memory", "seconds")]
    command = [sys.executable, os.path.join(HERE, "other_kernel.py"), arguments.kernel, *options,
               "--modules", MODULES, "--", *within]
    return subprocess.run(command, check=False).returncode


def main():
    parser = argument_parser(__doc__)
    parser.add_argument("kernel", type=os.path.abspath)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(CHECKS))
    parser.add_argument("--accel", default="tcg")
    parser.add_argument("--memory", type=int, default=4096, help="in MiB")
    parser.add_argument("--seconds", type=float, default=3600, help="time limit")
    parser.add_argument("--inside", action="store_true", help="for use by the script itself")
    arguments = parser.parse_args()
    sys.exit(inside(arguments) if arguments.inside else outside(arguments))


if __name__ == "__main__":
    main()
