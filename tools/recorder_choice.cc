#include "tools/recorder_choice.h"

#include <vector>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/nearest.h"
#include "filesets/system/printable.h"

namespace filereel {
namespace {

// The first working recorder, and why those before it do not work; otherwise why none works.
RecorderChoice best_recorder(bool compat) {
  std::string missing;
  for (const RecorderBackend& backend : recorder_backends()) {
    const bool records = !compat || backend.no_compat.empty();
    const std::string here = records ? backend.missing() : std::string(backend.no_compat);
    if (here.empty()) {
      const std::string_view because = missing.empty() ? "" : ": ";
      return {&backend, fmt::format("with {}{}{}", backend.what, because, missing)};
    }
    missing += (missing.empty() ? "" : "; ") + here;
  }
  return {nullptr, missing};
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
    if (const std::string missing = backend.missing(); !missing.empty()) {
      throw Error(ErrorKind::failed, fmt::format("recording is impossible: {}", missing));
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
