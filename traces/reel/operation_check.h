// Requirements of a reel on every operation, for writing and reading.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "traces/recorded_trace.h"

namespace filereel {

inline constexpr std::int64_t kLargestErrno = 4095;

// Exclusive upper limits of the numbers in operations.
struct OperationLimits {
  std::uint64_t paths = 0, texts = 0;
  std::uint64_t threads = 0, slots = 0, mappings = 0;
  std::uint64_t files = 0;
  std::uint64_t largest_io = INT64_MAX;  // maximum bytes of a read or write
  std::uint64_t latest = INT64_MAX;      // ns: maximum start and duration
};

// The checks of a kind, derived once from the table of kinds.
struct KindRules {
  bool known = false;           // allowed in reels, not only in schedules or workloads
  bool uses_mapping = false;    // `source` is a mapping, not an open file
  bool offset_in_file = false;  // `offset` is a position or size, not a time or an owner
  bool second_in_file = false;
  bool second_is_thread = false;
  bool moves_data = false;
  bool fills_buffer = false;  // moves data through memory
};
using KindRuleTable = std::array<KindRules, kOperationKinds>;
const KindRuleTable& kind_rules();

// Null if `recorded` is valid in a reel, otherwise the fault.
inline const char* operation_problem(const RecordedOperation& recorded, const KindRules& rules,
                                     const OperationLimits& limits) {
  const Operation& op = recorded.operation;
  if (!rules.known) return "its kind is unsupported in a reel";
  if (op.path >= limits.paths || op.old_path >= limits.paths) return "its path is undefined";
  if (op.text >= limits.texts) return "its text is undefined";
  if (op.thread >= limits.threads) return "its thread is undefined";
  if (op.file != kNoFile && op.file >= limits.slots) return "its open file is out of range";
  if (op.source != kNoFile && op.source >= (rules.uses_mapping ? limits.mappings : limits.slots)) {
    return "its source is out of range";
  }
  if (op.entry != kNoFileId && op.entry >= limits.files) return "its file is out of range";
  if (rules.offset_in_file && op.offset > INT64_MAX) return "its offset is over 2^63 - 1";
  if (rules.second_in_file && op.second > INT64_MAX) return "its offset is over 2^63 - 1";
  if (rules.second_is_thread && op.second >= limits.threads) return "its thread is undefined";
  if (op.length > INT64_MAX) return "its length is over 2^63 - 1";
  if (rules.fills_buffer && std::min(op.length, kMaxTransfer) > limits.largest_io) {
    return "it transfers more than the reel's largest operation";
  }
  if (op.expected < -kLargestErrno) return "its result is not an error number";
  if (rules.moves_data && op.expected > static_cast<std::int64_t>(op.length)) {
    return "it transfers more than requested";
  }
  if (recorded.start_ns > limits.latest || recorded.duration_ns > limits.latest) {
    return "its time is over 2^63 - 1 ns";
  }
  return nullptr;
}

}  // namespace filereel
