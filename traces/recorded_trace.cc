#include "traces/recorded_trace.h"

#include <array>
#include <ctime>

#include <fmt/format.h>

#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"

namespace filereel {

std::string utc_date(std::uint64_t ns) {
  const std::time_t seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return {};
  std::array<char, 40> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

std::string describe_trace(const TraceInfo& info) {
  std::string text = fmt::format(
      "{} by {} on {}", counted(info.operations, "operation", "operations"),
      counted(info.threads.size(), "thread", "threads"), counted(info.files, "file", "files"));
  if (info.bytes_read > 0) text += ", " + format_size(info.bytes_read) + " read";
  if (info.bytes_written > 0) text += ", " + format_size(info.bytes_written) + " written";
  if (info.timed) {
    text += ", " + format_duration(static_cast<double>(info.duration_ns) * 1e-9);
  }
  return text;
}

std::vector<std::string> recording_remarks(const TraceInfo& info) {
  std::vector<std::string> remarks;
  if (info.facts.contains(std::string(kRunningFact))) {
    remarks.emplace_back(
        "the program was running before the recording, so the recorded time is that of the "
        "recording, with all its waits for what is not recorded, such as clients");
  }
  const auto add = [&](std::string_view name, std::string_view meaning) {
    const auto fact = info.facts.find(std::string(name));
    if (fact == info.facts.end()) return;
    remarks.push_back(fmt::format("during the recording, {}{}", printable(fact->second), meaning));
  };
  add(kClientFact, "");
  add(kBusyFact, info.facts.contains(std::string(kRunningFact))
                     ? ": a replay does not repeat its own waits for a CPU, but its waits for "
                       "clients that waited for one; record again on an idle machine"
                     : ": waits for a CPU are in the recorded time, but a replay does not repeat "
                       "them");
  return remarks;
}

}  // namespace filereel
