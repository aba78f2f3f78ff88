// The redo log: one circular file, written in whole blocks. A thread that needs durable changes
// writes those of all threads. Threads that arrive meanwhile wait and share the next write.
#pragma once

#include <cstdint>

#include "traces/mysql/server_calls.h"

namespace filereel {

class RedoLog {
 public:
  static constexpr std::uint64_t kFileSize = 96 << 20;  // innodb_log_file_size
  static constexpr std::uint64_t kHeader = 12288;       // before the circular part

  RedoLog(ServerCalls& calls, std::uint64_t block);

  // Bytes since the creation of the server, and the written and durable parts of these.
  std::uint64_t end() const { return end_; }
  std::uint64_t written() const { return written_; }
  std::uint64_t durable() const { return durable_; }

  // Adds a change in memory.
  void append(std::uint64_t bytes) { end_ += bytes; }

  // Returns when everything up to `place` is written, and durable if `sync`.
  Part write_up_to(std::uint32_t thread, std::uint64_t place, bool sync);

  // Records in the header that all changes before `place` are in the pages on disk. Their space is
  // then free.
  Part checkpoint(std::uint32_t thread, std::uint64_t place);
  static constexpr std::uint64_t capacity() { return kFileSize - kHeader; }

 private:
  Part write_new(std::uint32_t thread);

  ServerCalls& calls_;
  std::uint64_t block_;
  std::uint64_t end_, written_, durable_, checkpointed_;
  bool busy_ = false;
  Signal done_;
  std::uint64_t checkpoints_ = 0;
};

}  // namespace filereel
