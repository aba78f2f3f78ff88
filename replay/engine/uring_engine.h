// The engine that keeps several requests in flight by io_uring. Built where liburing is; else
// why_no_uring() (io_engine.h) says that it is not.
#pragma once

#include <cstdint>
#include <memory>

#include "replay/engine/io_engine.h"

namespace filereel {

// As make_engine.
std::unique_ptr<IoEngine> make_uring_engine(const EngineContext& context, std::uint32_t lane);

}  // namespace filereel
