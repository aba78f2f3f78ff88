// The medium of the drive: how long transfers take, and what earlier requests have to do with it.
// Knows no clock: times are given, in nanoseconds.
#pragma once

#include <cstdint>
#include <optional>

#include "tests/model_drive/block_set.h"
#include "tests/model_drive/heat.h"
#include "tests/model_drive/script.h"

namespace filereel::model_drive {

// Its answers depend on the scripts and the requests, which come in the order of arrival. For one
// thread at a time.
class Medium {
 public:
  // Everything is free, unused and cool at first.
  Medium(Script script, std::uint64_t now_ns);

  // When the transfer of a request ends that may begin at `ready_ns`. Writes to a drive with a
  // cache come one after another, in the order of these calls; others begin then. The range
  // may reach beyond the end of the drive.
  std::uint64_t transfer(Kind kind, std::uint64_t offset, std::uint64_t length,
                         std::uint64_t ready_ns);

  // From now on by this script, of a drive of the same size. What is in the cache stays there, as
  // far as the new one holds it; blocks in use remain so, and the drive is as warm.
  // Its old data is old again.
  void replace(Script script, std::uint64_t now_ns);

  // Lets time pass until then, so that this state is the current one. Later transfers are the same.
  void rest(std::uint64_t now_ns);
  std::uint64_t cached() const { return cached_; }  // bytes, with those of all writes that came
  std::uint64_t blocks_in_use() const { return in_use_.count(); }
  std::uint64_t old_blocks() const { return old_.count(); }
  const std::optional<Heat>& heat() const { return heat_; }

 private:
  std::uint64_t read(std::uint64_t offset, std::uint64_t length, std::uint64_t ready_ns);
  std::uint64_t write(std::uint64_t offset, std::uint64_t length, std::uint64_t ready_ns);
  // To the path when it is free, with its rates multiplied with the factor (below). Gives the end.
  std::uint64_t write_through_cache(std::uint64_t length, std::uint64_t factor);
  // The path has nothing to do until then, and the cache is freed.
  void rest_until(std::uint64_t time_ns);
  // What rates are multiplied with, in billionths: those of writes, and all at this time.
  std::uint64_t decay_factor() const;
  std::uint64_t throttle_factor(std::uint64_t begin_ns);
  void warm(std::uint64_t bytes, std::uint64_t begin_ns, std::uint64_t end_ns);

  Script script_;
  std::uint64_t path_free_ns_;         // when the last write is done
  std::uint64_t path_free_fs_ = 0;     // femtoseconds more, below 1 ns
  std::uint64_t cached_ = 0;           // bytes
  std::uint64_t freed_nanobytes_ = 0;  // less than a byte that got free
  BlockSet in_use_;
  BlockSet old_;              // of none, if the script has no old data
  std::optional<Heat> heat_;  // if the script has a temperature
};

}  // namespace filereel::model_drive
