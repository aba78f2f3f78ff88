#include "replay/engine/uring_engine.h"

#include <algorithm>
#include <list>
#include <new>

#include <fmt/format.h>
#include <liburing.h>
#include <string.h>

#include "filesets/error.h"
#include "replay/engine/performer.h"
#include "replay/engine/precise_sleep.h"
#include "replay/engine/recorder.h"

namespace filereel {
namespace {

std::string why_not(int error) {
  const char* const next =
      error == ENOSYS ? "use a kernel from 5.6 on"
                      : "allow it (sysctl kernel.io_uring_disabled=0, or the container's rules)";
  return fmt::format("the kernel gives no io_uring ({}): {}, or use the blocking engine",
                     strerror(error), next);
}

class Ring {
 public:
  // Throws Error(failed).
  explicit Ring(unsigned entries) {
    const int result = io_uring_queue_init(entries, &ring_, IORING_SETUP_CLAMP);
    if (result < 0) throw Error(ErrorKind::failed, why_not(-result));
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { io_uring_queue_exit(&ring_); }
  io_uring* get() { return &ring_; }

 private:
  io_uring ring_;
};

struct Request {
  explicit Request(std::size_t bytes) : buffer(bytes) {}

  std::list<Request>::iterator self;
  Buffer buffer;
  Operation op;
  PathId path = 0;
  std::uint64_t submitted_ns = 0;
  std::uint64_t sequence = 0;  // of the operation among all of this engine
};
using Requests = std::list<Request>;  // of which one is moved to another without allocation

// How many requests of what size there are.
struct Queue {
  std::size_t depth, bytes;
};

Queue queue_of(const EngineContext& context) {
  const std::size_t bytes = buffer_size(context);
  if (context.queue_depth > 0) return {context.queue_depth, bytes};
  // A trace says nowhere how much it has in flight at most: as much as memory bears.
  constexpr std::size_t kTogether = 512 << 20;
  const std::size_t lanes = context.board ? std::max<std::size_t>(context.board->size(), 1) : 1;
  const std::size_t each = std::max<std::size_t>(bytes, 4096);
  return {std::clamp<std::size_t>(kTogether / lanes / each, 4, 256), each};
}

bool moves_content(const Operation& op) {
  return op.kind == OperationKind::read || op.kind == OperationKind::write;
}

// Whether the order of two requests makes a difference.
bool conflict(const Operation& a, const Operation& b) {
  const bool same =
      a.entry != kNoFileId && b.entry != kNoFileId ? a.entry == b.entry : a.file == b.file;
  const bool writes = a.kind == OperationKind::write || b.kind == OperationKind::write;
  if (!same || !writes) return false;
  // A read at the end of a file, or of what is not written yet, sees how long the file is.
  const auto sees_length = [](const Operation& op) {
    return op.kind == OperationKind::read &&
           (op.hole || op.expected < static_cast<std::int64_t>(op.length));
  };
  if (sees_length(a) || sees_length(b)) return true;
  const auto begins_in = [](const Operation& one, const Operation& other) {
    return one.offset >= other.offset && one.offset - other.offset < bytes_of(other);
  };
  return begins_in(a, b) || begins_in(b, a);
}

class UringEngine final : public IoEngine {
 public:
  UringEngine(const EngineContext& context, std::uint32_t lane)
      : UringEngine(context, lane, queue_of(context)) {}
  UringEngine(const UringEngine&) = delete;
  UringEngine& operator=(const UringEngine&) = delete;
  ~UringEngine() override { wait_until_left(0); }

  bool execute(std::span<const Operation> operations, bool stop_on_divergence) noexcept override {
    stop_on_divergence_ = stop_on_divergence;
    for (const Operation& op : operations) {
      if (context_.stop.stop_requested()) return false;
      if (goes_through_ring(op)) {
        submit(op);
      } else {
        perform(op);
      }
      collect();
      if (failed()) return false;
    }
    return true;
  }

  bool drain() noexcept override {
    wait_until_left(0);
    return !failed();
  }

  bool wait_until(std::uint64_t due_ns) noexcept override {
    for (std::uint64_t now = now_ns(); !flying_.empty() && now < due_ns; now = now_ns()) {
      if (context_.stop.stop_requested()) return true;
      if (due_ns - now > kSleepMarginNs) {
        wait_for_one(std::min(due_ns - kSleepMarginNs - now, kSleepSliceNs));
      } else {
        collect();
        relax();
      }
    }
    sleep_until(due_ns, context_.stop);
    return !failed();
  }

  ReplayStatistics& statistics() override { return recorder_.statistics(); }

 private:
  UringEngine(const EngineContext& context, std::uint32_t lane, Queue queue)
      : context_(context),
        lane_(lane),
        performer_(context_),
        recorder_(context_),
        request_bytes_(queue.bytes),
        ring_(static_cast<unsigned>(queue.depth)) {
    performer_.open_blocking();
    for (std::size_t i = 0; i < queue.depth; ++i) {
      Request& request = free_.emplace_back(queue.bytes);
      request.self = std::prev(free_.end());
    }
  }

  bool failed() const { return mismatch_ && stop_on_divergence_; }

  bool goes_through_ring(const Operation& op) const noexcept {
    if (broken_) return false;
    if (moves_content(op)) {
      if (context_.queue_depth == 0 && !op.asynchronous) return false;
      // io_uring takes the largest offset for the file's position.
      return bytes_of(op) <= request_bytes_ && op.offset <= INT64_MAX;
    }
    const bool syncs = op.kind == OperationKind::sync || op.kind == OperationKind::sync_data;
    return syncs && op.asynchronous && context_.queue_depth == 0;
  }

  void perform(const Operation& op) noexcept {
    const bool reap = op.kind == OperationKind::reap;
    if (is_refused(op, context_)) {
      recorder_.refuse();
      ++started_;
      publish();
      return;
    }
    if (context_.queue_depth > 0 && !reap) wait_until_left(0);
    performer_.prepare(op);
    const PathId path = recorder_.path_of(op);
    const std::uint64_t start = now_ns();
    if (context_.queue_depth == 0 && reap) wait_until_left(op.length);
    const std::int64_t result = performer_.call(op);
    const std::uint64_t end = now_ns();
    note(recorder_.record(op, path, result, end - start - performer_.take_own_ns(), end));
    if (recorder_.checks_content(op, result)) {
      const auto got = static_cast<std::uint64_t>(result);
      const std::uint64_t position = performer_.first_difference(op, got);
      if (position < got) note(recorder_.content_differs(op, path, position));
    }
    if (op.kind == OperationKind::read) last_read_ = nullptr;
    ++started_;
    publish();
  }

  void submit(const Operation& op) noexcept {
    Request& request = take_request(op);
    request.op = op;
    request.path = recorder_.path_of(op);
    request.sequence = started_++;
    const std::uint64_t length = bytes_of(op);
    const int fd = performer_.fd(op.file);
    io_uring_sqe* const entry = io_uring_get_sqe(ring_.get());  // there are as many as requests
    switch (op.kind) {
      case OperationKind::read:
        io_uring_prep_read(entry, fd, request.buffer.data(), static_cast<unsigned>(length),
                           op.offset);
        break;
      case OperationKind::write:
        if (op.data == DataSource::generated) {
          performer_.content().fill(op.entry, op.offset, request.buffer.first(length));
        }
        io_uring_prep_write(entry, fd, request.buffer.data(), static_cast<unsigned>(length),
                            op.offset);
        break;
      default:
        io_uring_prep_fsync(entry, fd,
                            op.kind == OperationKind::sync_data ? IORING_FSYNC_DATASYNC : 0);
        break;
    }
    io_uring_sqe_set_data(entry, &request);
    flying_.splice(flying_.end(), free_, request.self);
    if (op.kind == OperationKind::read) last_read_ = &request;
    request.submitted_ns = now_ns();
    for (;;) {
      const int result = io_uring_submit(ring_.get());
      if (result >= 0) return;
      if (result == -EINTR) continue;
      if (flying_.size() > 1) {  // the kernel has too much to do
        wait_for_one();
        continue;
      }
      // It stays in the ring and is never submitted: from now on everything goes without.
      broken_ = true;
      finish(request, result);
      return;
    }
  }

  // A free request that `op` may be submitted with now.
  Request& take_request(const Operation& op) noexcept {
    if (op.kind == OperationKind::write && op.data == DataSource::last_read) {
      wait_until_left(0);  // what it writes is being read
      if (last_read_) return *last_read_;
      // The last read went without the ring.
      std::ranges::copy(performer_.buffer().first(bytes_of(op)), free_.front().buffer.data());
      return free_.front();
    }
    const auto conflicts = [&op](const Request& one) { return conflict(one.op, op); };
    while (context_.queue_depth > 0 && std::ranges::any_of(flying_, conflicts)) wait_for_one();
    while (free_.empty()) wait_for_one();
    return free_.front();
  }

  // Sees what is done, without waiting.
  void collect() noexcept {
    io_uring_cqe* done = nullptr;
    while (!flying_.empty() && io_uring_peek_cqe(ring_.get(), &done) == 0) complete(done);
  }

  void wait_until_left(std::uint64_t most) noexcept {
    while (flying_.size() > most) wait_for_one();
  }

  void wait_for_one(std::uint64_t most_ns = 0) noexcept {
    io_uring_cqe* done = nullptr;
    __kernel_timespec time{.tv_sec = 0, .tv_nsec = static_cast<long long>(most_ns)};
    const int result = most_ns > 0 ? io_uring_wait_cqe_timeout(ring_.get(), &done, &time)
                                   : io_uring_wait_cqe(ring_.get(), &done);
    if (result == 0) {
      complete(done);
    } else if (result != -EINTR && result != -ETIME) {
      broken_ = true;
      while (!flying_.empty()) finish(flying_.front(), result);
    }
  }

  void complete(io_uring_cqe* done) noexcept {
    Request& request = *static_cast<Request*>(io_uring_cqe_get_data(done));
    const std::int64_t result = done->res;
    io_uring_cqe_seen(ring_.get(), done);
    finish(request, result);
  }

  void finish(Request& request, std::int64_t result) noexcept {
    const std::uint64_t end = now_ns();
    const Operation& op = request.op;
    free_.splice(free_.end(), flying_, request.self);
    note(recorder_.record(op, request.path, result, end - request.submitted_ns, end));
    if (recorder_.checks_content(op, result)) {
      const auto got = static_cast<std::uint64_t>(result);
      const std::uint64_t position =
          performer_.content().first_difference(op.entry, op.offset, request.buffer.first(got));
      if (position < got) note(recorder_.content_differs(op, request.path, position));
    }
    publish();
  }

  void note(bool good) noexcept { mismatch_ = mismatch_ || !good; }

  // Tells the board of the operations before which nothing is in flight any more.
  void publish() noexcept {
    const std::uint64_t done = flying_.empty() ? started_ : flying_.front().sequence;
    if (context_.board && done > published_) {
      context_.board->advance(lane_, static_cast<std::uint32_t>(done - published_));
    }
    published_ = done;
  }

  EngineContext context_;
  std::uint32_t lane_;
  Performer<LinuxCalls> performer_;
  Recorder recorder_;
  std::size_t request_bytes_;
  Requests free_, flying_;        // those in flight as they were submitted
  Ring ring_;                     // behind the requests: the kernel is done with them first
  Request* last_read_ = nullptr;  // null: the performer's buffer holds the last read
  std::uint64_t started_ = 0, published_ = 0;  // operations
  bool mismatch_ = false, stop_on_divergence_ = false;
  bool broken_ = false;  // the ring takes nothing any more
};

}  // namespace

std::optional<std::string> why_no_uring() {
  try {
    Ring(2);
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

std::unique_ptr<IoEngine> make_uring_engine(const EngineContext& context, std::uint32_t lane) {
  try {
    return std::make_unique<UringEngine>(context, lane);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::failed,
                "no memory for the buffers of io_uring: use a smaller queue depth");
  }
}

}  // namespace filereel
