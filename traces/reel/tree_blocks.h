// Blocks with the entries of the trees of a trace.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filesets/file_set.h"
#include "traces/recorded_trace.h"
#include "traces/reel/bytes.h"

namespace filereel {

// --- Blocks that define paths and texts.

struct PathDefinition {
  PathId parent;
  std::string_view name;
};

// The lengths of all complete paths, in the order of their numbers.
class PathLengths {
 public:
  // Adds a path with a name of this length; false if the complete path would exceed the limit of
  // reels.
  bool add(PathId parent, std::size_t name);

 private:
  std::vector<std::uint16_t> lengths_ = {0, 0};  // bytes, with a slash before each name
};

// Null if `name` is a valid component of a path, otherwise the fault.
const char* name_problem(std::string_view name);

// The bytes of a block; the definitions are numbered from `first`.
std::string put_paths(std::span<const PathDefinition> definitions, PathId first, Packer& packer);
std::string put_texts(std::span<const std::string_view> texts, Packer& packer);

// Adds the definitions of blocks to the tables, in the order of the file. Throws Damage for invalid
// entries.
class NameReader {
 public:
  NameReader(TraceTables& tables, Unpacker& unpacker) : tables_(tables), unpacker_(unpacker) {}

  void take_paths(ByteReader in, std::uint32_t count);
  void take_texts(ByteReader in, std::uint32_t count);

 private:
  // The next name or text, which shares a prefix with the previous one.
  class Strings;

  void count_text(std::size_t bytes);

  TraceTables& tables_;
  Unpacker& unpacker_;
  PathLengths lengths_;
  std::uint64_t text_ = 0;  // bytes of all names and texts
};

// Numbers of names in a constant table. Missing names get numbers after those of the table.
class NameFinder {
 public:
  explicit NameFinder(const TraceTables& tables) : tables_(tables) {}

  PathId path(std::string_view path);
  TextId text(std::string_view text);

  // Names missing from the tables.
  std::vector<PathDefinition> new_paths() const;
  std::vector<std::string_view> new_texts() const;

 private:
  PathId child(PathId parent, std::string_view name);

  const TraceTables& tables_;
  std::string directory_;  // directory of the last path, and its number
  PathId directory_id_ = 0;
  std::map<std::pair<PathId, std::string>, PathId> paths_;
  std::vector<const std::pair<const std::pair<PathId, std::string>, PathId>*> path_order_;
  std::map<std::string, TextId, std::less<>> texts_;
  std::vector<std::string_view> text_order_;
};

// The bytes of a block of entries; paths[i] is the path of entries[i], targets[i] the path or text
// of its link target.
struct NumberedEntries {
  std::span<const Entry> entries;
  std::span<const PathId> paths;
  std::span<const std::uint32_t> targets;
};
std::string put_entries(const NumberedEntries& numbered, Packer& packer);

// Appends the entries of a block to `set`. `text_left` limits the bytes of their paths and targets.
// Throws Damage; the caller checks the set as a whole.
void take_entries(ByteReader in, std::uint32_t count, const TraceTables& tables, Unpacker& unpacker,
                  std::uint64_t& text_left, FileSet& set);

}  // namespace filereel
