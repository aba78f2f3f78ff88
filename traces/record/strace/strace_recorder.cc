// How this backend works: strace attaches to the held program, or to running processes
// (strace_process.h), and writes a line for each call into a pipe. The recording thread reads the
// pipe with the importer for strace's output (StraceImport), so a recording and an imported file
// take the same way. A second thread waits for a stop and ends strace's output (StopMonitor).
// Nothing is lost, because a full pipe stops strace, and strace stops the program; the price is
// that each call takes two switches between processes. Start with StraceRecorder::record in
// strace_recorder.cc.
//
// Recording with strace, for users who may not load BPF programs.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "filesets/system/error.h"
#include "filesets/system/privileges.h"
#include "filesets/system/programs.h"
#include "traces/calls/this_machine.h"
#include "traces/import/strace_import.h"
#include "traces/record/program.h"
#include "traces/record/recorder.h"
#include "traces/record/running_process.h"
#include "traces/record/strace/strace_process.h"

namespace filereel {
namespace {

// Binds both to the current processor: each call then takes two switches on one processor and wakes
// no other.
void share_processor(pid_t first, pid_t second) {
  cpu_set_t one;
  CPU_ZERO(&one);
  const int here = sched_getcpu();
  if (here < 0) return;
  CPU_SET(static_cast<std::size_t>(here), &one);
  for (const pid_t process : {first, second}) sched_setaffinity(process, sizeof one, &one);
}

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

// While it exists, a stop ends strace's output: the program is asked to end, or is released.
class StopMonitor {
 public:
  // `program` may be null. The program has `grace_seconds` to end, as has strace. All outlive this.
  StopMonitor(HeldProgram* program, double grace_seconds, const StraceProcess& strace,
              const std::stop_token& stop)
      : program_(program),
        grace_seconds_(grace_seconds),
        strace_(strace),
        stop_(stop),
        thread_([this](const std::stop_token& over) { watch(over); }) {}

  // Whether strace was told to release the program.
  bool finish() {
    thread_.request_stop();
    thread_.join();
    return detached_;
  }

 private:
  void watch(const std::stop_token& over) {
    const std::stop_callback requested(stop_, [this] {
      const std::lock_guard lock(mutex_);
      wake_.notify_all();
    });
    std::unique_lock lock(mutex_);
    if (!wake_.wait(lock, over, [this] { return stop_.stop_requested(); })) return;
    if (program_) end_program(lock, over);
    if (over.stop_requested()) return;
    detached_ = true;
    strace_.detach();
    if (sleep(lock, over, grace_seconds_)) kill(strace_.pid(), SIGKILL);
  }

  void end_program(std::unique_lock<std::mutex>& lock, const std::stop_token& over) {
    constexpr double kLook = 0.02;
    program_->terminate();
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto end = now() + std::chrono::duration<double>(grace_seconds_);
    while (now() < end) {
      if (has_ended(program_->pid()) || !sleep(lock, over, kLook)) return;
    }
  }

  // False if the recording is over first.
  bool sleep(std::unique_lock<std::mutex>& lock, const std::stop_token& over, double seconds) {
    wake_.wait_for(lock, over, std::chrono::duration<double>(seconds), [] { return false; });
    return !over.stop_requested();
  }

  HeldProgram* program_;
  double grace_seconds_;
  const StraceProcess& strace_;
  const std::stop_token& stop_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool detached_ = false;
  std::jthread thread_;
};

class StraceRecorder final : public Recorder {
 public:
  RecordOutcome record(const RecordRequest& request, TraceBuilder& builder,
                       const std::stop_token& stop) override;
  // A call waits until it is written: only memory can run out.
  std::uint64_t lost() const override { return dropped_; }

 private:
  std::atomic<std::uint64_t> dropped_ = 0;
};

RecordOutcome StraceRecorder::record(const RecordRequest& request, TraceBuilder& builder,
                                     const std::stop_token& stop) {
  std::optional<HeldProgram> program;
  if (!request.command.empty()) {
    program.emplace(request.command, allow_tracing, request.blocked);
  }
  const auto id = program ? static_cast<std::uint32_t>(program->pid()) : request.process;
  MemoryBound memory(divide_memory(request.memory, false).known, builder.tables().paths, dropped_);
  const ImportOptions options{.working_directory = working_directory_of(id),
                              .under = request.under,
                              .live = ImportOptions::Live{.since_ns = now_ns(),
                                                          .process = id,
                                                          .roots = roots_of_names(id),
                                                          .bound = bind_mounts(id),
                                                          .memory = &memory}};
  RecordOutcome outcome;
  outcome.root = root_of_names(id);
  const std::vector<std::uint32_t> processes =
      program ? std::vector<std::uint32_t>{id} : process_tree(id);
  std::vector<KnownProcess> known;
  for (const std::uint32_t process : processes) {
    known.push_back(running_process(process, program.has_value()));
  }
  StraceProcess strace(processes);
  if (program && request.one_processor) share_processor(program->pid(), strace.pid());
  if (program) program->release();
  const std::string command = command_text(request.command, id);
  request.started();

  StopMonitor watch(program ? &*program : nullptr, request.grace_seconds, strace, stop);
  {
    LineReader lines(strace.take_output(), "strace's output");
    StraceImport import(lines, builder, options);
    if (program) import.begin_with_exec();
    for (const KnownProcess& known_process : known) import.begin_process(known_process);
    import.run();
    outcome.origin_ns = import.origin_ns();
    outcome.ended_ns = import.end_ns();
  }
  const bool detached = watch.finish();
  const int status = strace.wait(1).value_or(0);
  if (status != 0 && !detached) {
    builder.lost("everything after another process ended strace");
  }
  builder.fact("command", command);
  if (program) outcome.status = program->wait(detached ? 0 : 1);
  request.ended();  // their processor time counts as filereel's only now that both were waited for
  return outcome;
}

// Why the kernel forbids tracing, as far as it can be determined.
std::string why_forbidden() {
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope >= 2) {
    return fmt::format("kernel.yama.ptrace_scope is {}: {}", scope,
                       scope == 2
                           ? root_advice("run as root, or run sysctl kernel.yama.ptrace_scope=1",
                                         "allow CAP_SYS_PTRACE, or run sysctl "
                                         "kernel.yama.ptrace_scope=1")
                           : "set it to 1 and reboot");
  }
  return "a container needs --cap-add SYS_PTRACE";
}

std::string missing() {
  if (std::string denied = denial(CallUse::tracing); !denied.empty()) return denied;
  if (!find_program("strace")) return "strace is not installed; " + install_advice("strace");
  if (!has_proc()) return "strace needs /proc: mount it (mount -t proc proc /proc)";
  try {
    const HeldProgram held({"true"}, allow_tracing);
    StraceProcess strace({static_cast<std::uint32_t>(held.pid())});
    strace.detach();
    strace.wait(1);
  } catch (const Error& error) {
    return fmt::format("strace is not permitted to trace: {} ({})", why_forbidden(), error.what());
  }
  return "";
}

std::unique_ptr<Recorder> make() {
  return std::make_unique<StraceRecorder>();
}

}  // namespace

const RecorderBackend& strace_backend() {
  static constexpr RecorderBackend kBackend{.name = "strace",
                                            .what = "strace, several times slower",
                                            .time_unit_ns = 1000,
                                            .missing = missing,
                                            .has_ring = false,
                                            .descriptors = 10,
                                            .no_compat = {},
                                            .make = make};
  return kBackend;
}

}  // namespace filereel
