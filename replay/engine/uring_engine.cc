// The problem. A recorded program with asynchronous I/O keeps requests in flight; a drive that gets
// them one by one behaves differently. A replay must keep as many in flight as the program, in its
// order, and still tell other lanes when an operation is complete. A workload with a queue depth
// wants the most requests per second instead. Both are here:
// - As recorded (queue_depth 0): operations with the mark `asynchronous` are submitted at their
//   position, each at once. A `reap` waits until at most as many are in flight as then. All others
//   are calls.
// - A queue depth: all reads and writes are requests. While submissions return with everything
//   completed (the page cache), a workload collects requests until none is free and submits them by
//   one call (fills_queue_). Once a submission leaves some in flight, each request is submitted at
//   once, so that the drive need not wait for it. Requests that conflict are never in flight
//   together unless the trace allows it, and calls wait until none is.
//
// Invariants:
// - The board counts operations in their order, but requests complete in any. So publish() reports
//   the operations before the oldest request in flight, never a later one that is already complete.
//   In the lists of RequestPool, requests therefore keep the order of operations.
// - A request owns a part of the arena from queue() until finish(). A write of the last read's data
//   uses the memory of that read, so it waits until nothing is in flight (must_wait).
// - A file is registered in the ring only where slots belong to one engine. Its slot is
//   unregistered before an open or close, because the kernel would keep the old file open.
// - What the ring cannot do (larger than a request's memory, an offset that means "current
//   position") is done by perform().
// - If the ring fails (give_up), its requests are recorded as failed, and all later operations are
//   calls. So every operation is counted once.
//
// A latency ends when the completion is seen, not when it happened: the kernel does not say when.
// So the engine waits for completions, instead of the time, whenever a pause leaves time to
// (wait_until). Everything belongs to the lane's thread, between begin() and end().
#include "replay/engine/uring_engine.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "filesets/system/error.h"
#include "replay/engine/outcome_recorder.h"
#include "replay/engine/uring_requests.h"
#include "replay/engine/uring_ring.h"
#include "replay/measure/clock.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

bool moves_content(const Operation& op) {
  return op.kind == OperationKind::read || op.kind == OperationKind::write;
}

class UringEngine final : public IoEngine {
 public:
  UringEngine(const EngineContext& context, std::uint32_t lane)
      : context_(context),
        lane_(lane),
        executor_(context_),
        recorder_(context_),
        requests_(context_),
        ring_(static_cast<unsigned>(requests_.depth()), context.poll),
        fills_queue_(context.queue_depth > 0 && !context.board) {
    executor_.open_blocking();
    ring_.register_buffers(requests_.arena());
    if (context.board) return;
    // Only this engine closes these files.
    files_.resize(std::min(context.open_files.size(), kMostFiles));
    ring_.create_file_table(files_.size());
  }
  UringEngine(const UringEngine&) = delete;
  UringEngine& operator=(const UringEngine&) = delete;
  ~UringEngine() override { wait_until_left(0); }

  void begin() noexcept override { ring_.begin(); }
  void end() noexcept override {
    wait_until_left(0);
    ring_.end();
    broken_ = true;
  }

  Execution execute(std::span<const Operation>& operations,
                    bool stop_on_divergence) noexcept override {
    stop_on_divergence_ = stop_on_divergence;
    while (!operations.empty()) {
      if (context_.stop.stop_requested()) return Execution::stopped;
      const Operation& op = operations.front();
      bool taken = true;
      if (!goes_through_ring(op)) {
        perform(op);
      } else if (must_wait(op)) {
        submit(1);
        taken = false;
      } else {
        queue(op);
        if (!fills_queue_)
          submit(0);
        else if (!ends_at_once_)
          submit_queue();
      }
      if (taken) operations = operations.subspan(1);
      if (failed()) return Execution::stopped;
      if (latest_ns_ >= alarm_ns_) return Execution::alarm;
    }
    return Execution::all;
  }
  void set_alarm(std::uint64_t at_ns) noexcept override { alarm_ns_ = at_ns; }
  void set_due(std::uint64_t due_ns) noexcept override { due_ns_ = due_ns; }

  bool drain() noexcept override {
    wait_until_left(0);
    return !failed();
  }

  bool wait_until(std::uint64_t due_ns) noexcept override {
    if (requests_.queued() > 0) submit(0);
    for (std::uint64_t now = now_ns(); requests_.in_use() > 0 && now < due_ns; now = now_ns()) {
      if (context_.stop.stop_requested()) return true;
      if (due_ns - now > kSleepMarginNs) {
        // Waits until then at most; completions are handled below.
        const int result = ring_.wait(std::min(due_ns - kSleepMarginNs - now, kSleepSliceNs));
        if (result < 0 && result != -EINTR && result != -ETIME) give_up(result);
      } else {
        relax();
      }
      reap_completions();
    }
    sleep_until(due_ns, context_.stop);
    return !failed();
  }

  ReplayStatistics& statistics() override { return recorder_.statistics(); }

 private:
  static constexpr std::size_t kMostFiles = 1024;
  static constexpr std::uint32_t kUsesWorthHolding = 64;

  // An open file used only by this engine, by its slot.
  struct File {
    std::uint32_t uses = 0;
    bool direct = false;
  };

  bool failed() const { return mismatch_ && stop_on_divergence_; }

  bool goes_through_ring(const Operation& op) const noexcept {
    if (broken_) return false;
    if (moves_content(op)) {
      if (context_.queue_depth == 0 && !op.asynchronous) return false;
      if (context_.poll && !(op.file < files_.size() && files_[op.file].direct)) return false;
      // io_uring uses the largest offset for the file's position.
      return bytes_of(op) <= requests_.request_bytes() && op.offset <= INT64_MAX;
    }
    const bool syncs = op.kind == OperationKind::sync || op.kind == OperationKind::sync_data;
    return syncs && op.asynchronous && context_.queue_depth == 0 && !context_.poll;
  }

  // Whether a request in flight must complete before `op` may be queued.
  bool must_wait(const Operation& op) const noexcept {
    if (!requests_.has_free()) return true;
    if (op.kind == OperationKind::write && op.data == DataSource::last_read) {
      return requests_.in_use() > 0;  // its data is still being read
    }
    const bool ordered = context_.queue_depth > 0 && !context_.overlapping;
    return ordered && requests_.conflicts_with(op);
  }

  void perform(const Operation& op) noexcept {
    const bool reap = op.kind == OperationKind::reap;
    if (is_refused(op, context_)) {
      recorder_.refuse(op.kind);
      ++started_;
      publish();
      return;
    }
    if (context_.queue_depth > 0 && !reap) wait_until_left(0);
    executor_.prepare(op);
    note_file(op);
    const PathId path = recorder_.path_of(op);
    const std::uint64_t start = now_ns();
    if (context_.queue_depth == 0 && reap) wait_until_left(op.length);
    const std::int64_t result = executor_.call(op);
    const std::uint64_t end = latest_ns_ = now_ns();
    const std::uint64_t lookup = executor_.take_lookup_ns();
    recorder_.statistics().lookup_ns += lookup;
    note(recorder_.record(
        op, path, result,
        call_time(start, end, executor_.take_own_ns() + lookup, std::exchange(due_ns_, 0))));
    if (recorder_.checks_content(op, result)) {
      const auto got = static_cast<std::uint64_t>(result);
      const std::uint64_t position = executor_.first_difference(op, got);
      if (position < got) note(recorder_.content_differs(op, path, position));
    }
    if (op.kind == OperationKind::read) last_read_ = nullptr;
    ++started_;
    publish();
  }

  // The file of a slot is about to change.
  void note_file(const Operation& op) noexcept {
    const bool opens = op.kind == OperationKind::open;
    if ((!opens && op.kind != OperationKind::close) || op.file >= files_.size()) return;
    ring_.unregister_file(op.file);
    files_[op.file] = {.direct = opens && (op.flags & open_flags::kDirect) != 0};
  }

  // A file that is used often is registered.
  Ring::FileRef file_of(const Operation& op) noexcept {
    if (op.file < files_.size()) {
      if (++files_[op.file].uses == kUsesWorthHolding) {
        ring_.register_file(op.file, executor_.fd(op.file));
      }
      if (ring_.has_file(op.file)) return {static_cast<int>(op.file), true};
    }
    return {executor_.fd(op.file), false};
  }

  // Queues `op`, which need not wait.
  void queue(const Operation& op) noexcept {
    Request& request = request_for(op);
    request.op = op;
    request.path = recorder_.path_of(op);
    request.sequence = started_++;
    request.due_ns = std::exchange(due_ns_, 0);
    const std::span<std::byte> memory = requests_.memory(request, bytes_of(op));
    const Ring::FileRef file = file_of(op);
    switch (op.kind) {
      case OperationKind::read:
        ring_.queue_read(file, memory, op.offset, &request);
        last_read_ = &request;
        break;
      case OperationKind::write:
        if (op.data == DataSource::generated) {
          executor_.content().fill(op.entry, op.offset, memory);
        }
        ring_.queue_write(file, memory, op.offset, &request);
        break;
      default:
        ring_.queue_sync(file, op.kind == OperationKind::sync_data, &request);
        break;
    }
    requests_.queue(request);
  }

  // A free request; for writing the last read's data, the request that holds it.
  Request& request_for(const Operation& op) noexcept {
    Request& request = requests_.free();
    if (op.kind != OperationKind::write || op.data != DataSource::last_read) return request;
    if (last_read_) return *last_read_;
    // The last read bypassed the ring.
    std::ranges::copy(executor_.buffer().first(bytes_of(op)), request.data);
    return request;
  }

  // Submits the queue, and checks whether everything has completed when the call returns.
  void submit_queue() noexcept {
    requests_.submit(latest_ns_ = now_ns());
    ring_.submit(0);  // refused entries stay queued for submit()
    ends_at_once_ = ring_.done() >= requests_.in_use();
  }

  // Submits the queue and handles at least `wait` completions.
  void submit(unsigned wait) noexcept {
    if (requests_.queued() > 0) submit_queue();
    unsigned seen = 0;
    do {
      const unsigned left = wait - std::min(wait, seen);
      const int result = ring_.submit(ring_.done() >= left ? 0 : left);
      const unsigned some = reap_completions();
      seen += some;
      if (result >= 0 || result == -EINTR || some > 0) continue;
      // The kernel may be busy.
      const bool busy = result == -EAGAIN || result == -EBUSY;
      if (busy && requests_.in_use() > ring_.queued()) {
        ring_.wait(kSleepSliceNs);
      } else {
        give_up(result);
      }
    } while (!broken_ && (seen < wait || ring_.queued() > 0));
  }

  // The ring failed: its requests are lost, and all further operations bypass it.
  void give_up(int error) noexcept {
    broken_ = true;
    const std::uint64_t now = now_ns();
    requests_.submit(now);
    while (requests_.in_use() > 0) finish(requests_.oldest_flying(), error, now);
    publish();
  }

  void wait_until_left(std::uint64_t most) noexcept {
    while (requests_.in_use() > most) submit(static_cast<unsigned>(requests_.in_use() - most));
  }

  // Handles completions without waiting.
  unsigned reap_completions() noexcept {
    if (requests_.in_use() == 0) return 0;
    std::uint64_t now = 0;
    const unsigned seen = ring_.reap([this, &now](void* tag, std::int64_t result) {
      if (now == 0) now = now_ns();
      finish(*static_cast<Request*>(tag), result, now);
    });
    if (seen > 0) {
      latest_ns_ = now;
      publish();
    }
    return seen;
  }

  void finish(Request& request, std::int64_t result, std::uint64_t end) noexcept {
    const Operation& op = request.op;
    note(recorder_.record(op, request.path, result,
                          call_time(request.submitted_ns, end, 0, request.due_ns)));
    if (recorder_.checks_content(op, result)) {
      const auto got = static_cast<std::uint64_t>(result);
      const std::uint64_t position =
          executor_.content().first_difference(op.entry, op.offset, requests_.memory(request, got));
      if (position < got) note(recorder_.content_differs(op, request.path, position));
    }
    requests_.release(request);
  }

  void note(bool good) noexcept { mismatch_ = mismatch_ || !good; }

  // Reports the operations before the oldest request in flight to the board.
  void publish() noexcept {
    if (!context_.board) return;
    const std::uint64_t done = requests_.in_use() == 0 ? started_ : requests_.oldest().sequence;
    if (done > published_) {
      context_.board->advance(lane_, static_cast<std::uint32_t>(done - published_));
    }
    published_ = done;
  }

  EngineContext context_;
  std::uint32_t lane_;
  OperationExecutor<LinuxCalls> executor_;
  OutcomeRecorder recorder_;
  RequestPool requests_;
  Ring ring_;                     // after the requests: destroyed before their memory
  std::vector<File> files_;       // by slot, if each lane has its own
  bool fills_queue_;              // only conflicts are ordered: requests may be submitted together
  bool ends_at_once_ = true;      // submissions complete at once (page cache)
  Request* last_read_ = nullptr;  // null: the last read is in the performer's buffer
  std::uint64_t started_ = 0, published_ = 0;  // operations
  std::uint64_t latest_ns_ = 0;                // last reading of the stopwatch
  std::uint64_t alarm_ns_ = UINT64_MAX;
  std::uint64_t due_ns_ = 0;  // due time of the next operation; 0: none
  bool mismatch_ = false, stop_on_divergence_ = false;
  bool broken_ = false;  // the ring has failed
};

}  // namespace

std::unique_ptr<IoEngine> make_uring_engine(const EngineContext& context, std::uint32_t lane) {
  try {
    return std::make_unique<UringEngine>(context, lane);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::failed,
                "not enough memory for io_uring buffers: use a smaller queue depth");
  }
}

}  // namespace filereel
