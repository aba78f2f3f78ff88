#include "traces/calls/mappings.h"

#include <algorithm>

#include <sys/mman.h>
#include <sys/stat.h>

namespace filereel {
namespace {

// Where a mapping lies says nothing about the file.
constexpr std::uint64_t kPlacing = MAP_FIXED | MAP_FIXED_NOREPLACE;
constexpr unsigned kMapFlagsShift = 8;  // in an operation's flags, above PROT_*
constexpr std::string_view kTooMany = "memory maps beyond what a process can have";

std::uint64_t length_of_fault(const SystemCall& call) {
  return call.length == 0 ? AddressSpace::kPage : call.length;
}

}  // namespace

void Mappings::emit_unmaps(Task& task, std::uint64_t begin_ns, std::uint64_t end_ns,
                           const std::vector<FileSlot>& gone) {
  for (const FileSlot mapping : gone) {
    emitter_.add(task, begin_ns, end_ns, {.kind = OperationKind::unmap, .source = mapping});
    builder_.free_mapping(mapping);
  }
}

void Mappings::leave(Task& task, std::uint64_t at_ns) {
  std::vector<FileSlot> gone;
  if (task.memory.use_count() == 1) task.memory->remove(0, UINT64_MAX, uses_, gone);
  emit_unmaps(task, at_ns, at_ns, gone);
}

void Mappings::map(CallContext& context) {
  const SystemCall& call = context.call;
  const bool of_file = !(call.flags & MAP_ANONYMOUS) && call.fd >= 0;
  if (call.result < 0) {
    if (of_file) builder_.lost("memory maps that failed");
    return;
  }
  AddressSpace& memory = *context.task.memory;
  const auto begin = static_cast<std::uint64_t>(call.result);
  const std::uint64_t end = AddressSpace::end_of(begin, call.length);
  std::vector<FileSlot> gone;
  memory.remove(begin, end, uses_, gone);
  emit_unmaps(context.task, call.enter_ns, call.enter_ns, gone);

  const bool shared = (call.flags & MAP_TYPE) != MAP_PRIVATE;
  const bool stores = shared && (call.mode & PROT_WRITE);
  const FileUse use = stores ? FileUse::writing : FileUse::reading;
  Description* file = of_file ? files_.find_open(context, first_file(call), use) : nullptr;
  if (!file) return;
  Operation operation{
      .kind = OperationKind::map,
      .flags = static_cast<std::uint32_t>((call.mode & 0xff) | ((call.flags & ~kPlacing) & 0xffffff)
                                                                   << kMapFlagsShift),
      .file = file->slot,
      .offset = call.offset.value_or(0),
      .length = call.length};
  if (operation.offset > INT64_MAX - std::min<std::uint64_t>(operation.length, INT64_MAX) ||
      operation.length > INT64_MAX) {
    return builder_.lost("calls with impossible offsets");
  }
  operation.source = builder_.take_mapping();
  const MappedFile shown{.file = builder_.model().file_of_slot(file->slot),
                         .offset = operation.offset,
                         .shared = shared};
  if (!memory.add(begin, {end, operation.source, 0, shown}, uses_)) {
    builder_.free_mapping(operation.source);
    return builder_.lost(kTooMany);
  }
  if (stores) {
    builder_.approximated(sees_faults_ ? "stores to shared mappings are known by page only"
                                       : "stores to shared mappings are not visible");
  }
  emitter_.emit(context, operation);
}

void Mappings::unmap(const CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0) return;
  std::vector<FileSlot> gone;
  const std::uint64_t end = AddressSpace::end_of(call.address, call.length);
  context.task.memory->remove(call.address, end, uses_, gone);
  emit_unmaps(context.task, call.enter_ns, call.exit_ns, gone);
}

void Mappings::remap(const CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0) return;
  AddressSpace& memory = *context.task.memory;
  const std::uint64_t begin = call.address;
  const std::uint64_t end = AddressSpace::end_of(begin, call.offset.value_or(call.length));
  const bool grows = AddressSpace::end_of(begin, call.length) > end;
  if (grows && !memory.parts(begin, end).empty()) builder_.approximated("memory maps that grow");
  std::vector<FileSlot> gone;
  memory.move(begin, end, static_cast<std::uint64_t>(call.result), call.length, uses_, gone);
  emit_unmaps(context.task, call.enter_ns, call.exit_ns, gone);
}

void Mappings::emit_part(const CallContext& context, OperationKind kind,
                         const AddressSpace::Part& part, std::uint64_t flags) {
  emitter_.emit(context, {.kind = kind,
                          .flags = static_cast<std::uint32_t>(flags),
                          .source = part.mapping,
                          .offset = part.offset,
                          .length = part.length});
}

void Mappings::use(const CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0) return;
  const std::uint64_t end = AddressSpace::end_of(call.address, length_of_fault(call));
  const auto parts = context.task.memory->parts(call.address, end);
  if (call.call == Call::madvise) {
    if (!parts.empty()) builder_.approximated("advice on mapped memory left out");
    return;
  }
  const bool syncs = call.call == Call::msync;
  for (const AddressSpace::Part& part : parts) {
    emit_part(context, syncs ? OperationKind::sync_map : OperationKind::fault, part, call.flags);
  }
}

void Mappings::fault(const CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0) return;
  if (call.address != 0) return use(context);
  // A page of a file that was brought in or first stored to, without its address.
  const std::uint64_t begin = call.offset.value_or(0), length = length_of_fault(call);
  if (begin > INT64_MAX || length > INT64_MAX - begin) return;
  const TreeModel& model = builder_.model();
  const AddressSpace& memory = *context.task.memory;
  const FileId by_identity = call.stat ? files_.identities().find(*call.stat) : kNoFileId;
  PathId path = 0;
  const bool named = names_file(call.fd_path);
  bool deleted = false;
  if (named) path = paths_.real(call.fd_path, deleted);
  const FileId by_path = named ? model.file_of(path) : kNoFileId;
  const auto find = [&](bool only_shared) {
    for (const FileId file : {by_identity, by_path}) {
      if (file == kNoFileId) continue;
      auto parts = memory.parts_of_file(file, begin, begin + length, only_shared);
      if (!parts.empty()) return parts;
    }
    return std::vector<AddressSpace::Part>{};
  };
  // A store to a private page changes a copy of it: of the file it is only read.
  const bool stores = (call.flags & 1) != 0;
  bool writes = stores;
  std::vector<AddressSpace::Part> parts = find(writes);
  if (parts.empty() && stores) {
    writes = false;
    parts = find(false);
  }
  if (by_identity != kNoFileId) {  // it may have been renamed since
    if (const auto now = model.path_of(by_identity)) path = *now;
  }
  // What no map explains somebody else stored: a request's worker in the kernel.
  if (parts.empty() && !stores && named && !deleted && map_unseen(context, path, begin + length)) {
    parts = memory.parts_of_file(model.file_of(path), begin, begin + length, false);
  }
  for (const AddressSpace::Part& part : parts) {
    emit_part(context, OperationKind::fault, part, writes ? 1 : 0);
  }
}

// Programs and their dynamic linkers are mapped by exec itself.
bool Mappings::map_unseen(const CallContext& context, PathId path, std::uint64_t end) {
  if (paths_.is_left_out(path) || paths_.is_special(path)) return false;
  if (!emitter_.kept().is_inside(path)) return false;
  builder_.approximated("maps that exec makes");
  TreeModel& model = builder_.model();
  const auto& stat = context.call.stat;
  const auto add = [&](const Operation& operation) {
    emitter_.add(context.task, context.call.enter_ns, context.call.enter_ns, operation);
  };
  const FileSlot slot = builder_.take_slot();
  if (stat) {
    const std::uint32_t mode = stat->mode != 0 ? stat->mode : S_IFREG;
    model.learn_opened(slot, {.mode = mode, .size = stat->size});
  }
  add({.kind = OperationKind::open, .loose = true, .file = slot, .path = path});
  const std::uint64_t size = stat ? stat->size : 0;
  const bool reaches = size <= INT64_MAX && AddressSpace::end_of(0, size) >= end;
  const std::uint64_t length = reaches ? size : end;
  const FileSlot mapping = builder_.take_mapping();
  const bool added = context.task.memory->add_somewhere(length, mapping,
                                                        {.file = model.file_of_slot(slot)}, uses_);
  if (added) {
    add({.kind = OperationKind::map,
         .loose = true,
         .flags = PROT_READ | MAP_PRIVATE << kMapFlagsShift,
         .file = slot,
         .source = mapping,
         .length = length});
  } else {
    builder_.free_mapping(mapping);
    builder_.lost(kTooMany);
  }
  add({.kind = OperationKind::close, .file = slot});
  builder_.free_slot(slot);
  return added;
}

}  // namespace filereel
