#include "filesets/system/error.h"
#include "replay/engine/uring_engine.h"

namespace filereel {

std::optional<std::string> why_no_uring() {
  return "filereel was built without io_uring; install liburing-dev and rebuild it";
}

std::optional<std::string> why_no_polling(int) {
  return why_no_uring();
}

std::unique_ptr<IoEngine> make_uring_engine(const EngineContext&, std::uint32_t) {
  throw Error(ErrorKind::failed, *why_no_uring());
}

}  // namespace filereel
