#include "replay/engine/engine_kind.h"

#include <array>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, 3> kEngines = {"blocking", "io_uring", "null"};

}  // namespace

std::string_view engine_name(EngineKind kind) {
  return kEngines[static_cast<std::size_t>(kind)];
}

std::span<const std::string_view> engine_names() {
  return kEngines;
}

EngineKind parse_engine(std::string_view name) {
  for (std::size_t i = 0; i < kEngines.size(); ++i) {
    if (kEngines[i] == name) return static_cast<EngineKind>(i);
  }
  throw Error(ErrorKind::usage,
              fmt::format("unknown engine '{}'{}", printable(name), use_one_of(name, kEngines)));
}

}  // namespace filereel
