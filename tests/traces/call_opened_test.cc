// What a tracer in the kernel sees of files as they are opened, and the trees that follow from it.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/traces/recorded_calls.h"

using namespace filereel;

namespace {

SystemCall saw(SystemCall call, std::uint64_t size, std::uint32_t mode = S_IFREG | 0640,
               std::uint64_t inode = 0) {
  call.stat = SeenStat{.mode = mode, .size = size, .device = 1, .inode = inode};
  return call;
}

SystemCall made(SystemCall call, bool created) {
  call.created = created;
  return call;
}

std::string trees_of(RecordedCalls& calls) {
  const TraceTrees trees = calls.builder.trees();
  std::string text;
  for (const FileSet* set : {&trees.initial, &trees.final}) {
    for (const Entry& entry : set->entries) {
      text += fmt::format("{} {:o} {}, ", entry.path, entry.mode, entry.size);
    }
    text += "; ";
  }
  return text + fmt::format("{} absent", trees.absent);
}

// The operations of a call with and without what the tracer saw are the same.
std::string same_text(const std::vector<SystemCall>& seen, RecordedCalls& calls) {
  RecordedCalls plain;
  for (SystemCall call : seen) {
    calls.run(call);
    if (call.call == Call::open) call.stat.reset();
    call.size_before.reset();
    call.created.reset();
    plain.run(call);
  }
  const std::string text = calls.text();
  CHECK(text == plain.text());
  return text;
}

}  // namespace

TEST_CASE("an opened file has the size and mode seen by the tracer, operations do not") {
  RecordedCalls calls;
  SystemCall stat = on_file(Call::fstat, 3);
  stat.stat = SeenStat{.mode = S_IFREG | 0640, .size = 5000};
  CHECK(same_text({saw(open_at("/a", O_RDWR, 3), 5000), data_at(Call::write, 3, 10, 5, 5), stat},
                  calls) ==
        "0 open a #0 flags 2\n"
        "0 write #0 @10 +5 = 5\n"
        "0 stat #0 mode 100640 +5000\n");
  CHECK(trees_of(calls) == "a 640 5000, ; a 640 5000, ; 0 absent");
}

TEST_CASE("a file truncated by its open keeps its earlier size in the initial tree") {
  RecordedCalls calls;
  SystemCall open = saw(open_at("/a", O_WRONLY | O_TRUNC, 3), 0);
  open.size_before = 777;
  same_text({open, data(Call::write, 3, 10, 10)}, calls);
  CHECK(trees_of(calls) == "a 640 777, ; a 640 10, ; 0 absent");
}

TEST_CASE("the tracer reports whether an open with O_CREAT created the file") {
  RecordedCalls calls;
  same_text({made(saw(open_at("/new", O_RDWR | O_CREAT, 3), 0, S_IFREG | 0644), true),
             data_at(Call::write, 3, 0, 100, 100),
             made(saw(open_at("/old", O_RDWR | O_CREAT, 4), 300), false),
             data_at(Call::write, 4, 0, 100, 100)},
            calls);
  CHECK(trees_of(calls) == "old 640 300, ; new 644 100, old 640 300, ; 1 absent");
}

TEST_CASE("creat of an existing file leaves it in the initial tree") {
  RecordedCalls calls;
  SystemCall open = made(saw(open_at("/a", O_WRONLY | O_CREAT | O_TRUNC, 3), 0), false);
  open.size_before = 300;
  same_text({open, data(Call::write, 3, 10, 10), close_of(3), on_path(Call::unlink, "/a")}, calls);
  CHECK(trees_of(calls) == "a 640 300, ; ; 0 absent");
}

TEST_CASE("data written by the trace did not exist before") {
  RecordedCalls calls;
  calls.run(open_at("/a", O_RDWR | O_CREAT | O_EXCL, 3))
      .run(data(Call::write, 3, 50, 50))
      .run(made(saw(open_at("/a", O_RDWR | O_CREAT, 4), 80), false));
  CHECK(trees_of(calls) == "; a 644 50, ; 1 absent");
}

TEST_CASE("a size seen later does not change known sizes") {
  RecordedCalls calls;
  calls.run(saw(open_at("/a", O_RDWR, 3), 100))
      .run(data_at(Call::write, 3, 100, 50, 50))
      .run(saw(open_at("/a", O_RDWR, 4), 300));  // with a write that has not returned
  CHECK(trees_of(calls) == "a 640 100, ; a 640 150, ; 0 absent");
}

TEST_CASE("directories are known by their mode") {
  RecordedCalls calls;
  SystemCall make = on_path(Call::mkdir, "x");
  make.dir = 3;
  calls.run(saw(open_at("/d", O_RDONLY, 3), 4096, S_IFDIR | 0711))
      .run(two_paths(Call::rename, "/d", "/e"))
      .run(make);
  CHECK(calls.text() == "0 open d #0\n0 rename d -> e\n0 mkdir e/x\n");
  CHECK(trees_of(calls) == "d 711 0, ; e 711 0, e/x 700 0, ; 1 absent");
}

TEST_CASE("pipes, sockets and devices opened by path are not files") {
  RecordedCalls calls;
  calls.run(saw(open_at("/fifo", O_RDWR, 3), 0, S_IFIFO | 0600))
      .run(data(Call::read, 3, 10, 10))
      .run(on_path(Call::chmod, "/fifo"));
  CHECK(calls.text().empty());
  CHECK(calls.approximated("calls on pipes, sockets and devices omitted") == 2);
}

TEST_CASE("files with several names from before the trace are counted once each") {
  const std::string what = "hard links created before the trace treated as separate files";
  RecordedCalls calls;
  for (int i = 0; i < 3; ++i) {
    calls.run(saw(open_at("/a", O_RDONLY, 3), 5, S_IFREG | 0644, 12)).run(close_of(3));
    calls.run(saw(open_at("/b", O_RDONLY, 3), 5, S_IFREG | 0644, 12)).run(close_of(3));
  }
  CHECK(calls.approximated(what) == 1);
  // Links that the trace shows are no surprise, nor is an inode that is used again.
  calls.run(saw(open_at("/c", O_RDONLY, 3), 5, S_IFREG | 0644, 13)).run(close_of(3));
  calls.run(two_paths(Call::link, "/c", "/d"));
  calls.run(saw(open_at("/d", O_RDONLY, 3), 5, S_IFREG | 0644, 13)).run(close_of(3));
  calls.run(on_path(Call::unlink, "/c")).run(on_path(Call::unlink, "/d"));
  calls.run(saw(open_at("/e", O_RDONLY, 3), 5, S_IFREG | 0644, 13)).run(close_of(3));
  CHECK(calls.approximated(what) == 1);
}
