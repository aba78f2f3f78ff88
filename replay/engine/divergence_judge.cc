#include "replay/engine/divergence_judge.h"

namespace filereel {

DivergenceClass DivergenceJudge::judge(const Operation&, PathId, std::int64_t) noexcept {
  return DivergenceClass::mismatch;
}

}  // namespace filereel
