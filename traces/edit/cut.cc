// Cuts a part from a trace. CutSelection defines the part, InputState follows the whole input,
// CutOutput writes. Facts about a single operation are passed with it.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include "filesets/system/search.h"
#include "traces/edit/id_remapper.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;
constexpr FileSlot kMaxSlots = 1 << 22;  // more than are ever open at once

// Keeps the numbers.
void copy_tables(const TraceTables& from, TraceTables& to) {
  for (PathId id = 2; id < from.paths.size(); ++id) {
    to.paths.append(from.paths.node(id).parent, from.paths.node(id).name);
  }
  for (TextId id = 1; id < from.texts.size(); ++id) to.texts.append(from.texts.text(id));
}

// The selected times, threads and paths. Positions matter because threads end.
class CutSelection {
 public:
  // All outlive this. Paths are compared in the output, so `remapper` maps them.
  CutSelection(const TraceInput& input, const Cut& cut, IdRemapper& remapper, TraceBuilder& out)
      : cut_(cut), threads_(input.info.threads), remapper_(remapper), paths_(out.tables().paths) {
    // Normalised like all paths; nothing is below a path missing from the trace.
    for (const std::string& path : cut.below) below_.push_back(out.path(path));
  }

  // Operations are in the order of their ends: after the first one that ends in the cut, none ended
  // before the cut started.
  bool is_inside(const RecordedOperation& recorded, bool begun) const {
    const std::uint64_t start_ns = recorded.start_ns, end_ns = start_ns + recorded.duration_ns;
    return start_ns < to() && (begun || start_ns >= from() || end_ns > from());
  }
  std::uint64_t from() const { return cut_.from_ns.value_or(0); }
  // Converts a time of the input to the output.
  std::uint64_t time(std::uint64_t at_ns) const {
    return std::max(std::min(at_ns, to()), from()) - from();
  }

  bool thread(std::uint32_t thread) const {
    return cut_.threads.empty() || contains(cut_.threads, thread);
  }
  bool lives_on(std::uint32_t thread, std::uint64_t position) const {
    return thread < threads_.size() && threads_[thread].last >= position;
  }
  // The thread to which work of `thread` is attributed, or none.
  std::uint32_t acting_thread(std::uint32_t thread, std::uint64_t position) const {
    if (this->thread(thread) && lives_on(thread, position)) return thread;
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      if (this->thread(i) && lives_on(i, position)) return i;
    }
    return cut_.threads.empty() ? 0 : cut_.threads.front();
  }
  // Whether files opened by `thread` can be used by a wanted thread: processes share and inherit.
  bool uses(std::uint32_t thread) const {
    if (cut_.threads.empty() || thread >= threads_.size()) return true;
    return std::ranges::any_of(cut_.threads, [&](std::uint32_t wanted) {
      // Parents precede their children in a valid trace; the count terminates cycles.
      for (std::size_t steps = 0; wanted < threads_.size() && steps < threads_.size(); ++steps) {
        if (wanted == thread || threads_[wanted].process == threads_[thread].process) return true;
        wanted = threads_[wanted].parent;
      }
      return false;
    });
  }

  bool all_paths() const { return below_.empty(); }
  bool path(PathId path) const {
    if (all_paths()) return true;
    for (PathId at = remapper_.path(path);; at = paths_.node(at).parent) {
      if (contains(below_, at)) return true;
      if (paths_.is_root(at)) return false;
    }
  }

 private:
  std::uint64_t to() const { return cut_.to_ns.value_or(UINT64_MAX); }

  const Cut& cut_;
  const std::vector<TraceThread>& threads_;
  IdRemapper& remapper_;
  const PathTable& paths_;     // of the output
  std::vector<PathId> below_;  // the same
};

// The state of the whole input at a moment: tree, open files and mappings.
class InputState {
 public:
  struct OpenFile {
    bool open = false;
    bool wanted = false;  // opened by a wanted path
    std::uint32_t flags = 0;
    std::uint32_t thread = 0;
  };
  struct Mapping {
    FileId file = kNoFileId;
    bool wanted = false;
    Operation made;
  };

  explicit InputState(const TraceInput& input) : model_(tables_) {
    copy_tables(input.tables, tables_);
    model_.begin_with(input.trees.initial);
  }

  // Must be called for every operation, wanted or not.
  void follow(Operation operation, const CutSelection& wanted) {
    const bool fails = operation.expected < 0;
    if (operation.kind == OperationKind::open && !fails && operation.file < kMaxSlots) {
      if (files_.size() <= operation.file) files_.resize(operation.file + 1);
      files_[operation.file] = {true, wanted.path(operation.path), operation.flags,
                                operation.thread};
    }
    if (operation.kind == OperationKind::map && !fails && operation.source < kMaxSlots) {
      const OpenFile* opened = file(operation.file);
      if (mappings_.size() <= operation.source) mappings_.resize(operation.source + 1);
      mappings_[operation.source] = {model_.file_of_slot(operation.file), opened && opened->wanted,
                                     operation};
    }
    if (operation.kind == OperationKind::unmap && mapping(operation.source)) {
      mappings_[operation.source].file = kNoFileId;
    }
    model_.apply(operation);
    if (operation.kind == OperationKind::close && file(operation.file)) {
      files_[operation.file].open = false;
    }
  }

  // Null if not open, or not mapped.
  const OpenFile* file(FileSlot slot) const {
    return slot < files_.size() && files_[slot].open ? &files_[slot] : nullptr;
  }
  const Mapping* mapping(FileSlot number) const {
    return number < mappings_.size() && mappings_[number].file != kNoFileId ? &mappings_[number]
                                                                            : nullptr;
  }
  FileSlot files() const { return static_cast<FileSlot>(files_.size()); }
  FileSlot mappings() const { return static_cast<FileSlot>(mappings_.size()); }

  const TreeModel& model() const { return model_; }
  // The name of a file; nullopt if it has none any more.
  std::optional<std::string> path_of(FileId file) const {
    const auto path = model_.path_of(file);
    return path ? std::optional(tables_.paths.relative(*path)) : std::nullopt;
  }
  bool knows(const std::string& path) const {
    return tables_.paths.find(0, path) != PathTable::kNone;
  }

 private:
  TraceTables tables_;  // of the input; its model may extend them
  TreeModel model_;
  std::vector<OpenFile> files_;
  std::vector<Mapping> mappings_;
};

// Writes the output. Opens or maps first what an operation uses and the output lacks.
class CutOutput {
 public:
  // Thread and time of added operations.
  struct LanePosition {
    std::uint32_t thread;    // of the input
    std::uint64_t position;  // the same
    std::uint64_t at_ns;     // of the output
  };

  // All outlive this.
  CutOutput(const CutSelection& wanted, const InputState& state, IdRemapper& remapper,
            TraceBuilder& out)
      : wanted_(wanted), state_(state), remapper_(remapper), out_(out) {}

  // The current tree becomes the initial one, and open files are opened.
  void begin(std::uint64_t position) {
    FileSet tree = state_.model().current();
    std::unordered_map<FileId, std::string> paths;
    for (const Entry& entry : tree.entries) {
      if (entry.kind == EntryKind::file) paths.emplace(entry.content.key, entry.path);
    }
    // A removed but open file gets a name, which is removed after the file is opened.
    std::vector<std::string> nameless;
    std::uint32_t removed = 0;
    const auto path_of = [&](FileId file) -> std::string {
      if (const auto known = paths.find(file); known != paths.end()) return known->second;
      if (const auto known = state_.path_of(file)) return *known;
      Entry entry;
      do {
        entry.path = fmt::format("filereel-removed-{}", ++removed);
      } while (out_.tables().paths.find(0, entry.path) != PathTable::kNone ||
               state_.knows(entry.path));
      entry.size = state_.model().size(file);
      entry.content.compressed_permille = kTraceCompressedPermille;
      tree.entries.push_back(entry);
      nameless.push_back(entry.path);
      return paths[file] = entry.path;
    };

    std::vector<std::pair<FileSlot, std::string>> open, mapped;
    for (FileSlot slot = 0; slot < state_.files(); ++slot) {
      const auto* known = state_.file(slot);
      if (!known || !known->wanted || !wanted_.uses(known->thread)) continue;
      const FileId file = state_.model().file_of_slot(slot);
      if (file != kNoFileId) open.emplace_back(slot, path_of(file));
    }
    for (FileSlot number = 0; number < state_.mappings(); ++number) {
      const auto* known = state_.mapping(number);
      if (!known || !known->wanted || !wanted_.uses(known->made.thread)) continue;
      mapped.emplace_back(number, path_of(known->file));
    }

    out_.model().begin_with(tree);
    for (const auto& [slot, path] : open) {
      const auto* file = state_.file(slot);
      reopen(path, remapper_.take_slot(slot), file->flags, {file->thread, position, 0});
    }
    for (const auto& [number, path] : mapped) {
      remap(path, number, {state_.mapping(number)->made.thread, position, 0});
    }
    for (const std::string& path : nameless) {
      const std::uint32_t thread = remapper_.thread(wanted_.acting_thread(kNobody, position));
      const Operation unlink{
          .kind = OperationKind::unlink, .path = out_.path(path), .thread = thread};
      out_.add({unlink, 0, 0});
    }
  }

  // Adds an operation if possible. Returns its end time.
  std::optional<std::uint64_t> keep(const RecordedOperation& next) {
    const Operation& operation = next.operation;
    if (!wanted_.thread(operation.thread) || !concerns(operation)) return std::nullopt;
    RecordedOperation recorded = next;
    if (names_thread(operation.kind) && !has_other_thread(operation)) {
      if (operation.kind != OperationKind::wait) return std::nullopt;
      // The thread that ended the wait is outside of the cut.
      recorded.operation.flags = wait_flags::kForOutside;
      recorded.operation.second = operation.thread;
    }
    recorded.start_ns = wanted_.time(next.start_ns);
    if (next.start_ns < wanted_.from()) {
      recorded.duration_ns -= std::min(next.duration_ns, wanted_.from() - next.start_ns);
    }
    if (!ready(operation, {operation.thread, operation.position, recorded.start_ns})) {
      out_.lost("operations on files opened outside the cut");
      return std::nullopt;
    }
    remapper_.add(recorded);
    return recorded.start_ns + recorded.duration_ns;
  }

  // An omitted operation may close the output's file of this number, or open another one.
  void leave_out(const RecordedOperation& recorded) {
    using enum OperationKind;
    const Operation& operation = recorded.operation;
    const LanePosition moment{operation.thread, operation.position,
                              wanted_.time(recorded.start_ns)};
    const bool succeeds = operation.expected >= 0;
    const auto is = [&](OperationKind ends, OperationKind begins) {
      return operation.kind == ends || (operation.kind == begins && succeeds);
    };
    if (is(OperationKind::close, OperationKind::open) && remapper_.has_slot(operation.file)) {
      remapper_.close(operation.file, acting_thread(moment), moment.at_ns);
    }
    if (is(unmap, map) && remapper_.has_mapping(operation.source)) {
      remapper_.unmap(operation.source, acting_thread(moment), moment.at_ns);
    }
  }

 private:
  // Whether the thread that `operation` names is in the cut: an ended one, or one that lives on.
  bool has_other_thread(const Operation& operation) const {
    const auto other = static_cast<std::uint32_t>(operation.second);
    if (!wanted_.thread(other)) return false;
    const bool later =
        operation.kind == OperationKind::fork || operation.kind == OperationKind::wake;
    return later ? wanted_.lives_on(other, operation.position) : remapper_.has_thread(other);
  }

  // Whether the operation is wanted because of its paths.
  bool concerns(const Operation& operation) const {
    if (wanted_.all_paths()) return true;
    const Field fields = operation_info(operation.kind).fields;
    const bool target = has(fields, Field::target) && operation.file == kNoFile;
    if (has(fields, Field::path) || target) {
      return wanted_.path(operation.path) ||
             (has(fields, Field::old_path) && wanted_.path(operation.old_path));
    }
    const auto file_is = [&](FileSlot slot) {
      const auto* file = state_.file(slot);
      return file && file->wanted;
    };
    if (operation.kind == OperationKind::copy_range) {
      return file_is(operation.file) || file_is(operation.source);
    }
    if (operation.file != kNoFile) return file_is(operation.file);
    if (!has(fields, Field::source)) return true;
    const auto* mapping = state_.mapping(operation.source);
    return mapping && mapping->wanted;
  }

  // Opens and maps files used by an operation that unwanted operations opened; false if impossible.
  bool ready(const Operation& operation, const LanePosition& moment) {
    const bool opens = operation.kind == OperationKind::open;
    if (!opens && operation.file != kNoFile && !ready_file(operation.file, moment)) return false;
    if (operation.kind == OperationKind::copy_range) return ready_file(operation.source, moment);
    if (operation.kind == OperationKind::map || operation.source == kNoFile) return true;
    return ready_mapping(operation.source, moment);
  }

  bool ready_file(FileSlot slot, const LanePosition& moment) {
    if (remapper_.has_slot(slot)) return true;
    const auto* file = state_.file(slot);
    const auto path = file ? state_.path_of(state_.model().file_of_slot(slot)) : std::nullopt;
    if (path) reopen(*path, remapper_.take_slot(slot), file->flags, moment);
    return path.has_value();
  }

  bool ready_mapping(FileSlot number, const LanePosition& moment) {
    if (remapper_.has_mapping(number)) return true;
    const auto* mapping = state_.mapping(number);
    const auto path = mapping ? state_.path_of(mapping->file) : std::nullopt;
    if (path) remap(*path, number, moment);
    return path.has_value();
  }

  void reopen(const std::string& path, FileSlot slot, std::uint32_t flags,
              const LanePosition& moment) {
    constexpr std::uint32_t kMaking = O_CREAT | O_EXCL | O_TRUNC;
    // O_TMPFILE includes O_DIRECTORY, which does not fit the file created by it.
    const bool nameless = (flags & open_flags::kTemporary) == open_flags::kTemporary;
    const Operation open{.kind = OperationKind::open,
                         .flags = flags & ~(nameless ? kMaking | open_flags::kTemporary : kMaking),
                         .file = slot,
                         .path = out_.path(path),
                         .thread = acting_thread(moment)};
    out_.add({open, moment.at_ns, 0});
  }

  void remap(const std::string& path, FileSlot number, const LanePosition& moment) {
    Operation map = state_.mapping(number)->made;
    const std::uint32_t protection = map.flags & 0xff, kind = map.flags >> 8;
    const bool stores = (protection & PROT_WRITE) != 0 && (kind & MAP_SHARED) != 0;
    const FileSlot slot = out_.take_slot();
    reopen(path, slot, stores ? O_RDWR : O_RDONLY, moment);
    map.file = slot;
    map.source = remapper_.take_mapping(number);
    map.path = map.old_path = 0;
    map.thread = acting_thread(moment);
    out_.add({map, moment.at_ns, 0});
    out_.add({{.kind = OperationKind::close, .file = slot, .thread = map.thread}, moment.at_ns, 0});
    out_.free_slot(slot);
  }

  std::uint32_t acting_thread(const LanePosition& moment) {
    return remapper_.thread(wanted_.acting_thread(moment.thread, moment.position));
  }

  const CutSelection& wanted_;
  const InputState& state_;
  IdRemapper& remapper_;
  TraceBuilder& out_;
};

}  // namespace

void cut_trace(const TraceInput& input, const Cut& cut, TraceBuilder& out) {
  IdRemapper remapper(input, out);
  const CutSelection wanted(input, cut, remapper, out);
  InputState state(input);
  CutOutput output(wanted, state, remapper, out);
  OperationReader operations(input.source);
  bool begun = false;
  std::uint64_t position = 0, end_ns = 0;
  std::optional<std::uint32_t> last_thread;  // of the output
  for (; const RecordedOperation* next = operations.peek(); operations.pop()) {
    const Operation& operation = next->operation;
    const bool inside = wanted.is_inside(*next, begun);
    if (begun || inside) position = operation.position;
    if (inside && !std::exchange(begun, true)) output.begin(position);
    const auto kept_until = inside ? output.keep(*next) : std::nullopt;
    if (kept_until) {
      last_thread = remapper.thread(operation.thread);
      end_ns = std::max(end_ns, *kept_until);
    } else if (begun) {
      output.leave_out(*next);
    }
    state.follow(operation, wanted);
  }
  if (!begun) output.begin(position);
  if (!last_thread) last_thread = remapper.thread(wanted.acting_thread(kNobody, position));
  remapper.close_all(*last_thread, end_ns);
  remapper.add_losses();
  for (const auto& [name, value] : input.info.facts) out.fact(name, value);
}

}  // namespace filereel
