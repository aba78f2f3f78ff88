// A part of a trace.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include "traces/edit/carrier.h"

namespace filereel {
namespace {

constexpr FileSlot kMaxSlots = 1 << 22;  // more than are ever open at once

// The numbers stay the same.
void copy_tables(const TraceTables& from, TraceTables& to) {
  for (PathId id = 2; id < from.paths.size(); ++id) {
    to.paths.append(from.paths.node(id).parent, from.paths.node(id).name);
  }
  for (TextId id = 1; id < from.texts.size(); ++id) to.texts.append(from.texts.text(id));
}

class Cutter {
 public:
  Cutter(const TraceInput& input, const Cut& cut, TraceBuilder& out)
      : input_(input), cut_(cut), out_(out), carrier_(input, out), model_(tables_) {
    copy_tables(input.tables, tables_);
    model_.begin_with(input.trees.initial);
    for (const std::string& path : cut.below) {
      // Normalised as all paths are; one that the trace does not know has nothing below it.
      below_.push_back(out.path(path));
    }
  }

  void run() {
    OneByOne operations(input_.source);
    const std::uint64_t from = cut_.from_ns.value_or(0);
    const std::uint64_t to = cut_.to_ns.value_or(UINT64_MAX);
    bool begun = false;
    for (; const RecordedOperation* next = operations.peek(); operations.pop()) {
      const bool inside = next->start_ns >= from && next->start_ns < to;
      if (inside && !begun) {
        position_ = next->operation.position;
        begin();
        begun = true;
      }
      if (inside && wanted_thread(next->operation.thread)) keep(*next, from);
      follow(next->operation);
    }
    if (!begun) begin();
    carrier_.add_losses();
    for (const auto& [name, value] : input_.info.facts) out_.fact(name, value);
  }

 private:
  struct OpenFile {
    bool open = false;
    bool below = false;  // it was opened by a wanted path
    std::uint32_t flags = 0;
    std::uint32_t thread = 0;
  };
  struct Mapping {
    FileId file = kNoFileId;
    bool below = false;
    Operation made;
  };

  bool wanted_thread(std::uint32_t thread) const {
    return cut_.threads.empty() || std::ranges::find(cut_.threads, thread) != cut_.threads.end();
  }

  // Whether a path of the input lies at or below one of those that are wanted.
  bool is_below(PathId path) {
    if (below_.empty()) return true;
    for (PathId at = carrier_.path(path);; at = out_.tables().paths.node(at).parent) {
      if (std::ranges::find(below_, at) != below_.end()) return true;
      if (out_.tables().paths.is_root(at)) return false;
    }
  }

  OpenFile* open_file(FileSlot slot) {
    return slot < files_.size() && files_[slot].open ? &files_[slot] : nullptr;
  }
  Mapping* mapping(FileSlot number) {
    return number < mappings_.size() && mappings_[number].file != kNoFileId ? &mappings_[number]
                                                                            : nullptr;
  }

  // Keeps the state of the input up to date, whether the operation is wanted or not.
  void follow(Operation operation) {
    const bool fails = operation.expected < 0;
    if (operation.kind == OperationKind::open && !fails && operation.file < kMaxSlots) {
      if (files_.size() <= operation.file) files_.resize(operation.file + 1);
      files_[operation.file] = {true, is_below(operation.path), operation.flags, operation.thread};
    }
    if (operation.kind == OperationKind::map && !fails && operation.source < kMaxSlots) {
      const OpenFile* file = open_file(operation.file);
      if (mappings_.size() <= operation.source) mappings_.resize(operation.source + 1);
      mappings_[operation.source] = {model_.file_of_slot(operation.file),
                                     file != nullptr && file->below, operation};
    }
    if (operation.kind == OperationKind::unmap) {
      if (Mapping* old = mapping(operation.source)) old->file = kNoFileId;
    }
    model_.apply(operation);
    if (operation.kind == OperationKind::close) {
      if (OpenFile* file = open_file(operation.file)) file->open = false;
    }
  }

  // The tree at this moment becomes the initial one, and what is open is opened.
  void begin() {
    FileSet tree = model_.current();
    std::unordered_map<FileId, std::string> paths;
    for (const Entry& entry : tree.entries) {
      if (entry.kind == EntryKind::file) paths.emplace(entry.content.key, entry.path);
    }
    // A removed file that is open still gets a name, which is removed once it is open again.
    std::vector<std::string> nameless;
    const auto path_of = [&](FileId file) -> std::string {
      if (const auto known = paths.find(file); known != paths.end()) return known->second;
      if (const auto known = model_.path_of(file)) return tables_.paths.relative(*known);
      Entry entry;
      do {
        entry.path = fmt::format("filereel-removed-{}", ++removed_);
      } while (out_.tables().paths.find(0, entry.path) != PathTable::kNone ||
               tables_.paths.find(0, entry.path) != PathTable::kNone);
      entry.size = model_.size(file);
      entry.content.compressed_permille = kTraceCompressedPermille;
      tree.entries.push_back(entry);
      nameless.push_back(entry.path);
      return paths[file] = entry.path;
    };

    std::vector<std::pair<FileSlot, std::string>> open;
    for (FileSlot slot = 0; slot < files_.size(); ++slot) {
      if (!files_[slot].open || !files_[slot].below || !uses(files_[slot].thread)) continue;
      const FileId file = model_.file_of_slot(slot);
      if (file != kNoFileId) open.emplace_back(slot, path_of(file));
    }
    std::vector<std::pair<FileSlot, std::string>> mapped;
    for (FileSlot number = 0; number < mappings_.size(); ++number) {
      const Mapping* known = mapping(number);
      if (known == nullptr || !known->below || !uses(known->made.thread)) continue;
      mapped.emplace_back(number, path_of(known->file));
    }

    out_.model().begin_with(tree);
    for (const auto& [slot, path] : open) {
      reopen(path, carrier_.take_slot(slot), files_[slot].flags, files_[slot].thread, 0);
    }
    for (const auto& [number, path] : mapped) remap(number, path);
    for (const std::string& path : nameless) {
      Operation unlink;
      unlink.kind = OperationKind::unlink;
      unlink.path = out_.path(path);
      unlink.thread = any_thread();
      out_.add({unlink, 0, 0});
    }
  }

  // Whether what `thread` opened can be of use to a wanted thread: processes share and inherit.
  bool uses(std::uint32_t thread) const {
    const auto& threads = input_.info.threads;
    if (cut_.threads.empty() || thread >= threads.size()) return true;
    return std::ranges::any_of(cut_.threads, [&](std::uint32_t wanted) {
      // Parents come before their children in a sound trace; the count ends rings.
      for (std::size_t steps = 0; wanted < threads.size() && steps < threads.size(); ++steps) {
        if (wanted == thread || threads[wanted].process == threads[thread].process) return true;
        wanted = threads[wanted].parent;
      }
      return false;
    });
  }

  // The thread of the output that does what is added for `thread` of the input.
  std::uint32_t acting_thread(std::uint32_t thread) {
    return wanted_thread(thread) && lives_on(thread) ? carrier_.thread(thread) : any_thread();
  }
  bool lives_on(std::uint32_t thread) const {
    return thread < input_.info.threads.size() && input_.info.threads[thread].last >= position_;
  }
  std::uint32_t any_thread() {
    const auto& threads = input_.info.threads;
    for (std::uint32_t i = 0; i < threads.size(); ++i) {
      if (wanted_thread(i) && lives_on(i)) return carrier_.thread(i);
    }
    return carrier_.thread(cut_.threads.empty() ? 0 : cut_.threads.front());
  }

  void reopen(const std::string& path, FileSlot slot, std::uint32_t flags, std::uint32_t thread,
              std::uint64_t at_ns) {
    constexpr std::uint32_t kMaking = O_CREAT | O_EXCL | O_TRUNC;
    Operation open;
    open.kind = OperationKind::open;
    open.path = out_.path(path);
    open.file = slot;
    // O_TMPFILE holds O_DIRECTORY, which does not fit the file that it made.
    const bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
    open.flags = flags & ~(nameless ? kMaking | O_TMPFILE : kMaking);
    open.thread = acting_thread(thread);
    out_.add({open, at_ns, 0});
  }

  void remap(FileSlot number, const std::string& path) {
    const Operation& made = mappings_[number].made;
    const std::uint32_t protection = made.flags & 0xff, kind = made.flags >> 8;
    const bool stores = (protection & PROT_WRITE) != 0 && (kind & MAP_SHARED) != 0;
    const FileSlot slot = out_.take_slot();
    reopen(path, slot, stores ? O_RDWR : O_RDONLY, made.thread, 0);
    Operation map = made;
    map.file = slot;
    map.source = carrier_.take_mapping(number);
    map.path = map.old_path = 0;
    map.thread = acting_thread(made.thread);
    out_.add({map, 0, 0});
    Operation close;
    close.kind = OperationKind::close;
    close.file = slot;
    close.thread = map.thread;
    out_.add({close, 0, 0});
    out_.free_slot(slot);
  }

  // Whether the operation is wanted for the paths that it has to do with.
  bool concerns(const Operation& operation) {
    if (below_.empty()) return true;
    const Field fields = operation_info(operation.kind).fields;
    const bool target = has(fields, Field::target) && operation.file == kNoFile;
    if (has(fields, Field::path) || target) {
      return is_below(operation.path) ||
             (has(fields, Field::old_path) && is_below(operation.old_path));
    }
    const auto file_is = [&](FileSlot slot) {
      const OpenFile* file = open_file(slot);
      return file != nullptr && file->below;
    };
    if (operation.kind == OperationKind::copy_range) {
      return file_is(operation.file) || file_is(operation.source);
    }
    if (operation.file != kNoFile) return file_is(operation.file);
    if (has(fields, Field::source)) {
      const Mapping* known = mapping(operation.source);
      return known != nullptr && known->below;
    }
    return true;
  }

  void keep(const RecordedOperation& next, std::uint64_t from) {
    const Operation& operation = next.operation;
    position_ = operation.position;
    if (!concerns(operation)) return;
    if (operation.kind == OperationKind::fork || operation.kind == OperationKind::join) {
      const auto other = static_cast<std::uint32_t>(operation.second);
      const bool forks = operation.kind == OperationKind::fork;
      if (!wanted_thread(other) || !(forks ? lives_on(other) : carrier_.has_thread(other))) return;
    }
    const bool opens = operation.kind == OperationKind::open;
    const bool two = operation.kind == OperationKind::copy_range;
    if ((!opens && operation.file != kNoFile &&
         !ready(operation.file, operation.thread, next, from)) ||
        (two && !ready(operation.source, operation.thread, next, from))) {
      out_.lost("operations on files that were opened outside the cut");
      return;
    }
    RecordedOperation recorded = next;
    recorded.start_ns -= from;
    carrier_.add(recorded);
  }

  // Opens a file that an operation uses and that an operation which is not wanted opened; false if
  // that is not possible.
  bool ready(FileSlot slot, std::uint32_t thread, const RecordedOperation& next,
             std::uint64_t from) {
    if (carrier_.has_slot(slot)) return true;
    const OpenFile* file = open_file(slot);
    if (file == nullptr) return false;
    const std::optional<PathId> path = model_.path_of(model_.file_of_slot(slot));
    if (!path) return false;
    reopen(tables_.paths.relative(*path), carrier_.take_slot(slot), file->flags, thread,
           next.start_ns - from);
    return true;
  }

  const TraceInput& input_;
  const Cut& cut_;
  TraceBuilder& out_;
  Carrier carrier_;
  TraceTables tables_;         // the input's, which its model may add to
  TreeModel model_;            // of the whole input
  std::vector<PathId> below_;  // of the output
  std::vector<OpenFile> files_;
  std::vector<Mapping> mappings_;
  std::uint64_t position_ = 0;
  std::uint32_t removed_ = 0;
};

}  // namespace

void cut_trace(const TraceInput& input, const Cut& cut, TraceBuilder& out) {
  Cutter(input, cut, out).run();
}

}  // namespace filereel
