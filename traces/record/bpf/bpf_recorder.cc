// How this backend works: the kernel program (recorder.bpf.c with the headers *_kernel.h) runs at
// the start and end of every system call, at page faults, switches and forks, and puts events about
// recorded threads into a ring (bpf_event.h, the protocol of both sides). bpf_program.cc loads it;
// its thread moves events from the ring to an EventQueue. The recording thread takes them from
// there (bpf_event_view.h), turns each into a SystemCall (bpf_translation.h, bpf_requests.h) and
// passes it to the CallResolver. Start with bpf_event.h, then call_begins and call_ends in
// bpf_system_calls_kernel.h, then BpfRecorder::record in bpf_recorder.cc.
//
// Recording with a kernel program: nothing is stopped and almost nothing is slowed down.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "traces/calls/call_resolver.h"
#include "traces/calls/this_machine.h"
#include "traces/record/bpf/bpf_program.h"
#include "traces/record/bpf/bpf_translation.h"
#include "traces/record/bpf/calibration.h"
#include "traces/record/program.h"
#include "traces/record/recorder.h"
#include "traces/record/running_process.h"
#include "traces/recorded_trace.h"

namespace filereel {
namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// Translating events must not take processors from the program: events can wait until its end.
class LowPriority {
 public:
  LowPriority() : before_(getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()))) {
    set(std::max(before_, kModest));
  }
  ~LowPriority() { set(before_); }
  LowPriority(const LowPriority&) = delete;
  LowPriority& operator=(const LowPriority&) = delete;
  void end() const { set(before_); }

 private:
  static constexpr int kModest = 10;
  static void set(int nice) { setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), nice); }
  int before_;
};

class BpfRecorder final : public Recorder {
 public:
  RecordOutcome record(const RecordRequest& request, TraceBuilder& builder,
                       const std::stop_token& stop) override;
  std::uint64_t lost() const override {
    const std::scoped_lock lock(mutex_);
    return dropped_ + (program_ ? program_->lost() : lost_);
  }

 private:
  // While it exists, lost() asks the program.
  class ProgramScope {
   public:
    ProgramScope(BpfRecorder& recorder, const BpfProgram& program) : recorder_(recorder) {
      const std::scoped_lock lock(recorder_.mutex_);
      recorder_.program_ = &program;
    }
    ~ProgramScope() {
      const std::scoped_lock lock(recorder_.mutex_);
      recorder_.lost_ = recorder_.program_->lost();
      recorder_.program_ = nullptr;
    }
    ProgramScope(const ProgramScope&) = delete;
    ProgramScope& operator=(const ProgramScope&) = delete;

   private:
    BpfRecorder& recorder_;
  };

  std::uint32_t calibrate(BpfProgram& program);

  mutable std::mutex mutex_;  // guards the data that lost() reads
  const BpfProgram* program_ = nullptr;
  std::uint64_t lost_ = 0;  // saved when the program was detached
  std::atomic<std::uint64_t> dropped_ = 0;
  std::uint32_t calibrator_ = 0;
};

// Returns the time added to a recorded read.
std::uint32_t BpfRecorder::calibrate(BpfProgram& program) {
  Calibration calibration;
  const Calibration::Times plain = calibration.measure();
  program.attach();
  if (calibration.pid() <= 0) return 0;
  calibrator_ = static_cast<std::uint32_t>(calibration.pid());
  program.adopt(calibrator_);
  program.start_recording();
  const Calibration::Times recorded = calibration.measure();
  program.stop_recording();
  program.discard_events();
  const auto added = [](double before, double after) {
    return static_cast<std::uint32_t>(std::clamp(after - before, 0.0, 1e6));
  };
  const std::uint32_t other = added(plain.other, recorded.other);
  const std::uint32_t read = added(plain.plain, recorded.plain);
  const std::uint32_t pair = added(plain.pair, recorded.pair);
  const auto more = [&](std::uint32_t whole, std::uint32_t known) {
    return whole > known ? whole - known : 0;
  };
  program.set_costs(
      {.other = other, .plain = more(read, other), .small = more(pair, read + other)});
  return read;
}

RecordOutcome BpfRecorder::record(const RecordRequest& request, TraceBuilder& builder,
                                  const std::stop_token& stop) {
  const RecordingMemory shares = divide_memory(request.memory, true);
  EventQueue queue(shares.queue);
  OtherChanges others;  // outlives the program, whose thread adds to it
  MemoryBound memory(shares.known, builder.tables().paths, dropped_,
                     [&] { return queue.waiting_bytes(); });
  BpfProgram program({.faults = request.faults,
                      .others = request.others,
                      .content = request.content,
                      .ring_bytes = shares.ring});
  const ProgramScope use(*this, program);
  const std::uint32_t added_ns = calibrate(program);
  program.start_draining(queue, others);

  std::optional<HeldProgram> started;
  if (!request.command.empty()) {
    started.emplace(request.command, nullptr, request.blocked);
  }
  const std::uint32_t root = started ? static_cast<std::uint32_t>(started->pid()) : request.process;
  const std::uint64_t began = now_ns(CLOCK_REALTIME);
  CallResolver resolver(builder, {.working_directory = working_directory_of(root),
                                  .under = request.under,
                                  .bound = bind_mounts(root),
                                  .faults = request.faults,
                                  .link_at = ExistingLinks(began, root, builder)});
  const std::uint64_t zero = now_ns(CLOCK_MONOTONIC);
  BpfTranslation translation(builder, resolver, zero);
  translation.ignore(calibrator_);
  translation.bound(memory);
  if (started) translation.begin_with_exec_of(root);
  program.start_recording();
  std::set<std::uint32_t> processes;
  for (const auto& [process, thread] : program.adopt(root)) {
    if (!processes.insert(process).second) continue;
    resolver.begin_process(running_process(process, started.has_value()));
  }
  if (processes.empty()) {
    throw Error(ErrorKind::failed,
                fmt::format("process {} has ended; choose a running process", root));
  }
  const LowPriority modesty;
  if (started) started->release();
  const std::string command = command_text(request.command, root);
  request.started();
  RecordOutcome outcome;
  outcome.root = root_of_names(root);
  std::optional<Clock::time_point> asked;  // when the program was asked to end
  const auto has_ended = [&] {
    if (started) {
      if (!outcome.status) outcome.status = started->wait(0);
      return outcome.status && program.running() == 0;
    }
    return program.running() == 0;
  };
  const auto translate = [&](double seconds) {
    const EventChunk chunk = queue.take(seconds);
    chunk.each([&](std::span<const std::byte> event) { translation.take(event); });
    return !chunk.empty();
  };
  constexpr double kLookSeconds = 0.005;  // delay until the program's end is noticed
  while (!has_ended()) {
    translate(kLookSeconds);
    if (!stop.stop_requested()) continue;
    if (!started) break;
    if (!asked) {
      asked = Clock::now();
      started->terminate();
    } else if (Clock::now() - *asked > std::chrono::duration<double>(request.grace_seconds)) {
      break;
    }
  }
  modesty.end();
  const bool goes_on = program.running() > 0;
  program.stop_recording();
  const std::uint64_t end = now_ns(CLOCK_MONOTONIC);
  request.ended();
  program.finish_draining();
  while (!queue.has_ended()) translate(1);
  translation.finish(end);
  outcome.ended_ns = now_ns(CLOCK_REALTIME) - (now_ns(CLOCK_MONOTONIC) - end);
  others.begin_at(translation.zero_ns());
  outcome.others = std::move(others);
  outcome.origin_ns = outcome.ended_ns - (end - translation.zero_ns());
  // Calls in flight when the recording stopped may have changed files before.
  constexpr std::uint64_t kInFlight = 20'000'000;
  if (goes_on) outcome.ended_ns -= kInFlight;
  builder.stopped(translation.stopped_ns());
  builder.fact("source", "bpf");
  builder.fact("command", command);
  builder.fact("recorded", utc_date(began));
  builder.recorder_added(added_ns);
  builder.waits_recorded(true);
  program.count_lost(builder);
  return outcome;
}

}  // namespace

const RecorderBackend& bpf_backend() {
  static constexpr RecorderBackend kBackend{
      .name = "bpf",
      .what = "BPF in the kernel",
      .time_unit_ns = 10,
      .missing = bpf_missing,
      .has_ring = true,
      .descriptors = 64,
      .no_compat = "BPF does not record 32-bit programs",
      .make = +[]() -> std::unique_ptr<Recorder> { return std::make_unique<BpfRecorder>(); },
  };
  return kBackend;
}

}  // namespace filereel
