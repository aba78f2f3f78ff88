// Stands in for uring_engine.cc in builds without liburing: its functions say that it is missing.
#include "filesets/system/error.h"
#include "replay/engine/uring_engine.h"

namespace filereel {

std::optional<std::string> uring_unavailable_reason() {
  return "filereel was built without io_uring; install liburing-dev and rebuild it";
}

std::optional<std::string> polling_unavailable_reason(int) {
  return uring_unavailable_reason();
}

std::unique_ptr<IoEngine> make_uring_engine(const EngineContext&, std::uint32_t) {
  throw Error(ErrorKind::failed, *uring_unavailable_reason());
}

}  // namespace filereel
