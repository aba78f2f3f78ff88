#include "traces/reel/operation_check.h"

#include <algorithm>

namespace filereel {
namespace {

constexpr std::int64_t kLargestErrno = 4095;

KindRules make_rules(OperationKind kind) {
  const OperationInfo& info = operation_info(kind);
  const bool offset = has(info.fields, Field::offset);
  const bool length = has(info.fields, Field::length);
  const bool second = has(info.fields, Field::second);
  KindRules rules;
  rules.known =
      kind != OperationKind::barrier && kind != OperationKind::await && kind != OperationKind::pace;
  rules.uses_mapping = has(info.fields, Field::source) && kind != OperationKind::copy_range;
  // Times and owners come in pairs without a length.
  rules.offset_in_file = offset && (length || !second);
  rules.second_in_file = second && length;
  rules.second_is_thread = second && !offset;
  rules.moves_data = info.moves_data;
  rules.fills_buffer = info.moves_data && !second;
  return rules;
}

}  // namespace

const KindRuleTable& kind_rules() {
  static const KindRuleTable table = [] {
    KindRuleTable made;
    for (std::size_t k = 0; k < kOperationKinds; ++k) {
      made[k] = make_rules(static_cast<OperationKind>(k));
    }
    return made;
  }();
  return table;
}

const char* operation_problem(const RecordedOperation& recorded, const KindRules& rules,
                              const OperationLimits& limits) {
  const Operation& op = recorded.operation;
  if (!rules.known) return "its kind does not belong in a reel";
  if (op.path >= limits.paths || op.old_path >= limits.paths) return "its path is not defined";
  if (op.text >= limits.texts) return "its text is not defined";
  if (op.thread >= limits.threads) return "its thread does not exist";
  if (op.file != kNoFile && op.file >= limits.slots) return "its open file is out of range";
  if (op.source != kNoFile && op.source >= (rules.uses_mapping ? limits.mappings : limits.slots)) {
    return "its source is out of range";
  }
  if (op.entry != kNoFileId && op.entry >= limits.files) return "its file is out of range";
  if (rules.offset_in_file && op.offset > INT64_MAX) return "its offset is over 2^63 - 1";
  if (rules.second_in_file && op.second > INT64_MAX) return "its offset is over 2^63 - 1";
  if (rules.second_is_thread && op.second >= limits.threads) return "its thread does not exist";
  if (op.length > INT64_MAX) return "its length is over 2^63 - 1";
  if (rules.fills_buffer && std::min(op.length, kMaxTransfer) > limits.largest_io) {
    return "it moves more than the reel's largest operation";
  }
  if (op.expected < -kLargestErrno) return "its result is no error number";
  if (rules.moves_data && op.expected > static_cast<std::int64_t>(op.length)) {
    return "it moves more than was asked for";
  }
  if (recorded.start_ns > limits.latest || recorded.duration_ns > limits.latest) {
    return "its time is over 2^63 - 1 ns";
  }
  return nullptr;
}

}  // namespace filereel
