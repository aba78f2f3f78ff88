#include "traces/mysql/redo_log.h"

#include <algorithm>

namespace filereel {
namespace {

constexpr std::uint64_t kFirstRedoByte =
    54321;  // written during the creation of the server and its table
// The two alternating positions of checkpoints in the header, and their size.
constexpr std::uint64_t kCheckpointAt = 4096, kCheckpointSize = 4096;
// Bytes gathered before a write (innodb_log_write_ahead_size only concerns the block).
constexpr std::uint64_t kBuffer = 2 << 20;

}  // namespace

RedoLog::RedoLog(ServerCalls& calls, std::uint64_t block)
    : calls_(calls),
      block_(block),
      end_(kFirstRedoByte),
      written_(kFirstRedoByte),
      durable_(kFirstRedoByte),
      checkpointed_(kFirstRedoByte),
      done_(calls.simulation()) {}

Part RedoLog::write_up_to(std::uint32_t thread, std::uint64_t place, bool sync) {
  while ((sync ? durable_ : written_) < place) {
    if (busy_) {
      co_await done_.wait();
      continue;
    }
    busy_ = true;
    co_await write_new(thread);
    if (sync) {
      const std::uint64_t durable = written_;
      co_await calls_.sync(thread, ServerFile::redo_log);
      durable_ = std::max(durable_, durable);
    }
    busy_ = false;
    done_.raise();
  }
}

// Rewrites the last block of the previous write, and writes everything after it.
Part RedoLog::write_new(std::uint32_t thread) {
  while (written_ < end_) {
    const std::uint64_t at = written_ % capacity();
    const std::uint64_t bytes = std::min({end_ - written_, kBuffer, capacity() - at});
    const std::uint64_t begin = at / block_ * block_;
    const std::uint64_t end = (at + bytes + block_ - 1) / block_ * block_;
    const std::uint64_t up_to = written_ + bytes;
    co_await calls_.write(thread, ServerFile::redo_log, kHeader + begin, end - begin);
    written_ = up_to;
    if (bytes < kBuffer) break;  // later changes are left to the next write
  }
}

Part RedoLog::checkpoint(std::uint32_t thread, std::uint64_t place) {
  if (place <= checkpointed_) co_return;
  co_await write_up_to(thread, end_, true);
  const std::uint64_t offset = kCheckpointAt * (1 + ++checkpoints_ % 2);
  co_await calls_.write(thread, ServerFile::redo_log, offset, kCheckpointSize);
  co_await calls_.sync(thread, ServerFile::redo_log);
  checkpointed_ = place;
}

}  // namespace filereel
