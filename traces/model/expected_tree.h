// What a trace implies about each name of the tree now, for a comparison with a real tree. Unlike
// the trees of a reel, which a replay needs complete, it tells what is known from what is assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "traces/model/data_ranges.h"
#include "traces/operation.h"

namespace filereel {

enum class FileKind : std::uint8_t { unknown, file, directory, symlink, special };

struct ExpectedName {
  std::string_view name;  // one component, valid as long as the model
  bool present = false;   // otherwise the trace removed it or found it missing
  bool changed = false;   // the trace created, removed or renamed it
  bool made = false;      // the trace created the file
  FileKind kind = FileKind::unknown;
  FileId file = kNoFileId;
  std::uint32_t names = 0;                  // of the file, as far as known; all of them if `made`
  std::optional<std::uint64_t> size;        // bytes
  std::optional<std::uint32_t> mode;        // permission bits, 0777
  std::optional<std::uint64_t> least_size;  // if the size is not known exactly
  // The size of a file that the trace has created or found, whichever it was: if it has created it.
  std::optional<std::uint64_t> size_if_made;
  TextId text = 0;                     // target of a symbolic link; 0: unknown
  const DataRanges* ranges = nullptr;  // bytes that the trace wrote; null: not a regular file
};

struct ExpectedDirectory {
  std::string path;        // relative to the root of names; empty for the root
  std::uint32_t node = 0;  // for TreeModel::expected_names
  bool complete = false;   // made by the trace: names that it does not know do not exist
  bool changed = false;    // the trace created, removed or renamed names in it
  std::size_t names = 0;   // number of names, present or not
};

}  // namespace filereel
