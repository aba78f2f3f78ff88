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
#include "traces/reel/name_blocks.h"

namespace filereel {

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
