// Requests of io_uring and libaio, from submission to completion.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "traces/calls/call_resolver.h"
#include "traces/record/bpf/bpf_event_view.h"

namespace filereel {

class BpfRequests {
 public:
  // Both outlive this.
  BpfRequests(CallResolver& resolver, TraceBuilder& builder)
      : resolver_(resolver), builder_(builder) {}

  // `call` has the thread and the times of the event.
  void submitted(const BpfEventView& event, SystemCall call);
  void completed(const BpfEventView& event, const SystemCall& call);
  // `submission`, an io_submit, has returned and accepted `count` of its requests.
  void accepted(const SystemCall& submission, std::int64_t count);
  void ended(std::uint32_t thread);

 private:
  bool from_entry(const BpfEventView& event, SystemCall& call);
  bool from_control_block(const BpfEventView& event, SystemCall& call);

  struct Announced {
    SystemCall call;
    bool known = true;   // as a request for a file's data
    bool given = false;  // passed to the resolver
  };
  void give(Announced& announced);
  void take_entry(const BpfEventView& event, SystemCall call);
  void give(const SystemCall& call);
  void give_held(std::uint64_t request);
  void is_over(std::uint64_t request);
  void reaped(const BpfEventView& event, const SystemCall& at);
  void end(const SystemCall& at, std::uint64_t request, const BpfEventView& event);

  CallResolver& resolver_;
  TraceBuilder& builder_;
  // The last request of a thread, if the next one waits for its completion.
  std::unordered_map<std::uint32_t, std::uint64_t> links_;
  // Passed to the resolver when the request before has completed.
  std::unordered_map<std::uint64_t, SystemCall> held_;
  std::unordered_map<std::uint64_t, std::uint64_t> followers_;  // by the request that they wait for
  std::unordered_set<std::uint64_t> in_flight_;
  // Requests of an io_submit that has not returned: by thread, in submission order.
  std::unordered_map<std::uint32_t, std::vector<Announced>> announced_;
  // Requests treated as calls, passed to the resolver when completed: by request.
  std::unordered_map<std::uint64_t, SystemCall> calls_;
};

}  // namespace filereel
