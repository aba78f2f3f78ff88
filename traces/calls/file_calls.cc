#include "traces/calls/file_calls.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "traces/calls/names.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

std::uint32_t lock_flags_of(const SystemCall& call) {
  if (call.call == Call::flock) {
    std::uint32_t flags = call.flags & LOCK_UN   ? lock_flags::kUnlock
                          : call.flags & LOCK_EX ? lock_flags::kExclusive
                                                 : lock_flags::kShared;
    if (!(call.flags & (LOCK_NB | LOCK_UN))) flags |= lock_flags::kWait;
    return flags;
  }
  std::uint32_t flags = lock_flags::kRecord;
  flags |= call.flags == F_UNLCK   ? lock_flags::kUnlock
           : call.flags == F_WRLCK ? lock_flags::kExclusive
                                   : lock_flags::kShared;
  if (call.mode != 0 && call.flags != F_UNLCK) flags |= lock_flags::kWait;
  return flags;
}

std::uint64_t owner_of(const std::optional<std::uint64_t>& id) {
  return !id || *id >= UINT32_MAX ? UINT64_MAX : *id;
}

// Adds the result of a stat, unless the trace has it already.
void describe(CallParts& parts, const SystemCall& call, const NamedFile& target,
              Operation& operation) {
  if (!call.stat || call.result < 0) return;
  const FileId file =
      target.file ? parts.model.file_of_slot(target.file->slot) : parts.model.file_of(target.path);
  if (S_ISREG(call.stat->mode) && (file == kNoFileId || !parts.model.size_is_exact(file) ||
                                   parts.model.size(file) != call.stat->size)) {
    operation.length = std::min<std::uint64_t>(call.stat->size, INT64_MAX);
  }
  if (file != kNoFileId) {
    std::vector<bool>& told = parts.known_modes;
    if (told.size() <= file) told.resize(std::size_t{parts.model.files()} + 1);
    if (told[file]) return;
    told[file] = true;
  }
  operation.mode = call.stat->mode;
}

// Converts the range of a record lock to bytes of the file.
void locate_lock(CallParts& parts, const SystemCall& call, Description& file, std::uint64_t& offset,
                 std::uint64_t& length) {
  // Two's complement: negative numbers count backwards.
  if (call.offset2 == SEEK_CUR) {
    offset += parts.files.position_of(file, false);
  } else if (call.offset2 == SEEK_END) {
    offset += parts.model.size(parts.model.file_of_slot(file.slot));
  }
  if (length > INT64_MAX) {  // the range before
    offset += length;
    length = -length;
  }
}

// Programs that copy the mode of a file do so with an access control list (sed -i, cp -p).
void set_attribute(CallParts& parts, const SystemCall& call, Operation& operation) {
  operation.flags = static_cast<std::uint32_t>(call.flags) & 3;  // XATTR_CREATE, XATTR_REPLACE
  operation.text = parts.builder.tables().texts.add(call.text);
  operation.length = call.length;
  if (call.result < 0) return;
  if (call.text == kDefaultList) {
    parts.builder.approximated("default access control lists (without effect in a replay)");
  }
  if (call.text != kAccessList) return;
  const std::optional<AccessListMode> list = mode_of_access_list(call.value);
  if (!list) {
    parts.builder.approximated("access control lists with unknown content (without effect)");
    return;
  }
  if (!list->is_all) {
    parts.builder.approximated("access control lists (only their mode is replayed)");
  }
  operation.kind = OperationKind::change_mode;
  operation.mode = list->mode;
  operation.flags = 0;
  operation.text = 0;
  operation.length = 0;
}

// Copies the remaining values of the call to `operation`: all except its kind and target.
void emit_rest(CallParts& parts, const CallContext& context, const NamedFile& target,
               Operation operation) {
  using enum OperationKind;
  const SystemCall& call = context.call;
  std::uint64_t offset = call.offset.value_or(0), length = call.length;
  const bool record_lock = call.call == Call::record_lock;
  if (record_lock) locate_lock(parts, call, *target.file, offset, length);
  if (offset > INT64_MAX && operation.kind != change_owner) {
    if (record_lock && call.result < 0) return;
    return parts.builder.lost("calls with offsets out of range");
  }
  const auto flags = static_cast<std::uint32_t>(call.flags);
  switch (operation.kind) {
    case truncate:
      operation.offset = offset;
      break;
    case stat:
      describe(parts, call, target, operation);
      break;
    case access:
      operation.mode = static_cast<std::uint32_t>(call.mode & 7);
      break;
    case read_link:
      if (call.result >= 0) operation.text = parts.builder.tables().texts.add(call.text);
      break;
    case make_directory:
      operation.mode = context.permissions();
      break;
    case symlink:
    case remove_xattr:
      operation.text = parts.builder.tables().texts.add(call.text);
      break;
    case change_mode:
      operation.mode = static_cast<std::uint32_t>(call.mode & 07777);
      break;
    case change_owner:
      operation.offset = owner_of(call.offset);
      operation.second = owner_of(call.offset2);
      break;
    case set_times:
      operation.offset = call.times[0];
      operation.second = call.times[1];
      if (call.times_moved && call.result >= 0) {
        parts.builder.approximated("file times outside of 1677 to 2262 (the nearest one is set)");
      }
      break;
    case set_xattr:
      set_attribute(parts, call, operation);
      break;
    case get_xattr:
      operation.text = parts.builder.tables().texts.add(call.text);
      [[fallthrough]];
    case list_xattr:
      operation.length = call.length;
      break;
    case set_flags:
      operation.flags = flags & kStatusFlags;
      if (call.result >= 0) {
        target.file->flags = (target.file->flags & ~kStatusFlags) | operation.flags;
      }
      break;
    case allocate:
    case sync_range:
    case advise:
    case read_ahead:
    case lock:
      operation.flags = operation.kind == lock         ? lock_flags_of(call)
                        : operation.kind == read_ahead ? 0
                                                       : flags;
      operation.offset = offset;
      operation.length = std::min<std::uint64_t>(length, INT64_MAX - offset);
      break;
    default:
      break;  // nothing else to copy
  }
  parts.emitter.emit(context, operation);
}

// Changes what the name refers to: AT_EMPTY_PATH permits that through an O_PATH descriptor, calls
// on the descriptor itself do not.
bool is_of_name(OperationKind kind) {
  using enum OperationKind;
  return kind == change_mode || kind == change_owner || kind == set_times || kind == set_xattr ||
         kind == get_xattr || kind == list_xattr || kind == remove_xattr;
}

// The call failed because of names in this directory that a replay does not create.
bool is_kept_by_nodes(CallParts& parts, const SystemCall& call, PathId directory) {
  return (call.result == -ENOTEMPTY || call.result == -EEXIST) &&
         parts.model.holds_only_nodes(directory);
}

// A pipe, a socket or a device gets a further name, or changes names with another file. A replay
// has no such file, but must do what else the call does.
void link_special(CallParts& parts, const CallContext& context, PathId path) {
  parts.paths.set_special(path, true);
  parts.emitter.emit(context, {.kind = OperationKind::make_node, .mode = S_IFSOCK, .path = path});
}

// RENAME_WHITEOUT leaves a device at the old name, which a replay does not create.
void leave_whiteout(CallParts& parts, const CallContext& context, PathId path) {
  count_special(parts);
  parts.paths.set_special(path, true);
  parts.emitter.emit(context, {.kind = OperationKind::make_node, .mode = S_IFCHR, .path = path});
}

void rename_special(CallParts& parts, const CallContext& context, PathId from, PathId to) {
  using enum OperationKind;
  const bool exchange = (context.call.flags & RENAME_EXCHANGE) != 0;
  const bool first = parts.paths.is_special(from), second = parts.paths.is_special(to);
  if (from == to || (exchange && first && second)) return count_special(parts);
  if (!exchange) {
    parts.paths.set_special(from, false);
    parts.paths.set_special(to, first);
    const bool replaces = !second && parts.model.presence(to) == TreeModel::Presence::present;
    if (replaces) parts.emitter.emit(context, {.kind = unlink, .path = to});
    return parts.emitter.emit(context,
                              {.kind = rename, .loose = true, .path = to, .old_path = from});
  }
  const PathId special = first ? from : to, other = first ? to : from;
  const bool directory = parts.model.is_directory(other) || is_working_place(parts, other);
  parts.emitter.emit(context, {.kind = unlink, .loose = true, .path = special});
  parts.emitter.emit(context, {.kind = rename, .path = special, .old_path = other});
  parts.paths.set_special(special, false);
  if (directory) follow_rename(parts, other, special, false);
  link_special(parts, context, other);
}

}  // namespace

void file_call(CallParts& parts, CallContext& context, OperationKind kind) {
  const SystemCall& call = context.call;
  if (call.call == Call::sync) return parts.emitter.emit(context, {.kind = kind});
  const bool writes = call.call == Call::ftruncate || call.call == Call::fallocate ||
                      (call.call == Call::record_lock && call.flags == F_WRLCK);
  Description* file = parts.files.find_open(context, first_file(call),
                                            writes ? FileUse::writing : FileUse::reading);
  if (!file) return;
  if (call.stat && call.result >= 0 && !S_ISREG(call.stat->mode) && !S_ISDIR(call.stat->mode) &&
      !S_ISLNK(call.stat->mode)) {
    return;  // it turned out to be a pipe or a device
  }
  if ((file->flags & O_PATH) != 0 && is_of_name(kind)) {
    const FileId entry = parts.model.file_of_slot(file->slot);
    const auto path = entry == kNoFileId ? file->path : parts.model.path_of(entry);
    if (!path) {
      return parts.builder.approximated(
          "calls on removed files through O_PATH descriptors omitted");
    }
    return emit_rest(parts, context, {.path = *path}, {.kind = kind, .path = *path});
  }
  emit_rest(parts, context, {.file = file}, {.kind = kind, .file = file->slot});
}

void path_call(CallParts& parts, CallContext& context, OperationKind kind) {
  const SystemCall& call = context.call;
  if (call.stat && call.result >= 0 && is_special_mode(call.stat->mode)) {
    if (!call.path.empty()) {
      const auto path = resolve_name(parts, context, first_name(call), follows_link(call));
      if (path && !parts.paths.is_omitted(*path)) parts.paths.set_special(*path, true);
    }
    return count_special(parts);
  }
  const auto target = find_named(parts, context, first_name(call), follows_link(call));
  if (!target) return;
  Operation operation{.kind = kind};
  if (parts.paths.is_special(target->path)) {
    if (kind != OperationKind::unlink) return count_special(parts);
    if (call.result >= 0) parts.paths.set_special(target->path, false);
    operation.loose = true;  // such files are not created
  }
  // These have no variant for an open file.
  const bool by_path = kind == OperationKind::access || kind == OperationKind::read_link;
  if (target->file && !by_path) {
    operation.file = target->file->slot;
  } else {
    operation.path = target->path;
  }
  if (kind == OperationKind::remove_directory && is_kept_by_nodes(parts, call, target->path)) {
    return count_special(parts);
  }
  const FileId file = parts.model.file_of(target->path);
  emit_rest(parts, context, *target, operation);
  if (kind == OperationKind::remove_directory && call.result >= 0) {
    follow_removal(parts, target->path, file);
  }
}

void attribute_call(CallParts& parts, CallContext& context, OperationKind kind) {
  (context.call.fd != SystemCall::kNone ? file_call : path_call)(parts, context, kind);
}

void rename_call(CallParts& parts, CallContext& context) {
  constexpr std::uint64_t kWhiteout = RENAME_WHITEOUT;
  const SystemCall& call = context.call;
  const auto from = find_named(parts, context, first_name(call), false);
  if (!from) return;
  const auto to = find_named(parts, context, second_name(call), false);
  if (!to) return;
  Operation operation{.kind = OperationKind::rename,
                      .flags = static_cast<std::uint32_t>(call.flags & ~kWhiteout),
                      .path = to->path,
                      .old_path = from->path};
  const bool special = parts.paths.is_special(from->path) || parts.paths.is_special(to->path);
  if (call.result < 0) {
    const bool by_flag = (call.flags & kWhiteout) != 0;  // a replay could succeed without it
    if (special || by_flag || is_kept_by_nodes(parts, call, to->path)) return count_special(parts);
    return parts.emitter.emit(context, operation);
  }
  if (special) return rename_special(parts, context, from->path, to->path);
  const bool exchange = (call.flags & RENAME_EXCHANGE) != 0;
  const bool onto_directory = parts.model.is_directory(to->path);
  const bool directory = parts.model.is_directory(from->path) ||
                         is_working_place(parts, from->path) || (exchange && onto_directory);
  const FileId replaced = onto_directory ? parts.model.file_of(to->path) : kNoFileId;
  parts.emitter.emit(context, operation);
  const DirectoryFilter& kept = parts.emitter.kept();
  const bool comes = kept.is_inside(to->path) && !kept.is_inside(from->path);
  if (comes) parts.builder.approximated("files moved into the recorded directory start empty");
  if (directory && !exchange && from->path != to->path) {
    follow_removal(parts, to->path, replaced);
  }
  if ((directory || comes) && from->path != to->path) {
    follow_rename(parts, from->path, to->path, exchange);
  }
  if ((call.flags & kWhiteout) != 0) leave_whiteout(parts, context, from->path);
}

void link_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  const auto from = find_named(parts, context, first_name(call), follows_link(call));
  if (!from) return;
  const auto to = find_named(parts, context, second_name(call), false);
  if (!to) return;
  const bool special = !from->file && parts.paths.is_special(from->path);
  if (call.result < 0 && (special || parts.paths.is_special(to->path))) return count_special(parts);
  if (special) return link_special(parts, context, to->path);
  Operation operation{.kind = OperationKind::link, .path = to->path};
  if (from->file) {
    if (parts.emitter.kept().is_inside(to->path)) parts.files.require_open(context, *from->file);
    operation.file = from->file->slot;
  } else {
    operation.old_path = from->path;
  }
  parts.emitter.emit(context, operation);
}

void mknod_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  const auto target = find_named(parts, context, first_name(call), false);
  if (!target) return;
  const PathId path = target->path;
  const auto type = static_cast<std::uint32_t>(call.mode) & S_IFMT;
  const std::uint32_t mode = context.permissions();
  if (type != S_IFREG && type != 0) {
    if (call.result >= 0) parts.paths.set_special(path, true);
    return parts.emitter.emit(
        context, {.kind = OperationKind::make_node, .mode = type | mode, .path = path});
  }
  // A regular file.
  if (call.result < 0 && parts.paths.is_special(path)) return count_special(parts);
  if (call.result < 0) {
    return parts.emitter.emit(context, {.kind = OperationKind::open,
                                        .flags = O_CREAT | O_EXCL | O_WRONLY,
                                        .mode = mode,
                                        .path = path});
  }
  parts.emitter.create_unseen(context, parts.builder.tables().paths.node(path).parent, S_IFDIR);
  parts.emitter.make_file(context.task, call.enter_ns, call.exit_ns, path, mode);
}

void chroot_call(CallParts& parts, CallContext& context) {
  const auto path = resolve_name(parts, context, first_name(context.call), true);
  if (!path || context.call.result < 0) return;
  context.task.fs_state->root = *path;
  parts.builder.approximated("changes of the root directory not replayed");
}

void chdir_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  std::optional<PathId> path;
  if (call.call == Call::chdir) {
    path = resolve_name(parts, context, first_name(call), true);
  } else if (call.fd >= 0) {  // the path stays empty: the descriptor itself
    path = base_of_name(parts, context, {first_file(call), call.path});
  }
  if (!path) return;
  if (call.result >= 0) move_to(parts, context, *path);
  if (parts.paths.is_omitted(*path)) return count_omitted(parts);
  if (is_gone(parts, call, *path)) return count_gone(parts);
  parts.emitter.emit(context, {.kind = OperationKind::change_directory, .path = *path});
}

namespace {

// linux/posix_acl_xattr.h: a version of 4 bytes, and entries of a tag and permissions of 2 bytes
// each and an ID of 4 bytes; all little-endian.
constexpr std::size_t kListHeader = 4, kListEntry = 8;
constexpr std::uint32_t kListVersion = 2;
constexpr std::uint32_t kUser = 1, kNamedUser = 2, kGroup = 4, kNamedGroup = 8, kMask = 16,
                        kOthers = 32;

std::uint32_t number(std::string_view value, std::size_t at, std::size_t size) {
  std::uint32_t result = 0;
  for (std::size_t i = size; i-- > 0;) {
    result = result << 8 | static_cast<unsigned char>(value[at + i]);
  }
  return result;
}

}  // namespace

std::optional<AccessListMode> mode_of_access_list(std::string_view value) {
  if (value.size() <= kListHeader || (value.size() - kListHeader) % kListEntry != 0)
    return std::nullopt;
  if (number(value, 0, kListHeader) != kListVersion) return std::nullopt;
  std::optional<std::uint32_t> user, group, mask, others;
  for (std::size_t at = kListHeader; at < value.size(); at += kListEntry) {
    const std::uint32_t tag = number(value, at, 2), permissions = number(value, at + 2, 2);
    if (permissions > 7) return std::nullopt;
    if (tag == kUser) {
      user = permissions;
    } else if (tag == kGroup) {
      group = permissions;
    } else if (tag == kMask) {
      mask = permissions;
    } else if (tag == kOthers) {
      others = permissions;
    } else if (tag != kNamedUser && tag != kNamedGroup) {
      return std::nullopt;
    }
  }
  if (!user || !group || !others) return std::nullopt;
  // The mask takes the place of the group's permissions.
  return AccessListMode{.mode = *user << 6 | mask.value_or(*group) << 3 | *others,
                        .is_all = value.size() == kListHeader + 3 * kListEntry};
}

}  // namespace filereel
