"""The options of filereel run for each kind of job: docs/plans.md says which have a meaning, and why the
others have none. Its examples are plans that can be run."""

import pathlib
import re
import unittest

from support import IntegrationTest, call, have, main, why_not

DOCUMENTS = pathlib.Path(__file__).resolve().parents[2] / "docs"
DOCUMENT = (DOCUMENTS / "plans.md").read_text()
KINDS = ["FC-Test", "workload", "recorded trace"]
# Of the command line and the result, the same whatever is measured.
OF_RESULTS = {"-h", "--help", "--json", "--html", "--label", "--note", "--hide-serial",
              "--against-json", "--against-label", "--history", "--device", "--firmware", "--resume"}

RECIPE = """files: {name: data, count: 2, size: 1 MiB, volumes: all}
access: {size: 4 KiB, random: 100 %, reads: 50 %}
depth: 1
stop: {operations: 100}
"""
LINES = """1700000000.000000 openat(AT_FDCWD, "/d/f", O_RDWR|O_CREAT, 0644) = 3 <0.000010>
1700000000.001000 pwrite64(3, "", 8192, 0) = 8192 <0.000010>
1700000000.002000 pread64(3, "", 4096, 0) = 4096 <0.000010>
1700000000.003000 close(3) = 0 <0.000010>
"""

# What is said of an option: {} is a folder, an image or a device of that name. What stands for all kinds
# of jobs, else by kind.
USES = {
    "--near": "--near {folder:near}",
    "--far": "--near {folder:near} --far {folder:far}",
    "--against": "--near {folder:near} --against {folder:against}",
    "--control": "--near {folder:near} --control {folder:control}",
    "--against-far": "--near {folder:near} --far {folder:far} --against {folder:against}"
                     " --against-far {folder:other}",
    "--fs": "--near {image:disk} --fs ext4",
    "--destroy": "--near {device} --fs ext4 --destroy {device}",
    "--parts": "--near {device},size=16M --fs ext4 --parts begin,end --destroy {device}",
    "--runs": "--near {folder:near} --runs 2",
    "--precision": "--near {folder:near} --runs auto --precision 100% --budget 100ms",
    "--budget": "--near {folder:near} --runs auto --budget 100ms",
    "--sessions": "--near {folder:near} --sessions 2",
    "--every": "--near {folder:near} --sessions 2 --every 1ms",
    "--set": "--near {folder:near} --set {other_set}",
    "--operations": "--near {folder:near} --operations create,delete",
    "--scale": "--near {folder:near} --scale 0.5",
    "--block-size": "--near {folder:near} --block-size 4KiB",
    "--copy-method": "--near {folder:near} --copy-method sendfile",
    "--copy-command": "--near {folder:near} --copy-command {copy_command}",
    "--threads": "--near {folder:near} --threads 2",
    "--time": "--near {folder:near} --time 50ms",
    "--limit": "--near {folder:near} --limit 10MB",
    "--pace": "--near {folder:near} --pace natural",
    "--order": "--near {folder:near} --order strict",
    "--depth": "--near {folder:near} --depth 4",
    "--clients": "--near {folder:near} --clients 2",
    "--share": "--near {folder:near} --clients mpi --share",
    "--shift": "--near {folder:near} --clients mpi --shift 1",
    "--reel-per-client": "--near {folder:near} --clients mpi --reel-per-client",
    "--server-memory": "--near {folder:near} --clients mpi --server-memory 1MiB",
    "--client-timeout": "--near {folder:near} --clients mpi --client-timeout 30s",
    "--stagger": "--near {folder:near} --clients mpi --stagger 1ms",
    "--owners": "--near {folder:near} --owners",
    "--stop-on-divergence": "--near {folder:near} --stop-on-divergence",
    "--verify": "--near {folder:near} --verify tree",
    "--engine": "--engine null",
    "--warm": "--near {folder:near} --warm",
    "--purge": "--near {image:disk} --fs ext4 --purge",
    "--precondition": "--near {image:disk} --fs ext4 --precondition sequential",
    "--mkfs-options": "--near {image:disk} --fs ext4 --mkfs-options ext4=-Enodiscard",
    "--mount-options": "--near {image:disk} --fs ext4 --mount-options noatime",
    "--fill": "--near {image:disk} --fs ext4 --fill 50%",
    "--fill-files": "--near {image:disk} --fs ext4 --fill 50% --fill-files 1MiB",
    "--steady": "--near {folder:near} --steady",
    "--rest": "--near {folder:near} --rest 1ms",
    "--sweep": {"FC-Test": "--near {folder:near} --sweep threads=1,2",
                "workload": "--near {folder:near} --sweep random=0%,100%",
                "recorded trace": "--near {folder:near} --sweep order=resource,strict"},
    "--full": "--near {folder:near} --full",
    "--with-block-baseline": "--near {image:disk} --fs ext4 --with-block-baseline",
    "--allow-divergence": "--near {folder:near} --allow-divergence",
    "--keep": "--near {folder:near} --keep",
    "--live": "--near {folder:near} --live",
    "--live-json": "--near {folder:near} --live-json live.jsonl",
}


def table():
    """Option: what the document says, by kind."""
    part = DOCUMENT.split("\n## Options × kinds of jobs\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()
            if line.startswith("|")]
    if rows[0] != ["option", *KINDS]:
        raise AssertionError(f"the table has another heading: {rows[0]}")
    return {row[0].strip("`"): dict(zip(KINDS, row[1:], strict=True)) for row in rows[2:]}


def examples(document=DOCUMENT):
    """Name: text of the plans in the document, whose first lines are '# NAME: …'."""
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", document, re.MULTILINE)
    texts = [re.sub("^    ", "", block, flags=re.MULTILINE).strip("\n") + "\n" for block in blocks]
    return {text[2:text.index(":")]: text for text in texts if re.match(r"# \S+\.yaml: ", text)}


class Options(IntegrationTest):

    def setUp(self):
        super().setUp()
        self.devices = {}  # by folder
        small = self.many_small_files(10, "4 KiB")
        (self.scratch / "plan.yaml").write_text(f"sets: [{small}]\nruns: 1\n")
        (self.scratch / "recipe.yaml").write_text(RECIPE)
        (self.scratch / "app.strace").write_text(LINES)
        self.filereel("import", "app.strace", "-o", "app.reel")
        self.jobs = {"FC-Test": "plan.yaml", "workload": "recipe.yaml", "recorded trace": "app.reel"}

    def start_job(self, kind, use):
        """Runs a job with an option, in a folder of its own."""
        folder = self.folder(kind)

        def place(found):
            what, _, name = found[1].partition(":")
            if what == "folder":
                path = folder / name
                path.mkdir(exist_ok=True)
                return str(path)
            if what == "image":
                return f"image:{folder / name},size=64M"
            if what == "copy_command":
                return "cp -a {from}/. {to}"
            if what == "other_set":
                return str(self.write_set("name: other\ngroups:\n  - {count: 3, size: 1 KiB}\n",
                                          f"{kind}/other.yaml"))
            return self.device(folder)

        said = [re.sub(r"\{([a-z_:]+)\}", place, word) for word in use.split()]
        if "--runs" not in said:
            said += ["--runs", "1"]
        return self.start("run", self.scratch / self.jobs[kind], *said, "--json", "r.json", cwd=folder)

    def device(self, folder):
        image = folder / "device"
        if not image.exists():
            with open(image, "wb") as file:
                file.truncate(64 << 20)
            name = call("losetup", "--show", "-f", image).strip()
            self.addCleanup(call, "losetup", "-d", name)
            self.devices[folder] = name
        return self.devices[folder]

    def lacking(self, option):
        """What this machine lacks for an option; None if nothing."""
        if option == "--with-block-baseline" and not have("fio"):
            return "needs fio"
        if "--fs" in USES[option]:
            return why_not("ext4")
        if option == "--depth" and not re.search(r"^io_uring +yes", self.filereel("doctor").out,
                                                 re.MULTILINE):
            return "needs io_uring"
        return None

    def test_the_document_has_every_option_and_no_other(self):
        told = re.findall(r"^  (-\S+) ", self.filereel("run", "--help").out, re.MULTILINE)
        options = {name for names in told for name in names.split(",")} - OF_RESULTS
        self.assertGreater(len(options), 25)
        self.assertEqual(set(table()), options)
        self.assertEqual(set(USES), options)

    def test_each_option_works_or_is_refused_as_the_document_says(self):
        for option, cells in table().items():
            lacking = self.lacking(option)
            use = USES[option]
            running = {kind: self.start_job(kind, use if isinstance(use, str) else use[kind])
                       for kind in KINDS if not (lacking and cells[kind] == "yes")}
            for kind in KINDS:
                with self.subTest(option=option, kind=kind):
                    if kind not in running:
                        self.skipTest(lacking)
                    finished = running[kind].finish()
                    if cells[kind] != "yes":
                        self.assert_refused(finished, 2, cells[kind])
                        continue
                    # Of two volumes in turn, one may be slower.
                    codes = (0, 4) if option.startswith("--against") else (0,)
                    self.assertIn(finished.code, codes, finished)
                    self.assertNotIn("does not apply", finished.err)
                    last = "r-2.json" if option in ("--sessions", "--every") else "r.json"
                    result = self.result(f"{kind}/{last}")
                    self.assertTrue(result["complete"])
                    self.assertEqual("block_baselines" in result, option == "--with-block-baseline")

    def test_a_suite_takes_what_has_a_meaning_for_some_jobs_and_says_for_which_it_has_none(self):
        done = self.filereel("run", *self.jobs.values(), "--engine", "null", "--runs", "1",
                             "--threads", "2", "--json", "r.json")
        self.assertEqual([job["kind"] for job in self.result()["plan"]["jobs"]],
                         ["fc-test", "workload", "trace"])
        self.assertEqual(self.result()["plan"]["jobs"][0]["settings"]["threads"], "2")
        self.assertIn("--threads does not apply to recipe.yaml", done.err)

    def test_the_examples_are_plans(self):
        self.assertEqual(list(examples()), ["suite.yaml", "full.yaml", "small.yaml", "sweeps.yaml"])
        for name, text in examples().items():
            with self.subTest(name):
                (self.scratch / name).write_text(text)
                self.filereel("run", name, "--engine", "null", "--runs", "1", "--scale", "0.002",
                              "--json", "r.json")
                self.assertTrue(self.result()["complete"])
                self.assertEqual(self.result()["plan"]["name"], name)

    def test_the_example_of_conditions_is_a_plan(self):
        found = examples((DOCUMENTS / "drive-condition.md").read_text())
        self.assertEqual(list(found), ["fills.yaml"])
        (self.scratch / "fills.yaml").write_text(found["fills.yaml"])
        self.filereel("show", "fills.yaml")
        self.filereel("run", "fills.yaml", "--near", "image:disk", "--fs", "ext4", "--runs", "1", "--scale", "0.001",
                      "--time", "10ms", "--operations", "create", timeout=300)


if __name__ == "__main__":
    main()
