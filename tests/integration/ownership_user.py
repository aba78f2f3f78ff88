"""What users do to their files, and to what filereel left, in ownership_machine_test.py."""

import contextlib
import ctypes
import os
import pathlib
import shutil
import stat

from ownership_model import LIBC, WORK, and_above, statx, top_of
from support import attached_loops, call, mounted_below, wait_until

FOLDERS = [f"d{number}" for number in range(4)]
IMAGES = [f"i{number}.img" for number in range(4)]
OUTPUTS = [f"o{number}" for number in range(3)]
OTHERS = [f"b{number}" for number in range(5)]  # the user's own, where they move and copy things
PLACES = FOLDERS + IMAGES + OUTPUTS + OTHERS
DEFAULT_IMAGES = ["filereel-near.img", "filereel-far.img"]
# What the user calls things, as filereel or the sets and reels here do.
NAMES = ["letter", "original", "copy", "file", "tiny", "f000000", "sub", "lost+found",
         ".filereel-volume", *(f"{image}.filereel" for image in IMAGES), ".filereel-" + "5" * 32,
         ".filereel-" + "a" * 32 + ".part", "r.json", *DEFAULT_IMAGES]
AT_FDCWD, RENAME_EXCHANGE = -100, 2
MIB = 1 << 20


class User:
    """Takes random steps. What each tries may be impossible."""

    def __init__(self, model, privileged, mount_kinds):
        self.model, self.root, self.mount_kinds = model, pathlib.Path(model.root), mount_kinds
        self.busy = ()  # where filereel works now or did last
        self.steps = [
            (self.write_new, 12), (self.write_over, 8), (self.flip_byte, 5), (self.new_folder, 5),
            (self.rename, 10), (self.replace, 8), (self.hard_link, 4), (self.soft_link, 3),
            (self.exchange, 6), (self.copy_away, 6), (self.copy_back, 6), (self.copy_into, 5),
            (self.same_inode, 6), (self.remove, 5), (self.make_room, 10), (self.change_mode, 3),
            (self.old_times, 3), (self.move_work, 3), (self.beside_work, 4), (self.pipe, 1)]
        if privileged:
            self.steps += [(self.bind, 4), (self.memory, 4), (self.unmount, 10),
                           (self.write_inside, 6), (self.attach, 3)]

    def act(self, chance):
        """One step; gives its description."""
        self.chance = chance
        self.text = bytes(chance.choices(b"abcdefghijklmnop", k=chance.randint(1, 2000)))
        steps, weights = zip(*self.steps)
        step = chance.choices(steps, weights)[0]
        if len(self.model.now) > 250 or shutil.disk_usage(self.root).free < 300 * MIB:
            step = self.remove_large
        self.done = step.__name__
        try:
            step()
            self.model.user_did()
        except (OSError, shutil.Error, IndexError) as error:
            self.done += f" ({error})"
            self.model.user_did()
        return self.done

    def note(self, *words):
        self.done += " " + " ".join(str(word) for word in words)

    # Choices

    def paths(self, wanted=lambda mode: True):
        return [path for path, entry in self.model.now.items() if wanted(entry.mode)]

    def pick(self, wanted=lambda mode: True):
        """Something that is there, mostly a place or what is filereel's."""
        paths = self.paths(wanted)
        those = self.chance.choice([lambda path: path in PLACES, self.model.is_made, lambda path: True,
                                    lambda path: top_of(path) in self.busy])
        path = self.chance.choice([path for path in paths if those(path)] or paths)
        self.note(path)
        return path

    def pick_folder(self):
        return self.pick(stat.S_ISDIR) if self.chance.random() < 0.8 else ""

    def pick_file(self):
        return self.pick(stat.S_ISREG)

    def new_path(self):
        """A place, or a name in some folder; there may be something."""
        if self.chance.random() < 0.5:
            path = self.chance.choice([*PLACES, *self.busy * 3])
        else:
            path = os.path.join(self.pick_folder(), self.chance.choice(NAMES))
        self.note("->", path)
        return path

    def at(self, path):
        return self.root / path

    def mounts(self, path=""):
        return mounted_below(self.root / path) if path else \
            [point for point in mounted_below(self.root) if point != str(self.root)]

    def no_mounts(self, *paths):
        """Moving or removing these would reach what is mounted there."""
        if any(self.mounts(path) for path in paths):
            raise OSError("something is mounted")

    # Files and folders

    def clear(self, path):
        self.no_mounts(path)
        if self.at(path).is_dir() and not self.at(path).is_symlink():
            shutil.rmtree(self.at(path))
        else:
            self.at(path).unlink(missing_ok=True)

    def write_new(self):
        self.write(self.at(self.new_path()))

    def not_mounted(self, path):
        """Writing to an image below its mount would be the user's own damage to what is in there."""
        if path.exists() and statx(path.resolve())[0] in self.model.attached:
            raise OSError("it is mounted")

    def write(self, path):
        """As an editor that would wait at a pipe does not."""
        self.not_mounted(path)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK), "wb") as file:
            file.write(self.text)

    def write_over(self):
        path = self.at(self.pick_file())
        how = self.chance.choice(["ab", "wb", "r+b", "truncate"])
        self.note(how)
        self.not_mounted(path)
        if how == "truncate":
            os.truncate(path, self.chance.randint(0, max(1, path.stat().st_size)))
        else:
            with open(path, how) as file:
                file.write(self.text)

    def flip_byte(self):
        """And give it its old times back."""
        path = self.at(self.pick_file())
        self.not_mounted(path)
        times = path.stat()
        with open(path, "r+b") as file:
            file.seek(self.chance.randrange(max(1, times.st_size)))
            byte = file.read(1) or b"\0"
            file.seek(-1 if times.st_size else 0, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def new_folder(self):
        path = self.at(self.new_path())
        path.mkdir()
        if self.chance.random() < 0.7:
            (path / self.chance.choice(NAMES)).write_bytes(self.text)

    def rename(self):
        source, target = self.pick(), self.new_path()
        self.no_mounts(source, target)
        os.rename(self.at(source), self.at(target))
        if self.chance.random() < 0.2:
            os.rename(self.at(target), self.at(source))
            self.note("and back")

    def replace(self):
        path = self.chance.choice(PLACES)
        self.note(path)
        self.clear(path)
        if path in FOLDERS:
            self.at(path).mkdir()
            for name in self.chance.sample(NAMES, self.chance.randint(0, 3)):
                self.at(path).joinpath(name).write_bytes(self.text)
        else:
            self.at(path).write_bytes(self.text)

    def hard_link(self):
        os.link(self.at(self.pick_file()), self.at(self.new_path()), follow_symlinks=False)

    def soft_link(self):
        path, target = self.new_path(), self.chance.choice(PLACES)
        self.note("to", target)
        os.symlink(self.at(target), self.at(path))

    def exchange(self):
        kinds = self.chance.choice([FOLDERS, FOLDERS + OTHERS, IMAGES, PLACES])
        one, other = self.chance.sample(kinds, 2)
        self.note(one, other)
        self.no_mounts(one, other)
        if LIBC.renameat2(AT_FDCWD, os.fsencode(self.at(one)), AT_FDCWD, os.fsencode(self.at(other)),
                          RENAME_EXCHANGE) != 0:
            raise OSError(os.strerror(ctypes.get_errno()))

    def copy(self, source, target):
        self.clear(target)
        call("cp", "-a", self.at(source), self.at(target), status=None)

    def copy_away(self):
        source, target = self.pick(), self.chance.choice(OTHERS)
        self.note("->", target)
        self.copy(source, target)

    def copy_back(self):
        source, target = self.chance.choice([one for one in OTHERS if one in self.model.now]), \
            self.chance.choice(PLACES)
        self.note(source, "->", target)
        if source != target:
            self.copy(source, target)

    def copy_into(self):
        """As dd conv=notrunc does, with the times of the old file."""
        source, target = self.at(self.pick_file()), self.at(self.pick_file())
        self.not_mounted(target)
        times = target.stat()
        with open(target, "r+b") as file:
            file.write(source.read_bytes())
        os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))

    def same_inode(self):
        """A restored file, with the inode number of the one before if the file system gives that."""
        path = self.at(self.pick_file())
        times, content = path.stat(), path.read_bytes()
        path.unlink()
        for number in range(20):
            one = path.with_name(f"new{number}")
            one.write_bytes(content)
            if one.stat().st_ino == times.st_ino:
                self.note("with the same inode")
                break
        one.rename(path)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        for left in path.parent.glob("new[0-9]*"):
            left.unlink()

    def remove(self):
        self.clear(self.pick())

    def make_room(self):
        path = self.chance.choice(FOLDERS + IMAGES)
        self.note(path)
        self.clear(path)

    def remove_large(self):
        for path in self.chance.sample(PLACES, 6):
            self.note(path)
            with contextlib.suppress(OSError):
                self.clear(path)
        for path in list(self.root.iterdir()):
            if path.name not in PLACES:
                with contextlib.suppress(OSError):
                    self.clear(path.name)

    def change_mode(self):
        path = self.pick(lambda mode: not stat.S_ISLNK(mode))
        os.chmod(self.at(path), self.chance.choice([0o500, 0o600, 0o700, 0o755]))

    def old_times(self):
        os.utime(self.at(self.pick()), ns=(10 ** 18, 10 ** 18), follow_symlinks=False)

    def pipe(self):
        os.mkfifo(self.at(self.new_path()))

    # filereel's working directories, while it runs or after it was killed

    def pick_work(self):
        path = self.chance.choice([path for path in self.paths(stat.S_ISDIR)
                                   if WORK.fullmatch(path.rpartition("/")[2])])
        self.note(path)
        return path

    def move_work(self):
        source, target = self.pick_work(), self.new_path()
        self.no_mounts(source)
        os.rename(self.at(source), self.at(target))

    def beside_work(self):
        place = os.path.dirname(self.pick_work())
        self.write(self.at(place) / self.chance.choice(NAMES))

    # Mounts

    def pick_point(self):
        point = self.chance.choice(self.paths(stat.S_ISDIR))
        if self.chance.random() < 0.5:
            point = self.chance.choice([path for path in FOLDERS if self.at(path).is_dir()])
        self.note("on", point)
        if len(self.mounts()) > 3 or point in OTHERS or self.mounts(point) or \
                any(os.path.islink(self.at(path)) for path in and_above(point)):
            raise OSError("not there")
        return point

    def mount(self, point, *words):
        self.model.mounting(point)
        call("mount", *words, self.at(point), status=None)
        if str(self.at(point)) not in self.mounts(point):
            self.model.unmounted(point)
            raise OSError("not mounted")

    def bind(self):
        source, point = self.chance.choice(OTHERS), self.pick_point()
        self.note(source)
        if top_of(point) == source:
            raise OSError("it lies in it")
        self.clear(source)
        self.at(source).mkdir()
        (self.at(source) / self.chance.choice(NAMES)).write_bytes(self.text)
        self.mount(point, "--bind", "--make-private", self.at(source))

    def memory(self):
        point = self.pick_point()
        self.mount(point, "-t", "tmpfs", "-o", "size=8M", "tmpfs")
        if self.chance.random() < 0.7:
            (self.at(point) / self.chance.choice(NAMES)).write_bytes(self.text)

    def pick_image(self):
        """One that was kept, with what mounts it."""
        image = self.chance.choice([path for path in IMAGES + OTHERS
                                    if path in self.model.now and
                                    stat.S_ISREG(self.model.now[path].mode)
                                    and self.model.now[path].size >= 16 * MIB
                                    and not attached_to(self.at(path))])
        self.note(image)
        kind = call("blkid", "-p", "-o", "value", "-s", "TYPE", self.at(image), status=None).strip()
        if kind not in self.mount_kinds:
            raise OSError(f"it holds {kind}")
        return image, kind

    def attach(self):
        """An image is mounted and stays so."""
        (image, kind), point = self.pick_image(), self.pick_point()
        self.model.attach(image, point)
        self.mount(point, "-t", kind, "-o", "loop", self.at(image))
        (self.at(point) / "inside").write_bytes(self.text)

    def write_inside(self):
        image, kind = self.pick_image()
        point = self.root.parent / "point"
        point.mkdir(exist_ok=True)
        call("mount", "-t", kind, "-o", "loop", self.at(image), point, status=None)
        if mounted_below(point):
            (point / "inside").write_bytes(self.text)
            call("umount", point)
            wait_until(lambda: not attached_to(self.at(image)), 5)

    def unmount(self):
        points = self.mounts()  # not one that another is mounted in or over
        self.unmount_at(self.chance.choice(
            [point for number, point in enumerate(points)
             if not any(other.startswith(point + "/") for other in points)
             and not any(point.startswith(later + "/") for later in points[:number])]))

    def unmount_at(self, point):
        self.note(point)
        images = [self.at(path) for path, entry in self.model.now.items()
                  if self.model.attached.get(entry.identity) == os.path.relpath(point, self.root)]
        call("umount", point, status=None)
        if point in self.mounts():
            raise OSError("busy")
        wait_until(lambda: not any(attached_to(image) for image in images), 5)
        self.model.unmounted(os.path.relpath(point, self.root))


def attached_to(image):
    return str(image) in attached_loops(image.parent).values()
