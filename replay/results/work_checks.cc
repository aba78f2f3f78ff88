#include "replay/results/work_checks.h"

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "replay/results/check_texts.h"
#include "replay/results/failures.h"

namespace filereel {
namespace {

struct FailedKind {
  const Measurement* of = nullptr;  // with most calls
  FailedWork work = {};
  std::size_t measurements = 0;
};

}  // namespace

void check_calls(Result& result) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, FailedKind> failures;
  for (const Measurement& one : result.measurements) {
    for (FailedWork& work : failed_work_of(one)) {
      const FailedCalls& calls = work.calls;
      FailedKind& failure = failures[{one.file_system, calls.volume, calls.operation, calls.error}];
      ++failure.measurements;
      if (failure.of && failure.work.calls.count >= calls.count) continue;
      failure.of = &one;
      failure.work = std::move(work);
    }
  }
  for (const auto& [key, one] : failures) {
    result.warn(
        {"calls-failed",
         fmt::format(
             "{} ({}{})", describe_failed_work(one.work, result, *one.of), quoted_name(*one.of),
             one.measurements < 2 ? "" : fmt::format(", and {} more", one.measurements - 1)),
         "the measurement has no rank and no prediction; use a volume that can do the work"});
  }
}

}  // namespace filereel
