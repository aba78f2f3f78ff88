// The engine that keeps several requests in flight by io_uring. Built if liburing is available;
// otherwise uring_unavailable_reason() (engine_kind.h) says so.
#pragma once

#include <cstdint>
#include <memory>

#include "replay/engine/io_engine.h"

namespace filereel {

// See make_engine.
std::unique_ptr<IoEngine> make_uring_engine(const EngineContext& context, std::uint32_t lane);

}  // namespace filereel
