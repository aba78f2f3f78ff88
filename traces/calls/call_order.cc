// The problem. A tracer sees when a call starts and when it ends, but not when it took effect.
// Calls arrive in the order of their ends, and two calls that overlap may have taken effect in the
// other order: a thread is preempted after its rename took effect, and another thread has opened
// the new name before the rename returns. In the order of arrival, that open finds a name that does
// not exist, and the emitter would have to make one up (create_unseen in emitter.cc).
//
// Sorting by start is no better, because nothing orders the starts and the effects. Serialising the
// program would change what is recorded. A search for an order of all calls that explains all
// results is exponential. But nearly always the model of the tree already explains the result of
// the next call. So the order of arrival holds until a result contradicts the model
// (call_explanations.h). Only then, and only if an overlapping call could remove the contradiction,
// the call is held until that call has been translated. Locks leave no trace in the model: a call
// that got one is held if an overlapping unlock or close could have released it.
//
// Invariants:
// - Calls of one thread are translated in their order, so a held call holds all later ones of its
//   thread. Only the front of each thread is a candidate.
// - Each translation changes the model and may explain any other call, so retry() begins again with
//   the oldest front after each.
// - No wait is for ever. If all examined fronts wait for held calls, they wait for each other, and
//   the oldest continues. So does a call after kMaxWait others (more for requests), and the oldest
//   of more than kMaxHeld. A call that continues without an explanation is translated nevertheless:
//   is_race() marks its operation, or the emitter adds what is missing. No call is lost here.
// - The end of a process or exec does not overtake the held calls of its other threads
//   (flush_before), since translating it closes their files.
// - CallStart holds references to the files that a call in flight uses. Whatever takes one passes
//   it to translate() or release(), or a file whose number the program has closed stays open in the
//   trace.
// - A submission is translated with the result of its completion. Two requests may have one
//   identifier (the program chooses it), hence the arrival in RequestName: the older one completes
//   first.
//
// One thread uses all of it, that of the importer or recorder. Without overlapping changes of
// names, a call costs a few look-ups and is not copied (the fast path in returned()). steps()
// counts the rest; call_order_test.cc bounds it.
#include "traces/calls/call_order.h"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>

#include "traces/calls/call_explanations.h"
#include "traces/calls/call_translation.h"

namespace filereel {

bool CallOrder::is_naming(Call call) {
  return effect_on_names(call) != NameEffect::none || call == Call::chdir || call == Call::fchdir;
}

bool CallOrder::takes_lock(const SystemCall& call) {
  if (call.result < 0) return false;
  return (call.call == Call::flock && !(call.flags & LOCK_UN)) ||
         (call.call == Call::record_lock && call.flags != F_UNLCK);
}

bool CallOrder::may_unlock(const SystemCall& call) {
  return call.call == Call::close || (call.call == Call::flock && (call.flags & LOCK_UN)) ||
         (call.call == Call::record_lock && call.flags == F_UNLCK);
}

void CallOrder::forget(std::uint32_t thread, InFlight& in_flight) {
  if (!in_flight.active) return;
  in_flight.active = false;
  filereel::release(parts_, in_flight.call.thread, std::move(in_flight.beginning), 0);
  for (auto* threads : {&naming_, &forking_, &unlocking_}) threads->erase(thread);
}

void CallOrder::entered(const SystemCall& call) {
  InFlight& in_flight = in_flight_[call.thread];
  forget(call.thread, in_flight);
  const bool naming = is_naming(call.call), fork = call.call == Call::fork;
  const bool unlock = may_unlock(call);
  if (naming || fork || unlock) {
    in_flight.call = call;
  } else {
    in_flight.call.call = call.call;
    in_flight.call.thread = call.thread;
    in_flight.call.flags = call.flags;
  }
  in_flight.active = true;
  in_flight.beginning = {parts_.builder.operations(), used_files(parts_, call)};
  if (naming) naming_.insert(call.thread);
  if (fork) forking_.insert(call.thread);
  if (unlock) unlocking_.insert(call.thread);
}

void CallOrder::returned(const SystemCall& call) {
  ++arrivals_;
  CallStart beginning;
  const auto found = in_flight_.find(call.thread);
  const bool is_within = is_one_of(call.call, {Call::fault, Call::waited, Call::woke});
  if (found != in_flight_.end() && !is_within) {  // happens during calls, too
    if (found->second.active && found->second.call.call == call.call) {
      beginning = std::move(found->second.beginning);
    }
    forget(call.thread, found->second);
    if (call.call == Call::exit || call.call == Call::exit_group) in_flight_.erase(found);
  }
  if (call.call == Call::complete) completed(call);
  if (call.call == Call::exit || call.call == Call::exit_group ||
      (call.call == Call::exec && call.result >= 0)) {
    abandon_requests(call.thread);
  }
  if (call.call == Call::submit) {
    if (call.result < 0 || (!held_.contains(call.thread) && !may_be_file(parts_, call))) {
      filereel::release(parts_, call.thread, std::move(beginning), call.exit_ns);
      return;
    }
    // The call keeps its file open until it is done.
    if (!beginning.used[0].file) beginning.used = used_files(parts_, call);
    const RequestName name{parts_.tasks.process_of(call.thread), call.request, arrivals_};
    return accept({call, std::move(beginning), arrivals_, Request{.name = name}});
  }
  // The common case, without copying the call.
  if (held_.empty() && forking_.empty() && naming_.empty() &&
      (unlocking_.empty() || !takes_lock(call))) {
    flush_before(call);
    return translate(parts_, call, std::move(beginning));
  }
  accept({call, std::move(beginning), arrivals_, std::nullopt});
}

void CallOrder::completed(const SystemCall& call) {
  const std::uint32_t process = parts_.tasks.process_of(call.thread);
  const auto found = requests_.lower_bound({process, call.request, 0});
  if (found == requests_.end() || std::get<0>(found->first) != process ||
      std::get<1>(found->first) != call.request) {
    return;
  }
  Held& held = *found->second;
  held.request->known = true;
  held.request->result = call.result;
  held.request->end_ns = call.exit_ns;
  abandon_request(held);
  retry();
}

// Nothing waits for it any more. Otherwise the completion of the next request of that name would be
// taken for this one.
void CallOrder::abandon_request(Held& held) {
  held.request->over = true;
  requests_.erase(held.request->name);
  set_front(held_.at(held.call.thread).front());
}

// A thread that ends waits for nothing.
void CallOrder::abandon_requests(std::uint32_t thread) {
  const auto found = held_.find(thread);
  if (found == held_.end()) return;
  for (Held& held : found->second) {
    ++steps_;
    if (waits_for_request(held)) abandon_request(held);
  }
}

// Calls that the end of a process must not overtake.
void CallOrder::flush_before(const SystemCall& call) {
  if (call.call == Call::exit_group || (call.call == Call::exec && call.result >= 0)) {
    const std::uint32_t process = parts_.tasks.process_of(call.thread);
    force_process(process, call.thread);
    for (auto at = in_flight_.begin(); at != in_flight_.end();) {
      if (at->first != call.thread && parts_.tasks.process_of(at->first) == process) {
        forget(at->first, at->second);
        at = in_flight_.erase(at);
      } else {
        ++at;
      }
    }
  } else if (call.call == Call::wait && call.result > 0 && call.result <= UINT32_MAX) {
    force_process(static_cast<std::uint32_t>(call.result), call.thread);
  }
}

// A thread's later calls have later arrivals, so one pass reaches all.
void CallOrder::force_process(std::uint32_t process, std::uint32_t except) {
  for (auto at = fronts_.begin(); at != fronts_.end(); ++steps_) {
    const Front front = *at;
    const std::uint32_t thread = front.second;
    if (thread != except && parts_.tasks.process_of(thread) == process) release(thread);
    at = fronts_.upper_bound(front);
  }
}

void CallOrder::accept(Held held) {
  if (!held_.contains(held.call.thread) && wait_of(held) == Wait::no) {
    translate_held(held);
  } else {
    hold(std::move(held));
  }
  if (!held_.empty()) retry();
}

void CallOrder::hold(Held held) {
  std::deque<Held>& calls = held_[held.call.thread];
  Held& kept = calls.emplace_back(std::move(held));
  ++held_calls_;
  if (kept.request) {
    if (requests_.empty()) deepest_ = 0;
    requests_.emplace(kept.request->name, &kept);
    deepest_ = std::max(deepest_, requests_.size());
  }
  if (kept.call.result >= 0 && is_naming(kept.call.call)) held_naming_.emplace(kept.arrival, &kept);
  if (may_unlock(kept.call)) held_unlocking_.emplace(kept.arrival, &kept);
  if (calls.size() == 1) set_front(kept);
}

void CallOrder::set_front(const Held& front) {
  fronts_.emplace(front.arrival, front.call.thread);
  if (!waits_for_request(front)) examined_.emplace(front.arrival, front.call.thread);
}

bool CallOrder::is_too_old(const Held& held) const {
  const std::uint64_t age = arrivals_ - held.arrival;
  return age > kMaxWait + (held.request ? kMaxWaitPerRequest * deepest_ : 0);
}

bool CallOrder::fork_is_in_flight() {
  return std::ranges::any_of(forking_, [&](std::uint32_t thread) {
    ++steps_;
    return !parts_.tasks.has_ended(thread);
  });
}

CallOrder::Wait CallOrder::wait_of(const Held& held) {
  ++steps_;
  if (waits_for_request(held)) return Wait::for_request;
  if (held.request || is_too_old(held)) return Wait::no;
  if (parts_.tasks.is_new(held.call.thread) && fork_is_in_flight()) return Wait::for_call;
  return takes_lock(held.call) ? wait_for_unlock(held) : wait_for_name(held);
}

CallOrder::Wait CallOrder::wait_for_unlock(const Held& held) {
  for (const std::uint32_t thread : unlocking_) {
    ++steps_;
    if (could_unlock(parts_, in_flight_.at(thread).call, held.call)) return Wait::for_call;
  }
  for (const auto& [arrival, other] : held_unlocking_) {
    ++steps_;
    if (other->call.enter_ns <= held.call.exit_ns && could_unlock(parts_, other->call, held.call)) {
      return Wait::for_held;
    }
  }
  return Wait::no;
}

CallOrder::Wait CallOrder::wait_for_name(const Held& held) {
  const SystemCall& call = held.call;
  // Without its start, its overlap with other calls is unknown.
  if (held.beginning.position == CallStart::kUnknown) return Wait::no;
  if ((naming_.empty() && held_naming_.empty()) || call.path.empty()) return Wait::no;
  const std::vector<NameNeed> needs = contradictions(parts_, call, held.beginning.position);
  if (needs.empty() && call.call != Call::rmdir) return Wait::no;
  const auto explains = [&](const SystemCall& other) {
    return could_empty(parts_, other, call) || could_move(parts_, other, call) ||
           std::ranges::any_of(needs, [&](const NameNeed& need) {
             return could_explain(parts_, other, call, need);
           });
  };
  for (const std::uint32_t thread : naming_) {
    ++steps_;
    if (explains(in_flight_.at(thread).call)) return Wait::for_call;
  }
  for (const auto& [arrival, other] : held_naming_) {
    ++steps_;
    if (other->call.thread != call.thread && other->call.enter_ns <= call.exit_ns &&
        explains(other->call)) {
      return Wait::for_held;
    }
  }
  return Wait::no;
}

void CallOrder::translate_held(Held& held) {
  if (held.request) {
    if (held.request->known) {
      held.call.result = held.request->result;
      held.call.exit_ns = held.request->end_ns;
    } else {
      held.call.result =
          static_cast<std::int64_t>(std::min<std::uint64_t>(held.call.length, INT32_MAX));
      parts_.builder.approximated("asynchronous requests with unknown completion");
    }
  }
  flush_before(held.call);
  translate(parts_, held.call, std::move(held.beginning));
}

void CallOrder::release(std::uint32_t thread) {
  const auto found = held_.find(thread);
  Held held = std::move(found->second.front());
  found->second.pop_front();
  --held_calls_;
  for (auto* fronts : {&fronts_, &examined_}) fronts->erase({held.arrival, thread});
  for (auto* calls : {&held_naming_, &held_unlocking_}) calls->erase(held.arrival);
  if (held.request) requests_.erase(held.request->name);
  if (found->second.empty()) {
    held_.erase(found);
  } else {
    set_front(found->second.front());
  }
  translate_held(held);
}

void CallOrder::give_up_old_requests() {
  for (auto at = fronts_.begin(); at != fronts_.end(); ++at, ++steps_) {
    Held& front = held_.at(at->second).front();
    if (!waits_for_request(front)) continue;
    if (!is_too_old(front)) return;  // as are all later ones
    abandon_request(front);
  }
}

void CallOrder::retry() {
  while (!held_.empty()) {
    if (held_calls_ > kMaxHeld) {
      release(fronts_.begin()->second);
      continue;
    }
    give_up_old_requests();
    std::optional<std::uint32_t> next;                      // the oldest that can continue
    bool can_progress = examined_.size() < fronts_.size();  // an outstanding event ends a wait
    for (const auto& [arrival, thread] : examined_) {
      const Wait wait = wait_of(held_.at(thread).front());
      can_progress = can_progress || wait == Wait::for_call;
      if (wait != Wait::no) continue;
      next = thread;
      break;
    }
    if (next) {
      release(*next);
    } else if (can_progress) {
      return;
    } else {
      release(fronts_.begin()->second);  // they wait for each other
    }
  }
}

void CallOrder::finish() {
  while (!held_.empty()) release(fronts_.begin()->second);
  for (auto& [thread, in_flight] : in_flight_) forget(thread, in_flight);
}

}  // namespace filereel
