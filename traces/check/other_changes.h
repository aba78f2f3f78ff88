// Changes that other processes made during a recording, as far as the recorder saw them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace filereel {

struct OtherChange {
  std::string path;     // absolute
  std::string program;  // its name, at most 15 bytes
  std::uint32_t process = 0;
  std::uint64_t at_ns = 0;              // the clock of the recorder's events
  std::uint64_t device = 0, inode = 0;  // of an open file; 0: known by name only
};

class OtherChanges {
 public:
  // Of further names, nothing is known.
  static constexpr std::size_t kMost = 20'000;

  void add(OtherChange change);

  // Times become those since `zero_ns`. Earlier changes are dropped, except of open files: further
  // changes through these are not reported.
  void begin_at(std::uint64_t zero_ns);

  // The last change of a name in the open directory, or of the file `real`, which may be null.
  // nullptr: none is known.
  const OtherChange* find(int directory, const std::string& name, const struct stat* real) const;

 private:
  using File = std::pair<std::uint64_t, std::uint64_t>;  // device, inode
  struct HashFile {
    std::size_t operator()(const File& file) const {
      return std::hash<std::uint64_t>()(file.first ^ file.second * 0x9e3779b97f4a7c15);
    }
  };

  std::size_t count_ = 0;
  std::unordered_map<std::string, std::vector<OtherChange>> names_;  // by the last component
  std::unordered_map<File, OtherChange, HashFile> files_;
};

}  // namespace filereel
