// A tree of files in memory that predicts the results of calls on it. Sizes, but no content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "traces/path_table.h"

namespace filereel {

// Errors are errno numbers, 0 is success.
class SimulatedTree {
 public:
  using Number = std::uint32_t;  // of a file or directory
  static constexpr Number kRoot = 0;

  struct Node {
    bool directory = false;
    bool assumed = false;  // existed before the first operation
    std::uint64_t size = 0;
    std::map<std::string, Number, std::less<>> children;
    std::unordered_multiset<std::string> folded;  // the children's names, case-folded
    std::uint64_t list_bytes = 0;  // bytes that getdents64 returns for the whole directory
    std::uint32_t users = 0;       // its name, and open references
  };

  struct Found {
    int error = 0;
    Number number = 0;
  };

  // An empty root. `paths` outlives the tree.
  explicit SimulatedTree(const PathTable& paths);

  Found find(PathId path) const;
  const Node& node(Number number) const { return nodes_[number]; }
  // Whether a directory has this name, or one that differs only in the case of ASCII letters.
  bool has_in_any_case(Number directory, std::string_view name) const;

  // open(2) with these O_* flags: creates and truncates files.
  Found open(PathId path, std::uint32_t flags);
  int make_directory(PathId path);
  int remove_file(PathId path);
  int remove_directory(PathId path);
  int rename(PathId from, PathId to);

  void grow(Number file, std::uint64_t size);

  // `path`, which is missing in an existing directory, existed from the start.
  void assume(PathId path, bool directory);
  // A read reached this size: an assumed file had it.
  void read_to(Number file, std::uint64_t size);

  // Open files remain until they are released, even without a name.
  void hold(Number number) { ++nodes_[number].users; }
  void release(Number number);

 private:
  // The directory of `path`, for changes of names.
  Found parent(PathId path) const;
  Number add(Number directory, std::string_view name, bool is_directory);
  void enter(Number directory, std::string_view name, Number number);
  void remove(Number directory, std::string_view name);

  const PathTable& paths_;
  std::vector<Node> nodes_;
  std::vector<Number> free_;
};

}  // namespace filereel
