// Calls on files: one function per family, which creates the operations of a call. OpenFiles and
// names.h resolve its descriptors and names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <fcntl.h>

#include "traces/calls/call_translation.h"
#include "traces/open_flags.h"

namespace filereel {

// The flags that F_SETFL can change.
inline constexpr std::uint32_t kStatusFlags =
    O_APPEND | O_ASYNC | open_flags::kDirect | O_NOATIME | O_NONBLOCK;

// open_calls.cc: calls that open and close files, and calls that only change what descriptors refer
// to. An open also reports what the tracer saw: which links led to the file, its state before the
// call, and its identity.
void open_call(CallParts& parts, CallContext& context);
void close_call(CallParts& parts, CallContext& context);
void close_range_call(CallParts& parts, CallContext& context);
void dup_call(CallParts& parts, CallContext& context);
void set_cloexec_call(CallParts& parts, CallContext& context);
void new_descriptor_call(CallParts& parts, CallContext& context);
void new_pair_call(CallParts& parts, CallContext& context);
// The result is a descriptor of something unknown: calls through it are lost.
void put_lost_call(CallParts& parts, const CallContext& context);

// file_calls.cc: calls that become one operation on a file or a name and move no data. The first
// three become one operation of `kind`: on the file behind `fd` (sync: on all), on the file named
// by `path`, or on either.
void file_call(CallParts& parts, CallContext& context, OperationKind kind);
void path_call(CallParts& parts, CallContext& context, OperationKind kind);
void attribute_call(CallParts& parts, CallContext& context, OperationKind kind);
void link_call(CallParts& parts, CallContext& context);
void mknod_call(CallParts& parts, CallContext& context);
void rename_call(CallParts& parts, CallContext& context);
void chdir_call(CallParts& parts, CallContext& context);  // and fchdir
void chroot_call(CallParts& parts, CallContext& context);

// data_calls.cc: calls that move data, list directories, or move the position of an open file.
// Operations get the position that the call had; positions of open files advance as in the kernel.
void transfer_call(CallParts& parts, CallContext& context, OperationKind kind);
void copy_call(CallParts& parts, CallContext& context, CopyMethod method);
void seek_call(CallParts& parts, CallContext& context);
void list_call(CallParts& parts, CallContext& context);
void submit_call(CallParts& parts, CallContext& context);
void complete_call(CallParts& parts, CallContext& context);

// --- The mode that an access control list implies.

// Attributes that hold such lists: of the file itself, and of what is created in a directory.
inline constexpr std::string_view kAccessList = "system.posix_acl_access";
inline constexpr std::string_view kDefaultList = "system.posix_acl_default";

struct AccessListMode {
  std::uint32_t mode = 0;  // permissions of user, group and others
  bool is_all = false;     // the list has nothing else
};

// nullopt if `value`, the bytes of the attribute, is not a complete list.
std::optional<AccessListMode> mode_of_access_list(std::string_view value);

}  // namespace filereel
