// Calls that open and close files, and calls that only change what descriptors refer to.
#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/stat.h>

#include "traces/calls/file_calls.h"
#include "traces/calls/names.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

constexpr std::string_view kNothingOpen = "opens of unlinked files without a suitable open file";

// O_TMPFILE includes O_DIRECTORY.
bool is_unnamed(std::uint64_t flags) {
  return (flags & open_flags::kTemporary) == open_flags::kTemporary;
}

// The result is a descriptor of something that operations do not open.
void put_no_file(CallParts& parts, const CallContext& context) {
  parts.files.put(context, context.call.result, nullptr, (context.call.flags & O_CLOEXEC) != 0);
}

// The opened path: the tracer may know more than the name shows.
PathId opened_path(CallParts& parts, CallContext& context, PathId path) {
  const SystemCall& call = context.call;
  if (context.unknown_link && call.result_path.empty()) {
    // The opened file needs a path: any unused one.
    PathTable& paths = parts.builder.tables().paths;
    const std::string place = std::string(paths.node(path).name) + ".filereel-unknown";
    parts.model.assume_link(path, parts.builder.tables().texts.add(place));
    path = paths.add(paths.node(path).parent, place);
    parts.builder.approximated("symbolic links with unknown targets");
    context.unknown_link = false;
  }
  if (is_unnamed(call.flags)) return path;
  if (!call.result_path.empty()) {
    bool deleted = false;
    const PathId real = parts.paths.real(call.result_path, deleted);
    // Links outside the kept part are irrelevant.
    const bool concerns =
        parts.emitter.kept().is_inside(real) || parts.emitter.kept().is_inside(path);
    if (!deleted && real != path && (!concerns || parts.paths.learn(path, real))) {
      path = real;
      context.unknown_link = false;
    }
  }
  if (call.stat) parts.paths.set_special(path, is_special_mode(call.stat->mode));
  return path;
}

// The open file that was reopened although it no longer has a name; null: it has a name.
DescriptionRef nameless_file(CallParts& parts, const SystemCall& call, const NamedFile& target) {
  const auto is_nameless = [&](FileId file) {
    return file != kNoFileId && !parts.model.path_of(file);
  };
  if (target.file) {
    const bool nameless = is_nameless(parts.model.file_of_slot(target.file->slot));
    return nameless ? target.file->shared_from_this() : nullptr;
  }
  if (!call.stat) return nullptr;
  const FileId file = parts.files.identities().find(*call.stat);
  if (!is_nameless(file)) return nullptr;
  DescriptionRef best;
  parts.files.numbers().each([&](Description& open) {
    if (open.slot == kNoFile || parts.model.file_of_slot(open.slot) != file) return;
    if (!best || (open.flags & O_ACCMODE) == O_RDWR) best = open.shared_from_this();
  });
  return best;
}

void reopen(CallParts& parts, const CallContext& context, const DescriptionRef& file) {
  const SystemCall& call = context.call;
  const DescriptionRef& first = file->opened_before ? file->opened_before : file;
  const auto flags = static_cast<std::uint32_t>(call.flags);
  const std::uint32_t access = first->flags & O_ACCMODE;
  const bool truncates = (flags & O_TRUNC) != 0;
  const bool guessed = first->inherited && !first->flags_known;
  const bool allowed = access == O_RDWR || access == (flags & O_ACCMODE);
  if (guessed || !allowed || (truncates && access == O_RDONLY)) {
    parts.builder.lost(kNothingOpen);
    return put_no_file(parts, context);
  }
  if (truncates) {
    parts.emitter.emit(context, {.kind = OperationKind::truncate, .file = first->slot});
  }
  const auto again = std::make_shared<Description>();
  again->slot = first->slot;
  again->path = first->path;
  again->flags = flags;
  again->directory = first->directory;
  again->opened_before = first;
  parts.files.numbers().bind(call.result_file, again);
  parts.files.put(context, call.result, again, (flags & O_CLOEXEC) != 0);
}

// The place of the opened directory if it has been removed: a replay has nothing to open.
std::optional<PathId> removed_directory(CallParts& parts, const CallContext& context) {
  const SystemCall& call = context.call;
  if (context.removed) return context.removed;
  const bool is_directory =
      call.stat ? S_ISDIR(call.stat->mode) : (call.flags & open_flags::kDirectory) != 0;
  if (!is_directory || is_unnamed(call.flags) || !is_deleted(call.result_path)) return std::nullopt;
  count_gone(parts);
  bool deleted = false;
  return parts.paths.removed(parts.paths.real(call.result_path, deleted));
}

void put_removed(CallParts& parts, const CallContext& context, PathId path) {
  const SystemCall& call = context.call;
  const auto file = std::make_shared<Description>();
  file->path = path;
  file->flags = static_cast<std::uint32_t>(call.flags);
  file->flags_known = file->directory = true;
  file->identity = call.stat;
  parts.files.numbers().bind(call.result_file, file);
  parts.files.put(context, call.result, file, (call.flags & O_CLOEXEC) != 0);
}

// Informs the model before the operation is added.
void learn_opened(CallParts& parts, const SystemCall& call, FileSlot slot) {
  if (!call.stat && !call.size_before && !call.created) return;
  TreeModel::OpenedFile opened;
  opened.existed = call.created ? !*call.created : call.size_before || !(call.flags & O_CREAT);
  if (!call.created && !opened.existed) return;  // unknown
  if (call.stat) opened.mode = call.stat->mode;
  if (call.size_before) {
    opened.size = call.size_before;
  } else if (call.stat && !(call.flags & O_TRUNC)) {
    opened.size = call.stat->size;
  }
  parts.model.learn_opened(slot, opened);
}

void identify(CallParts& parts, const SystemCall& call, FileSlot slot) {
  FileIdentities::Known* known = call.stat ? parts.files.identities().at(*call.stat) : nullptr;
  const TreeModel& model = parts.model;
  const FileId file = model.file_of_slot(slot);
  if (!known || file == kNoFileId) return;
  const FileId earlier = std::exchange(known->file, file);
  if (earlier == file || earlier == kNoFileId || known->counted) return;
  if (!model.path_of(earlier)) return;  // its inode was reused
  // A directory has no hard links, and those that the trace created are known.
  const bool linked =
      S_ISREG(call.stat->mode) && model.is_initial(file) && model.is_initial(earlier);
  known->counted = true;
  parts.builder.approximated(
      linked ? "hard links created before the trace treated as separate files"
             : "files under two names by bind mounts treated as separate files");
}

// A default access control list of the directory takes the place of the umask.
std::uint32_t created_mode(const CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0 || !call.created.value_or(false) || !call.stat) return context.permissions();
  const std::uint32_t mode = call.stat->mode & 07777;
  return (mode & ~call.mode) == 0 ? mode : context.permissions();
}

}  // namespace

void open_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  const auto flags = static_cast<std::uint32_t>(call.flags);
  const bool opened = call.result >= 0, unnamed = is_unnamed(flags);
  FileNumbers& numbers = parts.files.numbers();
  if (opened) numbers.bind(call.result_file, nullptr);  // until it is known to be a file
  if (opened && !call.result_path.empty() && !names_file(call.result_path)) {
    count_omitted(parts);
    return put_no_file(parts, context);
  }
  const auto target = find_named(parts, context, first_name(call), follows_link(call));
  if (opened && !unnamed) {
    const DescriptionRef file =
        context.removed ? nullptr : nameless_file(parts, call, target.value_or(NamedFile{}));
    if (file) return reopen(parts, context, file);
    if (const auto gone = removed_directory(parts, context)) {
      return put_removed(parts, context, *gone);
    }
  }
  if (!target) {
    if (opened && is_deleted(call.result_path)) parts.builder.lost(kNothingOpen);
    return put_no_file(parts, context);
  }
  const PathId path = opened ? opened_path(parts, context, target->path) : target->path;
  if (parts.paths.is_special(path)) {
    count_special(parts);
    return put_no_file(parts, context);
  }

  Operation operation{.kind = OperationKind::open,
                      .flags = flags & ~static_cast<std::uint32_t>(O_CLOEXEC),
                      .path = path};
  if (flags & O_CREAT || unnamed) operation.mode = created_mode(context);
  if (!opened) return parts.emitter.emit(context, operation);
  if (call.result > INT_MAX) return;

  // Done before the new file takes a slot, so that the number's previous file returns its slot.
  parts.files.release_number(context, static_cast<int>(call.result));
  auto file = std::make_shared<Description>();
  file->slot = operation.file = parts.builder.take_slot();
  file->path = path;
  file->flags = flags;
  file->identity = call.stat;
  file->directory =
      ((flags & open_flags::kDirectory) && !unnamed) || (call.stat && S_ISDIR(call.stat->mode));
  if (parts.emitter.kept().is_inside(path)) learn_opened(parts, call, file->slot);
  parts.emitter.emit(context, operation);
  identify(parts, call, file->slot);
  numbers.bind(call.result_file, file);
  parts.files.put(context, call.result, std::move(file), (flags & O_CLOEXEC) != 0);
}

void close_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  DescriptorTable& files = *context.task.files;
  if (call.result == -EBADF || call.fd < 0) return;
  if (files.is_late_close(call.fd, call.enter_ns)) return;
  // Linux closes the descriptor even if it reports an error. Interrupted closes are not expected
  // again.
  const std::int64_t result =
      call.result < 0 && call.result != -EINTR && call.result > -512 ? call.result : 0;
  parts.files.drop(context.task, call.enter_ns, call.exit_ns, files.take(call.fd), result);
}

void close_range_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  std::shared_ptr<DescriptorTable>& files = context.task.files;
  if (call.result < 0) return;
  const int first = std::max(call.fd, 0), last = call.fd2 < 0 ? INT_MAX : call.fd2;
  if ((call.flags & CLOSE_RANGE_UNSHARE) && files.use_count() > 1) {
    files = std::make_shared<DescriptorTable>(*files);
  }
  if (call.flags & CLOSE_RANGE_CLOEXEC) return files->set_close_on_exec(first, last);
  parts.files.drop_all(context.task, call.enter_ns, call.exit_ns, files->take_range(first, last));
}

void dup_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0 || call.fd < 0) return;
  if (call.result == call.fd) return;  // dup2 onto itself
  const std::uint64_t of_kernel = call.file != 0 ? call.file : call.result_file;
  Task& task = context.task;
  DescriptionRef file =
      parts.files.find(context, {call.fd, call.fd_path, of_kernel}, FileUse::other);
  if (call.result > INT_MAX) return;
  const auto number = static_cast<int>(call.result);
  if (call.fd2 == number) {  // dup2; other calls return a free number
    parts.files.drop(task, call.enter_ns, call.exit_ns, task.files->take(number));
  }
  parts.files.put(context, number, std::move(file), (call.flags & O_CLOEXEC) != 0);
}

void set_cloexec_call(CallParts&, CallContext& context) {
  DescriptorEntry* descriptor = context.task.files->find(context.call.fd);
  if (descriptor && context.call.result >= 0) descriptor->close_on_exec = context.call.flags != 0;
}

void new_descriptor_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0) return;
  DescriptionRef file;
  // Another process's file, or one received through a socket.
  if (names_file(call.result_path)) {
    file = parts.files.numbers().find(call.result_file);
    const FileHandle handle{static_cast<int>(std::min<std::int64_t>(call.result, INT_MAX)),
                            call.result_path, call.result_file};
    if (!file) file = parts.files.inherit(context.task, call, handle, FileUse::other);
  }
  parts.files.numbers().bind(call.result_file, file);
  parts.files.put(context, call.result, std::move(file), (call.flags & O_CLOEXEC) != 0);
}

void put_lost_call(CallParts& parts, const CallContext& context) {
  const SystemCall& call = context.call;
  parts.files.numbers().bind(call.result_file, nullptr);
  parts.files.put(context, call.result, nullptr, (call.flags & O_CLOEXEC) != 0);
  DescriptorEntry* const entry =
      call.result > INT_MAX ? nullptr : context.task.files->find(static_cast<int>(call.result));
  if (entry) entry->is_lost = true;
}

void new_pair_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0) return;
  parts.files.numbers().bind(call.file, nullptr);
  parts.files.numbers().bind(call.file2, nullptr);
  for (const int number : {call.fd, call.fd2}) {
    parts.files.put(context, number, nullptr, (call.flags & O_CLOEXEC) != 0);
  }
}

}  // namespace filereel
