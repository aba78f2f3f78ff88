#include "tools/recording_conditions.h"

#include "replay/results/check_texts.h"

namespace filereel {

void RecordingConditions::begin(std::uint32_t process) {
  if (process == 0 || continued_) own_ = processor_groups();
  if (process != 0) of_program_ = processor_groups(process);
  before_ = look();
}

void RecordingConditions::end() {
  after_ = look();
}

RecordingConditions::Look RecordingConditions::look() const {
  return {.own = read_group_use(own_).quotas,
          .of_program = read_group_use(of_program_).quotas,
          .stops = look_at_stops(continued_)};
}

void RecordingConditions::add_facts(TraceBuilder& builder) const {
  for (const auto& quotas : {&Look::own, &Look::of_program}) {
    const auto throttling = throttling_between(before_.*quotas, after_.*quotas);
    if (!throttling || !throttling->matters()) continue;
    builder.fact(kThrottledFact, quota_wait_text(*throttling, "the program"));
  }
  Conditions conditions;
  add_stops(before_.stops, after_.stops, conditions);
  if (conditions.stops && !builder.info().facts.contains(std::string(kStoppedFact))) {
    builder.fact(kStoppedFact, "filereel was stopped or frozen, or the machine suspended");
  }
}

}  // namespace filereel
