// Turns system calls into operations, one at a time, in the order in which it gets them. Which
// order that is, CallOrder decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "traces/calls/call_resolver.h"
#include "traces/calls/file_identities.h"
#include "traces/calls/kept_part.h"
#include "traces/calls/open_files.h"
#include "traces/calls/path_resolution.h"
#include "traces/calls/system_call.h"
#include "traces/calls/task.h"

namespace filereel {

class CallTranslation {
 public:
  static constexpr std::uint64_t kUnknown = UINT64_MAX;

  // What is known of a call's begin.
  struct Beginning {
    std::uint64_t position = kUnknown;  // how many operations there were
    DescriptionRef file;                // what `fd` was; null: not known
  };

  CallTranslation(TraceBuilder& builder, const ResolverOptions& options);

  void expect_link(std::string_view path, std::string_view text) { paths_.expect_link(path, text); }
  void begin_process(const KnownProcess& process);
  void translate(const SystemCall& call, const Beginning& beginning);
  void finish(std::uint64_t at_ns);

  // What `fd` of a call that begins refers to, if it only uses it.
  DescriptionRef used_file(const SystemCall& call);
  // The call that used `file` is over: closes it if all descriptors of it are closed by now.
  void release(std::uint32_t thread, const DescriptionRef& file, std::uint64_t at_ns);
  // False if `fd` is known to be no file.
  bool may_be_file(const SystemCall& call);
  std::uint64_t operations() const { return builder_.operations(); }
  bool is_new(std::uint32_t thread) { return !tasks_.find(thread) && !tasks_.has_ended(thread); }
  bool has_ended(std::uint32_t thread) { return !tasks_.find(thread) && tasks_.has_ended(thread); }
  std::uint32_t process_of(std::uint32_t thread);

  // A name whose existence decides a call's result.
  struct Need {
    PathId path;
    bool exists;
  };
  // What `call` needs by its result, and the model says otherwise, wherever its names may begin. It
  // began when there were `position` operations.
  std::vector<Need> contradictions(const SystemCall& call, std::uint64_t position);
  // Whether `other` moves the working directory where the names of `call` begin.
  bool could_move(const SystemCall& other, const SystemCall& call);
  // Whether `other` removes what `call`, which removed a directory, found gone.
  bool could_empty(const SystemCall& other, const SystemCall& call);
  void end_is_unknown() { builder_.approximated("asynchronous requests whose end is not known"); }
  // Whether `other`, if it succeeds, could make true what `call` needs.
  bool could_explain(const SystemCall& other, const SystemCall& call, const Need& need);
  // Whether `other`, which unlocks or closes, could be what let `call` lock its file.
  bool could_unlock(const SystemCall& other, const SystemCall& call);

 private:
  // How a call names a file.
  struct Name {
    int dir;
    const std::string& dir_path;
    std::uint64_t dir_file;
    std::string_view path;
  };
  static Name first_name(const SystemCall& call) {
    return {call.dir, call.dir_path, call.dir_file, call.path};
  }
  static Name second_name(const SystemCall& call) {
    return {call.dir2, call.dir2_path, call.dir2_file, call.path2};
  }
  // How a call refers to an open file, with what the tracer knows of it.
  struct Handle {
    int descriptor;           // or SystemCall::kNone: a file that is registered with io_uring
    const std::string& path;  // may be empty
    std::uint64_t file;       // its number, or 0
  };
  static Handle first_file(const SystemCall& call) { return {call.fd, call.fd_path, call.file}; }
  static Handle second_file(const SystemCall& call) {
    return {call.fd2, call.fd2_path, call.file2};
  }
  struct Target {
    PathId path = 0;
    Description* file = nullptr;  // null: by its path
  };
  enum class Use : std::uint8_t { reading, writing, listing, other };

  // call_translation.cc
  Task* task_of(const SystemCall& call);
  Task& new_root_task(const SystemCall& call);
  bool is_worth_nothing(Task& task, const SystemCall& call);
  // Counts a call that failed for itself if it names a path or a file that is open.
  void count_wrong(Task& task, const SystemCall& call);
  void dispatch(Task& task, const SystemCall& call);
  void emit(Task& task, const SystemCall& call, Operation operation);
  void emit_at(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, Operation operation);
  bool is_race(const SystemCall& call, std::uint64_t position);
  void left_out();

  // call_names.cc
  // The same with the working directory as it is, or moment_.
  std::vector<Need> contradictions_here(Task& task, const SystemCall& call);

  // used_files.cc
  DescriptionRef known_file(Task& task, const Handle& handle);
  // What the call refers to, by its number or its descriptor, whichever knows better; null: no
  // file.
  DescriptionRef find_file(Task& task, const SystemCall& call, const Handle& handle, Use use);
  // The same, open in the trace for its use.
  Description* file_of(Task& task, const SystemCall& call, const Handle& handle, Use use);
  DescriptionRef inherit(Task& task, const SystemCall& call, const Handle& handle, Use use);
  // The descriptor turns out to be `file`.
  void place(Task& task, const SystemCall& call, int descriptor, const DescriptionRef& file);
  void announce(Task& task, const SystemCall& call, Description& file, Use use);
  // Opens what was opened outside the part that is kept, and is needed now.
  void show(Task& task, const SystemCall& call, const Description& file);

  // descriptor_calls.cc
  void put(Task& task, const SystemCall& call, std::int64_t number, DescriptionRef file,
           bool close_on_exec);
  void new_descriptor_call(Task& task, const SystemCall& call);
  // `descriptor` has been taken out of its table.
  void drop(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, DescriptorEntry&& descriptor,
            std::int64_t result = 0);
  // What lent `file`, which is closed, its slot; null: the slot is its own.
  DescriptionRef give_back(Description& file);
  void close_call(Task& task, const SystemCall& call);
  void close_range_call(Task& task, const SystemCall& call);
  void dup_call(Task& task, const SystemCall& call);
  void set_flags_call(Task& task, const SystemCall& call);
  void file_call(Task& task, const SystemCall& call);
  // From what a record lock asks for to the file's bytes; false if they are none.
  bool locate_lock(const SystemCall& call, Description& file, std::uint64_t& offset,
                   std::uint64_t& length);
  static void set_owner(const SystemCall& call, Operation& operation);
  void emit_attribute(Task& task, const SystemCall& call, Operation operation);

  // call_targets.cc
  bool base_of(Task& task, const SystemCall& call, const Name& name, PathId& base);
  bool resolve(Task& task, const SystemCall& call, const Name& name, bool follow, PathId& path);
  bool find_target(Task& task, const SystemCall& call, const Name& name, bool follow,
                   Target& target);
  static bool follows(const SystemCall& call);

  // working_directory.cc
  // Where the names of `call` may begin that are relative to a working directory which other
  // threads can change meanwhile, the likeliest first; empty: there is no doubt.
  std::vector<PathId> possible_directories(Task& task, const SystemCall& call,
                                           std::uint64_t position);
  // Whether the result of `call` is possible where moment_ is its working directory.
  bool fits(Task& task, const SystemCall& call);
  std::optional<PathId> directory_of_the_moment(Task& task, const SystemCall& call,
                                                std::uint64_t position);
  void change_directory(Task& task, const SystemCall& call, PathId directory);

  // path_calls.cc
  void open_call(Task& task, const SystemCall& call);
  // The open file that was opened again although it has no name any more; null: it has one.
  DescriptionRef nameless_file(const SystemCall& call, const Target& target);
  void reopen(Task& task, const SystemCall& call, const DescriptionRef& file);
  // What the tracer saw of what was opened, for the model to know before the operation comes.
  void learn_opened(const SystemCall& call, FileSlot slot);
  void identify(const SystemCall& call, FileSlot slot);
  void path_call(Task& task, const SystemCall& call);
  void describe(const SystemCall& call, const Target& target, Operation& operation);
  void rename_call(Task& task, const SystemCall& call);
  void link_call(Task& task, const SystemCall& call);
  void mknod_call(Task& task, const SystemCall& call);
  void chdir_call(Task& task, const SystemCall& call);
  void follow_rename(PathId from, PathId to, bool exchange);

  // unseen_changes.cc
  // Adds what must have happened unseen before `operation` could have succeeded.
  void explain(Task& task, const SystemCall& call, const Operation& operation);
  // If nothing has the name, makes something of the type in `mode`: a symbolic link with `text`, a
  // file of `size` bytes.
  void appear(Task& task, const SystemCall& call, PathId path, std::uint32_t mode, TextId text = 0,
              std::uint64_t size = 0);
  void make_file(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, PathId path,
                 std::uint32_t mode);

  // data_calls.cc
  void transfer_call(Task& task, const SystemCall& call, OperationKind kind, Description* file,
                     std::optional<std::uint64_t> offset);
  std::uint64_t position_of(Description& file, bool appends);
  static std::optional<std::uint64_t> seen_position(const SystemCall& call, Description& file,
                                                    bool appends);
  void data_call(Task& task, const SystemCall& call);
  void copy_call(Task& task, const SystemCall& call);
  void seek_call(Task& task, const SystemCall& call);
  void size_seen(Task& task, const SystemCall& call, const Description& file, std::uint64_t size);
  void list_call(Task& task, const SystemCall& call);
  void submit_call(Task& task, const SystemCall& call);
  void complete_call(Task& task, const SystemCall& call);
  void reap(Task& task);

  // mapping_calls.cc
  void map_call(Task& task, const SystemCall& call);
  void mapping_call(Task& task, const SystemCall& call);
  void fault_call(Task& task, const SystemCall& call);
  // Maps the file, at least up to `end`, where no address is known; false if that cannot be.
  bool map_unseen(Task& task, const SystemCall& call, PathId path, std::uint64_t end);
  void unmap_all(Task& task, std::uint64_t at_ns);
  void emit_unmaps(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns,
                   const std::vector<FileSlot>& gone);

  // process_calls.cc
  void fork_call(Task& task, const SystemCall& call);
  void adopt(Task& parent, Task& child, const SystemCall& call);
  void leave_mounts(Surroundings& surroundings);
  void unshare_call(Task& task, const SystemCall& call);
  void exec_call(Task& task, const SystemCall& call);
  void end_task(Task& task, std::uint64_t at_ns, bool emits_exit);
  void close_all(Task& task, std::uint64_t at_ns);

  struct RequestKey {
    std::uint32_t process;
    std::uint64_t request;
    bool operator==(const RequestKey&) const = default;
  };
  struct RequestHash {
    std::size_t operator()(const RequestKey& key) const {
      return std::hash<std::uint64_t>()(key.request * 0x9e3779b97f4a7c15ULL ^ key.process);
    }
  };

  TraceBuilder& builder_;
  TreeModel& model_;
  PathResolution paths_;
  KeptPart kept_;
  PathId working_directory_;
  bool sees_faults_;
  TaskTable tasks_;
  Task last_ended_;  // as far as what is still to be closed needs it
  OpenFiles open_files_;
  FileIdentities identities_;
  std::vector<DescriptionRef> used_;  // by a call, and in no table any more
  MappingUses mapping_uses_;
  const Beginning* beginning_ = nullptr;  // of the call that is being translated
  bool race_ = false;                     // its result cannot be explained by the order
  std::optional<PathId> moment_;  // where its relative names begin, if threads move that meanwhile
  bool blind_ = false;            // it went through a symbolic link whose text is not known
  bool too_long_ = false;         // a path of it is longer than any that is used
  std::unordered_set<PathId> specials_;  // pipes, sockets and devices in the tree
  std::vector<bool> known_modes_;        // by FileId
  std::unordered_multimap<RequestKey, std::uint32_t, RequestHash> submitters_;  // threads
};

}  // namespace filereel
