"""The recordings of tools/record-catalogue: preparation and command of each program."""
import os
import subprocess
import sys

RECORDINGS = {}


def recording(name, packages, description, of=None):
    """Decorates a function that prepares a recording and returns the command to record. Its
    docstring becomes the note. `packages` are installed; the note names the first one, or `of`, as
    the recorded program."""
    def add(prepare):
        RECORDINGS["app-" + name] = (prepare, packages.split(), description, of)
        return prepare
    return add


class Work:
    """A new working directory with an empty home directory."""
    def __init__(self, folder):
        self.folder = folder
        self.under = None  # directory to record; None for everything
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/games", "LANG": "C.UTF-8",
                            "HOME": self.path("home"), "TMPDIR": self.path("tmp"),
                            "DEBIAN_FRONTEND": "noninteractive",
                            "XDG_RUNTIME_DIR": self.path("run"),
                            "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z",
                            "GIT_COMMITTER_DATE": "2020-01-01T00:00:00Z", "GIT_PAGER": "cat"}
        # In Firefox's sandbox, one process opens files for another and passes them through sockets.
        self.environment |= {f"MOZ_DISABLE_{name}_SANDBOX": "1" for name in (
            "CONTENT", "GMP", "RDD", "SOCKET_PROCESS", "UTILITY")}
        for name in ("home", "tmp", "run"):
            os.makedirs(self.path(name), mode=0o700)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run(self, *command, **options):
        """Returns the output. Exits with the command's error message if it fails."""
        done = subprocess.run(command, cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, **options)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)[:200]}: {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def sh(self, script):
        return self.run("sh", "-euc", script)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def prose(self, name, paragraphs, before="", after="", around="{}"):
        """Writes a deterministic text."""
        words = "file system drive reads writes a the of and to in is fast slow block page".split()
        text = (" ".join(words[(i * i + k * k * 7 + k) % len(words)] for k in range(60))
                for i in range(paragraphs))
        self.write(name, before + "\n".join(around.format(line) for line in text) + after)

    def debian(self, name):
        """Installs a separate small Debian system."""
        self.run("debootstrap", "--variant=minbase", "bookworm", self.path(name))
        os.remove(self.path(name, "dev/tty"))  # an existing device that cannot be opened
        return self.path(name)

    def install(self, system, *packages):
        """Returns the command that installs packages in `system`."""
        return ["env", "-u", "TMPDIR", "chroot", system, "apt-get", "install", "-y", "-q",
                "--no-install-recommends", *packages]

    def photos(self, count, size="3264x2448"):
        """Creates JPEG files of noise, which does not compress, with camera metadata."""
        os.makedirs(self.path("card"))
        self.sh(f"for i in 1 2 3 4; do convert -size {size} -seed $i plasma:fractal -attenuate 0.3 "
                "+noise Gaussian -quality 88 seed$i.jpg; done; "
                f"for i in $(seq {count}); do n=$(printf %04d $i); "
                "convert seed$((i % 4 + 1)).jpg -roll +$((i * 37))+$((i * 17)) -quality 88 "
                "card/IMG_$n.JPG; "
                "exiftool -q -overwrite_original -Make=Camera -Model=One "
                "-AllDates=\"2024:0$((i % 3 + 5)):$(printf %02d $((i % 28 + 1))) 12:00:00\" "
                "card/IMG_$n.JPG; done")


def shell(script):
    return ["sh", "-euc", script]


@recording("browser-start", "firefox-esr imagemagick", "Start a web browser and show a page")
def browser(work):
    """firefox-esr --headless with a new, empty profile loads a page with 30 images from local
    files, renders it to a PNG file and exits (--screenshot). There is no window and no network. The
    sandboxes of its processes are off, so that each opens its own files."""
    work.sh("mkdir page profile; for i in $(seq 30); do convert -size 640x480 -seed $i "
            "plasma:fractal page/$i.jpg; done")
    work.prose("page/index.html", 200, "<html><body>" +
               "".join(f"<img src={i}.jpg>" for i in range(1, 31)), "</body></html>", "<p>{}</p>")
    return ["firefox-esr", "--headless", "--no-remote", "--profile", work.path("profile"),
            "--screenshot", work.path("page.png"), "file://" + work.path("page/index.html")]


@recording("office-convert", "libreoffice-writer libreoffice-calc",
           "Start an office suite, load a letter, a report and a table, and export them as PDF")
def office(work):
    """soffice --headless with a new profile converts a Word, a Writer and a Calc document (40
    pages, 40 pages, 4,000 rows) to PDF in one process. There is no window and no user input."""
    work.prose("text.html", 250, "<html><body>", "</body></html>", "<p>{}</p>")
    work.write("table.csv", "".join(f"{i},{i * 7 % 1000},{i * i % 977},row {i}\n"
                                    for i in range(4000)))
    user = "-env:UserInstallation=file://" + work.path("prepared")
    for kind, source, extra in (("odt", "text.html", ["--infilter=writer_web_HTML"]),
                                ("docx", "text.odt", []), ("ods", "table.csv", [])):
        work.run("soffice", user, "--headless", *extra, "--convert-to",
                 "odt:writer8" if kind == "odt" else kind, source)
    return ["soffice", "-env:UserInstallation=file://" + work.path("profile"), "--headless",
            "--convert-to", "pdf", "--outdir", work.path("out"), "text.odt", "text.docx",
            "table.ods"]


@recording("image-editor", "gimp imagemagick",
           "Start an image editor, open a photo, change it and save it three times")
def image_editor(work):
    """gimp -i in batch mode with a new home directory (so that it indexes fonts, brushes and
    plug-ins) loads a JPEG photo of 8 megapixels, sharpens and scales it, and saves XCF, PNG and
    JPEG. There is no window."""
    work.photos(1)
    script = f"""(let* ((image (car (gimp-file-load 1 "{work.path('card/IMG_0001.JPG')}" "a")))
        (layer (car (gimp-image-get-active-layer image))))
        (plug-in-unsharp-mask 1 image layer 3.0 0.5 0)
        (gimp-file-save 1 image layer "{work.path('photo.xcf')}" "a")
        (gimp-image-scale image 1632 1224)
        (gimp-file-save 1 image layer "{work.path('photo.png')}" "a")
        (gimp-file-save 1 image layer "{work.path('photo.jpg')}" "a"))"""
    return ["gimp", "-i", "-b", script, "-b", "(gimp-quit 1)"]


@recording("compile", "gcc make dpkg-dev libc6-dev", "Compile about 190 C files")
def compiling(work):
    """make -j2 in the source package musl (a C library), limited to src/string and src/stdio, then
    ar: the file operations of make, gcc, the compiler and the assembler for many small files."""
    work.sh("mkdir -p apt/lists/partial; echo 'deb-src http://deb.debian.org/debian bookworm main' "
            "> apt/some.list; options=\"-o Dir::Etc::SourceList=$PWD/apt/some.list -o "
            "Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$PWD/apt/lists\"; "
            "apt-get -q $options update; apt-get -q $options source musl; "
            "mv musl-*/ source; cd source; ./configure")
    return shell("cd source; o=$(ls src/string/*.c src/stdio/*.c | sed 's/^/obj\\//; s/c$/o/'); "
                 "make -j2 $o; ar rcs part.a $o")


@recording("package-install", "dpkg debootstrap", "Unpack and install packages")
def package_install(work):
    """apt-get install of python3, vim-tiny and less (with dependencies, downloaded before) in a
    separate small Debian system (debootstrap, minbase, chroot): dpkg unpacks, syncs, renames and
    configures; the packages' scripts run."""
    root = work.debian("system")
    install = work.install(root, "python3", "vim-tiny", "less")
    work.run(*install, "--download-only")
    return [*install, "--no-download"]


@recording("virus-scan", "clamav debootstrap",
           "Scan the programs of a small system for viruses")
def virus_scan(work):
    """clamscan -r over the programs, libraries and configuration of a small Debian system
    (debootstrap with python3 and vim-tiny). It uses five generated signatures instead of the 200 MB
    of the vendor's database, so it reads less at start than on a user's machine."""
    root = work.debian("system")
    work.run(*work.install(root, "python3", "vim-tiny"))
    work.write("signatures/own.hdb", "44d88612fea8a8f36de82e1278abb02f:68:Own.Test.File\n")
    work.write("signatures/own.ndb", "".join(
        f"Own.Test.{i}:0:*:{(f'filereel virus signature {i}').encode().hex()}\n"
        for i in range(4)))
    return ["clamscan", "-r", "-i", "--no-summary", "-d", work.path("signatures"),
            *(os.path.join(root, part) for part in ("etc", "usr/bin", "usr/lib", "usr/sbin"))]


@recording("photo-import", "libimage-exiftool-perl exiv2 imagemagick sqlite3",
           "Copy 120 photos from a card, sort them by date, catalogue them and create thumbnails")
def photo_import(work):
    """exiftool copies 120 JPEG files of 8 megapixels (noise instead of photos) from one directory
    to another, sorted by year and month; exiv2 reads their metadata, sqlite3 keeps a catalogue (one
    transaction per photo), and imagemagick creates a thumbnail of each."""
    work.photos(120)
    return shell(
        "exiftool -q -r -d 'library/%Y/%m/%d-%%f.%%e' -o . '-FileName<CreateDate' card; "
        "sqlite3 library/photos.db 'create table photo (path text primary key, data text)'; "
        "mkdir library/thumbnails; find library -name '*.JPG' | sort | while read -r photo; do "
        "data=$(exiv2 -q -g Exif.Photo.DateTimeOriginal -Pv \"$photo\"); "
        "convert -define jpeg:size=640x480 \"$photo\" -thumbnail 256x256 "
        "\"library/thumbnails/$(basename \"$photo\" .JPG).jpg\"; "
        "sqlite3 library/photos.db \"insert into photo values ('$photo', '$data')\"; done")


@recording("git-clone", "git python3",
           "Clone a repository and check out two of its versions")
def git_clone(work):
    """git clone over file:// (packed and sent as by a server), checkout of a version 20 commits
    older and back, status, log with statistics, a commit and gc. The repository contains Python's
    standard library in 41 commits, each of which changes 60 files."""
    source = f"/usr/lib/python3.{sys.version_info.minor}"
    work.sh(f"git init -q -b main origin; cp -rL {source} origin/library; cd origin; "
            "rm -rf library/config-*; find . -name __pycache__ -exec rm -rf {} +; "
            "git config user.name nobody; git config user.email nobody@example.org; "
            "git add -A; git commit -qm first; for i in $(seq 40); do "
            "find library -name '*.py' | sort | awk \"NR % 12 == $i % 12\" | head -60 | "
            "while read -r f; do echo \"# change $i\" >> $f; done; "
            "git commit -qam \"change $i\"; git tag v$i; done; git gc -q")
    work.write("home/.gitconfig", "[user]\nname = nobody\nemail = nobody@example.org\n"
               "[gc]\nautoDetach = false\n[advice]\ndetachedHead = false\n")
    return shell(f"git clone -q file://{work.path('origin')} copy; cd copy; git checkout -q v20; "
                 "git checkout -q main; git status; git log --stat -10 > /dev/null; "
                 "echo '# mine' >> library/os.py; git commit -qam mine; git gc -q")


@recording("mariadb-load", "mariadb-server sysbench",
           "Start a database server that serves four clients with reads and writes")
def mariadb_load(work):
    """mariadbd starts with durable defaults (a sync of redo log and binary log per commit,
    doublewrite), a buffer pool of 16 MB and native AIO; four connections of sysbench
    oltp_read_write use four tables of 20,000 rows for three seconds; then the server stops. The
    reel contains only the server's data directory."""
    options = f"--no-defaults --datadir={work.path('data')} --socket={work.path('socket')}"
    work.sh(f"mariadb-install-db --no-defaults --datadir={work.path('data')} --user=root "
            "--auth-root-authentication-method=normal --skip-test-db")
    work.write("start", f"exec mariadbd {options} --user=root --skip-networking --log-bin=binlog "
               "--sync-binlog=1 --innodb-buffer-pool-size=16M --innodb-log-file-size=32M "
               f"--pid-file={work.path('pid')} > {work.path('log')} 2>&1\n")
    client = f"--no-defaults --socket={work.path('socket')}"
    wait = f"until mariadb-admin {client} ping > /dev/null 2>&1; do sleep 0.1; done; "
    load = (f"sysbench oltp_read_write --db-driver=mysql --mysql-user=root --mysql-socket="
            f"{work.path('socket')} --tables=4 --table-size=20000 --threads=4 --time=3 ")
    stop = f"mariadb-admin {client} shutdown; wait"
    work.sh(f"sh start & {wait} mariadb {client} -e 'create database sbtest'; {load} prepare; "
            f"{stop}")
    work.under = work.path("data")
    return shell(f"sh start & {wait} {load} run; {stop}")


@recording("video-edit", "ffmpeg", "Cut, join and encode two clips")
def video_edit(work):
    """ffmpeg cuts three parts from two clips (1080p, 40 s, 25 Mbit/s each, test pictures) without
    re-encoding, joins them, and encodes the result to H.264 720p."""
    work.sh("for i in 1 2; do ffmpeg -v error -f lavfi -i "
            "testsrc2=size=1920x1080:rate=25,noise=alls=$((i * 10)):allf=t "
            "-f lavfi -i sine=$((i * 400)) -t 40 -c:v mpeg4 -b:v 25M -minrate 25M "
            "-maxrate 25M -bufsize 10M -c:a mp2 clip$i.mkv; done")
    return shell("f='ffmpeg -v error -nostdin'; $f -ss 5 -t 15 -i clip1.mkv -c copy part1.mkv; "
                 "$f -ss 10 -t 15 -i clip2.mkv -c copy part2.mkv; "
                 "$f -ss 25 -t 10 -i clip1.mkv -c copy part3.mkv; "
                 "printf \"file '%s'\\n\" part1.mkv part2.mkv part3.mkv > list; "
                 "$f -f concat -i list -c copy joined.mkv; "
                 "$f -i joined.mkv -vf scale=1280:720 -c:v libx264 -preset ultrafast -b:v 4M "
                 "-c:a aac -movflags +faststart film.mp4")


@recording("media-centre", "ffmpeg", "Record a broadcast while two films are playing")
def media_centre(work):
    """Three ffmpeg processes run in real time for 20 s: one writes an incoming stream of 10 Mbit/s,
    one plays another file of 8 Mbit/s, one plays the recording with a delay of 3 s. Played films
    are decoded and discarded."""
    work.sh("ffmpeg -v error -f lavfi -i testsrc2=size=1280x720:rate=25,noise=alls=20:allf=t -t 30 "
            "-c:v mpeg2video -b:v 8M -minrate 8M -maxrate 8M -bufsize 4M film.ts; "
            "ffmpeg -v error -i film.ts -t 22 -c:v mpeg2video -b:v 10M -minrate 10M -maxrate 10M "
            "-bufsize 4M broadcast.ts")
    return shell("f='ffmpeg -v error -nostdin -re'; "
                 "$f -t 20 -i broadcast.ts -c copy -flush_packets 1 recorded.ts & "
                 "$f -t 20 -i film.ts -f null - & sleep 3; $f -t 15 -i recorded.ts -f null -; wait")


@recording("music", "beets ffmpeg python3", "Import, tag and play a music collection")
def music(work):
    """beets imports 96 tracks (8 albums, MP3 at 192 kbit/s and FLAC, 30 s each): it reads tags,
    copies the files, writes tags and its database. Then ffmpeg plays three tracks at ten times
    real-time speed. The tracks contain tones and noise."""
    work.sh("mkdir music; for a in $(seq 8); do mkdir music/album$a; for t in $(seq 12); do "
            "if [ $((a % 2)) = 0 ]; then c='-c:a libmp3lame -b:a 192k'; e=mp3; else c='-c:a flac'; "
            "e=flac; fi; "
            "ffmpeg -v error -f lavfi -i anoisesrc=a=0.1:seed=$((a * 100 + t)):d=30 -ac 2 "
            "$c -metadata title=\"Track $t\" -metadata artist=\"Artist $a\" -metadata "
            "album=\"Album $a\" -metadata track=$t -metadata date=2001 music/album$a/$t.$e; "
            "done; done")
    work.write("beets.yaml",
               f"directory: {work.path('library')}\nlibrary: {work.path('music.db')}\n"
               "import: {write: yes, copy: yes, autotag: no}\nplugins: []\n")
    return shell("beet -c beets.yaml import -q -A music; find library -type f | sort | head -30 | "
                 "awk 'NR % 10 == 0' | while read -r f; do "
                 "ffmpeg -v error -nostdin -readrate 10 -i \"$f\" -f null -; done")


@recording("file-write", "tar", "Write incoming files of all sizes without reading them")
def file_write(work):
    """tar unpacks 2,400 files (2,000 of 4 to 60 kB, 390 of about 400 kB, 10 of 16 MB) from a pipe,
    which stands for a network; then dd writes one file of 64 MB in blocks of 64 kB and syncs it."""
    work.sh("mkdir set; for i in $(seq 2000); do d=set/d$((i % 40)); mkdir -p $d; "
            "head -c $((4000 + i * 28)) /dev/zero > $d/s$i; done; for i in $(seq 390); do "
            "head -c $((300000 + i * 500)) /dev/zero > set/d$((i % 40))/m$i; done; "
            "for i in $(seq 10); do head -c 16000000 /dev/zero > set/l$i; done; "
            "tar cf set.tar set; rm -rf set; mkdir target")
    work.under = work.path("target")
    return shell("cat set.tar | tar x -C target; "
                 "dd if=/dev/zero of=target/big bs=64k count=1000 conv=fsync status=none")


@recording("general-use", "vim zip unzip poppler-utils imagemagick less libreoffice-writer",
           "Edit, archive, search, view and copy files, as in desk work")
def general_use(work):
    """Scripts run in sequence: vim edits and saves a text ten times, zip packs and unzip unpacks a
    directory of 400 files, grep searches it, pdftotext and imagemagick read a PDF file and twelve
    photos, cp and mv sort files, tar and xz create an archive, sort and awk process a table. There
    is no think time."""
    work.photos(12, "1600x1200")
    work.prose("text.html", 80, "<html><body>", "</body></html>", "<p>{}</p>")
    work.run("soffice", "-env:UserInstallation=file://" + work.path("prepared"), "--headless",
             "--convert-to", "pdf", "text.html")
    for i in range(400):
        work.prose(f"notes/{i % 20}/note{i}.txt", 3 + i % 40)
    work.write("table.csv", "".join(
        f"{i * 7919 % 100003},{i % 977},row {i}\n" for i in range(50000)))
    return shell("for i in $(seq 10); do vim -es -u NONE -c 'set noswapfile!' -c '%s/drive/disk/e' "
                 "-c \"normal ggOline $i\" -c wq notes/$i/note$i.txt; done; "
                 "zip -qr notes.zip notes; mkdir unpacked; unzip -q notes.zip -d unpacked; "
                 "grep -rl slow unpacked | wc -l > found; pdftotext text.pdf text.txt; "
                 "for p in card/*.JPG; do convert $p -resize 800x600 view.png; done; rm view.png; "
                 "cp -r card pictures; mkdir pictures/old; mv pictures/IMG_000* pictures/old; "
                 "tar cJf notes.tar.xz notes; sort -n table.csv > sorted.csv; "
                 "awk -F, '{s[$2] += $1} END {for (k in s) print k, s[k]}' sorted.csv > sums; "
                 "rm -rf unpacked; find . -name '*.txt' -newer table.csv > recent; du -s . > size")


@recording("load-programs", "firefox-esr libreoffice-writer gimp ffmpeg vim",
           "Start six programs for the first time, in sequence")
def load_programs(work):
    """An office suite, an image editor, a web browser, a text editor, a video player and Python's
    compiler start with new home directories and exit at once (headless or in batch mode)."""
    work.write("page.html", "<html><body>nothing</body></html>")
    return shell(f"soffice -env:UserInstallation=file://{work.path('office')} --headless "
                 "--terminate_after_init; gimp -i -b '(gimp-quit 1)'; mkdir profile; "
                 f"firefox-esr --headless --no-remote --profile {work.path('profile')} "
                 f"--screenshot {work.path('page.png')} file://{work.path('page.html')}; "
                 "vim -es -c q; ffplay -version; python3 -c 'import json, sqlite3, asyncio, email'")


@recording("gaming", "supertuxkart", "Load a game and drive a race")
def gaming(work):
    """supertuxkart with a new home directory indexes its karts and tracks, loads one track and four
    karts, and drives one lap at full speed. It runs without graphics and sound (--no-graphics):
    data for the graphics card, most of a game's bytes, is looked up but not read."""
    return ["/usr/games/supertuxkart", "--no-graphics", "--no-sound", "--track=lighthouse",
            "--kart=tux", "--numkarts=4", "--laps=1", "--profile-laps=1"]


@recording("system-start", "debootstrap util-linux", "Start and stop the services of a system",
           "init scripts (rsyslog, dbus, cron, openssh-server, nginx-light)")
def system_start(work):
    """In a separate small Debian system (debootstrap, chroot, no network), the init scripts of
    rsyslog, dbus, cron, ssh and nginx start their services in sequence; then the services are
    stopped. There is no kernel boot and no systemd, so reads before the start of services are
    missing."""
    root = work.debian("system")
    services = ["rsyslog", "dbus", "cron", "ssh", "nginx"]
    work.run(*work.install(root, "rsyslog", "dbus", "cron", "openssh-server", "nginx-light"))
    work.write("system/start", "".join(f"service {name} start\n" for name in services) +
               "sleep 2\nkill $(cat /run/*.pid /run/dbus/pid)\nexit 0\n")
    return ["unshare", "--net", "env", "-u", "TMPDIR", "chroot", root, "sh", "/start"]
