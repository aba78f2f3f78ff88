#include "replay/engine/io_engine.h"

#include <array>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filesets/system/error.h"
#include "filesets/system/nearest.h"
#include "filesets/system/printable.h"
#include "replay/engine/executor.h"
#include "replay/engine/uring_engine.h"

namespace filereel {
namespace {

constexpr std::array<std::string_view, 3> kEngines = {"blocking", "io_uring", "null"};

}  // namespace

OpenFile::~OpenFile() {
  if (const int open = fd.load(); open >= 0) close(open);
}

Mapping::~Mapping() {
  if (std::byte* const mapped = begin.load()) munmap(mapped, length.load());
}

std::string_view engine_name(EngineKind kind) {
  return kEngines[static_cast<std::size_t>(kind)];
}

EngineKind parse_engine(std::string_view name) {
  for (std::size_t i = 0; i < kEngines.size(); ++i) {
    if (kEngines[i] == name) return static_cast<EngineKind>(i);
  }
  throw Error(ErrorKind::usage, fmt::format("there is no engine '{}'{}", printable(name),
                                            use_one_of(name, kEngines)));
}

std::unique_ptr<IoEngine> make_engine(EngineKind kind, const EngineContext& context,
                                      std::uint32_t lane) {
  switch (kind) {
    case EngineKind::null:
      return std::make_unique<Executor<NullCalls>>(context, lane);
    case EngineKind::uring:
      return make_uring_engine(context, lane);
    case EngineKind::blocking:
      break;
  }
  return std::make_unique<Executor<LinuxCalls>>(context, lane);
}

}  // namespace filereel
