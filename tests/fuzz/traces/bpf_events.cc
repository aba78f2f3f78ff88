// Events of the recorder's program in the kernel: whatever the bytes are, operations come out that
// a reel can hold, and what was opened is closed.
//
// The first byte says what is recorded (1: what touches /d alone, 2: faults too, 4: from process
// 100's exec on); then come events, each behind its length: two bytes, the lower one first.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/traces/checked_operations.h"
#include "traces/calls/call_resolver.h"
#include "traces/check/other_changes.h"
#include "traces/record/bpf/bpf_receiver.h"
#include "traces/record/bpf/bpf_translation.h"

FUZZ_TARGET(bpf_events) {
  using namespace filereel;
  if (size == 0) return;
  const unsigned how = data[0];
  TraceTables tables;
  CheckedOperations check;
  TraceBuilder builder(tables, check);
  CallResolver resolver(builder, {.under = (how & 1) != 0 ? "/d" : "", .faults = (how & 2) != 0});
  constexpr std::uint64_t kZero = 1000;
  BpfTranslation translation(
      builder, resolver, kZero,
      {.mapped_file = [](std::uint32_t, std::uint64_t device,
                         std::uint64_t inode) { return device == inode ? "/d/mapped" : ""; },
       .mount_point = [](std::uint64_t device) { return device % 2 == 0 ? "/d" : ""; }});
  if ((how & 4) != 0) translation.begin_with_exec_of(100);
  std::span<const std::byte> rest = std::as_bytes(std::span(data, size)).subspan(1);
  OtherChanges others;
  std::uint64_t last = 0;
  while (rest.size() >= 2) {
    const std::size_t length =
        std::to_integer<std::size_t>(rest[0]) | std::to_integer<std::size_t>(rest[1]) << 8;
    rest = rest.subspan(2);
    const std::span<const std::byte> event = rest.first(std::min(length, rest.size()));
    translation.take(event);
    add_other_changes(event, others);
    rest = rest.subspan(event.size());
    ++last;
  }
  others.begin_at(last);
  translation.finish(kZero + last);
  check.finish();
}
