// Orders calls so that the order explains their results. Calls arrive in the order in which they
// ended; overlapping calls may have taken effect in another order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "traces/calls/call_parts.h"

namespace filereel {

// A call is held back, with all later calls of its thread, in three cases: an overlapping call has
// not returned yet and could explain its result by changing a name or releasing a lock; a fork that
// may have created its thread has not returned; the completion of an asynchronous request is
// unknown. All waits are bounded: a call that has waited too long continues.
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

 private:
  // The longest wait of a call, counted in calls that have returned since.
  static constexpr std::uint64_t kMaxWait = 1024;
  static constexpr std::size_t kMaxHeld = 16384;

  struct InFlight {
    bool active = false;
    SystemCall call;
    CallStart beginning;
  };
  using RequestName = std::pair<std::uint32_t, std::uint64_t>;  // process, identifier
  struct Request {                                              // asynchronous
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
    std::shared_ptr<Request> request;  // of a submission
  };
  enum class Wait : std::uint8_t { no, for_call, for_held, for_request };

  static bool takes_lock(const SystemCall& call);
  static bool may_unlock(const SystemCall& call);
  void forget(InFlight& in_flight);
  void submitted(Held& held);
  void completed(const SystemCall& call);
  void abandon_request(const std::shared_ptr<Request>& request);
  void abandon_requests(std::uint32_t thread);
  void flush_before(const SystemCall& call);
  void force_process(std::uint32_t process, std::uint32_t except);
  void accept(Held held);
  Wait wait_of(const Held& held);
  bool fork_is_in_flight();
  Wait wait_for_name(const Held& held);
  Wait wait_for_unlock(const Held& held);
  void translate_held(Held& held);
  void release(std::uint32_t thread);
  void retry();
  void force_oldest();

  CallParts& parts_;
  std::unordered_map<std::uint32_t, InFlight> in_flight_;  // by thread
  std::size_t names_in_flight_ = 0, forks_in_flight_ = 0, unlocks_in_flight_ = 0;
  std::map<std::uint32_t, std::deque<Held>> held_;  // by thread, each in program order
  std::size_t held_calls_ = 0;
  std::uint64_t arrivals_ = 0;
  // Requests that are waited for.
  std::map<RequestName, std::deque<std::shared_ptr<Request>>> requests_;
};

}  // namespace filereel
