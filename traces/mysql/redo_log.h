// The redo log: one file that is written in whole blocks, round and round. Whoever needs his
// changes to be durable writes those of all; who comes meanwhile waits and is served with the next
// ones.
#pragma once

#include <cstdint>

#include "traces/mysql/server_calls.h"

namespace filereel {

class RedoLog {
 public:
  static constexpr std::uint64_t kFileSize = 96 << 20;  // innodb_log_file_size
  static constexpr std::uint64_t kHeader = 12288;       // in front of what goes round

  RedoLog(ServerCalls& calls, std::uint64_t block);

  // Bytes since the server was made, and how many of them are written, and durable.
  std::uint64_t end() const { return end_; }
  std::uint64_t written() const { return written_; }
  std::uint64_t durable() const { return durable_; }

  // Adds a change in memory.
  void append(std::uint64_t bytes) { end_ += bytes; }

  // Returns when all up to `place` is written, and durable if `sync`.
  Part write_up_to(std::uint32_t thread, std::uint64_t place, bool sync);

  // Changes before `place` are in the pages on disk: writes that into the header. Throws nothing
  // away: the room is free from then on.
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
