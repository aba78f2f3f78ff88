#include "traces/edit/id_remapper.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace filereel {
namespace {

// Higher numbers of open files and mappings are invalid.
constexpr std::uint32_t kMaxNumber = 1 << 22;

}  // namespace

IdRemapper::IdRemapper(const TraceInput& input, TraceBuilder& out, std::string below,
                       const NameChange* change)
    : input_(input), out_(out), below_(std::move(below)), change_(change) {
  const PathId root = out_.path(below_);
  paths_ = {root, root};  // roots of both volumes
}

std::string IdRemapper::changed_path(std::string_view path) const {
  std::string changed = below_;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (!changed.empty()) changed += '/';
    const std::string_view name = path.substr(0, slash);
    changed += change_ != nullptr ? change_->component(name) : std::string(name);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return changed;
}

FileSet IdRemapper::tree(const FileSet& set) const {
  FileSet changed;
  changed.name = set.name;
  changed.entries.reserve(set.entries.size() + 1);
  if (!below_.empty()) changed.entries.push_back(directory_entry(below_));
  for (Entry entry : set.entries) {
    entry.path = changed_path(entry.path);
    if (entry.kind == EntryKind::hard_link) entry.target = changed_path(entry.target);
    if (entry.kind == EntryKind::symlink && change_ != nullptr) {
      entry.target = change_->link_text(entry.target);
    }
    changed.entries.push_back(entry);
  }
  return changed;
}

template <typename Make>
std::uint32_t IdRemapper::numbered(std::vector<std::uint32_t>& numbers, std::uint32_t index,
                                   Make make) {
  if (index >= kMaxNumber) return kUnmapped;
  if (numbers.size() <= index) numbers.resize(index + 1, kUnmapped);
  if (numbers[index] == kUnmapped) numbers[index] = make();
  return numbers[index];
}

void IdRemapper::forget(std::vector<std::uint32_t>& numbers, std::uint32_t index) {
  if (index < numbers.size()) numbers[index] = kUnmapped;
}

void IdRemapper::add_threads() {
  for (std::uint32_t i = 0; i < input_.info.threads.size(); ++i) thread(i);
}

bool IdRemapper::has_thread(std::uint32_t number) const {
  return number < threads_.size() && threads_[number] != kUnmapped;
}

std::uint32_t IdRemapper::thread(std::uint32_t number) {
  return numbered(threads_, number, [&] {
    TraceThread thread;
    if (number < input_.info.threads.size()) {
      const TraceThread& from = input_.info.threads[number];
      thread.process = from.process;
      thread.thread = from.thread;
      thread.name =
          change_ != nullptr && !from.name.empty() ? change_->component(from.name) : from.name;
      if (from.parent != TraceThread::kNoParent && has_thread(from.parent)) {
        thread.parent = threads_[from.parent];
      }
    }
    return out_.add_thread(thread);
  });
}

PathId IdRemapper::path(PathId path) {
  if (paths_.size() < input_.tables.paths.size()) {
    paths_.resize(input_.tables.paths.size(), PathTable::kNone);
  }
  chain_.clear();
  for (; paths_[path] == PathTable::kNone; path = input_.tables.paths.node(path).parent) {
    chain_.push_back(path);
  }
  PathId at = paths_[path];
  for (std::size_t i = chain_.size(); i-- > 0;) {
    const std::string_view name = input_.tables.paths.node(chain_[i]).name;
    at = out_.tables().paths.add(at, change_ != nullptr ? change_->component(name) : name);
    paths_[chain_[i]] = at;
  }
  return at;
}

bool IdRemapper::has_slot(FileSlot slot) const {
  return slot < slots_.size() && slots_[slot] != kUnmapped;
}

FileSlot IdRemapper::take_slot(FileSlot slot) {
  return numbered(slots_, slot, [&] { return out_.take_slot(); });
}

bool IdRemapper::has_mapping(FileSlot mapping) const {
  return mapping < mappings_.size() && mappings_[mapping] != kUnmapped;
}

FileSlot IdRemapper::take_mapping(FileSlot mapping) {
  return numbered(mappings_, mapping, [&] { return out_.take_mapping(); });
}

void IdRemapper::close(FileSlot slot, std::uint32_t thread, std::uint64_t at_ns) {
  if (!has_slot(slot)) return;
  Operation close;
  close.kind = OperationKind::close;
  close.file = slot;
  close.thread = thread;
  remap_file(close);
  out_.add({close, at_ns, 0});
}

void IdRemapper::unmap(FileSlot mapping, std::uint32_t thread, std::uint64_t at_ns) {
  if (!has_mapping(mapping)) return;
  Operation unmap;
  unmap.kind = OperationKind::unmap;
  unmap.source = mapping;
  unmap.thread = thread;
  remap_mapping(unmap);
  out_.add({unmap, at_ns, 0});
}

void IdRemapper::close_all(std::uint32_t thread, std::uint64_t at_ns) {
  for (FileSlot mapping = 0; mapping < mappings_.size(); ++mapping) unmap(mapping, thread, at_ns);
  for (FileSlot slot = 0; slot < slots_.size(); ++slot) close(slot, thread, at_ns);
}

TextId IdRemapper::text(const Operation& operation) {
  if (operation.text == 0) return 0;
  const std::string& text = input_.tables.texts.text(operation.text);
  if (change_ == nullptr) return out_.tables().texts.add(text);
  const bool link =
      operation.kind == OperationKind::symlink || operation.kind == OperationKind::read_link;
  return out_.tables().texts.add(link ? change_->link_text(text) : change_->attribute(text));
}

void IdRemapper::remap_file(Operation& operation) {
  const FileSlot slot = operation.file;
  if (slot != kNoFile) operation.file = take_slot(slot);
  const bool fails = operation.expected < 0;
  const bool ends =
      operation.kind == OperationKind::close || (operation.kind == OperationKind::open && fails);
  if (!ends || operation.file == kNoFile) return;
  out_.free_slot(operation.file);
  forget(slots_, slot);
}

void IdRemapper::remap_mapping(Operation& operation) {
  const FileSlot mapping = operation.source;
  operation.source = take_mapping(mapping);
  const bool ends = operation.kind == OperationKind::unmap ||
                    (operation.kind == OperationKind::map && operation.expected < 0);
  if (!ends || operation.source == kNoFile) return;
  out_.free_mapping(operation.source);
  forget(mappings_, mapping);
}

void IdRemapper::add(RecordedOperation recorded, std::uint64_t later) {
  Operation& operation = recorded.operation;
  const Field fields = operation_info(operation.kind).fields;
  operation.thread = thread(operation.thread);
  if (has(fields, Field::path) || has(fields, Field::target)) {
    operation.path = path(operation.path);
  }
  if (has(fields, Field::old_path)) operation.old_path = path(operation.old_path);
  if (has(fields, Field::text)) operation.text = text(operation);
  if (has(fields, Field::source) && operation.source != kNoFile) {
    if (operation.kind == OperationKind::copy_range) {
      operation.source = take_slot(operation.source);
    } else {
      remap_mapping(operation);
    }
  }
  remap_file(operation);
  if (names_thread(operation.kind)) {
    operation.second = thread(static_cast<std::uint32_t>(operation.second));
  }
  recorded.start_ns += later;
  out_.add(recorded);
}

void IdRemapper::add_losses() {
  for (const auto& [what, count] : input_.info.lost) out_.lost(what, count);
  for (const auto& [what, count] : input_.info.approximated) out_.approximated(what, count);
  if (!input_.info.complete) out_.lost("the end of a truncated trace");
  out_.add_check(input_.info.check);
  out_.recorder_added(input_.info.recorder_ns);
  out_.waits_recorded(input_.info.waits);
}

FileSet unite(std::vector<FileSet> sets) {
  FileSet united;
  std::unordered_map<std::string, std::size_t> known;
  for (FileSet& set : sets) {
    if (united.name.empty()) united.name = set.name;
    for (const Entry& entry : set.entries) {
      const auto found = known.find(entry.path);
      if (found != known.end()) {
        if (entry.kind == EntryKind::file &&
            united.entries.kind(found->second) == EntryKind::file &&
            entry.size > united.entries.file_size(found->second)) {
          united.entries.change(found->second, [&](Entry& other) {
            other.size = entry.size;
            other.holes.clear();
          });
        }
        continue;
      }
      // Skips entries of a directory that is something else here.
      const auto is = [&](const std::string& path, EntryKind kind) {
        const auto at = known.find(path);
        return at != known.end() && united.entries.kind(at->second) == kind;
      };
      const std::size_t slash = entry.path.rfind('/');
      if (slash != std::string::npos && !is(entry.path.substr(0, slash), EntryKind::directory)) {
        continue;
      }
      if (entry.kind == EntryKind::hard_link && !is(entry.target, EntryKind::file)) continue;
      known.emplace(entry.path, united.entries.size());
      united.entries.push_back(entry);
    }
  }
  return united;
}

const RecordedOperation* OperationReader::peek() {
  if (at_ == count_) {
    at_ = 0;
    count_ = source_.next(buffer_);
  }
  return count_ == 0 ? nullptr : &buffer_[at_];
}

}  // namespace filereel
