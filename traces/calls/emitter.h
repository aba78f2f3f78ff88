// Writes operations: the last step of every call that yields one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "traces/calls/path_resolution.h"
#include "traces/calls/system_call.h"
#include "traces/calls/task.h"
#include "traces/model/trace_builder.h"

namespace filereel {

// --- The context of one system call during its translation: facts about this call only.

// Facts known when a call starts.
struct CallStart {
  static constexpr std::uint64_t kUnknown = UINT64_MAX;
  struct Used {
    DescriptionRef file;    // null: unknown
    bool is_other = false;  // it was not a file
  };
  std::uint64_t position = kUnknown;  // number of operations so far
  std::array<Used, 2> used = {};      // what `fd` and `fd2` referred to
};

// Created for each call to be translated and for each question about a call (call_explanations.h),
// and passed to all parts that work on it. Discarded when the call is done.
struct CallContext {
  const SystemCall& call;
  Task& task;                            // of the call's thread
  const CallStart* beginning = nullptr;  // null: a question only, no translation
  // The base of relative names, if other threads change the working directory meanwhile.
  std::optional<PathId> directory = {};
  bool race = false;  // the order does not explain its result

  // Determined during translation.
  bool unknown_link = false;              // it passed a symbolic link with unknown target
  std::optional<PathId> removed = {};     // a removed directory that it used
  std::optional<PathId> mount = {};       // by which its last name led to the path (ResolvedPath)
  bool too_long = false;                  // one of its paths exceeds the limit for operations
  std::vector<DescriptionRef> used = {};  // files that it uses and that are no longer in any table

  // Permissions of what it creates.
  std::uint32_t permissions() const {
    return static_cast<std::uint32_t>(call.mode) & 07777 & ~task.fs_state->umask;
  }
};

// Selects the operations of a trace that is limited to one directory.
class DirectoryFilter {
 public:
  // Without `directory`, keeps everything. `paths` outlives this.
  DirectoryFilter(const PathResolution& paths, std::optional<PathId> directory)
      : paths_(paths), directory_(directory) {}

  bool is_inside(PathId path) const { return !directory_ || paths_.is_below(path, *directory_); }
  // The file was inside when it was opened, or was moved inside.
  bool is_inside_file(FileSlot slot) const { return !directory_ || state(files_, slot).inside; }
  // Its open is in the trace.
  bool has_open(FileSlot slot) const { return !directory_ || state(files_, slot).shown; }

  // Keeps the next open of `slot`, wherever its file is.
  void require_open(FileSlot slot) { at(files_, slot).shown = true; }

  // Its file was moved inside.
  void enter(FileSlot slot) { at(files_, slot).inside = true; }

  // Whether to keep the operation: it touches something inside, concerns threads, or is required by
  // an earlier kept operation.
  bool takes(const Operation& operation) const;
  // Must see every operation in order, kept or not.
  void follow(const Operation& operation);

 private:
  struct State {
    bool shown = false, inside = false;
  };
  using States = std::vector<State>;
  static State state(const States& states, FileSlot number) {
    return number < states.size() ? states[number] : State{};
  }
  static State& at(States& states, FileSlot number) {
    if (number >= states.size()) states.resize(std::size_t{number} + 1);
    return states[number];
  }

  const PathResolution& paths_;
  std::optional<PathId> directory_;
  States files_, mappings_;  // by FileSlot
};

// Error codes that depend on the user, its limits and the file system.
bool is_environment_error(int error);

// Owns the decision which part of the trace is kept. Requires operations in order, on slots and
// mappings taken from the builder. Guarantees that time does not go back within a thread, and that
// a successful operation can succeed: it adds what must have happened unseen (another program
// created a name, or a call did that the trace lacks).
class Emitter {
 public:
  // `builder` and `paths` outlive the emitter. Keeps only what touches `under`; nullopt:
  // everything.
  Emitter(TraceBuilder& builder, PathResolution& paths, std::optional<PathId> under)
      : builder_(builder), paths_(paths), kept_(paths, under) {}

  DirectoryFilter& kept() { return kept_; }

  // Adds the operation of the call, with the call's times and, if it failed, its error. `data`: as
  // in RecordedOperation.
  void emit(const CallContext& context, Operation operation, std::string_view data = {});
  // Adds any other operation unchanged.
  void add(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, const Operation& operation,
           std::string_view data = {});
  // Reaps the asynchronous requests of `task` that were found to be completed, if any.
  void reap(Task& task);

  // If the name does not exist, creates an object of the type in `mode`: a symbolic link to `text`,
  // a file of `size` bytes.
  void create_unseen(const CallContext& context, PathId path, std::uint32_t mode, TextId text = 0,
                     std::uint64_t size = 0);
  void make_file(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, PathId path,
                 std::uint32_t mode);

 private:
  // Adds what must have happened for `operation` to have this result.
  void explain(const CallContext& context, const Operation& operation);

  TraceBuilder& builder_;
  PathResolution& paths_;
  DirectoryFilter kept_;
};

}  // namespace filereel
