#include "traces/calls/open_calls.h"

#include <climits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

namespace filereel {
namespace {

constexpr std::string_view kNothingOpen =
    "opens of unlinked files that nothing else has open as they need";

// O_TMPFILE holds O_DIRECTORY.
bool is_unnamed(std::uint64_t flags) {
  return (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace

void OpenCalls::open(CallContext& context) {
  const SystemCall& call = context.call;
  const auto flags = static_cast<std::uint32_t>(call.flags);
  const bool opened = call.result >= 0, unnamed = is_unnamed(flags);
  if (opened) files_.numbers().bind(call.result_file, nullptr);  // until it is known to be a file
  if (opened && !call.result_path.empty() && !names_file(call.result_path)) {
    names_.leave_out();
    return put_no_file(context);
  }
  const auto target = names_.find(context, first_name(call), Names::follows(call));
  if (opened && !unnamed) {
    const DescriptionRef file = nameless_file(call, target.value_or(NamedFile{}));
    if (file) return reopen(context, file);
  }
  if (!target) {
    if (opened && is_deleted(call.result_path)) builder_.lost(kNothingOpen);
    return put_no_file(context);
  }
  const PathId path = opened ? opened_path(context, target->path) : target->path;
  if (paths_.is_special(path)) {
    builder_.approximated("calls on pipes, sockets and devices left out");
    return put_no_file(context);
  }

  Operation operation{.kind = OperationKind::open,
                      .flags = flags & ~static_cast<std::uint32_t>(O_CLOEXEC),
                      .path = path};
  if (flags & O_CREAT || unnamed) {
    operation.mode =
        static_cast<std::uint32_t>(call.mode) & 07777 & ~context.task.surroundings->umask;
  }
  if (!opened) return emitter_.emit(context, operation);
  if (call.result > INT_MAX) return;

  // Before the new file takes a slot, so that what had the number gives its own back.
  files_.vacate(context, static_cast<int>(call.result));
  auto file = std::make_shared<Description>();
  file->slot = operation.file = builder_.take_slot();
  file->path = path;
  file->flags = flags;
  file->directory = ((flags & O_DIRECTORY) && !unnamed) || (call.stat && S_ISDIR(call.stat->mode));
  if (emitter_.kept().is_inside(path)) learn_opened(call, file->slot);
  emitter_.emit(context, operation);
  identify(call, file->slot);
  files_.numbers().bind(call.result_file, file);
  files_.put(context, call.result, std::move(file), (flags & O_CLOEXEC) != 0);
}

void OpenCalls::put_no_file(const CallContext& context) {
  files_.put(context, context.call.result, nullptr, (context.call.flags & O_CLOEXEC) != 0);
}

PathId OpenCalls::opened_path(CallContext& context, PathId path) {
  const SystemCall& call = context.call;
  if (context.blind && call.result_path.empty()) {
    // What was opened needs a place: any that nothing else has.
    PathTable& paths = builder_.tables().paths;
    const std::string place = paths.node(path).name + ".filereel-unknown";
    builder_.model().learn_link(path, builder_.tables().texts.add(place));
    path = paths.add(paths.node(path).parent, place);
    builder_.approximated("symbolic links whose text is not known");
    context.blind = false;
  }
  if (is_unnamed(call.flags)) return path;
  if (!call.result_path.empty()) {
    bool deleted = false;
    const PathId real = paths_.real(call.result_path, deleted);
    // Links between places that are not kept are nobody's concern.
    const bool concerns = emitter_.kept().is_inside(real) || emitter_.kept().is_inside(path);
    if (!deleted && real != path && (!concerns || paths_.learn(path, real))) {
      path = real;
      context.blind = false;
    }
  }
  if (call.stat) paths_.set_special(path, is_special_mode(call.stat->mode));
  return path;
}

DescriptionRef OpenCalls::nameless_file(const SystemCall& call, const NamedFile& target) {
  const TreeModel& model = builder_.model();
  const auto is_nameless = [&](FileId file) { return file != kNoFileId && !model.path_of(file); };
  if (target.file) {
    const bool nameless = is_nameless(model.file_of_slot(target.file->slot));
    return nameless ? target.file->shared_from_this() : nullptr;
  }
  if (!call.stat) return nullptr;
  const FileId file = files_.identities().find(*call.stat);
  if (!is_nameless(file)) return nullptr;
  DescriptionRef best;
  files_.numbers().each([&](Description& open) {
    if (open.slot == kNoFile || model.file_of_slot(open.slot) != file) return;
    if (!best || (open.flags & O_ACCMODE) == O_RDWR) best = open.shared_from_this();
  });
  return best;
}

void OpenCalls::reopen(const CallContext& context, const DescriptionRef& file) {
  const SystemCall& call = context.call;
  const DescriptionRef& first = file->opened_before ? file->opened_before : file;
  const auto flags = static_cast<std::uint32_t>(call.flags);
  const std::uint32_t access = first->flags & O_ACCMODE;
  const bool truncates = (flags & O_TRUNC) != 0;
  const bool guessed = first->inherited && !first->flags_known;
  const bool allowed = access == O_RDWR || access == (flags & O_ACCMODE);
  if (guessed || !allowed || (truncates && access == O_RDONLY)) {
    builder_.lost(kNothingOpen);
    return put_no_file(context);
  }
  if (truncates) emitter_.emit(context, {.kind = OperationKind::truncate, .file = first->slot});
  const auto again = std::make_shared<Description>();
  again->slot = first->slot;
  again->path = first->path;
  again->flags = flags;
  again->directory = first->directory;
  again->opened_before = first;
  files_.numbers().bind(call.result_file, again);
  files_.put(context, call.result, again, (flags & O_CLOEXEC) != 0);
}

void OpenCalls::learn_opened(const SystemCall& call, FileSlot slot) {
  if (!call.stat && !call.size_before && !call.created) return;
  TreeModel::OpenedFile opened;
  opened.existed = call.created ? !*call.created : call.size_before || !(call.flags & O_CREAT);
  if (!call.created && !opened.existed) return;  // nobody knows
  if (call.stat) opened.mode = call.stat->mode;
  if (call.size_before) {
    opened.size = call.size_before;
  } else if (call.stat && !(call.flags & O_TRUNC)) {
    opened.size = call.stat->size;
  }
  builder_.model().learn_opened(slot, opened);
}

void OpenCalls::identify(const SystemCall& call, FileSlot slot) {
  const TreeModel& model = builder_.model();
  FileIdentities::Known* known = call.stat ? files_.identities().at(*call.stat) : nullptr;
  const FileId file = model.file_of_slot(slot);
  if (!known || file == kNoFileId) return;
  const FileId earlier = std::exchange(known->file, file);
  if (earlier == file || earlier == kNoFileId || known->counted) return;
  if (!S_ISREG(call.stat->mode) || !model.is_initial(file) || !model.is_initial(earlier)) return;
  if (!model.path_of(earlier)) return;  // its inode was given to another file
  known->counted = true;
  builder_.approximated("hard links that were there before the trace are files of their own");
}

}  // namespace filereel
