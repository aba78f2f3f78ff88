// A lane belongs to one thread, with its engine, batch and balance. It shares only the board, the
// barrier, the stop token and the start time, which is set before any lane executes (the latch `go`
// in replayer.cc).
//
// What is easily broken:
// - Before a lane waits for others, and before it advances the board for a control operation, its
//   requests in flight must be complete (IoEngine::drain): another lane may wait for exactly these.
//   The same holds before source_.next() blocks (would_wait).
// - No operation reads the clock for a time limit. The end of the warm-up or of the measured time
//   is an alarm, which the engine compares with the end of each call, known anyway. Every place
//   that may have waited asks handle_alarm().
// - When time is up, the rest of the batch is skipped, but the source then returns closing
//   operations. It does not know which opens were executed, hence execute_last().
// - A stage never goes back: warm_up, measured, wind_up.
//
// At pace `think`, the time of a thread is divided into calls, work and waits. WorkBalance has what
// the thread owes of the recorded work; each function that lets time pass says what it was: settle
// (work), skip (a wait), done (work within a wait). Time that nobody claims would be work.
#include "replay/engine/lane.h"

#include <algorithm>
#include <utility>

#include <errno.h>

#include "replay/measure/clock.h"

namespace filereel {

std::bitset<kOperationKinds> SharedReplay::call_kinds() {
  std::bitset<kOperationKinds> result;
  for (std::size_t i = 0; i < kOperationKinds; ++i) {
    result[i] = operation_info(static_cast<OperationKind>(i)).is_call;
  }
  return result;
}

bool Lane::run() {
  last_end_ns_ = replay_.start_ns;
  balance_.begin(replay_.start_ns, 0);
  engine_.statistics().begin_ns = replay_.start_ns;
  if (replay_.options.warm_up_ns > 0) {
    stage_ = Stage::warm_up;
    set_alarm(replay_.measured_start_ns());
  } else if (replay_.options.run_for_ns > 0) {
    set_alarm(replay_.start_ns + replay_.options.run_for_ns);
  }
  const bool complete = take_all();
  const bool drained = engine_.drain();
  // A thread that did not reach the measured time has nothing to count, unless it failed.
  if (complete && drained && stage_ == Stage::warm_up) begin_measuring();
  return complete && drained;
}

bool Lane::take_all() {
  for (;;) {
    if (source_.would_wait() && !engine_.drain()) return false;
    const std::size_t filled = source_.next(batch_);
    if (alarm_ns_ != kNever) {
      if (!handle_alarm(now_ns())) return false;
      if (stage_ == Stage::wind_up) continue;  // the operations returned are skipped
    }
    if (filled == 0) return ended();
    if (!replay_.options.board) number(filled);
    if (!execute({batch_.data(), filled})) return false;
  }
}

// Whether this is the regular end, not that of a cancelled schedule.
bool Lane::ended() {
  if (stage_ == Stage::wind_up) return !replay_.stop.stop_requested();
  return !replay_.options.board || !replay_.options.board->released();
}

// Workloads do not number their operations.
void Lane::number(std::size_t filled) {
  for (std::size_t i = 0; i < filled; ++i) {
    batch_[i].thread = number_;
    batch_[i].position = position_;
    if (is_call(batch_[i])) ++position_;
  }
}

// Skips the rest when time is up.
bool Lane::execute(std::span<const Operation> rest) {
  if (stage_ == Stage::wind_up) return execute_last(rest);
  while (!rest.empty() && stage_ != Stage::wind_up) {
    if (is_call(rest.front())) {
      if (!execute_calls(rest)) return false;
      continue;
    }
    const Operation& control = rest.front();
    rest = rest.subspan(1);
    if (control.kind == OperationKind::pace && !rest.empty()) engine_.prepare(rest.front());
    if (!execute_control(control)) return false;
  }
  return true;
}

// Executes calls up to the next control operation or the alarm; removes them from `rest`.
bool Lane::execute_calls(std::span<const Operation>& rest) {
  const auto control =
      std::ranges::find_if(rest, [this](const Operation& op) { return !is_call(op); });
  const auto count = static_cast<std::size_t>(control - rest.begin());
  std::span<const Operation> calls = rest.first(count);
  const Execution how = engine_.execute(calls, replay_.options.stop_on_divergence);
  rest = rest.subspan(count - calls.size());
  if (how == Execution::stopped) return false;
  idle_since_ns_ = 0;
  if (replay_.paced) last_end_ns_ = now_ns();
  return how != Execution::alarm || handle_alarm(now_ns());
}

// The source does not know how many of its operations were executed: it may close or sync files
// that were not opened. Times are ignored here.
bool Lane::execute_last(std::span<const Operation> rest) {
  for (; !rest.empty(); rest = rest.subspan(1)) {
    const Operation& op = rest.front();
    if (op.kind == OperationKind::pace) continue;
    const bool uses_open = op.kind != OperationKind::open && op.file != kNoFile;
    if (uses_open && (op.file >= open_files_.size() || open_files_[op.file].fd.load() < 0)) {
      continue;
    }
    std::span<const Operation> one = rest.first(1);
    if (is_call(op) ? !execute_calls(one) : !execute_control(op)) return false;
  }
  return true;
}

// Handles an operation that orders the replay. Requests in flight must complete before this thread
// waits for others, which may wait for these requests, and before it counts its own work.
bool Lane::execute_control(const Operation& op) {
  switch (op.kind) {
    case OperationKind::pace:
      return pace(op);
    case OperationKind::await:
      return await(op);
    case OperationKind::wait:
      if (!wait(op)) return false;
      break;
    case OperationKind::barrier:
      if (!engine_.drain()) return false;
      replay_.meeting.arrive_and_wait();
      return alarm_ns_ == kNever || handle_alarm(now_ns());
    case OperationKind::make_node:
      ++engine_.statistics().refused[static_cast<std::size_t>(op.kind)];
      if (replay_.options.judge && op.expected >= 0) {
        replay_.options.judge->judge(op, op.path, -EPERM);
      }
      break;
    default:  // fork, join, exit, wake: the schedule has replaced them by awaits
      break;
  }
  if (!engine_.drain()) return false;
  if (op.kind != OperationKind::wait) idle_since_ns_ = 0;
  if (replay_.options.board) replay_.options.board->advance(number_);
  if (replay_.paced) {
    last_end_ns_ = now_ns();
    engine_.set_due(0);  // it was this operation that was due
  }
  return true;
}

bool Lane::await(const Operation& op) {
  if (!engine_.drain()) return false;
  LaneBoard* const board = replay_.options.board;
  if (board && !board->reached(op.source, op.second)) {
    if (replay_.paced) {
      wait_paced(op);
    } else {
      board->yield(op.source, op.second);
      board->wait(number_, op.source, op.second);
    }
  }
  if (replay_.stop.stop_requested()) return false;
  return alarm_ns_ == kNever || handle_alarm(now_ns());
}

// The recorded thread went to sleep at once, and needed processor time for that and for waking up,
// which is a part of its work. So does this one.
void Lane::wait_paced(const Operation& op) {
  balance_.settle(now_ns(), call_ns());
  const std::uint64_t before = thread_cpu_ns();
  replay_.options.board->wait(number_, op.source, op.second);
  balance_.done(thread_cpu_ns() - before);
  balance_.skip(now_ns(), call_ns());
}

// What nothing in the replay ends lasts as long as in the trace. The sleep is not made more precise
// by spinning: the recorded time is that of the wake-up, after which the thread waited for a
// processor, too.
bool Lane::wait(const Operation& op) {
  if (!replay_.paced || op.flags != wait_flags::kForOutside || op.length == 0) return true;
  if (!engine_.drain()) return false;
  const std::uint64_t begin = now_ns();
  if (idle_since_ns_ == 0) idle_since_ns_ = begin;
  balance_.settle(begin, call_ns());
  prepare_sleep();
  const std::uint64_t due = std::min(begin + op.length, alarm_ns_);
  doze_until(due, replay_.stop);
  if (replay_.stop.stop_requested()) return false;
  balance_.skip(now_ns(), call_ns());
  return alarm_ns_ == kNever || handle_alarm(now_ns());
}

// Uses the processor as the program did.
bool Lane::work(const Operation& op) {
  const std::uint64_t begin = now_ns();
  if (op.flags == pace_flags::kFirstWork) {
    balance_.begin(begin, call_ns());
  } else {
    balance_.settle(begin, call_ns());
  }
  balance_.owe(op.offset);
  const std::int64_t owed = balance_.owed_ns();
  engine_.statistics().lateness.record(
      static_cast<std::uint64_t>(std::max<std::int64_t>(-owed, 0)));
  if (owed > 0) {
    use_processor(static_cast<std::uint64_t>(owed), replay_.stop);
    if (replay_.stop.stop_requested()) return false;
    balance_.begin(now_ns(), call_ns());
  }
  return alarm_ns_ == kNever || handle_alarm(now_ns());
}

void Lane::prepare_sleep() {
  if (!std::exchange(sleeps_precisely_, true)) prepare_precise_sleep();
}

bool Lane::pace(const Operation& op) {
  if (op.flags == pace_flags::kWork || op.flags == pace_flags::kFirstWork) return work(op);
  prepare_sleep();
  if (replay_.queues && op.flags == pace_flags::kFromLastEnd) {
    if (!engine_.drain()) return false;
    last_end_ns_ = now_ns();
  }
  std::uint64_t now = now_ns();
  std::uint64_t due = op.offset;
  switch (op.flags) {
    case pace_flags::kFromLastEnd:
      due += last_end_ns_;
      break;
    case pace_flags::kFromNow:
      due += now;
      break;
    default:
      due += replay_.start_ns;
      break;
  }
  while (due > now) {
    if (!engine_.wait_until(std::min(due, alarm_ns_)) || replay_.stop.stop_requested()) {
      return false;
    }
    now = now_ns();
    if (!handle_alarm(now)) return false;
    if (stage_ == Stage::wind_up) return true;
  }
  engine_.statistics().lateness.record(now > due ? now - due : 0);
  // A think time has no due time of its own: the delay is already counted.
  if (op.flags == pace_flags::kFromStart) engine_.set_due(due);
  return true;
}

void Lane::set_alarm(std::uint64_t at_ns) {
  alarm_ns_ = at_ns;
  engine_.set_alarm(at_ns);
}

// Handles the alarm if its time has come.
bool Lane::handle_alarm(std::uint64_t now) {
  if (now >= alarm_ns_ && stage_ == Stage::warm_up) begin_measuring();
  return now < alarm_ns_ || begin_winding_up();
}

void Lane::begin_measuring() {
  stage_ = Stage::measured;
  const std::uint64_t start = replay_.measured_start_ns();
  engine_.statistics().restart(start);
  set_alarm(replay_.options.run_for_ns > 0 ? start + replay_.options.run_for_ns : kNever);
}

bool Lane::begin_winding_up() {
  stage_ = Stage::wind_up;
  set_alarm(kNever);
  // The lanes of a schedule wait for one another, and share one deadline.
  if (replay_.options.board) replay_.options.board->release_all();
  if (!engine_.drain()) return false;
  source_.wind_up();
  return true;
}

}  // namespace filereel
