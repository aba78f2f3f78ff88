#include "tools/cli/recording.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "replay/results/checks.h"
#include "replay/results/work_checks.h"
#include "replay/volumes/processes.h"
#include "traces/calls/recording_memory.h"
#include "traces/record/running_process.h"
#include "traces/recorded_trace.h"

namespace filereel {
namespace {

// What a limit of this process leaves too little of; "" if nothing.
std::string limits_missing(const RecorderBackend& backend) {
  const MemoryLimit memory = memory_limit();
  if (const std::uint64_t least = least_memory(backend.has_ring); memory.left < least) {
    return fmt::format("{} needs {} of memory and {} are left: {}", backend.name,
                       format_size(least), format_size(memory.left), memory.text());
  }
  const std::uint64_t open = open_descriptors(), limit = descriptor_limit();
  if (open + backend.descriptors > limit) {
    return fmt::format("{} needs {} open files and the limit is {}: raise it (ulimit -n)",
                       backend.name, open + backend.descriptors, limit);
  }
  return "";
}

std::string missing(const RecorderBackend& backend) {
  const std::string limit = limits_missing(backend);
  return limit.empty() ? backend.missing() : limit;
}

// The first working recorder, and why those before it do not work; otherwise why none works.
RecorderChoice best_recorder(bool compat) {
  std::string why;
  for (const RecorderBackend& backend : recorder_backends()) {
    const bool records = !compat || backend.no_compat.empty();
    const std::string here = records ? missing(backend) : std::string(backend.no_compat);
    if (here.empty()) {
      const std::string_view because = why.empty() ? "" : ": ";
      return {&backend, fmt::format("with {}{}{}", backend.what, because, why)};
    }
    why += (why.empty() ? "" : "; ") + here;
  }
  return {nullptr, why};
}

}  // namespace

RecorderChoice choose_recorder(std::string_view name, bool compat) {
  if (name == "auto") {
    RecorderChoice best = best_recorder(compat);
    if (best.backend) return best;
    throw Error(ErrorKind::failed, fmt::format("recording is impossible: {}", best.description));
  }
  for (const RecorderBackend& backend : recorder_backends()) {
    if (backend.name != name) continue;
    if (const std::string why = missing(backend); !why.empty()) {
      throw Error(ErrorKind::failed, fmt::format("recording is impossible: {}", why));
    }
    return {&backend, fmt::format("with {}", backend.what)};
  }
  std::vector<std::string_view> names = names_of_all(recorder_backends());
  names.insert(names.begin(), "auto");
  throw Error(ErrorKind::usage,
              fmt::format("unknown backend '{}'{}", printable(name), use_one_of(name, names)));
}

std::string describe_recorders() {
  const RecorderChoice best = best_recorder(false);
  return best.backend ? best.description : "no: " + best.description;
}

namespace {

// Of a process and its descendants; nothing if it has ended.
std::optional<double> tree_user_s(std::uint32_t process) {
  if (!process_user_s(static_cast<pid_t>(process))) return std::nullopt;
  double sum = 0;
  for (const std::uint32_t one : process_tree(process)) {
    sum += process_user_s(static_cast<pid_t>(one)).value_or(0);
  }
  return sum;
}

}  // namespace

void RecordingConditions::begin(std::uint32_t process) {
  process_ = process;
  if (process == 0 || continued_) own_ = processor_groups();
  if (process != 0) of_program_ = processor_groups(process);
  before_ = look();
}

void RecordingConditions::end() {
  after_ = look();
}

RecordingConditions::Look RecordingConditions::look() const {
  return {.own = read_group_use(own_).quotas,
          .of_program = read_group_use(of_program_).quotas,
          .stops = look_at_stops(continued_),
          .processors = read_processor_times(),
          .program_user_s = process_ == 0 ? std::nullopt : tree_user_s(process_)};
}

// Programs that use processors which the recorded one does not need leave its time as it is.
void RecordingConditions::add_busy(TraceBuilder& builder, std::optional<double> waited_s) const {
  constexpr std::uint64_t kFewestTicks = 100;  // of all processors together
  constexpr double kMuchWaiting = 0.05;        // of the time
  if (after_.processors.all < before_.processors.all + kFewestTicks) return;
  double program_s = 0;
  if (process_ != 0) {
    if (!before_.program_user_s || !after_.program_user_s) return;
    program_s = *after_.program_user_s - *before_.program_user_s;
  }
  Conditions conditions;
  add_processor_shares(before_.processors, after_.processors, program_s, conditions);
  const double others = conditions.other_cpu.value_or(0) + conditions.stolen_cpu.value_or(0);
  const double recorded_s = static_cast<double>(builder.info().duration_ns) * 1e-9;
  if (others <= kMuchOtherCpu || waited_s.value_or(recorded_s) < kMuchWaiting * recorded_s) return;
  std::string text = fmt::format("other programs took {} of the CPU time", percent_text(others));
  if (waited_s) {
    text += fmt::format(", and the program's threads waited for a CPU for {}",
                        format_duration(*waited_s));
  }
  builder.fact(kBusyFact, text);
}

void RecordingConditions::add_facts(TraceBuilder& builder, std::optional<double> waited_s) const {
  if (process_ != 0) builder.fact(kRunningFact, "before the recording");
  for (const auto& quotas : {&Look::own, &Look::of_program}) {
    const auto throttling = throttling_between(before_.*quotas, after_.*quotas);
    if (!throttling || !throttling->matters()) continue;
    builder.fact(kThrottledFact, quota_wait_text(*throttling, "the program"));
  }
  add_busy(builder, waited_s);
  Conditions conditions;
  add_stops(before_.stops, after_.stops, conditions);
  if (conditions.stops && !builder.info().facts.contains(std::string(kStoppedFact))) {
    builder.fact(kStoppedFact, "filereel was stopped or frozen, or the machine suspended");
  }
}

}  // namespace filereel
