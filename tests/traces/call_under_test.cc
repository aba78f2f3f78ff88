// Traces of what touches one directory.
#include <doctest/doctest.h>
#include <linux/fs.h>
#include <sys/mman.h>

#include "tests/traces/recorded_calls.h"
#include "traces/open_flags.h"

using namespace filereel;

namespace {

struct CallsUnder : RecordedCalls {
  CallsUnder() : RecordedCalls(ResolverOptions{.under = "/d"}) {}

  std::string initial() {
    std::string text;
    for (const Entry& entry : builder.trees().initial.entries) text += entry.path + " ";
    return text;
  }
};

SystemCall copy_of(int from, int to, std::uint64_t length) {
  SystemCall call = data(Call::copy_file_range, from, length, static_cast<std::int64_t>(length));
  call.fd2 = to;
  return call;
}

}  // namespace

TEST_CASE("only what touches the directory is kept, with slots and threads") {
  CallsUnder calls;
  calls.run(open_at("/x", O_RDWR, 3))
      .run(open_at("/d/a", O_RDWR, 4))
      .run(data(Call::read, 3, 10, 10))
      .run(data(Call::write, 4, 10, 10))
      .run(on_path(Call::mkdir, "/e"))
      .run(on_path(Call::mkdir, "/d/e"))
      .run(on_path(Call::stat, "/d"))
      .run(on_path(Call::stat, "/dd"))
      .run(on_path(Call::chdir, "/x"))
      .run(on_path(Call::chdir, "/d"))
      .run(on_path(Call::stat, "e"))
      .run(fork_of(200))
      .run(by(200, call_of(Call::exit_group, 0)))
      .run(dup_of(4, 5))
      .run(close_of(3))
      .run(close_of(4))
      .run(data(Call::write, 5, 10, 10))
      .run(close_of(5))
      .run(call_of(Call::sync, 0));
  CHECK(calls.text() ==
        "0 open d/a #1 flags 2\n"
        "0 write #1 @0 +10 = 10\n"
        "0 mkdir d/e\n"
        "0 stat d +0\n"
        "0 chdir d\n"
        "0 stat d/e +0\n"
        "0 fork second 1\n"
        "1 exit\n"
        "0 write #1 @10 +10 = 10\n"
        "0 close #1\n"
        "0 syncfs\n");
  CHECK(calls.initial() == "d d/a ");
}

TEST_CASE("renames, links and copies are kept if either end is inside") {
  CallsUnder calls;
  calls.run(two_paths(Call::rename, "/x", "/d/x"))
      .run(two_paths(Call::rename, "/d/y", "/y"))
      .run(two_paths(Call::rename, "/v", "/w"))
      .run(two_paths(Call::link, "/d/x", "/z"))
      .run(two_paths(Call::link, "/u", "/d/u"))
      .run(two_paths(Call::link, "/u", "/t"));
  CHECK(calls.text() ==
        "0 rename x -> d/x\n"
        "0 rename d/y -> y\n"
        "0 link d/x -> z\n"
        "0 link u -> d/u\n");
  CHECK(calls.approximated("files moved into the recorded directory start empty") == 1);
  calls.run(open_at("/s", O_RDONLY, 3))
      .run(open_at("/d/t", O_WRONLY | O_CREAT | O_TRUNC, 4))
      .run(copy_of(3, 4, 100))
      .run(data(Call::read, 3, 10, 10))
      .run(close_of(3));
  CHECK(calls.text() ==
        "0 open d/t #1 flags 1101 mode 644\n"
        "0 open s #0 loose\n"
        "0 copy_range #1 from 0 @0 +100 second 0 = 100\n"
        "0 close #0\n");
}

TEST_CASE("a file moved inside while open is opened there") {
  CallsUnder calls;
  calls.run(open_at("/x", O_RDWR | O_CREAT | O_EXCL, 3))
      .run(data(Call::write, 3, 10, 10))
      .run(two_paths(Call::rename, "/x", "/d/x"))
      .run(data(Call::write, 3, 10, 10))
      .run(close_of(3));
  CHECK(calls.text() ==
        "0 rename x -> d/x\n"
        "0 open d/x #0 flags 2 loose\n"
        "0 write #0 @10 +10 = 10\n"
        "0 close #0\n");
  // And goes on where it leaves.
  calls.run(open_at("/d/y", O_RDWR, 3))
      .run(two_paths(Call::rename, "/d/y", "/y"))
      .run(data(Call::write, 3, 10, 10))
      .run(close_of(3));
  CHECK(calls.text() ==
        "0 open d/y #0 flags 2\n"
        "0 rename d/y -> y\n"
        "0 write #0 @0 +10 = 10\n"
        "0 close #0\n");
}

TEST_CASE("maps and requests are kept with their files") {
  CallsUnder calls;
  SystemCall map = data_at(Call::mmap, 3, 0, 4096, 0x10000);
  map.flags = MAP_SHARED;
  map.mode = PROT_READ;
  SystemCall unmap = call_of(Call::munmap, 0);
  unmap.address = 0x10000;
  unmap.length = 4096;
  SystemCall submit = data_at(Call::submit, 3, 0, 512, 0);
  SystemCall complete = call_of(Call::complete, 512);
  for (const char* path : {"/x", "/d/x"}) {
    calls.run(open_at(path, O_RDWR, 3)).run(map).run(unmap).run(submit).run(complete);
    calls.run(close_of(3));
  }
  CHECK(calls.text() ==
        "0 open d/x #0 flags 2\n"
        "0 mmap #0 from 0 flags 401 @0 +4096\n"
        "0 munmap from 0\n"
        "0 read #0 @0 +512 = 512 asynchronous\n"
        "0 reap +0\n"
        "0 close #0\n");
}

TEST_CASE("links outside lead inside") {
  CallsUnder calls;
  SystemCall link = on_path(Call::symlink, "/l");
  link.text = "/d";
  calls.run(link).run(on_path(Call::stat, "/l/a")).run(on_path(Call::unlink, "/l"));
  CHECK(calls.text() == "0 stat d/a +0\n");
  CHECK(calls.initial() == "d d/a ");
}

TEST_CASE("links outside are followed, but are not in the trees") {
  CallsUnder calls;
  calls.resolver.expect_link("/etc/zone", "/usr/zones/here");
  calls.resolver.expect_link("/m", "/d");
  SystemCall shell = open_at("/bin/sh", O_RDONLY, 3);
  shell.result_path = "/usr/bin/sh";
  calls.run(on_path(Call::stat, "/etc/zone"))
      .run(on_path(Call::stat, "/m/a"))
      .run(on_path(Call::stat, "/m/b"))
      .run(shell)
      .run(close_of(3));
  CHECK(calls.text() == "0 stat d/a +0\n0 stat d/b +0\n");
  CHECK(calls.initial() == "d d/a d/b ");
  CHECK(calls.builder.trees().final.entries.size() == 3);
}

TEST_CASE("an unnamed file from outside gets a name inside") {
  CallsUnder calls;
  SystemCall open = open_at("/tmp", open_flags::kTemporary | O_RDWR, 3);
  SystemCall link = two_paths(Call::link, "/proc/self/fd/3", "/d/new");
  link.flags = AT_SYMLINK_FOLLOW;
  calls.run(open).run(link).run(close_of(3));
  CHECK(calls.text() ==
        "0 open tmp #0 flags 20200002 mode 644 loose\n"
        "0 link d/new #0\n"
        "0 close #0\n");
}
