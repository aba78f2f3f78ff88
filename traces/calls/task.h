// Threads and processes of the recorded system, with what they share.
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

// What CLONE_FS shares.
struct Surroundings {
  PathId directory = 0;            // the working directory
  std::uint64_t directory_ns = 0;  // when it had become that
  std::uint64_t changed_at = 0;    // and how many operations there were
  // Earlier ones of threads that share it, until how many operations there were: a call that was
  // under way then may have met them.
  struct Stay {
    PathId directory;
    std::uint64_t until;
  };
  std::vector<Stay> stays;
  PathId root = 0;
  bool other_mounts = false;  // it went into a mount namespace of its own
  std::uint32_t umask = 022;  // the usual one; what the program began with is not known
};

struct Process;

// A thread. As in Linux, what threads of a process have in common is not the process's: each task
// refers to it.
struct Task {
  std::uint32_t thread = 0;  // as the system calls it
  std::uint32_t number = 0;  // in the trace
  Process* process = nullptr;
  std::shared_ptr<DescriptorTable> files;
  std::shared_ptr<Surroundings> surroundings;
  std::shared_ptr<AddressSpace> memory;
  std::uint64_t first_ns = 0;       // when its first call began
  std::uint64_t last_start_ns = 0;  // of its operations
  bool has_operations = false;
  std::uint64_t requests = 0;  // asynchronous ones that are under way
  bool reap_due = false;       // some were found to be done since the last operation
  std::uint64_t reap_begin_ns = 0, reap_end_ns = 0;
};

struct Process {
  std::uint32_t id = 0;
  std::uint32_t leader = 0;  // its number in the trace
  std::vector<Task*> tasks;  // that live
  bool from_start = false;   // the trace shows how it began
};

class TaskTable {
 public:
  Task* find(std::uint32_t thread);
  // The number of its process, as far as that is known.
  std::uint32_t process_of(std::uint32_t thread);
  // Who does what is still to be done for `thread`, which may have ended: any that lives, or a
  // stand-in for the last one.
  Task& acting_for(std::uint32_t thread);

  // A new task, whose number must not be alive. Without a process of that number, one begins.
  Task& add(std::uint32_t thread, std::uint32_t process, std::uint32_t number);

  // Forgets the task. What it refers to must have been released.
  void remove(Task& task, std::uint64_t at_ns);

  // The task goes on under the number of its process (exec by another thread than the first).
  void rename(Task& task);

  // Moves a task that turned out to be a thread of another process.
  void join_process(Task& task, Process& process);

  Process* find_process(std::uint32_t id);

  // True if a thread of that number has ended at or after `at_ns`: a call that began then is one
  // that its end cut off.
  bool ended_after(std::uint32_t thread, std::uint64_t at_ns) const;
  bool has_ended(std::uint32_t thread) { return !find(thread) && ended_.contains(thread); }
  bool is_new(std::uint32_t thread) { return !find(thread) && !ended_.contains(thread); }

  // The leader's number in the trace of a process that has ended, once.
  std::optional<std::uint32_t> wait_for(std::uint32_t process);

  // All that live, by their numbers in the trace.
  std::vector<Task*> all();

 private:
  void leave_process(Task& task);

  std::unordered_map<std::uint32_t, std::unique_ptr<Task>> tasks_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Process>> processes_;
  std::unordered_map<std::uint32_t, std::uint64_t> ended_;          // threads: when
  std::unordered_map<std::uint32_t, std::uint32_t> ended_leaders_;  // processes: leader's number
  Task last_ended_;                                                 // its number and time
};

}  // namespace filereel
