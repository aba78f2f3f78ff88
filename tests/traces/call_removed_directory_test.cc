// Working directories and open directories that are removed, replaced or renamed.
#include <cerrno>

#include <doctest/doctest.h>

#include "tests/traces/recorded_calls.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

constexpr int kDirectory = O_RDONLY | static_cast<int>(open_flags::kDirectory);

TEST_CASE("a removed working directory is not another one of its name") {
  RecordedCalls calls;
  calls.run(on_path(Call::mkdir, "/w/d")).run(on_path(Call::chdir, "/w/d"));
  calls.run(on_path(Call::rmdir, "../d")).run(on_path(Call::mkdir, "/w/d"));
  calls.text();
  calls.run(open_at("x", O_WRONLY | O_CREAT, -ENOENT))
      .run(open_at("../y", O_WRONLY | O_CREAT, 3))
      .run(two_paths(Call::rename, "/w/y", "x", -ENOENT));
  CHECK(calls.text() ==
        "0 open w/.filereel-removed/x flags 101 mode 644 = -2\n"
        "0 open w/y #0 flags 101 mode 644\n"
        "0 rename w/y -> w/.filereel-removed/x = -2\n");
  // The other one moves, then the parent of both.
  calls.run(two_paths(Call::rename, "/w/d", "/w/e")).run(two_paths(Call::rename, "/w", "/v"));
  calls.text();
  calls.run(on_path(Call::access, "x", -ENOENT)).run(on_path(Call::unlink, "../y"));
  CHECK(calls.text() == "0 access v/.filereel-removed/x = -2\n0 unlink v/y\n");
}

TEST_CASE("a removed directory that was open, and one that is opened after that") {
  RecordedCalls calls;
  calls.run(on_path(Call::mkdir, "/d")).run(on_path(Call::chdir, "/d"));
  calls.run(open_at("/d", kDirectory, 3)).run(on_path(Call::rmdir, "/d"));
  calls.text();
  calls.run(open_at(".", kDirectory, 4)).run(data(Call::getdents, 4, 100, -ENOENT));
  calls.run(on_path(Call::stat, ".")).run(close_of(4));
  CHECK(calls.text().empty());
  CHECK(calls.approximated("calls on removed directories omitted") == 3);
  calls.run(data(Call::getdents, 3, 100, -ENOENT)).run(on_path(Call::mkdir, "/d"));
  calls.text();
  SystemCall below = open_at("x", O_WRONLY | O_CREAT, -ENOENT);
  below.dir = 3;
  calls.run(below).run(close_of(3));
  CHECK(calls.text() ==
        "0 open .filereel-removed/x flags 101 mode 644 = -2\n"
        "0 close #0\n");
}

TEST_CASE("a directory that another one replaces is a removed one") {
  RecordedCalls calls;
  calls.run(on_path(Call::mkdir, "/a")).run(on_path(Call::mkdir, "/b"));
  calls.run(on_path(Call::chdir, "/b")).run(two_paths(Call::rename, "/a", "/b"));
  calls.text();
  calls.run(open_at("x", O_WRONLY | O_CREAT, -ENOENT));
  CHECK(calls.text() == "0 open .filereel-removed/x flags 101 mode 644 = -2\n");
}

TEST_CASE("a removed directory that only the tracer knows to be removed") {
  RecordedCalls calls("/d");
  SystemCall open = open_at(".", kDirectory, 3);
  open.result_path = std::string("/d") + kRemovedMark;
  calls.run(open).run(data(Call::getdents, 3, 100, -ENOENT));
  CHECK(calls.text().empty());
}

TEST_CASE("the initial working directory is renamed, and another one gets its name") {
  RecordedCalls calls("/d");
  calls.run(two_paths(Call::rename, "/d", "/e")).run(on_path(Call::mkdir, "/d"));
  calls.text();
  calls.run(open_at("x", O_WRONLY | O_CREAT, 3));
  CHECK(calls.text() == "0 open e/x #0 flags 101 mode 644\n");
}

}  // namespace
}  // namespace filereel
