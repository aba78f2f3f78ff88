#include "traces/import/strace_import.h"

#include <stop_token>
#include <string>

#include <doctest/doctest.h>

#include "filesets/system/error.h"
#include "tests/traces/recorded_calls.h"
#include "traces/import/importers.h"

using namespace filereel;

namespace {

// The imported form of a text.
struct Imported {
  explicit Imported(std::string_view text) {
    LineReader input(text, "app.strace");
    CHECK(strace_importer().read(input, recorded.builder, {.working_directory = "/w"}));
    operations = recorded.operations;
  }
  std::string text() { return recorded.text(); }
  std::uint64_t lost(const std::string& what) { return recorded.lost(what); }
  const TraceInfo& info() { return recorded.builder.info(); }

  RecordedCalls recorded;
  std::vector<RecordedOperation> operations;
};

std::string fact(Imported& imported, const std::string& name) {
  const auto& facts = imported.info().facts;
  const auto found = facts.find(name);
  return found == facts.end() ? "" : found->second;
}

}  // namespace

TEST_CASE("Unfinished calls are rejected before they fill the memory") {
  // A small compressed text can contain that many. Finished calls free their memory.
  const std::string path(1 << 20, 'a');
  std::string ending, text;
  for (int i = 1; i <= 300; ++i) {
    const std::string begins = std::to_string(i) + " openat(AT_FDCWD, \"" + path + "\"";
    text += begins + " <unfinished ...>\n";
    ending += begins + " <unfinished ...>\n" + std::to_string(i) +
              " <... openat resumed>, O_RDONLY) = -1 ENOENT (No such file or directory)\n";
  }
  Imported ended(ending);
  CHECK(ended.lost("calls unfinished at the end of the trace") == 0);
  RecordedCalls recorded;
  LineReader input(text, "app.strace");
  CHECK_THROWS_WITH_AS(strace_importer().read(input, recorded.builder, {.working_directory = "/w"}),
                       doctest::Contains("app.strace:256: more than 128 MiB of unfinished calls; "
                                         "this is not the output of strace"),
                       Error);
}

TEST_CASE("A plain text of one program becomes operations, without times") {
  Imported imported(
      "execve(\"/bin/cat\", [\"cat\", \"x\"], 0x7ffe /* 35 vars */) = 0\n"
      "futex(0x7f, FUTEX_WAKE_PRIVATE, 1)      = 0\n"
      "openat(AT_FDCWD, \"x\", O_RDONLY)       = 3\n"
      "read(3, \"abc\", 4096)                  = 3\n"
      "close(3)                                = 0\n"
      "exit_group(0)                           = ?\n"
      "+++ exited with 0 +++\n");
  CHECK(imported.text() ==
        "0 exec bin/cat\n"
        "0 open w/x #0\n"
        "0 read #0 @0 +4096 = 3\n"
        "0 close #0\n"
        "0 exit\n");
  CHECK_FALSE(imported.info().timed);
  CHECK(fact(imported, "source") == "strace");
  CHECK(fact(imported, "command") == "cat x");
  CHECK(imported.info().lost.empty());
  CHECK(imported.info().approximated.empty());
}

TEST_CASE("Start times and durations are those of the text") {
  Imported imported(
      "7 1795261597.000100 mkdir(\"a\", 0777) = 0 <0.000030>\n"
      "7 1795261597.000200 mkdir(\"b\",  <unfinished ...>\n"
      "8 1795261597.000210 mkdir(\"c\", 0777 <unfinished ...>\n"
      "7 1795261597.000250 <... mkdir resumed>0777) = 0 <0.000045>\n"
      "8 1795261597.000260 <... mkdir resumed>) = 0\n");
  REQUIRE(imported.operations.size() >= 3);
  const auto& operations = imported.operations;
  CHECK(operations[0].start_ns == 0);
  CHECK(operations[0].duration_ns == 30'000);
  CHECK(operations[1].start_ns == 100'000);
  CHECK(operations[1].duration_ns == 45'000);
  CHECK(operations[2].start_ns == 110'000);
  CHECK(operations[2].duration_ns == 50'000);
  CHECK(imported.info().timed);
  CHECK(fact(imported, "recorded") == "2026-11-21 11:46:37 UTC");
}

TEST_CASE("The day can change under strace -tt, and -r counts from line to line") {
  Imported day(
      "23:59:59.999990 mkdir(\"a\", 0777) = 0\n"
      "00:00:00.000010 mkdir(\"b\", 0777) = 0\n"
      "00:00:01.000010 mkdir(\"c\", 0777) = 0\n"
      "00:00:00.500000 mkdir(\"d\", 0777) = 0\n"  // the clock was set back
      "00:00:00.600000 mkdir(\"e\", 0777) = 0\n");
  REQUIRE(day.operations.size() >= 5);
  CHECK(day.operations[1].start_ns == 20'000);
  CHECK(day.operations[2].start_ns == 1'000'020'000);
  CHECK(day.operations[3].start_ns == 1'000'020'000);
  CHECK(day.operations[4].start_ns == 1'100'020'000);
  Imported relative(
      "     0.000000 mkdir(\"a\", 0777) = 0\n"
      "     0.000100 getpid() = 7\n"
      "     1.000200 mkdir(\"b\", 0777) = 0\n");
  REQUIRE(relative.operations.size() >= 2);
  CHECK(relative.operations[1].start_ns == 1'000'300'000);
  Imported both(
      "11:50:31 (+     0.000000) mkdir(\"a\", 0777) = 0\n"
      "11:50:31 (+     0.000100) mkdir(\"b\", 0777) = 0\n");
  CHECK(both.operations[1].start_ns == 100'000);
  Imported seconds("11:50:31 mkdir(\"a\", 0777) = 0\n11:50:33 mkdir(\"b\", 0777) = 0\n");
  CHECK(seconds.operations[1].start_ns == 2'000'000'000);
  CHECK(fact(seconds, "times") == "whole seconds (strace -t)");
}

TEST_CASE("A child's lines before its parent's fork returns belong to the child") {
  Imported imported(
      "10 openat(AT_FDCWD, \"/f\", O_RDONLY|O_CLOEXEC) = 3\n"
      "10 vfork( <unfinished ...>\n"
      "11 read(3, \"ab\", 2) = 2\n"
      "11 execve(\"/bin/true\", [\"true\"], 0x7f /* 3 vars */ <unfinished ...>\n"
      "10 <... vfork resumed>) = 11\n"
      "11 <... execve resumed>) = 0\n"
      "11 exit_group(0) = ?\n"
      "11 +++ exited with 0 +++\n"
      "10 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 11\n"
      "10 read(3, \"cd\", 2) = 2\n"
      "10 +++ killed by SIGKILL +++\n");
  CHECK(imported.text() ==
        "0 open f #0\n"
        "0 fork second 1\n"
        "1 read #0 @0 +2 = 2\n"
        "1 exec bin/true\n"
        "1 exit\n"
        "0 join second 1\n"
        "0 read #0 @2 +2 = 2\n"
        "0 close #0\n"
        "0 exit\n");
  CHECK(imported.info().lost.empty());
}

TEST_CASE("In terminal output, lines without a number belong to the only thread") {
  Imported imported(
      "mkdir(\"/a\", 0777) = 0\n"
      "clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLDstrace: Process 21 attached\n"
      ", child_tidptr=0x7f99dff44a10) = 21\n"
      "[pid 20] mkdir(\"/b\", 0777strace: Process 22 attached\n"
      " <unfinished ...>\n"
      "[pid 21] mkdir(\"/c\", 0777) = 0\n"
      "[pid 20] <... mkdir resumed>) = 0\n"
      "[pid 22] +++ exited with 0 +++\n"
      "[pid 21] exit_group(0) = ?\n"
      "[pid 21] +++ exited with 0 +++\n"
      "mkdir(\"/d\", 0777) = 0\n"
      "+++ exited with 0 +++\n");
  CHECK(imported.text() ==
        "0 mkdir a mode 755\n"
        "0 fork second 1\n"
        "1 mkdir c mode 755\n"
        "0 mkdir b mode 755\n"
        "1 exit\n"
        "0 mkdir d mode 755\n"
        "0 exit\n");
  CHECK(imported.info().lost.empty());
}

TEST_CASE("Interleaved output of the traced program does little harm") {
  Imported imported(
      "write(2, \"hi\\n\", 3hi\n"
      ")      = 3\n"
      "some words of the program\n"
      "mkdir(\"/a\", 0777) = 0\n"
      "mkdir(\"/b\", 07");
  CHECK(imported.lost("unrecognised lines") == 2);
  CHECK(imported.info().facts.at("unrecognised") == "some words of the program");
  CHECK(imported.text().find("mkdir a mode 755") != std::string::npos);
}

TEST_CASE("The time in which a signal stopped the program is a fact of the trace") {
  Imported imported(
      "7 1700000000.000000 mkdir(\"/a\", 0777) = 0\n"
      "7 1700000000.100000 --- SIGSTOP {si_signo=SIGSTOP, si_code=SI_USER, si_pid=9} ---\n"
      "7 1700000000.100000 --- stopped by SIGSTOP ---\n"
      "8 1700000000.200000 --- stopped by SIGSTOP ---\n"
      "7 1700000001.600000 --- SIGCONT {si_signo=SIGCONT, si_code=SI_USER, si_pid=9} ---\n"
      "8 1700000001.700000 --- SIGCONT {si_signo=SIGCONT, si_code=SI_USER, si_pid=9} ---\n"
      "7 1700000001.800000 mkdir(\"/b\", 0777) = 0\n");
  CHECK(imported.info().facts.at("stopped") == "SIGSTOP or Ctrl-Z stopped the program for 1.50 s");
  CHECK_FALSE(Imported("7 1700000000.000000 mkdir(\"/a\", 0777) = 0\n"
                       "7 1700000000.100000 --- SIGCONT {si_signo=SIGCONT} ---\n")
                  .info()
                  .facts.contains("stopped"));
}

TEST_CASE("A thread that executes a program becomes the first one of its process") {
  Imported imported(
      "50 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD, "
      "child_tid=0x7f} => {parent_tid=[51]}, 88) = 51\n"
      "50 pause( <unfinished ...>\n"
      "51 openat(AT_FDCWD, \"/f\", O_RDONLY) = 3\n"
      "51 execve(\"/bin/true\", [\"true\"], 0x7f /* 3 vars */ <unfinished ...>\n"
      "50 +++ superseded by execve in pid 51 +++\n"
      "50 <... execve resumed>) = 0\n"
      "50 read(3, \"ab\", 2) = 2\n"
      "50 exit_group(0) = ?\n"
      "50 +++ exited with 0 +++\n");
  const std::string text = imported.text();
  CAPTURE(text);
  CHECK(text.find("1 exec bin/true\n") != std::string::npos);
  CHECK(text.find(" read #0 @0 +2 = 2\n") != std::string::npos);
  CHECK(imported.info().threads.size() == 2);
  CHECK(imported.info().lost.empty());
}

TEST_CASE("Calls without a result are counted, interrupted ones are restarted") {
  Imported imported(
      "9 read(0, 0x7f, 10) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)\n"
      "9 --- SIGCHLD {si_signo=SIGCHLD} ---\n"
      "9 mkdir(\"/a\", 0777 <unfinished ...>\n"
      "9 <... mkdir resumed>) = ?\n"
      "9 +++ killed by SIGKILL +++\n"
      "8 <... unlink resumed>) = 0\n"
      "8 mkdir(0x7f, 0777) = 0\n"
      "8 mkdir(0x7f, 0777) = -1 EFAULT (Bad address)\n"
      "8 mkdir(\"/late\",  <unfinished ...>\n");
  CHECK(imported.lost("calls cut off by the end of their thread") == 1);
  CHECK(imported.lost("calls started before the trace") == 1);
  CHECK(imported.lost("calls whose file name strace does not show") == 1);
  CHECK(imported.lost("calls with a bad pointer or descriptor: mkdir") == 1);
  CHECK(imported.lost("calls unfinished at the end of the trace") == 1);
  CHECK(imported.info().operations <= 2);  // the ends of the threads
}

TEST_CASE("Asynchronous requests are matched with their completions by context and name") {
  Imported imported(
      "5 openat(AT_FDCWD, \"/f\", O_RDWR) = 3\n"
      "5 io_submit(0x7f01, 2, [{aio_data=0x7, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, "
      "aio_buf=0x7f, aio_nbytes=50, aio_offset=20}, {aio_data=0x8, "
      "aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3, aio_buf=\"z\"..., aio_nbytes=60, "
      "aio_offset=70}]) = 2\n"
      "5 io_getevents(0x7f01, 1, 4, [{data=0x8, obj=0x7ff, res=60, res2=0}, {data=0x7, "
      "obj=0x7fe, res=40, res2=0}], NULL) = 2\n");
  const std::string text = imported.text();
  CAPTURE(text);
  CHECK(text.find("read #0 @20 +50 = 40 asynchronous") != std::string::npos);
  CHECK(text.find("write #0 @70 +60 = 60 asynchronous") != std::string::npos);
}

TEST_CASE("A file that is not strace output is rejected with its line") {
  RecordedCalls recorded;
  LineReader input("#!/bin/sh\necho hello\n", "script");
  CHECK_THROWS_WITH_AS(strace_importer().read(input, recorded.builder, {}),
                       doctest::Contains("script:2: "), Error);
  std::string long_text;
  for (int i = 0; i < 100; ++i) long_text += "\nno line\n";
  LineReader longer(long_text, "words");
  CHECK_THROWS_WITH_AS(strace_importer().read(longer, recorded.builder, {}),
                       doctest::Contains("words:40: "), Error);
  LineReader empty("", "empty");
  CHECK_THROWS_AS(strace_importer().read(empty, recorded.builder, {}), Error);
}

TEST_CASE("A stop request ends the import") {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "sync() = 0\n";
  RecordedCalls recorded;
  LineReader input(text, "app.strace");
  std::stop_source stop;
  stop.request_stop();
  CHECK_FALSE(strace_importer().read(input, recorded.builder, {.stop = stop.get_token()}));
}

TEST_CASE("strace output is recognised automatically") {
  const auto found = [](std::string_view text) {
    LineReader input(text, "input");
    return find_importer("auto", input).name;
  };
  CHECK(found("execve(\"/bin/true\", [\"true\"], 0x7f /* 3 vars */) = 0\n") == "strace");
  CHECK(found("garbage\n[pid 7] 11:50:31 close(3) = 0\n") == "strace");
  CHECK(found("7 <... read resumed>\"\", 10) = 0\n") == "strace");
  LineReader words("int main() { return 0; }\nx = f(1) = 2;", "words.c");
  CHECK_THROWS_WITH_AS(find_importer("auto", words), doctest::Contains("words.c:1: "), Error);
  LineReader any("", "any");
  CHECK(find_importer("strace", any).name == "strace");
  CHECK_THROWS_WITH_AS(find_importer("stracy", any), doctest::Contains("strace"), Error);
}

TEST_CASE("A link is followed before it is read, unless the trace creates it") {
  Imported imported(
      "stat(\"/bin/cc\", {st_mode=S_IFREG|0755, st_size=10, ...}) = 0\n"
      "access(\"/v/python\", X_OK) = -1 ENOENT (No such file or directory)\n"
      "readlink(\"/bin/cc\", \"gcc\", 4096) = 3\n"
      "symlink(\"python3\", \"/v/python\") = 0\n"
      "readlink(\"/v/python\", \"python3\", 4096) = 7\n");
  CHECK(imported.text() ==
        "0 stat bin/gcc mode 100755 +10\n"
        "0 access v/python mode 1 = -2\n"
        "0 readlink bin/cc 'gcc'\n"
        "0 symlink v/python 'python3'\n"
        "0 readlink v/python 'python3'\n");
}

TEST_CASE("Use of io_uring is counted, because its requests are not visible") {
  Imported imported("io_uring_setup(4, {flags=0}) = 3\nclose(3) = 0\n");
  CHECK(imported.recorded.approximated("io_uring requests, which strace does not show") == 1);
}

TEST_CASE("An attribute with a truncated name is omitted") {
  Imported imported(
      "getxattr(\"/f\", \"\"..., NULL, 0) = -1 ENODATA (No data available)\n"
      "setxattr(\"/f\", \"user.lo\"..., \"\"..., 1, 0) = 0\n");
  CHECK(imported.text().empty());
  CHECK(imported.recorded.approximated("names truncated by strace (strace -s)") == 2);
  CHECK(imported.lost("calls whose file name strace does not show") == 1);
}

TEST_CASE("A line from before midnight may follow one from after midnight") {
  Imported imported(
      "23:59:59.900000 mkdir(\"a\", 0777) = 0\n"
      "00:00:00.100000 mkdir(\"b\", 0777) = 0\n"
      "23:59:59.950000 mkdir(\"c\", 0777) = 0\n"
      "00:00:00.200000 mkdir(\"d\", 0777) = 0\n");
  REQUIRE(imported.operations.size() >= 4);
  CHECK(imported.operations[2].start_ns == 200'000'000);
  CHECK(imported.operations[3].start_ns == 300'000'000);
}

TEST_CASE("An implausible duration is ignored") {
  Imported imported(
      "1.000000 mkdir(\"a\", 0777) = 0 <18446744072.000000>\n"
      "1700000000.000000 mkdir(\"b\", 0777) = 0 <18446744072.000000>\n");
  for (const RecordedOperation& operation : imported.operations) CHECK(operation.duration_ns == 0);
}

TEST_CASE("Stack traces are skipped") {
  Imported imported(
      "mkdir(\"a\", 0777) = 0\n"
      " > /usr/lib/libc.so.6(mkdir+0xb) [0x10cd2b]\n"
      " > /bin/mkdir(main+0x10) [0x1000]\n");
  CHECK(imported.info().lost.empty());
}

TEST_CASE("Mounts are counted as lost") {
  Imported imported("mount(\"a\", \"/b\", \"\", MS_BIND, NULL) = 0\nsync() = 0\n");
  CHECK(imported.lost("unsupported system calls: mount") == 1);
}

TEST_CASE("A write with RWF_NOAPPEND goes to its offset") {
  Imported imported(
      "open(\"/a\", O_RDWR|O_CREAT|O_APPEND, 0644) = 3\n"
      "write(3, \"\"..., 100) = 100\n"
      "pwritev2(3, [{iov_base=\"\"..., iov_len=30}], 1, 0, RWF_NOAPPEND) = 30\n"
      "pwritev2(3, [{iov_base=\"\"..., iov_len=10}], 1, 0, 0x20 /* RWF_??? */) = 10\n"
      "write(3, \"\"..., 5) = 5\n"
      "open(\"/before\", O_WRONLY|O_APPEND) = 4\n"
      "pwritev2(4, [{iov_base=\"\"..., iov_len=30}], 1, 7, RWF_NOAPPEND) = 30\n"
      "write(4, \"\"..., 5) = 5\n");
  CHECK(imported.info().lost.empty());
  const auto offset = [&](std::size_t i) { return imported.operations[i].operation.offset; };
  CHECK(offset(2) == 0);
  CHECK(offset(3) == 0);
  CHECK(offset(4) == 100);
  // The size of a file that existed before stays unknown, or an append would follow byte 37.
  CHECK(imported.operations[6].operation.kind == OperationKind::set_flags);
  CHECK(offset(7) == 7);
  CHECK(imported.operations[8].operation.kind == OperationKind::set_flags);
}

TEST_CASE("A call with an unknown flag is counted by its name") {
  struct Line {
    std::string call, name;
  };
  const Line kLines[] = {
      {"openat(AT_FDCWD, \"/a\", O_RDONLY|O_FUTURE) = 4", "openat"},
      {"openat(AT_FDCWD, \"/a\", O_RDONLY|0x40000000) = 4", "openat"},
      {"openat2(AT_FDCWD, \"/a\", {flags=O_RDONLY, resolve=0x40}, 24) = 4", "openat2"},
      {"pwritev2(3, [{iov_base=\"\", iov_len=1}], 1, 0, 0x800) = 1", "pwritev2"},
      {"preadv2(3, [{iov_base=\"\", iov_len=1}], 1, 0, RWF_FUTURE) = 1", "preadv2"},
      {"io_submit(1, 1, [{aio_data=0, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3, aio_buf=\"\", "
       "aio_nbytes=1, aio_offset=0, aio_rw_flags=0x800}]) = 1",
       "io_submit"},
      {"lseek(3, 0, SEEK_FUTURE) = 0", "lseek"},
      {"lseek(3, 0, 0x5 /* SEEK_??? */) = 0", "lseek"},
      {"copy_file_range(3, [0], 3, [10], 5, 0x4) = 5", "copy_file_range"},
      {"splice(3, [0], 5, NULL, 5, 0x100) = 5", "splice"},
      {"fallocate(3, FALLOC_FL_WRITE_ZEROES, 0, 4096) = 0", "fallocate"},
      {"fallocate(3, 0x80 /* FALLOC_FL_??? */, 0, 4096) = 0", "fallocate"},
      {"sync_file_range(3, 0, 0, 0x8) = 0", "sync_file_range"},
      {"fadvise64(3, 0, 0, POSIX_FADV_FUTURE) = 0", "fadvise64"},
      {"flock(3, LOCK_MAND|LOCK_READ) = 0", "flock"},
      {"fcntl(3, F_SETFL, O_APPEND|O_FUTURE) = 0", "fcntl"},
      {"newfstatat(AT_FDCWD, \"/a\", {st_mode=S_IFREG|0644, st_size=1, ...}, 0x10000) = 0",
       "newfstatat"},
      {"statx(AT_FDCWD, \"/a\", 0x10000, STATX_ALL, {...}) = 0", "statx"},
      {"faccessat2(AT_FDCWD, \"/a\", F_OK, AT_FUTURE) = 0", "faccessat2"},
      {"unlinkat(AT_FDCWD, \"/b\", 0x1000) = 0", "unlinkat"},
      {"renameat2(AT_FDCWD, \"/a\", AT_FDCWD, \"/b\", 0x8) = 0", "renameat2"},
      {"linkat(AT_FDCWD, \"/a\", AT_FDCWD, \"/c\", AT_FUTURE) = 0", "linkat"},
      {"fchownat(AT_FDCWD, \"/a\", 1, 1, 0x2) = 0", "fchownat"},
      {"fchmodat2(AT_FDCWD, \"/a\", 0644, 0x2) = 0", "fchmodat2"},
      {"utimensat(AT_FDCWD, \"/a\", NULL, 0x2) = 0", "utimensat"},
      {"setxattr(\"/a\", \"user.a\", \"\", 0, 0x8) = 0", "setxattr"},
      {"mmap(NULL, 4096, PROT_READ, MAP_SHARED|MAP_FUTURE, 3, 0) = 0x7f0000000000", "mmap"},
      {"mmap(NULL, 4096, PROT_READ, 0x5 /* MAP_??? */, 3, 0) = 0x7f0000000000", "mmap"},
      {"close_range(10, 20, 0x1) = 0", "close_range"},
      {"dup3(3, 9, 0x1) = 9", "dup3"},
      {"unshare(0x1) = 0", "unshare"},
      {"clone(child_stack=NULL, flags=CLONE_FUTURE|SIGCHLD) = 99", "clone"},
      {"wait4(99, NULL, 0x10, NULL) = 99", "wait4"},
  };
  const std::string opened =
      "execve(\"/bin/x\", [\"x\"], 0x7ff /* 1 var */) = 0\n"
      "open(\"/a\", O_RDWR|O_CREAT, 0644) = 3\npipe([5, 6]) = 0\n";
  for (const Line& line : kLines) {
    CAPTURE(line.call);
    CHECK(Imported(opened + line.call + "\n")
              .lost("calls with flags that are not understood: " + line.name) == 1);
    // A failed one changed nothing.
    const std::string failed =
        line.call.substr(0, line.call.rfind(" = ")) + " = -1 EINVAL (Invalid argument)\n";
    CHECK(Imported(opened + failed).info().lost.empty());
  }
}

TEST_CASE("Flags that do not matter to files are known") {
  Imported imported(
      "execve(\"/bin/x\", [\"x\"], 0x7ff /* 1 var */) = 0\n"
      "open(\"/a\", O_RDWR|O_CREAT|O_LARGEFILE|O_NOATIME|O_NOCTTY|O_SYNC, 0644) = 3\n"
      "preadv2(3, [{iov_base=\"\", iov_len=1}], 1, 0, RWF_DONTCACHE|RWF_ATOMIC|RWF_HIPRI) = 1\n"
      "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB|21<<MAP_HUGE_SHIFT, -1, 0)"
      " = 0x7f0000000000\n"
      "mmap(NULL, 4096, PROT_READ, MAP_SHARED|MAP_POPULATE|MAP_LOCKED, 3, 0) = 0x7f0000200000\n"
      "socket(AF_UNIX, SOCK_STREAM|SOCK_FUTURE, 0) = 5\n"
      "preadv2(5, [{iov_base=\"\", iov_len=1}], 1, -1, 0x800) = 1\n"
      "clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGRT_7) = 99\n"
      "clone(child_stack=NULL, flags=SIGCHLD) = 100\n"
      "execveat(AT_FDCWD, \"/a\", [\"a\"], [], AT_EXECVE_CHECK) = 0\n"
      "fsync(3) = 0\n");
  CHECK(imported.info().lost.empty());
  CHECK(imported.operations.back().operation.kind == OperationKind::close);  // no exec of "a"
}

TEST_CASE("Calls that are not followed are counted by name if they succeeded on files") {
  const std::string begins =
      "execve(\"/bin/x\", [\"x\"], 0x7ff /* 1 var */) = 0\n"
      "openat(AT_FDCWD, \"/a\", O_RDWR) = 3\nsocket(AF_UNIX, SOCK_STREAM, 0) = 4\n";
  const auto lost = [&](const std::string& line, const std::string& result = "0") {
    Imported imported(begins + line + " = " + result + "\n");
    std::string text;
    for (const auto& [what, count] : imported.info().lost) text += what + ";";
    return text;
  };
  CHECK(lost("frobnicate(\"/a\", 3)") == "unknown system calls: frobnicate;");
  CHECK(lost("frobnicate(\"/a\", 3)", "-1 EINVAL (Invalid argument)").empty());
  CHECK(lost("frobnicate(\"/a\", 3)", "?").empty());
  CHECK(lost("syscall_0x1d3(0x3, 0x7f76e44c)") == "unknown system calls: syscall_0x1d3;");
  CHECK(lost("frobnicate(3, <unfinished ...>\n<... frobnicate resumed>{a}, 4)") ==
        "unknown system calls: frobnicate;");
  CHECK(lost("file_setattr(AT_FDCWD, \"/a\", {}, 24, 0)") ==
        "unsupported system calls: file_setattr;");
  CHECK(lost("vmsplice(3, {}, 1, 0)", "1") == "unsupported system calls: vmsplice;");
  CHECK(lost("vmsplice(4, {}, 1, 0)", "1").empty());
  CHECK(lost("ioctl(3, FIDEDUPERANGE or BTRFS_IOC_FILE_EXTENT_SAME, {})") ==
        "unsupported system calls: ioctl FIDEDUPERANGE;");
  CHECK(lost("ioctl(3, FS_IOC_SETFLAGS, [0])") ==
        "unsupported system calls: ioctl FS_IOC_SETFLAGS;");
  CHECK(lost("ioctl(3, _IOC(_IOC_WRITE, 0x66, 0x2, 0x8), 0x7ff)") ==
        "unsupported system calls: ioctl FS_IOC_SETFLAGS;");
  CHECK(lost("ioctl(3, NEW_FS_IOC, [0])") == "unsupported system calls: ioctl;");
  CHECK(lost("ioctl(4, NEW_FS_IOC, [0])").empty());
  CHECK(lost("ioctl(1, TCSETS, {B38400 opost isig icanon echo ...})").empty());
  CHECK(lost("ioctl(3, FS_IOC_GETFLAGS, [FS_EXTENT_FL])").empty());
  CHECK(lost("fcntl(3, F_NEW_COMMAND, 0x1)") == "unsupported system calls: fcntl;");
  CHECK(lost("fcntl(3, F_SET_RW_HINT, [RWH_WRITE_LIFE_SHORT])").empty());
  CHECK(lost("fcntl(4, F_NEW_COMMAND, 0x1)").empty());
  CHECK(lost("getpid()", "7").empty());
  CHECK(lost("futex(0x7f00, FUTEX_WAKE_PRIVATE, 1)", "1").empty());
}

TEST_CASE("The number of unknown names is bounded") {
  std::string text = "execve(\"/bin/x\", [\"x\"], 0x7ff /* 1 var */) = 0\n";
  for (int i = 0; i < 200; ++i) {
    text += "a" + std::to_string(i) + "() = 0\nopenat(AT_FDCWD, \"/a\", O_RDONLY) = 3\n";
  }
  Imported imported(text);
  CHECK(imported.info().lost.size() == 51);
  CHECK(imported.lost("unknown system calls: other names") == 150);
}

TEST_CASE("What is done through a descriptor of an unsupported call is counted") {
  Imported imported(
      "execve(\"/bin/x\", [\"x\"], 0x7ff /* 1 var */) = 0\n"
      "open_tree(AT_FDCWD, \"/d\", OPEN_TREE_CLONE|OPEN_TREE_CLOEXEC) = 3\n"
      "openat(3</>, \"x\", O_WRONLY|O_CREAT, 0644) = 4</x>\n"
      "write(4</x>, \"hello\", 5) = 5\n"
      "openat(3</>, \"/y\", O_WRONLY|O_CREAT, 0644) = 5\n"
      "close(4) = 0\nopen_by_handle_at(9, {handle_bytes=8}, O_RDONLY) = 4\nread(4, \"\", 5) = 5\n"
      "fsmount(6, 0, 0) = 7\nmkdirat(7, \"d\", 0777) = 0\n");
  CHECK(imported.lost("unsupported system calls: open_tree") == 1);
  CHECK(imported.lost("unsupported system calls: open_by_handle_at") == 1);
  CHECK(imported.lost("unsupported system calls: fsmount") == 1);
  CHECK(imported.lost("calls through descriptors of unsupported system calls") == 4);
  const std::string operations = imported.text();
  CHECK(operations.contains("open y"));
  CHECK_FALSE(operations.contains("open x"));
}

TEST_CASE("A place in the tree is opened with O_PATH") {
  Imported imported(
      "execve(\"/bin/x\", [\"x\"], 0x7ff /* 1 var */) = 0\n"
      "open_tree(AT_FDCWD, \"/d\", OPEN_TREE_CLOEXEC) = 3\n"
      "openat(3, \"x\", O_WRONLY|O_CREAT, 0644) = 4\n");
  CHECK(imported.info().lost.empty());
  CHECK(imported.text().contains("open d/x"));
}

TEST_CASE("A text that is not of strace is refused, even if some lines look like calls") {
  const std::string_view kTexts[] = {
      "#include <fcntl.h>\nint main(void) {\nopen(path, 0) = 3\n  return 0;\n}\n",
      "--- a/file\n+++ b/file\n@@ -1 +1 @@\n",
      "printf(\"a\") = 1\nfoo(a, b) = 0\n",
      "{\"a\": 1,\n\"b\": \"open(x) = 3\"}\n",
      "[    0.000000] Linux version 6.1\n[    0.100000] read(3) = 0\n",
      "A program calls\nopen(\"a\", O_RDONLY) = 3\nand then\nit ends.\n",
  };
  for (const std::string_view text : kTexts) {
    CAPTURE(text);
    RecordedCalls recorded;
    LineReader input(text, "text");
    try {
      strace_importer().read(input, recorded.builder, {});
      FAIL_CHECK("accepted");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::unusable_input);
    }
  }
  CHECK(Imported("getpid() = 3\nfutex(0x1, FUTEX_WAIT, 1, NULL) = 0\n").operations.empty());
  CHECK(Imported("read(3, \"a\", 1) = 1\n | 00000  61   a |\n | 00010  61   a |\n")
            .info()
            .lost.empty());
}

TEST_CASE("Core dumps are counted") {
  Imported imported(
      "1 getpid() = 1\n1 --- SIGSEGV {si_signo=SIGSEGV} ---\n"
      "1 +++ killed by SIGSEGV (core dumped) +++\n2 getpid() = 2\n"
      "2 +++ killed by SIGKILL +++\n");
  CHECK(imported.lost("core dumps") == 1);
}

TEST_CASE("Arguments that are missing are counted, not taken for 0") {
  const std::string opened = "open(\"/a\", O_RDWR|O_CREAT, 0644) = 3\n";
  for (const std::string line : {"pwrite64(3, \"abc\", 3) = 3", "fallocate(3, 0, 100) = 0",
                                 "write(3, \"abc\") = 16", "ftruncate(3) = 0"}) {
    CAPTURE(line);
    const std::string name = line.substr(0, line.find('('));
    CHECK(
        Imported(opened + line + "\n").lost("calls with values that could not be read: " + name) ==
        1);
  }
}

TEST_CASE("Unknown names in the resolve flags of openat2 are counted") {
  CHECK(Imported("openat2(AT_FDCWD, \"/a\", {flags=O_RDONLY, resolve=RESOLVE_NEW}, 24) = 3\n")
            .lost("calls with flags that are not understood: openat2") == 1);
}

TEST_CASE("Sockets bound with addresses of any form are names or counted") {
  const std::string begin = "socket(AF_UNIX, SOCK_STREAM, 0) = 6\n";
  const auto lost = [&](const std::string& address) {
    return Imported(begin + "bind(6, " + address + ", 110) = 0\n")
        .lost("calls whose file name strace does not show");
  };
  CHECK(lost("{sa_family=AF_UNIX, sun_path=\"/s\"}") == 0);
  CHECK(lost("{sa_family=AF_FILE, path=\"/s\"}") == 0);
  CHECK(lost("{sa_family=AF_UNIX, sun_path=@\"s\"}") == 0);
  CHECK(lost("{sa_family=AF_INET, sin_port=htons(80)}") == 0);
  CHECK(lost("{sa_family=AF_UNIX}") == 0);  // the kernel chooses a name
  CHECK(lost("{...}") == 1);
  CHECK(lost("0x7ffd1234") == 1);
  Imported old(begin + "bind(6, {sa_family=AF_FILE, path=\"/s\"}, 110) = 0\n");
  CHECK(old.text().contains(" mknod s "));
}

TEST_CASE("A call that its thread did not survive is counted") {
  CHECK(Imported("100 unlink(\"/a\" <unfinished ...>\n100 +++ killed by SIGKILL +++\n")
            .lost("calls cut off by the end of their thread") == 1);
}
