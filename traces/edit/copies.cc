// The numbers of copy n: a file, thread, slot or path has its number in the original plus n times
// their count there. Operations take turns: each of the original becomes one of every copy in a
// row, so the whole trace is never held.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "filesets/system/error.h"
#include "filesets/system/wording.h"
#include "traces/edit/edit.h"

namespace filereel {
namespace {

constexpr std::size_t kBatch = 256;

// Members that are mapping numbers instead of open files.
bool is_mapping(OperationKind kind) {
  return kind == OperationKind::map || kind == OperationKind::unmap ||
         kind == OperationKind::sync_map || kind == OperationKind::fault;
}

}  // namespace

TraceCopies::TraceCopies(RecordedTrace& original, std::uint32_t count)
    : original_(original),
      count_(count),
      threads_(static_cast<std::uint32_t>(original.info().threads.size())),
      slots_(original.info().slots),
      mappings_(original.info().mappings),
      files_(original.info().files),
      read_(kBatch) {
  constexpr std::uint64_t kMost = 10'000'000;  // about 3 GB of names
  static_assert(kMost * 2 < std::numeric_limits<std::uint32_t>::max());
  const TraceTrees& trees = original.trees();
  const auto most =
      std::max<std::uint64_t>({threads_, slots_, mappings_, files_, original.tables().paths.size(),
                               trees.initial.entries.size(), 1});
  if (most * count_ > kMost) {
    throw Error(ErrorKind::usage,
                fmt::format("{} of this trace would need {} paths, files, threads or slots, "
                            "and the limit is {}; ask for {} or fewer",
                            counted(count_, "copy", "copies"), most * count_, kMost, kMost / most));
  }
  copy_tables(original.tables());
  copy_info(original.info());
  trees_ = {copy_set(trees.initial), trees.absent * count_, copy_set(trees.final)};
}

// The directories of the copies come first, then the paths of the first copy in their old order,
// then those of the second …, so that the new number of a path is a function of the old one.
void TraceCopies::copy_tables(const TraceTables& tables) {
  const auto originals = static_cast<std::uint32_t>(tables.paths.size());
  paths_ = originals - static_cast<std::uint32_t>(kRoots);
  for (std::uint32_t copy = 0; copy < count_; ++copy) {
    tables_.paths.append(PathTable::root(Role::near), fmt::format("{}", copy + 1));
  }
  for (std::uint32_t copy = 0; copy < count_; ++copy) {
    for (PathId id = kRoots; id < originals; ++id) {
      const PathTable::Node node = tables.paths.node(id);
      tables_.paths.append(path_of(node.parent, copy), node.name);
    }
  }
  for (TextId id = 1; id < tables.texts.size(); ++id) tables_.texts.append(tables.texts.text(id));
}

PathId TraceCopies::path_of(PathId original, std::uint32_t copy) const {
  const auto roots = static_cast<PathId>(kRoots);
  if (original < roots) return roots + copy;  // a recorded trace has one root
  return roots + count_ + copy * paths_ + (original - roots);
}

void TraceCopies::copy_info(const TraceInfo& info) {
  info_ = info;
  info_.operations *= count_;
  for (std::uint64_t& operations : info_.by_kind) operations *= count_;
  info_.bytes_read *= count_;
  info_.bytes_written *= count_;
  info_.slots *= count_;
  info_.mappings *= count_;
  info_.files *= count_;
  for (auto* counts : {&info_.lost, &info_.approximated}) {
    for (auto& [what, number] : *counts) number *= count_;
  }
  info_.threads.clear();
  for (std::uint32_t copy = 0; copy < count_; ++copy) {
    for (TraceThread thread : info.threads) {
      if (thread.parent != TraceThread::kNoParent) thread.parent += copy * threads_;
      thread.first = thread.first * count_ + copy;
      thread.last = thread.last * count_ + copy;
      info_.threads.push_back(std::move(thread));
    }
  }
}

FileSet TraceCopies::copy_set(const FileSet& set) const {
  FileSet copies;
  copies.name = set.name;
  copies.description = set.description;
  copies.source = set.source;
  copies.seed = set.seed;
  for (std::uint32_t copy = 0; copy < count_; ++copy) {
    const std::string folder = fmt::format("{}", copy + 1);
    copies.entries.push_back(directory_entry(folder));
    for (Entry entry : set.entries) {
      entry.path = folder + "/" + entry.path;
      if (entry.kind == EntryKind::hard_link) entry.target = folder + "/" + entry.target;
      entry.content.key += std::uint64_t{copy} * files_;  // the key is the number of the file
      copies.entries.push_back(entry);
    }
  }
  return copies;
}

RecordedOperation TraceCopies::of_copy(const RecordedOperation& original,
                                       std::uint32_t copy) const {
  RecordedOperation result = original;
  Operation& operation = result.operation;
  const Field fields = operation_info(operation.kind).fields;
  operation.position = operation.position * count_ + copy;
  operation.thread += copy * threads_;
  if (operation.file != kNoFile) operation.file += copy * slots_;
  if (operation.source != kNoFile) {
    operation.source += copy * (is_mapping(operation.kind) ? mappings_ : slots_);
  }
  if (operation.entry != kNoFileId) operation.entry += copy * files_;
  const bool names =
      has(fields, Field::path) || (has(fields, Field::target) && operation.file == kNoFile);
  if (names) operation.path = path_of(operation.path, copy);
  if (has(fields, Field::old_path)) operation.old_path = path_of(operation.old_path, copy);
  if (names_thread(operation.kind)) {
    operation.second += std::uint64_t{copy} * threads_;
  }
  return result;
}

std::size_t TraceCopies::next(std::span<RecordedOperation> out) {
  std::size_t given = 0;
  while (given < out.size()) {
    if (at_ == filled_) {
      filled_ = original_.next(read_);
      at_ = 0;
      if (filled_ == 0) break;
    }
    out[given++] = of_copy(read_[at_], copy_);
    if (++copy_ == count_) {
      copy_ = 0;
      ++at_;
    }
  }
  return given;
}

void TraceCopies::rewind() {
  original_.rewind();
  at_ = filled_ = 0;
  copy_ = 0;
}

}  // namespace filereel
