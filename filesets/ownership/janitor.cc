#include "filesets/ownership/janitor.h"

#include <array>
#include <cerrno>
#include <exception>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "filesets/ownership/leftovers.h"
#include "filesets/system/search.h"

namespace filereel {
namespace {

// Runs in the janitor.
[[noreturn]] void wait_and_clean(int pipe) {
  setsid();
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  // Nobody must wait for the end of these.
  const int nothing = open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    nothing < 0 ? close(standard) : dup2(nothing, standard);
  }
  char byte = 0;
  ssize_t got = 0;
  do {
    got = read(pipe, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got > 0) _exit(0);  // sent away
  // Processes of the same run may still write: mpirun kills them a second after the first signal,
  // on a busy machine later.
  constexpr timespec kPause{1, 500'000'000};
  constexpr int kAttempts = 20;
  try {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      nanosleep(&kPause, nullptr);
      const std::vector<ListedLease> found = remove_leftovers();
      if (!contains(found, LeaseState::left, &ListedLease::state)) break;
    }
  } catch (const std::exception&) {
    // The next run reports it.
  }
  _exit(0);
}

}  // namespace

Janitor::Janitor() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const Descriptor reading(ends[0]);
  pipe_.reset(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    pipe_.reset();
    wait_and_clean(reading.get());
  }
  if (child < 0) pipe_.reset();
}

Janitor::~Janitor() {
  if (pipe_) static_cast<void>(!write(pipe_.get(), "x", 1));
}

}  // namespace filereel
