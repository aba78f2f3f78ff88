#include "traces/reel/operation_check.h"

namespace filereel {
namespace {

KindRules make_rules(OperationKind kind) {
  const OperationInfo& info = operation_info(kind);
  const bool offset = has(info.fields, Field::offset);
  const bool length = has(info.fields, Field::length);
  const bool second = has(info.fields, Field::second);
  KindRules rules;
  rules.known =
      kind != OperationKind::barrier && kind != OperationKind::await && kind != OperationKind::pace;
  rules.uses_mapping = has(info.fields, Field::source) && kind != OperationKind::copy_range;
  // Times and owners are pairs without a length.
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

}  // namespace filereel
