#include "replay/engine/io_engine.h"

#include "replay/engine/sequential_engine.h"
#include "replay/engine/uring_engine.h"

namespace filereel {

std::unique_ptr<IoEngine> make_engine(EngineKind kind, const EngineContext& context,
                                      std::uint32_t lane) {
  switch (kind) {
    case EngineKind::null:
      return std::make_unique<SequentialEngine<NullCalls>>(context, lane);
    case EngineKind::uring:
      return make_uring_engine(context, lane);
    case EngineKind::blocking:
      break;
  }
  return std::make_unique<SequentialEngine<LinuxCalls>>(context, lane);
}

}  // namespace filereel
