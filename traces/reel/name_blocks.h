// Blocks that define paths and texts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/reel/pack.h"
#include "traces/trace_info.h"

namespace filereel {

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

}  // namespace filereel
