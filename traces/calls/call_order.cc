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

void CallOrder::forget(InFlight& in_flight) {
  if (!in_flight.active) return;
  in_flight.active = false;
  filereel::release(parts_, in_flight.call.thread, std::move(in_flight.beginning), 0);
  if (is_naming(in_flight.call.call)) --names_in_flight_;
  if (in_flight.call.call == Call::fork) --forks_in_flight_;
  if (may_unlock(in_flight.call)) --unlocks_in_flight_;
}

void CallOrder::entered(const SystemCall& call) {
  InFlight& in_flight = in_flight_[call.thread];
  forget(in_flight);
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
  names_in_flight_ += naming;
  forks_in_flight_ += fork;
  unlocks_in_flight_ += unlock;
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
    forget(found->second);
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
    Held held{call, std::move(beginning), arrivals_, nullptr};
    submitted(held);
    return accept(std::move(held));
  }
  // The common case, without copying the call.
  if (held_.empty() && forks_in_flight_ == 0 && names_in_flight_ == 0 &&
      (unlocks_in_flight_ == 0 || !takes_lock(call))) {
    flush_before(call);
    return translate(parts_, call, std::move(beginning));
  }
  accept({call, std::move(beginning), arrivals_, nullptr});
}

void CallOrder::submitted(Held& held) {
  held.request = std::make_shared<Request>();
  held.request->name = {parts_.tasks.process_of(held.call.thread), held.call.request};
  requests_[held.request->name].push_back(held.request);
}

void CallOrder::completed(const SystemCall& call) {
  const auto found = requests_.find({parts_.tasks.process_of(call.thread), call.request});
  if (found == requests_.end()) return;
  Request& request = *found->second.front();
  request.over = request.known = true;
  request.result = call.result;
  request.end_ns = call.exit_ns;
  found->second.pop_front();
  if (found->second.empty()) requests_.erase(found);
  retry();
}

// Otherwise the completion of the next request of that name would be taken for this one.
void CallOrder::abandon_request(const std::shared_ptr<Request>& request) {
  request->over = true;
  const auto found = requests_.find(request->name);
  if (found == requests_.end()) return;
  std::erase(found->second, request);
  if (found->second.empty()) requests_.erase(found);
}

// A thread that ends waits for nothing.
void CallOrder::abandon_requests(std::uint32_t thread) {
  const auto found = held_.find(thread);
  if (found == held_.end()) return;
  for (Held& held : found->second) {
    if (held.request && !held.request->known) abandon_request(held.request);
  }
}

// Calls that the end of a process must not overtake.
void CallOrder::flush_before(const SystemCall& call) {
  if (call.call == Call::exit_group || (call.call == Call::exec && call.result >= 0)) {
    const std::uint32_t process = parts_.tasks.process_of(call.thread);
    force_process(process, call.thread);
    for (auto at = in_flight_.begin(); at != in_flight_.end();) {
      if (at->first != call.thread && parts_.tasks.process_of(at->first) == process) {
        forget(at->second);
        at = in_flight_.erase(at);
      } else {
        ++at;
      }
    }
  } else if (call.call == Call::wait && call.result > 0 && call.result <= UINT32_MAX) {
    force_process(static_cast<std::uint32_t>(call.result), call.thread);
  }
}

void CallOrder::force_process(std::uint32_t process, std::uint32_t except) {
  while (!held_.empty()) {
    const Held* oldest = nullptr;
    for (const auto& [thread, calls] : held_) {
      if (thread == except || parts_.tasks.process_of(thread) != process) continue;
      if (!oldest || calls.front().arrival < oldest->arrival) oldest = &calls.front();
    }
    if (!oldest) return;
    release(oldest->call.thread);
  }
}

void CallOrder::accept(Held held) {
  const auto queue = held_.find(held.call.thread);
  if (queue == held_.end() && wait_of(held) == Wait::no) {
    translate_held(held);
  } else {
    const std::uint32_t thread = held.call.thread;
    held_[thread].push_back(std::move(held));
    ++held_calls_;
  }
  if (!held_.empty()) retry();
}

bool CallOrder::fork_is_in_flight() {
  return forks_in_flight_ > 0 && std::ranges::any_of(in_flight_, [&](const auto& entry) {
           return entry.second.active && entry.second.call.call == Call::fork &&
                  !parts_.tasks.has_ended(entry.first);
         });
}

CallOrder::Wait CallOrder::wait_of(const Held& held) {
  if (held.request) return held.request->over ? Wait::no : Wait::for_request;
  if (parts_.tasks.is_new(held.call.thread) && fork_is_in_flight()) return Wait::for_call;
  return takes_lock(held.call) ? wait_for_unlock(held) : wait_for_name(held);
}

CallOrder::Wait CallOrder::wait_for_unlock(const Held& held) {
  if (unlocks_in_flight_ == 0 && held_.empty()) return Wait::no;
  if (arrivals_ - held.arrival > kMaxWait) return Wait::no;
  const auto explains = [&](const SystemCall& other) {
    return may_unlock(other) && could_unlock(parts_, other, held.call);
  };
  for (const auto& [thread, in_flight] : in_flight_) {
    if (in_flight.active && explains(in_flight.call)) return Wait::for_call;
  }
  for (const auto& [thread, calls] : held_) {
    for (const Held& other : calls) {
      if (other.call.enter_ns <= held.call.exit_ns && explains(other.call)) return Wait::for_held;
    }
  }
  return Wait::no;
}

CallOrder::Wait CallOrder::wait_for_name(const Held& held) {
  const SystemCall& call = held.call;
  // Without its start, its overlap with other calls is unknown.
  if (held.beginning.position == CallStart::kUnknown) return Wait::no;
  if ((names_in_flight_ == 0 && held_.empty()) || call.path.empty()) return Wait::no;
  if (arrivals_ - held.arrival > kMaxWait) return Wait::no;
  const std::vector<NameNeed> needs = contradictions(parts_, call, held.beginning.position);
  if (needs.empty() && call.call != Call::rmdir) return Wait::no;
  const auto explains = [&](const SystemCall& other) {
    return could_empty(parts_, other, call) || could_move(parts_, other, call) ||
           std::ranges::any_of(needs, [&](const NameNeed& need) {
             return could_explain(parts_, other, call, need);
           });
  };
  for (const auto& [thread, in_flight] : in_flight_) {
    if (in_flight.active && is_naming(in_flight.call.call) && explains(in_flight.call)) {
      return Wait::for_call;
    }
  }
  for (const auto& [thread, calls] : held_) {
    for (const Held& other : calls) {
      if (other.call.thread != call.thread && other.call.result >= 0 &&
          is_naming(other.call.call) && other.call.enter_ns <= call.exit_ns &&
          explains(other.call)) {
        return Wait::for_held;
      }
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
      abandon_request(held.request);
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
  if (found->second.empty()) held_.erase(found);
  translate_held(held);
}

void CallOrder::force_oldest() {
  const auto oldest = std::ranges::min_element(
      held_, {}, [](const auto& entry) { return entry.second.front().arrival; });
  release(oldest->first);
}

void CallOrder::retry() {
  while (!held_.empty()) {
    if (held_calls_ > kMaxHeld) {
      force_oldest();
      continue;
    }
    const Held* next = nullptr;
    bool can_progress = false;  // an outstanding event can end the wait
    for (const auto& [thread, calls] : held_) {
      const Wait wait = wait_of(calls.front());
      can_progress = can_progress || wait == Wait::for_call || wait == Wait::for_request;
      if (wait == Wait::no && (!next || calls.front().arrival < next->arrival)) {
        next = &calls.front();
      }
    }
    if (next) {
      release(next->call.thread);
    } else if (can_progress) {
      return;
    } else {
      force_oldest();  // they wait for each other
    }
  }
}

void CallOrder::finish() {
  while (!held_.empty()) force_oldest();
  for (auto& [thread, in_flight] : in_flight_) forget(in_flight);
}

}  // namespace filereel
