#include "replay/results/failures.h"

#include <algorithm>
#include <functional>

#include <errno.h>
#include <fmt/format.h>
#include <string.h>

#include "filesets/system/free_space.h"
#include "filesets/system/limits.h"
#include "filesets/system/printable.h"
#include "filesets/system/privileges.h"
#include "filesets/system/search.h"
#include "filesets/system/wording.h"
#include "replay/results/operation_classes.h"
#include "traces/export/dump.h"

namespace filereel {
namespace {

bool is_failure(std::string_view divergence_class) {
  return divergence_class == divergence_class_name(DivergenceClass::mismatch) ||
         divergence_class == divergence_class_name(DivergenceClass::content);
}

class Failures {
 public:
  void add(const Result& result, const Measurement& measurement) {
    for (const Sample& sample : measurement.samples) add(sample);
    if (work_.empty()) work_ = failed_work_text(result, measurement);
  }

  std::string text() const {
    std::string verified = verification();
    if (work_.empty()) return verified;
    return verified.empty() ? work_ : fmt::format("{}; {}", verified, work_);
  }

  const std::string& work() const { return work_; }

  std::string verification() const {
    std::string text;
    const auto add = [&](std::uint64_t count, std::string_view one, std::string_view many) {
      if (count == 0) return;
      if (!text.empty()) text += ", ";
      text += counted(count, one, many);
    };
    add(mismatches_, "true mismatch", "true mismatches");
    add(contents_, "read with wrong content", "reads with wrong content");
    add(differences_, "difference in the tree", "differences in the tree");
    if (!text.empty() && samples_ > 1) text += fmt::format(" in {}", counted(samples_, "run"));
    if (!text.empty() && !first_.empty()) text += fmt::format(" ({})", first_);
    return text;
  }

 private:
  void add(const Sample& sample) {
    if (sample.reel || sample.tree) ++samples_;
    const auto count = [&](DivergenceClass kind) -> std::uint64_t {
      if (!sample.reel) return 0;
      const auto found = sample.reel->divergences.find(std::string(divergence_class_name(kind)));
      return found == sample.reel->divergences.end() ? 0 : found->second;
    };
    mismatches_ += count(DivergenceClass::mismatch);
    contents_ += count(DivergenceClass::content);
    for (const DivergenceExample& example : sample.examples) {
      if (first_.empty() && is_failure(example.divergence_class))
        first_ = describe_divergence(example);
    }
    if (!sample.tree) return;
    differences_ += sample.tree->differences;
    for (const TreeDifference& difference : sample.tree->examples) {
      if (first_.empty()) first_ = fmt::format("{} {}", difference.path, difference.text);
    }
  }

  std::uint64_t samples_ = 0, mismatches_ = 0, contents_ = 0, differences_ = 0;
  std::string first_, work_;
};

Failures all_failures(const Result& result) {
  Failures failures;
  for (const Measurement& measurement : result.measurements) failures.add(result, measurement);
  return failures;
}

bool same_calls(const FailedCalls& calls, const FailedCalls& other) {
  return calls.volume == other.volume && calls.operation == other.operation &&
         calls.error == other.error;
}

// Whether an example of a divergence is a failed call (operation_classes.h).
bool is_failed_example(const DivergenceExample& example) {
  Operation operation;
  if (example.result >= 0 || !find_operation_kind(example.operation, operation.kind)) return false;
  operation.expected = example.expected;
  return is_failed_call(operation, example.result);
}

// Each volume, operation and error once. Of older results, what the examples tell.
std::vector<FailedCalls> failed_calls_of(const Sample& sample) {
  std::vector<FailedCalls> calls;
  for (const FailedCalls& failed : sample.failed_calls) add_failed_calls(failed, calls);
  if (!calls.empty()) return calls;
  for (const DivergenceExample& example : sample.examples) {
    if (!is_failed_example(example)) continue;
    add_failed_calls({std::string(role_name(Role::near)), example.operation,
                      errno_name(static_cast<int>(-example.result)), 1},
                     calls);
  }
  return calls;
}

// "/dev/sdb (near, ext4)".
std::string volume_text(std::string_view role, const Result& result,
                        const Measurement& measurement) {
  const VolumeDescription* found = nullptr;
  for (const VolumeDescription& volume : result.volumes) {
    if (role_name(volume.role) != role) continue;
    if (!found || volume.file_system == measurement.file_system) found = &volume;
  }
  if (!found) return fmt::format("{} ({})", printable(role), printable(measurement.file_system));
  return fmt::format("{} ({}, {})", printable(found->target), printable(role),
                     printable(found->file_system));
}

std::string full_advice(std::string_view room) {
  return fmt::format("the volume is full: {}", room);
}

// The operations are possible, so that their errors have a cause outside of filereel.
std::string advice_on(const DivergenceExample& what, std::string_view room) {
  const bool cut_off = what.result >= 0 && what.operation == "write";
  std::string limit = cut_off || what.result == -EFBIG ? file_size_limit_text() : "";
  if (!limit.empty()) return limit;
  if (cut_off) return full_advice(room);
  switch (-what.result) {
    case ENOSPC:
      return full_advice(room);
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
      return std::string(failed_work_advice(errno_name(static_cast<int>(-what.result))));
  }
}

struct ErrorAdvice {
  std::string_view error, advice;
};
constexpr std::string_view kServer =
    "the connection to the server of the share is lost: check server and network, and mount the "
    "share again";
constexpr ErrorAdvice kAdvice[] = {
    {"ENOSPC", "the volume is full: use a larger one, or free space"},
    {"EDQUOT", "a quota is exhausted: raise it, or use another volume"},
    {FailedCalls::kCutShort, "the volume is probably full: use a larger one, or free space"},
    {"EFBIG", "a file became too large for the volume or for the limits of the shell (ulimit -f)"},
    {"EROFS", "the volume became read-only: check the kernel log (dmesg) for its errors"},
    {"EIO",
     "check the kernel log (dmesg) for device errors; of a share, the server's log and free "
     "space"},
    {"ENOTCONN", kServer},
    {"ECONNRESET", kServer},
    {"ECONNABORTED", kServer},
    {"EHOSTDOWN", kServer},
    {"EHOSTUNREACH", kServer},
    {"ENETUNREACH", kServer},
    {"ETIMEDOUT", kServer},
    {"ESTALE", kServer},
    {"ENODEV", "the device is gone: check its connection, and the kernel log (dmesg)"},
    {"ENXIO", "the device is gone: check its connection, and the kernel log (dmesg)"},
};

}  // namespace

std::string describe_divergence(const DivergenceExample& example) {
  const auto result = [](std::int64_t value) {
    return value < 0 ? errno_name(static_cast<int>(-value)) : fmt::format("{}", value);
  };
  const std::string what =
      example.divergence_class == divergence_class_name(DivergenceClass::content)
          ? fmt::format("the content differs from byte {} of the file on", example.result)
          : fmt::format("expected {}, got {}", result(example.expected), result(example.result));
  return fmt::format("position {}, thread {}, {} {}: {}", example.position, example.thread,
                     example.operation, printable(example.path), what);
}

Differences differences_of(const Measurement& measurement) {
  Differences all;
  const auto add = [](const auto& from, auto& to) {
    for (const auto& [name, count] : from) to[name] += count;
  };
  for (const Sample& sample : measurement.samples) {
    ++all.runs;
    all.results += sample.divergences;
    all.operations += sample.operations;
    if (sample.reel) {
      add(sample.reel->divergences, all.by_class);
      all.unverified += sample.reel->unverified;
      all.refused += sample.reel->refused;
      add(sample.reel->refusals, all.refusals);
    }
    if (!sample.tree) continue;
    all.has_trees = true;
    all.in_tree += sample.tree->differences;
    all.left_out_of_tree += sample.tree->left_out;
  }
  return all;
}

std::string failures_of(const Result& result) {
  return all_failures(result).text();
}

std::string verification_failures_of(const Result& result) {
  return all_failures(result).verification();
}

std::string work_failures_of(const Result& result) {
  return all_failures(result).work();
}

std::string failures_of(const Result& result, const Measurement& measurement) {
  Failures failures;
  failures.add(result, measurement);
  return failures.text();
}

void add_failed_calls(const FailedCalls& calls, std::vector<FailedCalls>& all) {
  const auto same = std::ranges::find_if(
      all, [&](const FailedCalls& failed_calls) { return same_calls(failed_calls, calls); });
  if (same == all.end()) {
    all.push_back(calls);
  } else {
    same->count += calls.count;
  }
}

std::vector<FailedWork> failed_work_of(const Measurement& measurement) {
  std::vector<FailedWork> all;
  for (const Sample& sample : measurement.samples) {
    for (const FailedCalls& calls : failed_calls_of(sample)) {
      auto same = std::ranges::find_if(
          all, [&](const FailedWork& failed) { return same_calls(failed.calls, calls); });
      if (same == all.end()) {
        same = all.insert(same, FailedWork{.calls = calls, .fewest = calls.count});
      }
      ++same->runs;
      same->fewest = std::min(same->fewest, calls.count);
      same->calls.count = std::max(same->calls.count, calls.count);
    }
  }
  for (FailedWork& one : all) one.of = static_cast<std::uint32_t>(measurement.samples.size());
  std::ranges::stable_sort(all, std::greater{},
                           [](const FailedWork& one) { return one.calls.count; });
  return all;
}

bool is_incomplete(const Measurement& measurement) {
  return std::ranges::any_of(measurement.samples,
                             [](const Sample& sample) { return !failed_calls_of(sample).empty(); });
}

std::string describe_failed_work(const FailedWork& work, const Result& result,
                                 const Measurement& measurement) {
  const FailedCalls& calls = work.calls;
  return fmt::format("{} on {} {} {}: {}{}{}", printable(calls.operation),
                     volume_text(calls.volume, result, measurement),
                     calls.error.starts_with(FailedCalls::kCutShort) ? "wrote" : "failed with",
                     printable(calls.error), work.fewest < calls.count ? "up to " : "",
                     counted(calls.count, "time"),
                     work.of > 1 ? " a run, in " + counted_of(work.runs, work.of, "run") : "");
}

std::string_view failed_work_advice(std::string_view error) {
  if (error == "EACCES") {
    return root_advice(
        "the account that runs filereel may not do that: use root, or an account that may",
        "the volume denies it to root, too: check its server, or the policies of the system");
  }
  if (error.ends_with(kNoSpaceLeft)) error = "ENOSPC";
  const ErrorAdvice* const known = find_or_null(kAdvice, error, &ErrorAdvice::error);
  return known ? known->advice : "use a volume that can do the work";
}

std::string failed_work_text(const Result& result, const Measurement& measurement) {
  const std::vector<FailedWork> work = failed_work_of(measurement);
  if (work.empty()) return "";
  std::string text = describe_failed_work(work.front(), result, measurement);
  if (work.size() == 1) return text;
  return text + fmt::format(", and {} failed",
                            counted(work.size() - 1, "other kind of call", "other kinds of call"));
}

std::string describe_failure(const std::string& where, const DivergenceExample& what,
                             std::string_view room, bool full) {
  if (what.divergence_class == divergence_class_name(DivergenceClass::content)) {
    return fmt::format(
        "{}: {} of {} returned wrong content from byte {} of the file on "
        "(operation {})",
        where, what.operation, printable(what.path), what.result, what.position + 1);
  }
  const std::string result =
      what.result < 0
          ? strerror(static_cast<int>(-what.result))
          : fmt::format("{} instead of {}",
                        counted(static_cast<std::uint64_t>(what.result), "byte"), what.expected);
  return fmt::format("{}: {} of {} failed (operation {}): {}{}; {}", where, what.operation,
                     printable(what.path), what.position + 1, result, full ? kNoSpaceLeft : "",
                     full ? full_advice(room) : advice_on(what, room));
}

}  // namespace filereel
