// Requests of io_uring and libaio, from their submission to their end.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "traces/calls/call_resolver.h"
#include "traces/record/bpf_event_view.h"

namespace filereel {

class BpfRequests {
 public:
  // Both outlive this.
  BpfRequests(CallResolver& resolver, TraceBuilder& builder)
      : resolver_(resolver), builder_(builder) {}

  // `call` has the thread and the times of the event.
  void submitted(const BpfEventView& event, SystemCall call);
  void completed(const BpfEventView& event, const SystemCall& call);
  // `submission`, an io_submit, has returned: how many of its requests it took.
  void accepted(const SystemCall& submission, std::int64_t count);
  void ended(std::uint32_t thread);

 private:
  bool from_entry(const BpfEventView& event, SystemCall& call);
  bool from_control_block(const BpfEventView& event, SystemCall& call);

  struct Announced {
    SystemCall call;
    bool known = true;   // as a request for a file's data
    bool given = false;  // to the resolver
  };
  void give(Announced& one);
  void take_entry(const BpfEventView& event, SystemCall call);
  void give(const SystemCall& call);
  void give_held(std::uint64_t request);
  void is_over(std::uint64_t request);
  void reaped(const BpfEventView& event, const SystemCall& at);
  void end(const SystemCall& at, std::uint64_t request, const BpfEventView& event);

  CallResolver& resolver_;
  TraceBuilder& builder_;
  // The last request of a thread, if the next one waits for its end.
  std::unordered_map<std::uint32_t, std::uint64_t> links_;
  // The resolver hears of a request when the one that it waits for has ended.
  std::unordered_map<std::uint64_t, SystemCall> held_;
  std::unordered_map<std::uint64_t, std::uint64_t> followers_;  // by what they wait for
  std::unordered_set<std::uint64_t> under_way_;
  // Of io_submit, which has not returned: by thread, in its order.
  std::unordered_map<std::uint32_t, std::vector<Announced>> announced_;
  // What is done like a call, and is known to the resolver only when it has ended: by its request.
  std::unordered_map<std::uint64_t, SystemCall> calls_;
};

}  // namespace filereel
