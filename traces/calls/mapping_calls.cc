#include "traces/calls/mapping_calls.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>

namespace filereel {
namespace {

// The address of a mapping is irrelevant to the file.
constexpr std::uint64_t kPlacing = MAP_FIXED | MAP_FIXED_NOREPLACE;
constexpr unsigned kMapFlagsShift = 8;  // in an operation's flags, above PROT_*
constexpr std::string_view kTooMany = "memory maps above the limit per process";

std::uint64_t length_of_fault(const SystemCall& call) {
  return call.length == 0 ? AddressSpace::kPage : call.length;
}

void emit_unmaps(CallParts& parts, Task& task, std::uint64_t begin_ns, std::uint64_t end_ns,
                 const std::vector<FileSlot>& gone) {
  for (const FileSlot mapping : gone) {
    parts.emitter.add(task, begin_ns, end_ns, {.kind = OperationKind::unmap, .source = mapping});
    parts.builder.free_mapping(mapping);
  }
}

void emit_parts(CallParts& parts, const CallContext& context, OperationKind kind,
                const std::vector<AddressSpace::Part>& mapped, std::uint64_t flags) {
  for (const AddressSpace::Part& part : mapped) {
    parts.emitter.emit(context, {.kind = kind,
                                 .flags = static_cast<std::uint32_t>(flags),
                                 .source = part.mapping,
                                 .offset = part.offset,
                                 .length = part.length});
  }
}

// Maps the file, at least up to `end`, at an unknown address; false if that is impossible. exec
// itself maps programs and their dynamic linkers.
bool map_unseen(CallParts& parts, const CallContext& context, PathId path, std::uint64_t end) {
  if (parts.paths.is_omitted(path) || parts.paths.is_special(path)) return false;
  if (!parts.emitter.kept().is_inside(path)) return false;
  parts.builder.approximated("memory maps created by exec");
  const auto& stat = context.call.stat;
  const auto add = [&](const Operation& operation) {
    parts.emitter.add(context.task, context.call.enter_ns, context.call.enter_ns, operation);
  };
  const FileSlot slot = parts.builder.take_slot();
  if (stat) {
    const std::uint32_t mode = stat->mode != 0 ? stat->mode : S_IFREG;
    parts.model.learn_opened(slot, {.mode = mode, .size = stat->size});
  }
  add({.kind = OperationKind::open, .loose = true, .file = slot, .path = path});
  const std::uint64_t size = stat ? stat->size : 0;
  const bool reaches = size <= INT64_MAX && AddressSpace::end_of(0, size) >= end;
  const std::uint64_t length = reaches ? size : end;
  const FileSlot mapping = parts.builder.take_mapping();
  const bool added = context.task.memory->add_unplaced(
      length, mapping, {.file = parts.model.file_of_slot(slot)}, parts.mapping_uses);
  if (added) {
    add({.kind = OperationKind::map,
         .loose = true,
         .flags = PROT_READ | MAP_PRIVATE << kMapFlagsShift,
         .file = slot,
         .source = mapping,
         .length = length});
  } else {
    parts.builder.free_mapping(mapping);
    parts.builder.lost(kTooMany);
  }
  add({.kind = OperationKind::close, .file = slot});
  parts.builder.free_slot(slot);
  return added;
}

}  // namespace

void leave_memory(CallParts& parts, Task& task, std::uint64_t at_ns) {
  if (task.memory.use_count() > 1) return;
  emit_unmaps(parts, task, at_ns, at_ns, task.memory->remove(0, UINT64_MAX, parts.mapping_uses));
}

void map_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  const bool of_file = !(call.flags & MAP_ANONYMOUS) && call.fd >= 0;
  if (call.result < 0) {
    if (of_file) parts.builder.lost("failed memory maps");
    return;
  }
  AddressSpace& memory = *context.task.memory;
  const auto begin = static_cast<std::uint64_t>(call.result);
  const std::uint64_t end = AddressSpace::end_of(begin, call.length);
  emit_unmaps(parts, context.task, call.enter_ns, call.enter_ns,
              memory.remove(begin, end, parts.mapping_uses));

  const bool shared = (call.flags & MAP_TYPE) != MAP_PRIVATE;
  const bool stores = shared && (call.mode & PROT_WRITE);
  const FileUse use = stores ? FileUse::writing : FileUse::reading;
  Description* file = of_file ? parts.files.find_open(context, first_file(call), use) : nullptr;
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
    return parts.builder.lost("calls with offsets out of range");
  }
  operation.source = parts.builder.take_mapping();
  const MappedFile shown{
      .file = parts.model.file_of_slot(file->slot), .offset = operation.offset, .shared = shared};
  if (!memory.add(begin, {end, operation.source, 0, shown}, parts.mapping_uses)) {
    parts.builder.free_mapping(operation.source);
    return parts.builder.lost(kTooMany);
  }
  if (stores) {
    parts.builder.approximated(parts.sees_faults ? "stores to shared mappings recorded by page only"
                                                 : "stores to shared mappings not visible");
  }
  parts.emitter.emit(context, operation);
}

void unmap_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0) return;
  const std::uint64_t end = AddressSpace::end_of(call.address, call.length);
  emit_unmaps(parts, context.task, call.enter_ns, call.exit_ns,
              context.task.memory->remove(call.address, end, parts.mapping_uses));
}

void remap_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0) return;
  AddressSpace& memory = *context.task.memory;
  const std::uint64_t begin = call.address;
  const std::uint64_t end = AddressSpace::end_of(begin, call.offset.value_or(call.length));
  const bool grows = AddressSpace::end_of(begin, call.length) > end;
  if (grows && !memory.parts(begin, end).empty()) {
    parts.builder.approximated("memory maps grown by mremap");
  }
  const auto to = static_cast<std::uint64_t>(call.result);
  emit_unmaps(parts, context.task, call.enter_ns, call.exit_ns,
              memory.move(begin, end, to, call.length, parts.mapping_uses));
}

void mapped_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0) return;
  const std::uint64_t end = AddressSpace::end_of(call.address, length_of_fault(call));
  const auto mapped = context.task.memory->parts(call.address, end);
  if (call.call == Call::madvise) {
    if (!mapped.empty()) parts.builder.approximated("madvise on memory maps omitted");
    return;
  }
  const bool syncs = call.call == Call::msync;
  const OperationKind kind = syncs ? OperationKind::sync_map : OperationKind::fault;
  emit_parts(parts, context, kind, mapped, call.flags);
}

void fault_call(CallParts& parts, CallContext& context) {
  const SystemCall& call = context.call;
  if (call.result < 0) return;
  if (call.address != 0) return mapped_call(parts, context);
  // A page of a file that was loaded or first stored to, without its address.
  const std::uint64_t begin = call.offset.value_or(0), length = length_of_fault(call);
  if (begin > INT64_MAX || length > INT64_MAX - begin) return;
  const AddressSpace& memory = *context.task.memory;
  const FileId by_identity = call.stat ? parts.files.identities().find(*call.stat) : kNoFileId;
  PathId path = 0;
  const bool named = names_file(call.fd_path);
  bool deleted = false;
  if (named) path = parts.paths.real(call.fd_path, deleted);
  const FileId by_path = named ? parts.model.file_of(path) : kNoFileId;
  const auto find = [&](bool only_shared) {
    for (const FileId file : {by_identity, by_path}) {
      if (file == kNoFileId) continue;
      auto mapped = memory.parts_of_file(file, begin, begin + length, only_shared);
      if (!mapped.empty()) return mapped;
    }
    return std::vector<AddressSpace::Part>{};
  };
  // A store to a private page changes a copy; the file is only read.
  const bool stores = (call.flags & 1) != 0;
  bool writes = stores;
  std::vector<AddressSpace::Part> mapped = find(writes);
  if (mapped.empty() && stores) {
    writes = false;
    mapped = find(false);
  }
  if (by_identity != kNoFileId) {  // it may have been renamed since
    if (const auto now = parts.model.path_of(by_identity)) path = *now;
  }
  // A store that no map explains is another thread's: a request's worker in the kernel.
  if (mapped.empty() && !stores && named && !deleted &&
      map_unseen(parts, context, path, begin + length)) {
    mapped = memory.parts_of_file(parts.model.file_of(path), begin, begin + length, false);
  }
  emit_parts(parts, context, OperationKind::fault, mapped, writes ? 1 : 0);
}

}  // namespace filereel
