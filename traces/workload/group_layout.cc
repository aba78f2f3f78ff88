#include "traces/workload/group_layout.h"

#include <fmt/format.h>

#include "filesets/catalogue/catalogue.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/random.h"
#include "filesets/system/units.h"
#include "filesets/system/wording.h"
#include "traces/operation_stream.h"

namespace filereel {
namespace {

void check_room(const RecipeFiles& files, std::uint64_t more, const FileSet& all) {
  if (more <= kMostEntries && all.entries.size() <= kMostEntries - more) return;
  const std::string set = files.set.empty() ? "" : fmt::format(" (set {})", printable(files.set));
  throw Error(
      ErrorKind::unusable_input,
      fmt::format("the group '{}'{} brings the total to {}: a "
                  "workload has at most {}",
                  printable(files.name), set,
                  counted(all.entries.size() + more, "file or directory", "files and directories"),
                  kMostEntries));
}

}  // namespace

GroupLayout::GroupLayout(const RecipeFiles& files, const Recipe& recipe, const GroupUse& use,
                         std::uint64_t free_bytes, FileSet& all, PathTable& paths)
    : exists_(files.exist), first_(all.entries.size()) {
  all.entries.push_back(directory_entry(files.name));
  add_entries(files, recipe, free_bytes, all);
  end_ = all.entries.size();
  add_names(files, use, all, paths);
  copies_end_ = all.entries.size();
  if (files_ == 0) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("the group '{}' has no regular files", printable(files.name)));
  }
}

void GroupLayout::add_entries(const RecipeFiles& files, const Recipe& recipe,
                              std::uint64_t free_bytes, FileSet& all) {
  const auto top = static_cast<std::uint32_t>(first_);
  if (!files.set.empty()) {
    const FileSet set = load_file_set(files.set, recipe.scale);
    check_room(files, set.entries.size(), all);
    const std::uint64_t seed = mix_seed(set.seed, first_);
    all.entries.add_tree(top, set.entries);
    for (std::size_t i = first_ + 1; i < all.entries.size(); ++i) {
      all.entries.set_key(i, mix_seed(seed, all.entries.content(i).key));
    }
    return;
  }
  Entry file;
  file.size = files.size;
  file.content.compressed_permille = files.compressed_permille;
  if (files.fill > 0) {
    auto bytes = static_cast<std::uint64_t>(static_cast<double>(free_bytes) * files.fill);
    const bool limited = files.limit > 0 && files.limit < bytes;
    if (limited) bytes = files.limit;
    file.size = bytes / files.count / kMiB * kMiB;
    if (file.size == 0) {
      throw Error(
          ErrorKind::unusable_input,
          fmt::format("the {} is too small for '{}', {} of at least 1 MiB: use a larger one",
                      limited ? "limit" : "volume", printable(files.name),
                      counted(files.count, "file")));
    }
  }
  check_room(files, files.count, all);
  std::uint32_t folder = top;
  for (std::uint64_t i = 0; i < files.count; ++i) {
    if (files.per_directory > 0 && i % files.per_directory == 0) {
      folder = all.entries.add_below(top, fmt::format("d{:04}", i / files.per_directory),
                                     directory_entry(""));
    }
    file.content.key = mix_seed(first_, i);
    all.entries.add_below(folder, fmt::format("f{:06}", i), file);
  }
}

void GroupLayout::add_names(const RecipeFiles& files, const GroupUse& use, FileSet& all,
                            PathTable& paths) {
  const std::string copies = files.name + ".copy";
  if (use.copies) all.entries.push_back(directory_entry(copies));
  const PathId copies_path = use.copies ? paths.add(Role::near, copies) : 0;
  std::vector<PathId> of_entries;  // by entry, from first_
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = first_; i < end_; ++i) {
    const std::uint32_t directory = all.entries.directory(i);
    const PathId folder =
        i == first_ ? PathTable::root(Role::near) : of_entries[directory - first_];
    const PathId path = paths.add(folder, all.entries.name(i));
    of_entries.push_back(path);
    if (all.entries.kind(i) == EntryKind::directory && i > first_) directories_.push_back(path);
    if (all.entries.kind(i) != EntryKind::file) continue;
    // Names stay below the limit of file systems, 255 bytes.
    const std::string_view stem = all.entries.name(i).substr(0, 200);
    const auto beside = [&](bool used, std::string_view suffix) {
      return used ? paths.add(folder, fmt::format("{}{}", stem, suffix)) : 0;
    };
    const auto id = static_cast<FileId>(i);
    const std::uint32_t mode = file_mode(all.entries.mode(i));
    if (use.accesses) {
      access_files_.push_back({path, id, mode});
      sizes.push_back(all.entries.file_size(i));
    }
    if (use.steps) {
      step_files_.push_back(
          {.path = path,
           .directory = folder,
           .other_name = beside(use.renames, ".renamed"),
           .beside = beside(use.replaces, ".new"),
           .copy = use.copies ? paths.add(copies_path, fmt::format("f{:06}", files_)) : 0,
           .entry = id,
           .size = all.entries.file_size(i),
           .mode = mode,
           .siblings = 0});
    }
    ++files_;
    bytes_ += all.entries.file_size(i);
  }
  count_siblings(paths);
  space_ = FileSpace(sizes, false);
  direct_space_ = FileSpace(sizes, true);
}

void GroupLayout::count_siblings(const PathTable& paths) {
  std::vector<std::uint32_t> siblings(step_files_.empty() ? 0 : paths.size());
  for (const StepFile& file : step_files_) ++siblings[file.directory];
  for (StepFile& file : step_files_) file.siblings = siblings[file.directory];
}

void GroupLayout::add_initial(const FileSet& all, bool with_directories, FileSet& initial) const {
  for (std::size_t i = first_; i < copies_end_; ++i) {
    const bool own_directory =
        i == first_ || i >= end_;  // that of the group, and that of its copies
    const bool directory = all.entries.kind(i) == EntryKind::directory;
    if (own_directory || exists_ || (directory && with_directories)) {
      initial.entries.push_back(all.entries[i]);
    }
  }
}

}  // namespace filereel
