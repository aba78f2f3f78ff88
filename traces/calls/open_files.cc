#include "traces/calls/open_files.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/stat.h>

#include "traces/open_flags.h"

namespace filereel {

namespace {

bool is_same(const SeenStat& a, const SeenStat& b) {
  // Those from /proc have no generation.
  const bool same_age = a.generation == b.generation || a.generation == 0 || b.generation == 0;
  return a.device == b.device && a.inode == b.inode && same_age;
}

}  // namespace

void OpenFiles::told(const SeenFile& file) {
  const DescriptionRef known = numbers_.find(file.number);
  if (known && known->identity && !is_same(*known->identity, file.stat)) {
    numbers_.bind(file.number, nullptr);
  }
  told_[file.number] = file;
}

bool OpenFiles::may_be(const FileHandle& handle, const Description& file) const {
  const auto told = told_.find(handle.file);
  return told == told_.end() || !file.identity || is_same(*file.identity, told->second.stat);
}

DescriptionRef OpenFiles::known(Task& task, const FileHandle& handle) {
  if (DescriptionRef file = numbers_.find(handle.file)) return file;
  const DescriptorEntry* descriptor = task.files->find(handle.descriptor);
  if (!descriptor || !descriptor->description) return nullptr;
  const std::uint64_t number = descriptor->description->number;
  return number == 0 || handle.file == 0 ? descriptor->description : nullptr;
}

DescriptionRef OpenFiles::find(CallContext& context, const FileHandle& handle, FileUse use) {
  const bool names = handle.path.empty() || names_file(handle.path);
  for (std::size_t i = 0; context.beginning && i < context.beginning->used.size(); ++i) {
    if (handle.descriptor != (i == 0 ? context.call.fd : context.call.fd2)) continue;
    const CallStart::Used& began = context.beginning->used[i];
    if (began.is_other && handle.path.empty()) return nullptr;
    if (!began.file || !names) continue;
    const std::uint64_t number = began.file->number;
    if (handle.file == 0 || number == 0 || number == handle.file) return began.file;
  }
  const DescriptorEntry* descriptor = context.task.files->find(handle.descriptor);
  DescriptionRef here = descriptor ? descriptor->description : nullptr;
  DescriptionRef file = numbers_.find(handle.file);
  if (here && names && !file && here->number == 0 && may_be(handle, *here)) {
    numbers_.bind(handle.file, here);
    return here;
  }
  if (here && names && (handle.file == 0 || here == file)) return here;
  if (!names) file = nullptr;
  if (!file) {
    // The tracer missed a call: the number now refers to a file.
    if (descriptor && !here && !names_file(handle.path)) return nullptr;
    if (handle.descriptor < 0 && handle.path.empty()) return nullptr;
    if (is_nameless(handle)) {
      builder_.lost("files without a name whose last descriptor was closed in the trace");
      place(context, handle.descriptor, nullptr);
      DescriptorEntry* const entry = context.task.files->find(handle.descriptor);
      if (entry && !entry->description) entry->is_lost = true;
      return nullptr;
    }
    file = inherit(context.task, context.call, handle, use);
    numbers_.bind(handle.file, file);
  }
  place(context, handle.descriptor, file);
  return file;
}

Description* OpenFiles::find_open(CallContext& context, const FileHandle& handle, FileUse use) {
  if (handle.descriptor < 0) return nullptr;
  const DescriptionRef file = find(context, handle, use);
  if (!file) return nullptr;
  if (is_gone(*file)) {
    builder_.approximated(kRemovedOmitted);
    return nullptr;
  }
  if (use != FileUse::other) ensure_open(context, *file, use);
  return file.get();
}

bool OpenFiles::is_nameless(const FileHandle& handle) {
  const auto found = told_.find(handle.file);
  const std::string& path =
      found != told_.end() && handle.path.empty() ? found->second.path : handle.path;
  if (!is_deleted(path) || !names_file(path)) return false;
  bool deleted = false;
  return builder_.model().last_change(paths_.real(path, deleted)).has_value();
}

DescriptionRef OpenFiles::inherit(Task& task, const SystemCall& call, const FileHandle& handle,
                                  FileUse use) {
  const int number = handle.descriptor;
  const auto found = told_.find(handle.file);
  const SeenFile* const told = found == told_.end() ? nullptr : &found->second;
  const std::string& path = told && handle.path.empty() ? told->path : handle.path;
  const bool seen_as_file =
      !call.stat || S_ISREG(call.stat->mode) || S_ISDIR(call.stat->mode) || call.fd != number;
  const bool standard = path.empty() && number <= 2 && use != FileUse::listing;
  // All calls that open files were seen; sockets and the like come from other calls.
  const bool sets_flags = call.call == Call::set_flags;
  const bool tells_nothing =
      ((call.call == Call::read || call.call == Call::write) && !call.offset) || sets_flags;
  // A later call on an open file known by its number can still show that it is a file.
  const bool is_told_later = sets_flags && handle.file != 0;
  if (path.empty() && !standard && (is_told_later || (tells_nothing && task.process->from_start))) {
    builder_.approximated("descriptors from calls not in the trace treated as sockets");
    return nullptr;
  }
  if (call.result == -ESPIPE || !seen_as_file || standard) return nullptr;
  if (!path.empty() && !names_file(path)) return nullptr;
  auto file = std::make_shared<Description>();
  file->inherited = true;
  bool deleted = false;
  if (path.empty()) {
    file->path = builder_.path(fmt::format("filereel-unknown/{}-{}", task.process->id, number));
    builder_.approximated("descriptors not opened in the trace");
  } else {
    file->path = paths_.real(path, deleted);
    if (deleted) builder_.approximated("open files unlinked before the trace");
    if (paths_.is_special(file->path)) return nullptr;
  }
  if (told) {
    file->flags = told->flags & ~static_cast<std::uint32_t>(O_CLOEXEC);
    file->offset = told->position;
    file->flags_known = file->position_used = true;
    file->seen = file->identity = told->stat;
    file->size_before = told->stat.size;
  }
  file->directory = (told && S_ISDIR(told->stat.mode)) || use == FileUse::listing ||
                    builder_.model().is_directory(file->path) ||
                    (call.fd == number && call.stat && S_ISDIR(call.stat->mode));
  if (deleted && file->directory) file->path = paths_.removed(file->path);
  return file;
}

void OpenFiles::place(CallContext& context, int descriptor, const DescriptionRef& file) {
  if (descriptor < 0) return;
  DescriptorTable& files = *context.task.files;
  const std::uint64_t at_ns = context.call.enter_ns;
  const DescriptorEntry* here = files.find(descriptor);
  // The call started before the number was assigned: it referred to an earlier file.
  if (here && at_ns < here->since_ns) {
    if (file) context.used.push_back(file);
    return;
  }
  // The call may use the previous file under another number.
  if (here && here->description && context.beginning) context.used.push_back(here->description);
  drop(context.task, at_ns, at_ns,
       files.put(descriptor, {.description = file, .since_ns = here ? at_ns : 0}));
}

void OpenFiles::ensure_open(const CallContext& context, Description& file, FileUse use) {
  const std::uint64_t at_ns = context.call.enter_ns;
  TreeModel& model = builder_.model();
  DirectoryFilter& kept = emitter_.kept();
  if (is_gone(file)) return;
  if (file.slot != kNoFile) {
    if (!kept.is_inside_file(file.slot) && kept.is_inside(file.path)) {
      require_open(context, file);
      kept.enter(file.slot);
    }
    if (!file.inherited || file.flags_known) return;
    if (use != FileUse::writing || (file.flags & O_ACCMODE) != O_RDONLY) return;
    if (file.directory) return;
    // It was open for writing throughout. It may have been renamed meanwhile.
    if (const auto now = model.path_of(model.file_of_slot(file.slot))) file.path = *now;
    emitter_.add(context.task, at_ns, at_ns, {.kind = OperationKind::close, .file = file.slot});
    builder_.free_slot(file.slot);
  }
  constexpr std::uint32_t kOpening =
      O_CREAT | O_EXCL | O_TRUNC | open_flags::kNoFollow;  // for this open only
  if (file.flags_known) {
    file.flags &= ~kOpening;
  } else {
    file.flags = file.directory            ? O_RDONLY | open_flags::kDirectory
                 : use == FileUse::writing ? O_RDWR
                                           : O_RDONLY;
  }
  file.slot = builder_.take_slot();
  if (file.seen && S_ISREG(file.seen->mode)) {
    model.learn_opened(file.slot, {.mode = file.seen->mode, .size = file.seen->size});
  }
  emitter_.add(context.task, at_ns, at_ns,
               {.kind = OperationKind::open,
                .loose = true,
                .flags = file.flags,
                .file = file.slot,
                .path = file.path});
}

void OpenFiles::require_open(const CallContext& context, const Description& file) {
  DirectoryFilter& kept = emitter_.kept();
  if (kept.has_open(file.slot)) return;
  kept.require_open(file.slot);
  const bool unnamed = (file.flags & open_flags::kTemporary) == open_flags::kTemporary;
  constexpr std::uint32_t kOpening = O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC;
  emitter_.add(context.task, context.call.enter_ns, context.call.enter_ns,
               {.kind = OperationKind::open,
                .loose = true,
                .flags = file.flags & ~kOpening,
                .mode = unnamed ? 0644U : 0,
                .file = file.slot,
                .path = file.path});
}

std::uint64_t OpenFiles::position_of(Description& file, bool appends) {
  if (appends) {
    // The size before the trace counts until the trace writes beyond it.
    const TreeModel& model = builder_.model();
    const std::uint64_t before = std::exchange(file.size_before, 0);
    return std::max(before, model.size(model.file_of_slot(file.slot)));
  }
  if (file.inherited && !file.position_used) {
    builder_.approximated("positions of files opened before the trace assumed to be 0");
    file.position_used = file.position_guessed = true;
  }
  return file.offset;
}

void OpenFiles::put(const CallContext& context, std::int64_t number, DescriptionRef file,
                    bool close_on_exec) {
  if (number < 0 || number > INT_MAX) return;
  const auto at = static_cast<int>(number);
  release_number(context, at);
  context.task.files->put(at, {.description = std::move(file),
                               .close_on_exec = close_on_exec,
                               .since_ns = context.call.exit_ns});
}

void OpenFiles::release_number(const CallContext& context, int number) {
  DescriptorTable& files = *context.task.files;
  if (files.find(number)) files.expect_close(number, context.call.exit_ns);
  drop(context.task, context.call.enter_ns, context.call.enter_ns, files.take(number));
}

void OpenFiles::drop(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns, DescriptionRef file,
                     std::int64_t result) {
  // A file reopened without a name returns its slot.
  while (is_last(file) && file->opened_before) {
    file->slot = kNoFile;
    numbers_.forget(*file);
    DescriptionRef first = std::move(file->opened_before);
    file = std::move(first);
  }
  if (!is_last(file)) return;
  emitter_.add(
      task, begin_ns, end_ns,
      {.kind = OperationKind::close, .loose = result != 0, .file = file->slot, .expected = result});
  builder_.free_slot(file->slot);
  numbers_.forget(*file);
}

void OpenFiles::drop_all(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns,
                         std::vector<DescriptionRef> files) {
  // Each is released in turn, so that a later duplicate can be the last.
  for (DescriptionRef& file : files) drop(task, begin_ns, end_ns, std::move(file));
}
}  // namespace filereel
