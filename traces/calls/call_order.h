// Orders calls so that the order explains their results. Calls arrive in the order in which they
// ended; overlapping calls may have taken effect in another order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "traces/calls/call_translation.h"

namespace filereel {

// A call is held back, with all later calls of its thread, in three cases: an overlapping call has
// not returned yet and could explain its result by changing a name or releasing a lock; a fork that
// may have created its thread has not returned; the completion of an asynchronous request is
// unknown. All waits are bounded: a call that has waited too long continues.
//
// Only the first held call of a thread (its front) can continue. A front that waits for a request
// is left alone until the request has completed or has become too old. The others are examined
// after each call, against the calls in flight and held that change names or release locks. So the
// cost of a call does not depend on the number of requests in flight, except for look-ups in maps.
class CallOrder {
 public:
  // `parts` outlives this.
  explicit CallOrder(CallParts& parts) : parts_(parts) {}

  // Calls that create, remove or rename names, or that change the base of names.
  static bool is_naming(Call call);

  void entered(const SystemCall& call);
  void returned(const SystemCall& call);
  // End of input: translates all held calls.
  void finish();

  // Calls examined or compared so far: the cost of the order.
  std::uint64_t steps() const { return steps_; }

 private:
  // The longest wait of a call, counted in calls that have returned since.
  static constexpr std::uint64_t kMaxWait = 1024;
  // In a deep queue the submissions and completions of the other requests come before the
  // completion of a request, and calls that report several at once.
  static constexpr std::uint64_t kMaxWaitPerRequest = 4;
  static constexpr std::size_t kMaxHeld = 16384;

  struct InFlight {
    bool active = false;
    SystemCall call;
    CallStart beginning;
  };
  // Process, identifier, arrival: requests of one identifier complete in the order of submission.
  using RequestName = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;
  struct Request {  // asynchronous
    RequestName name;
    bool over = false;   // nothing waits for it any more
    bool known = false;  // its completion is known
    std::int64_t result = 0;
    std::uint64_t end_ns = 0;
  };
  struct Held {
    SystemCall call;
    CallStart beginning;
    std::uint64_t arrival = 0;
    std::optional<Request> request;  // of a submission
  };
  using Front = std::pair<std::uint64_t, std::uint32_t>;  // arrival, thread
  enum class Wait : std::uint8_t { no, for_call, for_held, for_request };

  static bool takes_lock(const SystemCall& call);
  static bool may_unlock(const SystemCall& call);
  static bool waits_for_request(const Held& held) { return held.request && !held.request->over; }
  void forget(std::uint32_t thread, InFlight& in_flight);
  void completed(const SystemCall& call);
  void abandon_request(Held& held);
  void abandon_requests(std::uint32_t thread);
  void flush_before(const SystemCall& call);
  void force_process(std::uint32_t process, std::uint32_t except);
  void accept(Held held);
  void hold(Held held);
  void set_front(const Held& front);
  bool is_too_old(const Held& held) const;
  Wait wait_of(const Held& held);
  bool fork_is_in_flight();
  Wait wait_for_name(const Held& held);
  Wait wait_for_unlock(const Held& held);
  void translate_held(Held& held);
  void release(std::uint32_t thread);
  void give_up_old_requests();
  void retry();

  CallParts& parts_;
  std::unordered_map<std::uint32_t, InFlight> in_flight_;  // by thread
  // Threads whose call in flight is one that ...
  std::set<std::uint32_t> naming_, forking_, unlocking_;
  std::map<std::uint32_t, std::deque<Held>> held_;  // by thread, each in program order
  std::size_t held_calls_ = 0;
  // Held calls that change names or release locks, by arrival; they stay in place in `held_`.
  std::map<std::uint64_t, const Held*> held_naming_, held_unlocking_;
  std::set<Front> fronts_;    // of all threads with held calls, the oldest first
  std::set<Front> examined_;  // those that do not wait for a request
  std::uint64_t arrivals_ = 0, steps_ = 0;
  std::map<RequestName, Held*> requests_;  // those that are waited for
  std::size_t deepest_ = 0;                // most of them since there were none
};

}  // namespace filereel
