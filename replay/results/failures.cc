#include "replay/results/failures.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>

#include "filesets/system/counted.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "replay/engine/statistics.h"
#include "traces/export/dump.h"

namespace filereel {
namespace {

bool is_failure(std::string_view kind_of) {
  return kind_of == divergence_class_name(DivergenceClass::mismatch) ||
         kind_of == divergence_class_name(DivergenceClass::content);
}

class Failures {
 public:
  void add(const Measurement& measurement) {
    for (const Sample& sample : measurement.samples) add(sample);
  }

  std::string text() const {
    std::string text;
    const auto add = [&](std::uint64_t count, std::string_view one, std::string_view many) {
      if (count == 0) return;
      if (!text.empty()) text += ", ";
      text += counted(count, one, many);
    };
    add(mismatches_, "true mismatch", "true mismatches");
    add(contents_, "read with wrong content", "reads with wrong content");
    add(differences_, "difference in the tree", "differences in the tree");
    return text.empty() || first_.empty() ? text : fmt::format("{} ({})", text, first_);
  }

 private:
  void add(const Sample& sample) {
    const auto count = [&](DivergenceClass one) -> std::uint64_t {
      if (!sample.reel) return 0;
      const auto found = sample.reel->divergences.find(std::string(divergence_class_name(one)));
      return found == sample.reel->divergences.end() ? 0 : found->second;
    };
    mismatches_ += count(DivergenceClass::mismatch);
    contents_ += count(DivergenceClass::content);
    for (const DivergenceExample& one : sample.examples) {
      if (first_.empty() && is_failure(one.kind_of)) first_ = describe_divergence(one);
    }
    if (!sample.tree) return;
    differences_ += sample.tree->differences;
    for (const TreeDifference& one : sample.tree->examples) {
      if (first_.empty()) first_ = fmt::format("{} {}", one.path, one.text);
    }
  }

  std::uint64_t mismatches_ = 0, contents_ = 0, differences_ = 0;
  std::string first_;
};

// The operations are possible, so that their errors have a cause outside of filereel.
std::string advice_on(const DivergenceExample& what, std::string_view room) {
  const bool cut_off = what.result >= 0 && what.operation == "write";
  std::string limit = cut_off || what.result == -EFBIG ? file_size_limit_text() : "";
  if (!limit.empty()) return limit;
  if (cut_off) return fmt::format("the volume is full: {}", room);
  switch (-what.result) {
    case ENOSPC:
      return fmt::format("the volume is full: {}", room);
    case EDQUOT:
      return fmt::format("a quota of the volume is exhausted: raise the quota, or {}", room);
    case EXDEV:
      return "unmount what was mounted in the work directory";
    case ENOENT:
    case EEXIST:
    case ENOTDIR:
    case EISDIR:
    case ENOTEMPTY:
    case ELOOP:
    case ESTALE:
      return "another program changed the files in the work directory: keep it out, and repeat the "
             "run";
    case EACCES:
    case EPERM:
      return "another program changed permissions or attributes in the work directory, or a "
             "security policy forbids the operation";
    case ENOSYS:
      return "check that the volume and the policies of the system permit it";
    default:
      return "check the kernel log (dmesg) for device errors";
  }
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
  Failures failures;
  for (const Measurement& measurement : result.measurements) failures.add(measurement);
  return failures.text();
}

std::string failures_of(const Measurement& measurement) {
  Failures failures;
  failures.add(measurement);
  return failures.text();
}

std::string describe_failure(const std::string& where, const DivergenceExample& what,
                             std::string_view room) {
  if (what.kind_of == divergence_class_name(DivergenceClass::content)) {
    return fmt::format("{}: {} of {} returned wrong content (operation {})", where, what.operation,
                       printable(what.path), what.position + 1);
  }
  const std::string result =
      what.result < 0
          ? strerror(static_cast<int>(-what.result))
          : fmt::format("{} instead of {}",
                        counted(static_cast<std::uint64_t>(what.result), "byte"), what.expected);
  return fmt::format("{}: {} of {} failed (operation {}): {}; {}", where, what.operation,
                     printable(what.path), what.position + 1, result, advice_on(what, room));
}

}  // namespace filereel
