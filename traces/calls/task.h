// Threads and processes of the recorded system, with their shared state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "traces/calls/descriptor_table.h"
#include "traces/calls/mapping_table.h"
#include "traces/path_table.h"

namespace filereel {

// State shared by CLONE_FS.
struct FsState {
  PathId directory = 0;              // the working directory
  std::optional<PathId> mount = {};  // by which a name led to it (ResolvedPath)
  std::uint64_t directory_ns = 0;    // when it became the working directory
  std::uint64_t changed_at = 0;      // number of operations at that time
  // Earlier directories of threads that share this state, with the number of operations until when
  // they were valid. A call in flight at that time may have used them.
  struct PastDirectory {
    PathId directory;
    std::uint64_t until;
  };
  std::vector<PastDirectory> past_directories;
  PathId root = 0;
  bool other_mounts = false;  // it entered its own mount namespace
  std::uint32_t umask = 022;  // the usual value; the program's initial umask is unknown
};

struct Process;

// A thread. As in Linux, shared state does not belong to the process: each task refers to it.
struct Task {
  std::uint32_t thread = 0;  // the system's number
  std::uint32_t number = 0;  // number in the trace
  Process* process = nullptr;
  std::shared_ptr<DescriptorTable> files;
  std::shared_ptr<FsState> fs_state;
  std::shared_ptr<AddressSpace> memory;
  std::uint64_t first_ns = 0;       // start of its first call
  std::uint64_t last_start_ns = 0;  // of its operations
  bool has_operations = false;
  bool faulted = false;        // its last operation is a page fault of the trace
  std::uint64_t requests = 0;  // asynchronous requests in flight
  bool reap_due = false;       // some requests completed since the last operation
  std::uint64_t reap_begin_ns = 0, reap_end_ns = 0;
};

struct Process {
  std::uint32_t id = 0;
  std::uint32_t leader = 0;  // its number in the trace
  std::vector<Task*> tasks;  // live tasks
  bool from_start = false;   // its start is in the trace
};

class TaskTable {
 public:
  Task* find(std::uint32_t thread);
  // The number of its process, if known.
  std::uint32_t process_of(std::uint32_t thread);
  // The task that performs outstanding work for `thread`, which may have ended: any live task, or a
  // stand-in for the last one.
  Task& stand_in_for(std::uint32_t thread);

  // Adds a task whose number must not be in use. Creates the process if it does not exist.
  Task& add(std::uint32_t thread, std::uint32_t process, std::uint32_t number);

  // Removes the task. What it refers to must have been released.
  void remove(Task& task, std::uint64_t at_ns);

  // The task continues under the number of its process (exec by another thread than the first).
  void rename(Task& task);

  // Moves a task that turned out to be a thread of another process.
  void join_process(Task& task, Process& process);

  Process* find_process(std::uint32_t id);

  // True if a thread of that number ended at or after `at_ns`: its end cut off a call that started
  // then.
  bool ended_after(std::uint32_t thread, std::uint64_t at_ns) const;
  bool has_ended(std::uint32_t thread) { return !find(thread) && ended_.contains(thread); }
  bool is_new(std::uint32_t thread) { return !find(thread) && !ended_.contains(thread); }

  // The number in the trace of a thread that runs, or of the last one of this number that ended.
  std::optional<std::uint32_t> number_of(std::uint32_t thread);

  // The leader's number in the trace of an ended process; returned once.
  std::optional<std::uint32_t> wait_for(std::uint32_t process);

  // All live tasks, by their numbers in the trace.
  std::vector<Task*> all();

 private:
  void leave_process(Task& task);

  std::unordered_map<std::uint32_t, std::unique_ptr<Task>> tasks_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Process>> processes_;
  struct Ended {
    std::uint64_t at_ns;
    std::uint32_t number;
  };
  std::unordered_map<std::uint32_t, Ended> ended_;                  // threads
  std::unordered_map<std::uint32_t, std::uint32_t> ended_leaders_;  // processes: leader's number
  Task last_ended_;                                                 // its number and time
};

}  // namespace filereel
