// The simulated server's system calls: they take virtual time and become operations of the trace.
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

// The files that the server works on. INDEX_1 of a full-text index holds no words of letters.
enum class ServerFile : std::uint8_t {
  redo_log,
  binary_log,
  system,  // ibdata1: undo logs, doublewrite buffer
  table,
  deleted,  // ids of documents whose words are still in the index
  words,    // kWordFiles of them
};
inline constexpr std::size_t kServerFiles =
    static_cast<std::size_t>(ServerFile::words) + kWordFiles;

constexpr ServerFile word_file(std::size_t number) {
  return static_cast<ServerFile>(static_cast<std::size_t>(ServerFile::words) + number);
}

// Threads of the trace; connections come first and are numbered from 0.
struct ServerThreads {
  explicit ServerThreads(std::uint32_t connections) : first_(connections) {}
  std::uint32_t cleaner() const { return first_; }        // chooses the pages to write
  std::uint32_t completer() const { return first_ + 1; }  // goes on when doublewrites are done
  std::uint32_t fulltext() const { return first_ + 2; }   // writes words to their index
  std::uint32_t purger() const { return first_ + 3; }
  std::uint32_t master() const { return first_ + 4; }  // once a second
  // They write pages, and read them ahead, where there is no native AIO.
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

  // From here on operations are added: first, by `thread`, the opening of all files, which have the
  // sizes of now. Those without a size are not there.
  void begin(std::uint32_t thread);
  // Closes all files. Nothing is added any more.
  void end(std::uint32_t thread);

  // Calls of a thread that has to wait for them: co_await.
  Simulation::Sleep read(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                         std::uint64_t length);
  Simulation::Sleep write(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                          std::uint64_t length);
  Simulation::Sleep sync(std::uint32_t thread, ServerFile file);
  Simulation::Sleep allocate(std::uint32_t thread, ServerFile file, std::uint64_t length);

  // Submit and go on; they return when the request will be done.
  std::uint64_t submit_read(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                            std::uint64_t length);
  std::uint64_t submit_write(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                             std::uint64_t length);
  // Says that at most `left` of the thread's requests are in flight now.
  void reap(std::uint32_t thread, std::uint64_t left);

 private:
  static std::size_t number(ServerFile file) { return static_cast<std::size_t>(file); }
  void add(std::uint32_t thread, Operation operation, std::uint64_t duration);
  std::uint64_t transfer(OperationKind kind, std::uint32_t thread, ServerFile file,
                         std::uint64_t offset, std::uint64_t length, bool asynchronous);
  std::uint64_t write_time(ServerFile file, std::uint64_t length) const;
  std::uint64_t sync_time(ServerFile file) const;
  // A latency with that mean.
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
