// Which operations a trace keeps that is to have only what touches one directory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "traces/calls/path_resolution.h"
#include "traces/operation.h"

namespace filereel {

class KeptPart {
 public:
  // Without `directory` all is kept. `paths` outlives this.
  KeptPart(const PathResolution& paths, std::optional<PathId> directory)
      : paths_(paths), directory_(directory) {}

  bool all() const { return !directory_; }
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

}  // namespace filereel
