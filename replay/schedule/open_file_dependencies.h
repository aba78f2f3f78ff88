// Orders operations on an open file: open, then uses, then close. The same for mappings.
#pragma once

#include <cstddef>
#include <vector>

#include "replay/schedule/data_dependencies.h"
#include "replay/schedule/happens_before.h"
#include "traces/operation.h"

namespace filereel {

// Numbers are those after renaming. A reused number waits for its last close.
class OpenFileDependencies {
 public:
  struct OpenFile {
    LanePosition opened, closed;
    LanePositions uses;              // since the open
    PathId path = PathTable::kNone;  // path of the open
    FileId entry = kNoFileId;
    DataDependencies::File* data = nullptr;
    std::uint64_t offset = 0;  // of a mapping, in the file
    bool is_shared = false;    // of a mapping: writes reach the file
    bool locked = false;       // its close may release a lock
  };

  // `order` outlives the dependencies. Numbers are below `slots`.
  OpenFileDependencies(std::size_t slots, HappensBefore& order) : order_(order), files_(slots) {}

  OpenFile& open(FileSlot slot, LanePosition now) {
    OpenFile& file = files_[slot];
    order_.need(file.closed);
    const LanePosition closed = file.closed;
    file = {};
    file.opened = now;
    file.closed = closed;
    return file;
  }

  OpenFile& use(FileSlot slot, LanePosition now) {
    OpenFile& file = files_[slot];
    order_.need(file.opened);
    file.uses.add(now);
    return file;
  }

  OpenFile& close(FileSlot slot, LanePosition now) {
    OpenFile& file = files_[slot];
    order_.need(file.opened);
    order_.need(file.uses);
    file.uses.clear();
    file.closed = now;
    return file;
  }

 private:
  HappensBefore& order_;
  std::vector<OpenFile> files_;
};

}  // namespace filereel
