// Converts events of the kernel program to system calls and passes them to the resolver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include <unistd.h>

#include "traces/calls/call_arguments.h"
#include "traces/calls/call_resolver.h"
#include "traces/calls/recording_memory.h"
#include "traces/calls/system_call.h"
#include "traces/record/bpf/bpf_event_view.h"
#include "traces/record/bpf/bpf_requests.h"
#include "traces/record/running_process.h"

namespace filereel {

// --- System calls from events of the kernel program.

// Reads the event of a system call that has ended or, if `ended` is false, started. Resets `call`
// except for its thread and times.
CallReading read_bpf_call(const BpfEventView& event, bool ended, SystemCall& call);

// Mount point of a file system whose root is mounted; empty if there is none.
std::string mount_point_of(std::uint64_t device);

// Facts missing from events, looked up on the running system.
struct SystemQueries {
  std::function<std::string(std::uint32_t process, std::uint64_t device, std::uint64_t inode)>
      mapped_file = mapped_file_name;
  std::function<std::string(std::uint64_t device)> mount_point = mount_point_of;
};

class BpfTranslation {
 public:
  // Both outlive this. Times of events are relative to `zero_ns`.
  BpfTranslation(TraceBuilder& builder, CallResolver& resolver, std::uint64_t zero_ns,
                 SystemQueries surroundings = {})
      : builder_(builder),
        resolver_(resolver),
        requests_(resolver, builder),
        zero_ns_(zero_ns),
        surroundings_(std::move(surroundings)) {}

  // Takes one event, in recording order.
  void take(std::span<const std::byte> bytes);

  // Drops the events of this process.
  void ignore(std::uint32_t process) { ignored_ = process; }

  // The trace starts when this process has executed the program.
  void begin_with_exec_of(std::uint32_t process) { awaited_ = process; }

  // Drops the events of calls once the bound is reached. `memory` outlives this.
  void bound(MemoryBound& memory) { memory_ = &memory; }

  // Time 0 of the trace, by CLOCK_MONOTONIC.
  std::uint64_t zero_ns() const { return zero_ns_; }

  // How long a signal stopped the program.
  std::uint64_t stopped_ns() const { return stopped_ns_; }

  // Recording was stopped: no events are later than this.
  void finish(std::uint64_t at_ns) { resolver_.finish(time(at_ns)); }

 private:
  struct FileKey {
    std::uint64_t device, inode, generation;
    bool operator==(const FileKey&) const = default;
  };
  struct FileKeyHash {
    std::size_t operator()(const FileKey& key) const {
      return std::hash<std::uint64_t>()((key.inode ^ key.device << 40 ^ key.generation << 20) *
                                        0x9e3779b97f4a7c15);
    }
  };

  std::uint64_t time(std::uint64_t ns) const { return ns > zero_ns_ ? ns - zero_ns_ : 0; }
  void renew(SystemCall& call);
  void take_call(bool ended);
  void take_exec();
  void take_beginning();
  void take_exit();
  void count_stop();
  void take_fault();
  // Completes the path of an opened file with what the event omits; false if that is impossible.
  bool complete_path(SystemCall& call);
  void take_file();
  // Marks the descriptors of `call` that are not those of files.
  void mark_others(SystemCall& call) const;
  void count_replaced(const SystemCall& call);
  std::string mapped_path(const SeenStat& stat);

  TraceBuilder& builder_;
  CallResolver& resolver_;
  BpfRequests requests_;
  std::uint64_t zero_ns_;
  SystemQueries surroundings_;
  MemoryBound* memory_ = nullptr;
  std::uint64_t page_bytes_ = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t stopped_ns_ = 0, stopped_until_ns_ = 0;
  std::uint32_t ignored_ = 0, awaited_ = 0;
  BpfEventView event_;
  SystemCall call_;
  std::unordered_map<std::uint32_t, std::string> directories_;   // of the last open; by thread
  std::unordered_map<FileKey, std::string, FileKeyHash> paths_;  // of programs and mapped files
  std::map<std::uint64_t, std::string> mount_points_;            // by device
};

}  // namespace filereel
