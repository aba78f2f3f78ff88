#include "traces/record/bpf_log_summary.h"

#include <algorithm>
#include <array>
#include <vector>

#include "filesets/system/printable.h"

namespace filereel {
namespace {

// Lines that do not give the reason.
bool is_boilerplate(std::string_view line) {
  constexpr std::array<std::string_view, 6> kFrames = {"-- BEGIN",
                                                       "-- END",
                                                       "processed ",
                                                       "failed to load: ",
                                                       "failed to load object",
                                                       "failed to load BPF skeleton"};
  return line.empty() ||
         std::ranges::any_of(kFrames, [&](std::string_view frame) { return line.contains(frame); });
}

std::string_view without_prefix(std::string_view line) {
  constexpr std::string_view kPrefix = "libbpf: ";
  return line.starts_with(kPrefix) ? line.substr(kPrefix.size()) : line;
}

}  // namespace

std::string summarise_bpf_log(std::string_view log) {
  constexpr std::size_t kLines = 3, kLineBytes = 200;
  std::vector<std::string_view> lines;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = without_prefix(log.substr(0, end));
    if (!is_boilerplate(line)) lines.push_back(line);
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  if (lines.empty()) return "no reason given";
  if (lines.size() > kLines) lines.erase(lines.begin() + 1, lines.end() - (kLines - 1));
  std::string words;
  for (const std::string_view line : lines) {
    if (!words.empty()) words += ", ";
    words += printable(line, kLineBytes);
  }
  return words;
}

}  // namespace filereel
