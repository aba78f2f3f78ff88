#include "traces/mysql/server_calls.h"

#include <algorithm>

#include <fcntl.h>

#include "traces/open_flags.h"
#include "traces/operation_stream.h"

namespace filereel {
namespace {

// Names below the server's data directory; numbers are those of the table and its index.
constexpr std::array<std::string_view, kServerFiles> kNames = {
    "ib_logfile0",
    "binlog.000001",
    "ibdata1",
    "shop/items.ibd",
    "shop/FTS_0000000000000012_DELETED.ibd",
    "shop/FTS_0000000000000012_000000000000001e_INDEX_2.ibd",
    "shop/FTS_0000000000000012_000000000000001e_INDEX_3.ibd",
    "shop/FTS_0000000000000012_000000000000001e_INDEX_4.ibd",
    "shop/FTS_0000000000000012_000000000000001e_INDEX_5.ibd",
    "shop/FTS_0000000000000012_000000000000001e_INDEX_6.ibd"};
constexpr std::string_view kDataDirectory = "var/lib/mysql/";

constexpr std::uint64_t kAllocate = 30'000;

}  // namespace

ServerCalls::ServerCalls(Simulation& simulation, TraceBuilder& trace, const MysqlTiming& timing,
                         std::uint64_t seed)
    : simulation_(simulation), trace_(trace), timing_(timing), random_(seed) {}

void ServerCalls::begin(std::uint32_t thread) {
  FileSet files;
  for (const char* const path : {"var", "var/lib", "var/lib/mysql", "var/lib/mysql/shop"}) {
    files.entries.push_back(directory_entry(path));
  }
  for (std::size_t i = 0; i < kServerFiles; ++i) {
    if (sizes_[i] == 0) continue;
    Entry entry;
    entry.path = std::string(kDataDirectory) + std::string(kNames[i]);
    entry.mode = 0660;
    entry.size = sizes_[i];
    files.entries.push_back(entry);
  }
  trace_.model().begin_with(files);

  began_ = simulation_.now();
  recording_ = true;
  for (std::size_t i = 0; i < kServerFiles; ++i) {
    if (sizes_[i] == 0) continue;
    slots_[i] = trace_.take_slot();
    // The server has its own cache.
    const bool direct = i != number(ServerFile::binary_log);
    const int how = direct ? O_RDWR | open_flags::kDirect : O_WRONLY;
    const PathId path = trace_.path(std::string(kDataDirectory) + std::string(kNames[i]));
    add(thread, open_file(path, slots_[i], O_CLOEXEC | how), 0);
  }
}

void ServerCalls::end(std::uint32_t thread) {
  for (std::size_t i = 0; i < kServerFiles; ++i) {
    if (sizes_[i] != 0) add(thread, close_file(slots_[i], false), 0);
  }
  recording_ = false;
}

Simulation::Sleep ServerCalls::read(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                                    std::uint64_t length) {
  return simulation_.sleep(transfer(OperationKind::read, thread, file, offset, length, false));
}

Simulation::Sleep ServerCalls::write(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                                     std::uint64_t length) {
  return simulation_.sleep(transfer(OperationKind::write, thread, file, offset, length, false));
}

Simulation::Sleep ServerCalls::sync(std::uint32_t thread, ServerFile file) {
  const std::uint64_t duration = latency(sync_time(file));
  add(thread, of_file(OperationKind::sync_data, slots_[number(file)]), duration);
  return simulation_.sleep(duration);
}

Simulation::Sleep ServerCalls::allocate(std::uint32_t thread, ServerFile file,
                                        std::uint64_t length) {
  const std::uint64_t duration = latency(kAllocate);
  Operation operation = of_file(OperationKind::allocate, slots_[number(file)]);
  operation.offset = size(file);
  operation.length = length;
  add(thread, operation, duration);
  sizes_[number(file)] += length;
  return simulation_.sleep(duration);
}

std::uint64_t ServerCalls::submit_read(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                                       std::uint64_t length) {
  return simulation_.now() + transfer(OperationKind::read, thread, file, offset, length, true);
}

std::uint64_t ServerCalls::submit_write(std::uint32_t thread, ServerFile file, std::uint64_t offset,
                                        std::uint64_t length) {
  return simulation_.now() + transfer(OperationKind::write, thread, file, offset, length, true);
}

void ServerCalls::reap(std::uint32_t thread, std::uint64_t left) {
  Operation operation;
  operation.kind = OperationKind::reap;
  operation.length = left;
  add(thread, operation, 0);
}

void ServerCalls::add(std::uint32_t thread, Operation operation, std::uint64_t duration) {
  if (!recording_) return;
  operation.thread = thread;
  trace_.add({operation, simulation_.now() - began_, duration});
}

std::uint64_t ServerCalls::transfer(OperationKind kind, std::uint32_t thread, ServerFile file,
                                    std::uint64_t offset, std::uint64_t length, bool asynchronous) {
  Operation operation = data(kind, slots_[number(file)], offset, length);
  operation.asynchronous = asynchronous;
  const bool writes = kind == OperationKind::write;
  const std::uint64_t duration = latency(writes ? write_time(file, length) : timing_.page_read);
  add(thread, operation, duration);
  if (writes) sizes_[number(file)] = std::max(sizes_[number(file)], offset + length);
  return duration;
}

std::uint64_t ServerCalls::write_time(ServerFile file, std::uint64_t length) const {
  if (file == ServerFile::redo_log) return timing_.redo_write;
  if (file == ServerFile::binary_log) return timing_.binlog_write;
  if (length <= kPage) return timing_.page_write;
  return std::max(timing_.page_write, timing_.doublewrite * length / (128 * kPage));
}

std::uint64_t ServerCalls::sync_time(ServerFile file) const {
  if (file == ServerFile::redo_log) return timing_.redo_sync;
  return file == ServerFile::binary_log ? timing_.binlog_sync : timing_.data_sync;
}

std::uint64_t ServerCalls::latency(std::uint64_t mean_ns) {
  // Mostly half to twice the median, with a tail. Measured: p75 at 1.4 and p95 at 3.5 medians.
  constexpr double kMean = 1.34;  // medians
  const double u = random_.uniform();
  const double factor = (0.5 + 0.66 * u + 0.17 * u / (1.02 - u)) / kMean;
  return static_cast<std::uint64_t>(static_cast<double>(mean_ns) * factor);
}

}  // namespace filereel
