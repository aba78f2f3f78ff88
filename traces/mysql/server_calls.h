// The system calls of the simulated server: they take virtual time and become operations of the
// trace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "filesets/file_set.h"
#include "filesets/system/random.h"
#include "traces/model/trace_builder.h"
#include "traces/mysql/mysql_mix.h"
#include "traces/mysql/simulation.h"

namespace filereel {

inline constexpr std::uint64_t kPage = 16 << 10;
inline constexpr std::size_t kWordFiles = 5;

// The server's files. INDEX_1 of a full-text index has no words of letters.
enum class ServerFile : std::uint8_t {
  redo_log,
  binary_log,
  system,  // ibdata1: undo logs, doublewrite buffer
  table,
  deleted,  // ids of documents whose words are still in the index
  words,    // kWordFiles files
};
inline constexpr std::size_t kServerFiles =
    static_cast<std::size_t>(ServerFile::words) + kWordFiles;

constexpr ServerFile word_file(std::size_t number) {
  return static_cast<ServerFile>(static_cast<std::size_t>(ServerFile::words) + number);
}

// Threads of the trace; connections come first, numbered from 0.
struct ServerThreads {
  explicit ServerThreads(std::uint32_t connections) : first_(connections) {}
  std::uint32_t cleaner() const { return first_; }        // chooses the pages to write
  std::uint32_t completer() const { return first_ + 1; }  // continues after doublewrites
  std::uint32_t fulltext() const { return first_ + 2; }   // writes words to their index
  std::uint32_t purger() const { return first_ + 3; }
  std::uint32_t master() const { return first_ + 4; }  // once a second
  // Write pages and read them ahead if there is no native AIO.
  static constexpr std::uint32_t kIoThreads = 4;
  std::uint32_t io(std::uint32_t number) const { return first_ + 5 + number % kIoThreads; }

 private:
  std::uint32_t first_;
};

class ServerCalls {
 public:
  // All outlive this object. Nothing is added to `trace` before begin().
  ServerCalls(Simulation& simulation, TraceBuilder& trace, const MysqlTiming& timing,
              std::uint64_t seed);

  Simulation& simulation() { return simulation_; }

  // A file as it is before the trace.
  void set_size(ServerFile file, std::uint64_t bytes) { sizes_[number(file)] = bytes; }
  std::uint64_t size(ServerFile file) const { return sizes_[number(file)]; }

  // From now on operations are added, starting with the opening of all files by `thread`. The files
  // have their current sizes; those without a size do not exist.
  void begin(std::uint32_t thread);
  // Closes all files. Nothing is added afterwards.
  void end(std::uint32_t thread);

  // Blocking calls of a thread: co_await.
  Simulation::Sleep read(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                         std::uint64_t length);
  Simulation::Sleep write(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                          std::uint64_t length);
  Simulation::Sleep sync(std::uint32_t thread, ServerFile file);
  Simulation::Sleep allocate(std::uint32_t thread, ServerFile file, std::uint64_t length);

  // Submit without waiting; return the time when the request will be done.
  std::uint64_t submit_read(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                            std::uint64_t length);
  std::uint64_t submit_write(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                             std::uint64_t length);
  // At most `left` requests of the thread are in flight now.
  void reap(std::uint32_t thread, std::uint64_t left);

 private:
  static std::size_t number(ServerFile file) { return static_cast<std::size_t>(file); }
  void add(std::uint32_t thread, Operation operation, std::uint64_t duration);
  std::uint64_t transfer(OperationKind kind, std::uint32_t thread, ServerFile file,
                         std::uint64_t offset, std::uint64_t length, bool asynchronous);
  std::uint64_t write_time(ServerFile file, std::uint64_t length) const;
  std::uint64_t sync_time(ServerFile file) const;
  // A random latency with this mean.
  std::uint64_t latency(std::uint64_t mean_ns);

  Simulation& simulation_;
  TraceBuilder& trace_;
  const MysqlTiming& timing_;
  Random random_;
  std::array<std::uint64_t, kServerFiles> sizes_{};
  std::array<FileSlot, kServerFiles> slots_{};
  std::uint64_t began_ = 0;
  bool recording_ = false;
};

}  // namespace filereel
