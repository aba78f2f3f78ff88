#include "traces/recording_remarks.h"

#include <fmt/format.h>

#include "filesets/system/printable.h"

namespace filereel {

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
