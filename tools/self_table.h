// The table of a volume compared with itself.
#pragma once

#include <string>

#include "replay/compare/self_comparison.h"
#include "tools/session.h"

namespace filereel {

std::string format_self_comparison(const SelfComparison& self, const Session& session,
                                   int descriptor);

}  // namespace filereel
