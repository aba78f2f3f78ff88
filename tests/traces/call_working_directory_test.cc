// Working directories that threads move under each other's feet.
#include <cerrno>

#include <doctest/doctest.h>
#include <sched.h>

#include "tests/traces/recorded_calls.h"

using namespace filereel;

namespace {

constexpr int kCreateFile = O_WRONLY | O_CREAT | O_EXCL;
constexpr std::uint64_t kCloneThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_THREAD;

// Two threads of one process in /a, beside which there is /b.
struct Shared : RecordedCalls {
  Shared() {
    run(on_path(Call::mkdir, "/a")).run(on_path(Call::mkdir, "/b"));
    run(on_path(Call::chdir, "/a")).run(fork_of(200, kCloneThread));
    text();
  }
};

}  // namespace

TEST_CASE("an opened path reveals the working directory of its name") {
  Shared calls;
  const SystemCall create = calls.begin(open_at("x", kCreateFile, 0));
  calls.run(by(200, on_path(Call::chdir, "/b"))).run(by(200, on_path(Call::chdir, "/")));
  SystemCall made = create;
  made.dir_path = "/a";
  made.result_path = "/b/x";
  calls.end(made, 3);
  calls.run(on_path(Call::stat, "b/x"));
  CHECK(calls.text() ==
        "1 chdir b\n"
        "1 chdir .\n"
        "0 open b/x #0 flags 301 mode 644\n"
        "0 stat b/x +0\n");
}

TEST_CASE("an opened path reveals a working directory that was never seen") {
  Shared calls;
  calls.text();
  SystemCall create = open_at("x", kCreateFile, 3);
  create.dir_path = "/a";
  create.result_path = "/b/x";
  calls.run(create);
  CHECK(calls.text() == "0 open b/x #0 flags 301 mode 644\n");
}

TEST_CASE("a rename used the working directory of its file") {
  Shared calls;
  calls.run(open_at("/a/x", kCreateFile, 3)).run(by(200, on_path(Call::chdir, "/b")));
  calls.text();
  const SystemCall in_vain = calls.begin(two_paths(Call::rename, "x", "y"));
  calls.run(by(200, on_path(Call::chdir, "/a")));
  calls.end(in_vain, -ENOENT);
  const SystemCall rename = calls.begin(two_paths(Call::rename, "x", "y"));
  calls.run(by(200, on_path(Call::chdir, "/b")));
  calls.end(rename, 0);
  CHECK(calls.text() ==
        "1 chdir a\n"
        "0 rename b/x -> b/y = -2\n"
        "1 chdir b\n"
        "0 rename a/x -> a/y\n");
}

TEST_CASE("a name waits for the change of directory that may explain it") {
  Shared calls;
  const SystemCall chdir = calls.begin(by(200, on_path(Call::chdir, "/b")));
  SystemCall create = calls.begin(open_at("x", kCreateFile, 0));
  create.result_path = "/b/x";
  calls.end(create, 3);
  CHECK(calls.text().empty());
  calls.end(chdir, 0);
  CHECK(calls.text() == "1 chdir b\n0 open b/x #0 flags 301 mode 644\n");
}

TEST_CASE("a name waits for the change of directory by a thread whose fork has not returned") {
  Shared calls;
  const SystemCall fork = calls.begin(by(200, fork_of(300, kCloneThread)));
  calls.run(by(300, on_path(Call::chdir, "/b")));
  SystemCall create = calls.begin(open_at("x", kCreateFile, 0));
  create.result_path = "/b/x";
  calls.end(create, 3);
  CHECK(calls.text().empty());
  calls.end(fork, 300);
  CHECK(calls.text() ==
        "1 fork second 2\n"
        "2 chdir b\n"
        "0 open b/x #0 flags 301 mode 644\n");
}

TEST_CASE("a call does not use a working directory left before it started") {
  Shared calls;
  calls.run(by(200, on_path(Call::chdir, "/b")));
  calls.text();
  calls.run(on_path(Call::mkdir, "x")).run(on_path(Call::unlink, "x", -EISDIR));
  CHECK(calls.text() == "0 mkdir b/x\n0 unlink b/x = -21\n");
}
