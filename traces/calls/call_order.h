// Puts calls in an order that explains their results. They come in the order in which they ended;
// what overlapped may have worked in another order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "traces/calls/call_parts.h"

namespace filereel {

// A call is held back, with all later ones of its thread, while one that began before it ended and
// has not returned yet could be what its result is due to, a name's change or the end of a lock;
// while a fork that may have made its thread has not returned; and while the end of an asynchronous
// request is not known. All that is bounded: who waits for too long goes on.
class CallOrder {
 public:
  // `parts` outlive this.
  explicit CallOrder(CallParts& parts) : parts_(parts) {}

  // Calls that make, remove or move names, or where other names begin.
  static bool is_naming(Call call);

  void entered(const SystemCall& call);
  void returned(const SystemCall& call);
  // Nothing more comes: gives all that is held to the translation.
  void finish();

 private:
  // A call waits this long at most, counted in calls that have returned since.
  static constexpr std::uint64_t kPatience = 1024;
  static constexpr std::size_t kMaxHeld = 16384;

  struct InFlight {
    bool active = false;
    SystemCall call;
    CallBeginning beginning;
  };
  using RequestName = std::pair<std::uint32_t, std::uint64_t>;  // process, what identifies it
  struct Request {                                              // asynchronous
    RequestName name;
    bool over = false;   // nothing is waited for any more
    bool known = false;  // how it ended
    std::int64_t result = 0;
    std::uint64_t end_ns = 0;
  };
  struct Held {
    SystemCall call;
    CallBeginning beginning;
    std::uint64_t arrival = 0;
    std::shared_ptr<Request> request;  // of a submission
  };
  enum class Wait : std::uint8_t { no, for_call, for_held, for_request };

  static bool takes_lock(const SystemCall& call);
  static bool may_unlock(const SystemCall& call);
  void forget(InFlight& in_flight);
  void submitted(Held& held);
  void completed(const SystemCall& call);
  void wait_no_more(const std::shared_ptr<Request>& request);
  void give_up_requests(std::uint32_t thread);
  void make_way(const SystemCall& call);
  void force_process(std::uint32_t process, std::uint32_t except);
  void accept(Held held);
  Wait wait_of(const Held& held);
  bool fork_is_in_flight();
  Wait wait_for_name(const Held& held);
  Wait wait_for_unlock(const Held& held);
  void let_go(Held& held);
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
