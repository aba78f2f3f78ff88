#include "traces/workload/group_layout.h"

#include <unordered_map>

#include <fmt/format.h>

#include "filesets/catalog/catalog.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/random.h"
#include "filesets/system/units.h"
#include "traces/operation_makers.h"

namespace filereel {
namespace {

void check_room(const RecipeFiles& files, std::uint64_t more, const FileSet& all) {
  if (more <= kMostEntries && all.entries.size() <= kMostEntries - more) return;
  const std::string set = files.set.empty() ? "" : fmt::format(" (set {})", printable(files.set));
  throw Error(ErrorKind::unusable_input,
              fmt::format("the group '{}'{} brings the total to {} files and directories: a "
                          "workload has at most {}",
                          printable(files.name), set, all.entries.size() + more, kMostEntries));
}

}  // namespace

GroupLayout::GroupLayout(const RecipeFiles& files, const Recipe& recipe, bool has_copies,
                         std::uint64_t free_bytes, FileSet& all, PathTable& paths)
    : exists_(files.exist), first_(all.entries.size()) {
  all.entries.push_back(directory_entry(files.name));
  add_entries(files, recipe, free_bytes, all);
  end_ = all.entries.size();
  add_names(files, has_copies, all, paths);
  copies_end_ = all.entries.size();
  if (step_files_.empty()) {
    throw Error(ErrorKind::unusable_input,
                fmt::format("the group '{}' has no regular files", printable(files.name)));
  }
}

void GroupLayout::add_entries(const RecipeFiles& files, const Recipe& recipe,
                              std::uint64_t free_bytes, FileSet& all) {
  if (!files.set.empty()) {
    const FileSet set = load_file_set(files.set, recipe.scale);
    check_room(files, set.entries.size(), all);
    const std::uint64_t seed = mix_seed(set.seed, first_);
    for (Entry entry : set.entries) {
      entry.path = files.name + "/" + entry.path;
      if (entry.kind == EntryKind::hard_link) entry.target = files.name + "/" + entry.target;
      entry.content.key = mix_seed(seed, entry.content.key);
      all.entries.push_back(std::move(entry));
    }
    return;
  }
  std::uint64_t size = files.size;
  if (files.fill > 0) {
    size = static_cast<std::uint64_t>(static_cast<double>(free_bytes) * files.fill /
                                      static_cast<double>(files.count)) /
           kMiB * kMiB;
    if (size == 0) {
      throw Error(
          ErrorKind::unusable_input,
          fmt::format("the volume is too small for '{}': use a larger one", printable(files.name)));
    }
  }
  check_room(files, files.count, all);
  std::string folder = files.name;
  for (std::uint64_t i = 0; i < files.count; ++i) {
    if (files.per_directory > 0 && i % files.per_directory == 0) {
      folder = fmt::format("{}/d{:04}", files.name, i / files.per_directory);
      all.entries.push_back(directory_entry(folder));
    }
    Entry entry;
    entry.path = fmt::format("{}/f{:06}", folder, i);
    entry.size = size;
    entry.content = {.key = mix_seed(first_, i), .compressed_permille = files.compressed_permille};
    all.entries.push_back(std::move(entry));
  }
}

void GroupLayout::add_names(const RecipeFiles& files, bool has_copies, FileSet& all,
                            PathTable& paths) {
  const std::string copies = files.name + ".copy";
  if (has_copies) all.entries.push_back(directory_entry(copies));
  std::unordered_map<PathId, std::uint32_t> siblings;
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = first_; i < end_; ++i) {
    const Entry& entry = all.entries[i];
    const PathId path = paths.add(Role::near, entry.path);
    if (entry.kind == EntryKind::directory && i > first_) directories_.push_back(path);
    if (entry.kind != EntryKind::file) continue;
    const PathId folder = paths.node(path).parent;
    const std::string& name = paths.node(path).name;
    // Names stay below the limit of file systems, 255 bytes.
    const auto id = static_cast<FileId>(i);
    const PathId copy =
        has_copies ? paths.add(Role::near, fmt::format("{}/f{:06}", copies, sizes.size())) : 0;
    access_files_.push_back({path, id, file_mode(entry.mode)});
    step_files_.push_back({.path = path,
                           .directory = folder,
                           .other_name = paths.add(folder, name.substr(0, 200) + ".renamed"),
                           .beside = paths.add(folder, name.substr(0, 200) + ".new"),
                           .copy = copy,
                           .entry = id,
                           .size = entry.size,
                           .mode = file_mode(entry.mode),
                           .siblings = 0});
    ++siblings[folder];
    sizes.push_back(entry.size);
  }
  for (StepFile& file : step_files_) file.siblings = siblings[file.directory];
  space_ = FileSpace(sizes, false);
  direct_space_ = FileSpace(sizes, true);
}

void GroupLayout::add_initial(const FileSet& all, bool with_directories, FileSet& initial) const {
  for (std::size_t i = first_; i < copies_end_; ++i) {
    const bool own_directory =
        i == first_ || i >= end_;  // that of the group, and that of its copies
    const bool directory = all.entries[i].kind == EntryKind::directory;
    if (own_directory || exists_ || (directory && with_directories)) {
      initial.entries.push_back(all.entries[i]);
    }
  }
}

}  // namespace filereel
