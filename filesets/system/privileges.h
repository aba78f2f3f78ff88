// What the system grants or denies this process, and advice for those whom it denies something.
#pragma once

#include <string>
#include <string_view>

namespace filereel {

// --- Advice for those whom the system denies something.

// What root needs in a container that denies mounts.
inline constexpr std::string_view kAllowMounts = "allow mounts (CAP_SYS_ADMIN)";

// Whether this process has the user ID of root. In a container or a sandbox, root may lack what the
// advice to run as root promises.
bool is_root() noexcept;

// `for_user` advises to run as root; it is of no use to root.
inline std::string_view root_advice(std::string_view for_user, std::string_view for_root) noexcept {
  return is_root() ? for_root : for_user;
}

// --- What filereel needs of its surroundings and a sandbox may withhold: system calls, which
// seccomp policies of containers deny, and /proc. Denied calls fail with EPERM or ENOSYS, like
// calls for other reasons, so messages by errno alone name a wrong cause.
//
// Whether a call is denied is found by trying it with arguments that are invalid: the kernel then
// complains about these (EFAULT, EBADF, EINVAL), a policy does not look at them. That has no effect
// and takes less than a microsecond for each call.

// What a call is needed for. Calls of the kernel that a fallback replaces are not listed.
enum class CallUse : unsigned {
  volumes = 1,  // run, replay, predict, populate
  trees = 2,    // capture: reads directories
  tracing = 4,  // records with strace
  bpf = 8,      // records in the kernel
  mounts = 16,  // mounts image files and block devices
  rings = 32,   // engine io_uring
  others = 64,  // operations of traces, and what some runs need: the failure itself is told
};

// Throws Error(failed) that names the first call for `use` that is denied here, and the policy.
// `what` needs it: "populate".
void require_calls(CallUse use, std::string_view what);

// Why the call fails: a policy denies it, or the kernel is older than the call. "" if neither is
// so. Without a `call`, of the first one that is denied for `use`.
std::string denial(std::string_view call);
std::string denial(CallUse use);

// The denied calls that no usual policy denies, for the end of a message about a failure: " (…)",
// or "" if there are none.
std::string denials_note();

// All denied calls with their errors, "openat2 (EPERM)"; "" if there are none.
std::string denied_calls();

// Whether /proc is mounted.
bool has_proc();
// Throws Error(failed) if it is not. `what` needs it.
void require_proc(std::string_view what);

// --- Privileges that the file of a program grants, and that a tracer may take from it.

// What the kernel does not grant to the program if this process traces it by ptrace: "set-user-ID",
// "set-group-ID", "capabilities", or several, separated by ", ". Empty if there is nothing, or if
// this process may trace any program (CAP_SYS_PTRACE). `command` is looked up in PATH.
std::string privileges_lost_to_tracing(const std::string& command);

}  // namespace filereel
