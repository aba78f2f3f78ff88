// Writes operations: the last step of every call that becomes one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/calls/call_context.h"
#include "traces/calls/path_resolution.h"
#include "traces/model/trace_builder.h"

namespace filereel {

// Which operations a trace keeps that is to have only what touches one directory.
class KeptPart {
 public:
  // Without `directory` all is kept. `paths` outlives this.
  KeptPart(const PathResolution& paths, std::optional<PathId> directory)
      : paths_(paths), directory_(directory) {}

  bool is_inside(PathId path) const { return !directory_ || paths_.is_below(path, *directory_); }
  // The open file was inside when it was opened, or came there.
  bool is_inside_file(FileSlot slot) const { return !directory_ || state(files_, slot).inside; }
  // Its open is in the trace.
  bool shows(FileSlot slot) const { return !directory_ || state(files_, slot).shown; }

  // The next open of `slot` is kept wherever its file is.
  void show(FileSlot slot) { at(files_, slot).shown = true; }

  // Its file was moved inside.
  void enter(FileSlot slot) { at(files_, slot).inside = true; }

  // Whether to keep the operation: it touches something inside, or is about threads, or is what an
  // earlier one that was kept needs.
  bool takes(const Operation& operation) const;
  // To be told of every operation in order, kept or not.
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

// Error codes that depend on who asks and on what the place is like.
bool depends_on_the_place(int error);

// Owns which part of the trace is kept. Requires operations in their order, on slots and mappings
// that are taken from the builder. Guarantees that within a thread time does not go back, and that
// an operation which succeeds can: what must have happened unseen before it (another program made a
// name, or a call did that the trace leaves out, such as bind) is added.
class Emitter {
 public:
  // `builder` and `paths` outlive the emitter. Only what touches `under` is kept; none: all.
  Emitter(TraceBuilder& builder, PathResolution& paths, std::optional<PathId> under)
      : builder_(builder), paths_(paths), kept_(paths, under) {}

  KeptPart& kept() { return kept_; }

  // What the call was: gets its times and, if it failed, its error.
  void emit(const CallContext& context, Operation operation);
  // Anything else, as it is.
  void add(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, const Operation& operation);
  // The asynchronous requests of `task` that were found to be done, if there are any.
  void reap(Task& task);

  // If nothing has the name, makes something of the type in `mode`: a symbolic link with `text`, a
  // file of `size` bytes.
  void appear(const CallContext& context, PathId path, std::uint32_t mode, TextId text = 0,
              std::uint64_t size = 0);
  void make_file(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, PathId path,
                 std::uint32_t mode);

 private:
  // Adds what must have happened before `operation` could have this result.
  void explain(const CallContext& context, const Operation& operation);

  TraceBuilder& builder_;
  PathResolution& paths_;
  KeptPart kept_;
};

}  // namespace filereel
