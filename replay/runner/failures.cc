#include "replay/runner/failures.h"

#include <string_view>

#include <fmt/format.h>

#include "filesets/printable.h"
#include "replay/engine/statistics.h"
#include "traces/export/dump.h"

namespace filereel {
namespace {

bool is_failure(std::string_view kind_of) {
  return kind_of == divergence_class_name(DivergenceClass::mismatch) ||
         kind_of == divergence_class_name(DivergenceClass::content);
}

}  // namespace

std::string describe_divergence(const DivergenceExample& one) {
  const auto result = [](std::int64_t value) {
    return value < 0 ? errno_name(static_cast<int>(-value)) : fmt::format("{}", value);
  };
  return fmt::format("position {}, thread {}, {} {}: expected {}, got {}", one.position, one.thread,
                     one.operation, printable(one.path), result(one.expected), result(one.result));
}

std::string failures_of(const Result& result) {
  std::uint64_t mismatches = 0, contents = 0, differences = 0;
  std::string first;
  for (const Measurement& measurement : result.measurements) {
    for (const Sample& sample : measurement.samples) {
      if (!sample.reel) continue;
      const auto count = [&](DivergenceClass one) {
        const auto found = sample.reel->divergences.find(std::string(divergence_class_name(one)));
        return found == sample.reel->divergences.end() ? 0 : found->second;
      };
      mismatches += count(DivergenceClass::mismatch);
      contents += count(DivergenceClass::content);
      for (const DivergenceExample& one : sample.examples) {
        if (first.empty() && is_failure(one.kind_of)) first = describe_divergence(one);
      }
      if (!sample.reel->tree) continue;
      differences += sample.reel->tree->differences;
      for (const TreeDifference& one : sample.reel->tree->examples) {
        if (first.empty()) first = fmt::format("{} {}", one.path, one.text);
      }
    }
  }
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view one, std::string_view many) {
    if (count == 0) return;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", count, count == 1 ? one : many);
  };
  add(mismatches, "true mismatch", "true mismatches");
  add(contents, "read of wrong content", "reads of wrong content");
  add(differences, "difference of the tree", "differences of the tree");
  return first.empty() ? text : fmt::format("{} ({})", text, first);
}

}  // namespace filereel
