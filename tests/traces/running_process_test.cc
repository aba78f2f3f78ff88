#include "traces/record/running_process.h"

#include <algorithm>
#include <chrono>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "tests/skipped.h"
#include "tests/temp_dir.h"
#include "traces/record/program.h"

namespace filereel {
namespace {

const auto kSelf = static_cast<std::uint32_t>(getpid());

const KnownProcess::Open* find(const KnownProcess& process, int number) {
  const auto at = std::ranges::find(process.open, number, &KnownProcess::Open::number);
  return at == process.open.end() ? nullptr : &*at;
}

TEST_CASE("a running process is seen with its files, umask, threads and directory") {
  const TempDir temp;
  const Descriptor file(open((temp / "f").c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  REQUIRE(write(file.get(), "abc", 3) == 3);
  REQUIRE(lseek(file.get(), 1234, SEEK_SET) == 1234);
  const mode_t before = umask(027);
  const KnownProcess seen = running_process(kSelf, false);
  umask(before);
  CHECK(seen.id == kSelf);
  CHECK(seen.mode_mask == 027);
  CHECK(std::ranges::count(seen.threads, kSelf) == 1);
  CHECK(seen.directory == working_directory_of(kSelf));
  CHECK(seen.root == "/");
  const KnownProcess::Open* found = find(seen, file.get());
  REQUIRE(found != nullptr);
  CHECK(found->path == temp / "f");
  CHECK(found->position == 1234);
  REQUIRE(found->stat);
  CHECK(found->stat->size == 3);
  CHECK((found->flags & (O_ACCMODE | O_APPEND)) == (O_RDWR | O_APPEND));
  CHECK(find(running_process(kSelf, true), file.get()) == nullptr);  // exec would close it
}

// Makes processes that end at once, until it is killed, or the test ends.
[[noreturn]] void crowd() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGCHLD, SIG_IGN);  // they leave nothing behind
  while (true) {
    if (fork() == 0) _exit(0);
  }
}

TEST_CASE("processes that end while being read are harmless") {
  const pid_t parent = fork();
  REQUIRE(parent >= 0);
  if (parent == 0) crowd();
  using Clock = std::chrono::steady_clock;
  for (const auto end = Clock::now() + std::chrono::seconds(2); Clock::now() < end;) {
    for (const std::uint32_t process : process_tree(static_cast<std::uint32_t>(parent))) {
      CHECK(running_process(process, false).id == process);
      command_text({}, process);
    }
  }
  kill(parent, SIGKILL);
  CHECK(waitpid(parent, nullptr, 0) == parent);
}

TEST_CASE("a held program is a child of ours and has its own command line once it runs") {
  HeldProgram program({"sleep", "60"});
  const auto id = static_cast<std::uint32_t>(program.pid());
  const std::vector<std::uint32_t> tree = process_tree(kSelf);
  CHECK(tree.front() == kSelf);
  CHECK(std::ranges::count(tree, id) == 1);
  CHECK(process_tree(id) == std::vector<std::uint32_t>{id});
  const std::vector<std::uint32_t> above = process_tree(static_cast<std::uint32_t>(getppid()));
  CHECK(std::ranges::count(above, kSelf) == 0);
  CHECK(std::ranges::count(above, id) == 0);
  program.release();
  CHECK(command_text({}, id) == "sleep 60");
  program.terminate();
  program.wait(10);
}

TEST_CASE("a running process is seen with its root") {
  if (geteuid() != 0) return skipped("needs root");
  HeldProgram program({"true"}, [] {
    if (chroot("/proc") != 0) _exit(1);
  });
  CHECK(running_process(static_cast<std::uint32_t>(program.pid()), true).root == "/proc");
}

TEST_CASE("an ended process has no state") {
  constexpr std::uint32_t kNone = 1 << 23;  // above all numbers
  const KnownProcess seen = running_process(kNone, false);
  CHECK(seen.open.empty());
  CHECK(seen.threads.empty());
  CHECK(working_directory_of(kNone) == "/");
  CHECK(command_text({}, kNone).empty());
}

}  // namespace
}  // namespace filereel
