#include "tools/recorder_choice.h"

#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/nearest.h"
#include "filesets/system/printable.h"
#include "filesets/system/units.h"
#include "traces/record/recording_memory.h"

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

}  // namespace filereel
