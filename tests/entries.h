// Short ways to write file sets down in tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "filesets/file_set.h"

inline filereel::Entry directory(const std::string& path, std::uint32_t mode = 0755) {
  return filereel::directory_entry(path, mode);
}

inline filereel::Entry file(const std::string& path, std::uint64_t size,
                            filereel::Content content = {}) {
  filereel::Entry entry;
  entry.path = path;
  entry.size = size;
  entry.content = content;
  return entry;
}

inline filereel::Entry sparse_file(const std::string& path, std::uint64_t size,
                                   std::vector<filereel::Hole> holes,
                                   filereel::Content content = {}) {
  filereel::Entry entry = file(path, size, content);
  entry.holes = std::move(holes);
  return entry;
}

inline filereel::Entry link_to(filereel::EntryKind kind, const std::string& path,
                               const std::string& target) {
  filereel::Entry entry;
  entry.path = path;
  entry.kind = kind;
  entry.target = target;
  return entry;
}

inline filereel::FileSet set_of(const std::vector<filereel::Entry>& entries) {
  filereel::FileSet set;
  set.name = "test";
  set.seed = 77;
  set.entries = filereel::EntryList(entries);
  return set;
}
