#include "traces/record/bpf/bpf_log_summary.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "filesets/system/printable.h"

namespace filereel {
namespace {

constexpr std::string_view kLibrary = "libbpf: ";

// Lines of the verifier that do not give the reason.
bool is_boilerplate(std::string_view line) {
  constexpr std::array<std::string_view, 3> kFrames = {"-- BEGIN", "-- END", "processed "};
  return line.empty() ||
         std::ranges::any_of(kFrames, [&](std::string_view frame) { return line.contains(frame); });
}

// The first text in quotes: of a program, or of what the kernel lacks.
std::string_view quoted(std::string_view line) {
  const std::size_t begin = line.find('\'');
  const std::size_t end = begin == line.npos ? line.npos : line.find('\'', begin + 1);
  return end == line.npos ? "" : line.substr(begin, end + 1 - begin);
}

}  // namespace

std::string summarise_bpf_log(std::string_view log) {
  constexpr std::size_t kBytes = 200;
  std::string_view rejected, verdict;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    if (line.starts_with(kLibrary)) {
      if (rejected.empty()) rejected = quoted(line);
    } else if (!is_boilerplate(line)) {
      verdict = line;
    }
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  if (rejected.empty() && verdict.empty()) return "no reason given";
  const std::string what = rejected.empty() ? "unnamed" : printable(rejected, kBytes);
  return verdict.empty() ? what : fmt::format("{} ({})", what, printable(verdict, kBytes));
}

}  // namespace filereel
