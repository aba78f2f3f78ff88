// The binary log: committing transactions queue up. The first one writes and syncs for all of them
// and commits them in order.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "traces/mysql/server_calls.h"

namespace filereel {

class BinaryLog {
 public:
  // `sync_every`: groups per sync, 0 for none.
  BinaryLog(ServerCalls& calls, std::uint32_t sync_every);

  // Returns when the transaction is in the log and `commit` has run for it. The leader's thread
  // calls `commit` with its own thread number.
  Part commit(std::uint32_t thread, std::uint64_t bytes, std::function<Part(std::uint32_t)> commit);

 private:
  struct Participant {
    std::uint64_t bytes;
    std::function<Part(std::uint32_t)> commit;
    bool done = false;
  };
  Part lead(std::uint32_t thread);

  ServerCalls& calls_;
  std::uint32_t sync_every_;
  std::uint64_t end_;
  std::uint64_t groups_ = 0;
  std::vector<Participant*> queue_;
  bool writing_ = false, committing_ = false;
  Signal written_, committed_;
};

}  // namespace filereel
