// Some files of a set on a volume.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filesets/entry_list.h"

namespace filereel {

// Keeps 4 bytes per file and creates paths one at a time, because a set may have millions of files.
class FileList {
 public:
  FileList() = default;
  // The regular files of `entries`, which outlive the list, below the directory `root` of the
  // volume (empty: its root). `wanted`: only those with such a path in the set.
  explicit FileList(const EntryList& entries, std::string root = "",
                    const std::function<bool(std::string_view)>& wanted = {})
      : entries_(&entries), root_(std::move(root)) {
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      if (entries.kind(i) != EntryKind::file || (wanted && !wanted(entries.path(i)))) continue;
      numbers_.push_back(i);
      bytes_ += entries.file_size(i);
    }
  }

  std::size_t size() const { return numbers_.size(); }
  std::uint64_t bytes() const { return bytes_; }  // total
  // Below the root of the volume.
  std::string path(std::size_t file) const {
    const std::string path = entries_->path(numbers_[file]);
    return root_.empty() ? path : root_ + "/" + path;
  }

 private:
  const EntryList* entries_ = nullptr;
  std::string root_;
  std::vector<std::uint32_t> numbers_;
  std::uint64_t bytes_ = 0;
};

}  // namespace filereel
