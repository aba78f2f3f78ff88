// Maps device and inode, as seen by the tracer, to files of the trace.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "traces/calls/system_call.h"
#include "traces/operation.h"

namespace filereel {

class FileIdentities {
 public:
  struct Known {
    FileId file = kNoFileId;
    bool counted = false;  // counted as one file that the trace treats as several
  };
  // The mutable entry; null if `seen` does not identify a file.
  Known* at(const SeenStat& seen) {
    if (seen.inode == 0) return nullptr;
    return &known_[{seen.device, seen.inode, seen.generation}];
  }
  // kNoFileId: unknown.
  FileId find(const SeenStat& seen) const {
    const auto found = known_.find({seen.device, seen.inode, seen.generation});
    return found == known_.end() ? kNoFileId : found->second.file;
  }

 private:
  struct Identity {
    std::uint64_t device, inode;
    std::uint32_t generation;
    bool operator==(const Identity&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Identity& identity) const {
      return std::hash<std::uint64_t>()((identity.inode * 0x9e3779b97f4a7c15ULL ^ identity.device) +
                                        identity.generation);
    }
  };

  std::unordered_map<Identity, Known, Hash> known_;
};

}  // namespace filereel
