// What a reel demands of every operation, in writing and in reading.
#pragma once

#include <array>
#include <cstdint>

#include "traces/recorded_operation.h"

namespace filereel {

// Linux moves at most so many bytes in one read or write, whatever it is asked for.
inline constexpr std::uint64_t kMaxTransfer = 0x7ffff000;

// Numbers of operations are below these.
struct OperationLimits {
  std::uint64_t paths = 0, texts = 0;
  std::uint64_t threads = 0, slots = 0, mappings = 0;
  std::uint64_t files = 0;
  std::uint64_t largest_io = INT64_MAX;  // bytes of a read or write, at most
  std::uint64_t latest = INT64_MAX;      // ns: start and duration, at most
};

// Which checks a kind needs, worked out once from the table of kinds.
struct KindRules {
  bool known = false;  // a reel may hold it: it does not belong to schedules or workloads only
  bool uses_mapping = false;    // `source` is a mapping, not an open file
  bool offset_in_file = false;  // `offset` is a position or size, not a time or an owner
  bool second_in_file = false;
  bool second_is_thread = false;
  bool moves_data = false;
  bool fills_buffer = false;  // moves data through memory
};
using KindRuleTable = std::array<KindRules, kOperationKinds>;
const KindRuleTable& kind_rules();

// Null if `recorded` may stand in a reel, else what is wrong with it.
const char* operation_problem(const RecordedOperation& recorded, const KindRules& rules,
                              const OperationLimits& limits);

}  // namespace filereel
