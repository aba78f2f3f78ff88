// Which files of the trace the tracer saw under which device and inode.
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
    bool counted = false;  // as one that the trace knows as several
  };
  // What is known of it, to be changed; null if `seen` does not identify it.
  Known* at(const SeenStat& seen) {
    if (seen.inode == 0) return nullptr;
    return &known_[{seen.device, seen.inode, seen.generation}];
  }
  // kNoFileId: not known.
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
