"""A folder on a file system in user space whose reads take as long as it is told.

Needs python3-fusepy, and root (or fusermount).
"""
import contextlib
import errno
import multiprocessing
import os
import time

import fusepy

SPIN_S = 0.0005  # sleeping is not more exact than that


class Delayed(fusepy.Operations):
    """What is done to it is done to the folder `below`."""

    def __init__(self, below, read_s):
        self.below, self.read_s = below, read_s

    def path(self, name):
        return self.below + name

    def getattr(self, path, fh=None):
        with of_system():
            found = os.lstat(self.path(path))
        return {name: getattr(found, name) for name in
                ("st_atime", "st_ctime", "st_gid", "st_mode", "st_mtime", "st_nlink", "st_size", "st_uid")}

    def readdir(self, path, fh):
        with of_system():
            return [".", "..", *os.listdir(self.path(path))]

    def statfs(self, path):
        found = os.statvfs(self.below)
        return {name: getattr(found, name) for name in
                ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_favail", "f_ffree", "f_files", "f_frsize",
                 "f_namemax")}

    def open(self, path, flags):
        with of_system():
            return os.open(self.path(path), flags)

    def create(self, path, mode, fi=None):
        with of_system():
            return os.open(self.path(path), os.O_RDWR | os.O_CREAT, mode)

    def read(self, path, size, offset, fh):
        end = time.perf_counter() + self.read_s.value
        data = os.pread(fh, size, offset)
        if (rest := end - time.perf_counter() - SPIN_S) > 0:
            time.sleep(rest)
        while time.perf_counter() < end:
            pass
        return data

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def truncate(self, path, length, fh=None):
        with of_system():
            os.truncate(self.path(path), length)

    def release(self, path, fh):
        os.close(fh)

    def mkdir(self, path, mode):
        with of_system():
            os.mkdir(self.path(path), mode)

    def rmdir(self, path):
        with of_system():
            os.rmdir(self.path(path))

    def unlink(self, path):
        with of_system():
            os.unlink(self.path(path))

    def rename(self, old, new):
        with of_system():
            os.rename(self.path(old), self.path(new))

    def chmod(self, path, mode):
        with of_system():
            os.chmod(self.path(path), mode)

    def utimens(self, path, times=None):
        with of_system():
            os.utime(self.path(path), times)


@contextlib.contextmanager
def of_system():
    """Errors of the system as fusepy wants them."""
    try:
        yield
    except OSError as error:
        raise fusepy.FuseOSError(error.errno or errno.EIO) from error


class DelayedFolder:
    """Mounted at `path` until it is left; a read takes `read_s.value` seconds."""

    def __init__(self, stack, below, path):
        self.path, self.read_s = path, multiprocessing.Value("d", 0)
        server = multiprocessing.Process(target=self.serve, args=(below,), daemon=True)
        server.start()
        stack.callback(server.join, 10)
        stack.callback(os.system, f"umount -l '{path}'")
        while not os.path.ismount(path):
            if not server.is_alive():
                raise SystemExit("FUSE does not work here: load the module fuse, be root")
            time.sleep(0.01)

    def serve(self, below):
        fusepy.FUSE(Delayed(below, self.read_s), self.path, foreground=True, nothreads=True,
                    direct_io=True, fsname="delayed", subtype="delayed")
