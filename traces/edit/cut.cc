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
      : input_(input),
        cut_(cut),
        from_(cut.from_ns.value_or(0)),
        to_(cut.to_ns.value_or(UINT64_MAX)),
        out_(out),
        carrier_(input, out),
        model_(tables_) {
    copy_tables(input.tables, tables_);
    model_.begin_with(input.trees.initial);
    for (const std::string& path : cut.below) {
      // Normalised as all paths are; one that the trace does not know has nothing below it.
      below_.push_back(out.path(path));
    }
  }

  void run() {
    OneByOne operations(input_.source);
    bool begun = false;
    for (; const RecordedOperation* next = operations.peek(); operations.pop()) {
      const bool inside = next->start_ns < to_ && (begun || reaches(*next));
      if (begun || inside) position_ = next->operation.position;
      if (inside && !begun) {
        begin();
        begun = true;
      }
      const bool kept = inside && wanted_thread(next->operation.thread) && keep(*next);
      if (begun && !kept) leave_out(*next);
      follow(next->operation);
    }
    if (!begun) begin();
    carrier_.close_all(last_thread_ ? *last_thread_ : any_thread(), end_ns_);
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

  // Operations stand in the order of their ends: none that is behind the first which ends in the
  // cut was over before.
  bool reaches(const RecordedOperation& recorded) const {
    return recorded.start_ns >= from_ || recorded.start_ns + recorded.duration_ns > from_;
  }
  // A time of the input in the output.
  std::uint64_t cut_time(std::uint64_t at_ns) const {
    return std::max(std::min(at_ns, to_), from_) - from_;
  }

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
    for (const auto& [number, path] : mapped) {
      remap(path, number, mappings_[number].made.thread, 0);
    }
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

  void remap(const std::string& path, FileSlot number, std::uint32_t thread, std::uint64_t at_ns) {
    const Operation& made = mappings_[number].made;
    const std::uint32_t protection = made.flags & 0xff, kind = made.flags >> 8;
    const bool stores = (protection & PROT_WRITE) != 0 && (kind & MAP_SHARED) != 0;
    const FileSlot slot = out_.take_slot();
    reopen(path, slot, stores ? O_RDWR : O_RDONLY, thread, at_ns);
    Operation map = made;
    map.file = slot;
    map.source = carrier_.take_mapping(number);
    map.path = map.old_path = 0;
    map.thread = acting_thread(thread);
    out_.add({map, at_ns, 0});
    Operation close;
    close.kind = OperationKind::close;
    close.file = slot;
    close.thread = map.thread;
    out_.add({close, at_ns, 0});
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

  // Whether it could be kept.
  bool keep(const RecordedOperation& next) {
    const Operation& operation = next.operation;
    if (!concerns(operation)) return false;
    if (operation.kind == OperationKind::fork || operation.kind == OperationKind::join) {
      const auto other = static_cast<std::uint32_t>(operation.second);
      const bool forks = operation.kind == OperationKind::fork;
      if (!wanted_thread(other) || !(forks ? lives_on(other) : carrier_.has_thread(other))) {
        return false;
      }
    }
    RecordedOperation recorded = next;
    recorded.start_ns = cut_time(next.start_ns);
    if (next.start_ns < from_) {
      recorded.duration_ns -= std::min(next.duration_ns, from_ - next.start_ns);
    }
    if (!ready(operation, recorded.start_ns)) {
      out_.lost("operations on files that were opened outside the cut");
      return false;
    }
    carrier_.add(recorded);
    last_thread_ = carrier_.thread(operation.thread);
    end_ns_ = std::max(end_ns_, recorded.start_ns + recorded.duration_ns);
    return true;
  }

  // What is left out may end what the output has by this number, or begin something else there.
  void leave_out(const RecordedOperation& recorded) {
    const Operation& operation = recorded.operation;
    const std::uint64_t at_ns = cut_time(recorded.start_ns);
    const bool succeeds = operation.expected >= 0;
    if ((operation.kind == OperationKind::close ||
         (operation.kind == OperationKind::open && succeeds)) &&
        carrier_.has_slot(operation.file)) {
      carrier_.close(operation.file, acting_thread(operation.thread), at_ns);
    }
    if ((operation.kind == OperationKind::unmap ||
         (operation.kind == OperationKind::map && succeeds)) &&
        carrier_.has_mapping(operation.source)) {
      carrier_.unmap(operation.source, acting_thread(operation.thread), at_ns);
    }
  }

  // Opens and maps what an operation uses and what an operation that is not wanted opened; false if
  // that is not possible.
  bool ready(const Operation& operation, std::uint64_t at_ns) {
    const bool opens = operation.kind == OperationKind::open;
    if (!opens && operation.file != kNoFile &&
        !ready_file(operation.file, operation.thread, at_ns)) {
      return false;
    }
    if (operation.kind == OperationKind::copy_range) {
      return ready_file(operation.source, operation.thread, at_ns);
    }
    if (operation.kind == OperationKind::map || operation.source == kNoFile) return true;
    return ready_mapping(operation.source, operation.thread, at_ns);
  }

  bool ready_file(FileSlot slot, std::uint32_t thread, std::uint64_t at_ns) {
    if (carrier_.has_slot(slot)) return true;
    const OpenFile* file = open_file(slot);
    if (file == nullptr) return false;
    const std::optional<PathId> path = model_.path_of(model_.file_of_slot(slot));
    if (!path) return false;
    reopen(tables_.paths.relative(*path), carrier_.take_slot(slot), file->flags, thread, at_ns);
    return true;
  }

  bool ready_mapping(FileSlot number, std::uint32_t thread, std::uint64_t at_ns) {
    if (carrier_.has_mapping(number)) return true;
    const Mapping* known = mapping(number);
    if (known == nullptr) return false;
    const std::optional<PathId> path = model_.path_of(known->file);
    if (!path) return false;
    remap(tables_.paths.relative(*path), number, thread, at_ns);
    return true;
  }

  const TraceInput& input_;
  const Cut& cut_;
  std::uint64_t from_, to_;
  TraceBuilder& out_;
  Carrier carrier_;
  TraceTables tables_;         // the input's, which its model may add to
  TreeModel model_;            // of the whole input
  std::vector<PathId> below_;  // of the output
  std::vector<OpenFile> files_;
  std::vector<Mapping> mappings_;
  std::uint64_t position_ = 0;
  std::uint64_t end_ns_ = 0;                  // of the output, up to now
  std::optional<std::uint32_t> last_thread_;  // of the output
  std::uint32_t removed_ = 0;
};

}  // namespace

void cut_trace(const TraceInput& input, const Cut& cut, TraceBuilder& out) {
  Cutter(input, cut, out).run();
}

}  // namespace filereel
