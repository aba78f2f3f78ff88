// Names of pipes, sockets and devices.
#include <cerrno>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/traces/recorded_calls.h"

namespace filereel {
namespace {

SystemCall pipe_at(const std::string& path, std::int64_t result = 0) {
  SystemCall call = on_path(Call::mknod, path, result);
  call.mode = S_IFIFO | 0644;
  return call;
}

TEST_CASE("a directory that holds only nodes is empty in a replay") {
  RecordedCalls calls;
  calls.run(on_path(Call::mkdir, "/d")).run(pipe_at("/d/p")).run(pipe_at("/d/q"));
  calls.text();
  calls.run(on_path(Call::rmdir, "/d", -ENOTEMPTY));
  CHECK(calls.text().empty());
  CHECK(calls.approximated("calls on pipes, sockets and devices omitted") == 1);
  calls.run(open_at("/d/file", O_WRONLY | O_CREAT, 3)).run(close_of(3));
  calls.text();
  calls.run(on_path(Call::rmdir, "/d", -ENOTEMPTY));
  CHECK(calls.text() == "0 rmdir d = -39\n");
}

TEST_CASE("nodes move with their directory") {
  RecordedCalls calls;
  calls.run(on_path(Call::mkdir, "/d")).run(pipe_at("/d/p"));
  calls.run(two_paths(Call::rename, "/d", "/e"));
  calls.text();
  calls.run(on_path(Call::unlink, "/e/p")).run(on_path(Call::unlink, "/d/p", -ENOENT));
  CHECK(calls.text() == "0 unlink e/p loose\n0 unlink d/p = -2\n");
}

TEST_CASE("a node takes the place of a file") {
  RecordedCalls calls;
  calls.run(pipe_at("/p")).run(open_at("/f", O_WRONLY | O_CREAT, 3)).run(close_of(3));
  calls.text();
  calls.run(two_paths(Call::rename, "/p", "/f"));
  CHECK(calls.text() == "0 unlink f\n0 rename p -> f loose\n");
}

}  // namespace
}  // namespace filereel
