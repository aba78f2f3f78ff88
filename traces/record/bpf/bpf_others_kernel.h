// Changes by processes that are not recorded. The check of a recording tells them from errors of
// the recording (traces/check/). Each open file is reported once. The calls of all processes of the
// machine come by here, so only those that change something cost more than a look at a table.
#pragma once

#include "traces/record/bpf/bpf_threads_kernel.h"

enum {
  kTruncate = 01000,    // O_TRUNC
  kCreated = 0x100000,  // FMODE_CREATED
  kReportedFiles = 4096,
};

const volatile __u32 sees_others = 0;
__u64 reported[kReportedFiles];  // open files of others, as in `told`

static __always_inline int is_others_change(struct task_struct* task, __u64 number, long result) {
  if (!recording || !sees_others || result < 0 || number >= SHAPES) return 0;
  if (!(shapes[number & (SHAPES - 1)].flags & SHAPE_CHANGES)) return 0;
  return !IS_COMPAT_CALL(task) && (__u32)task->tgid != own_process;
}

// The file that a call has changed through a descriptor; 0: none.
static __always_inline __u64 changed_file(struct task_struct* task, const struct bpf_thread* call,
                                          const volatile struct bpf_shape* shape) {
  if (shape->flags & SHAPE_OPENS) {
    const __u64 opened = open_file(task, call->result);
    if (!opened) return 0;
    struct file* file = TYPED(file, opened);
    const int truncates = shape->open_flags && (argument(call, shape->open_flags) & kTruncate);
    return truncates || (GET(file, f_mode) & kCreated) ? opened : 0;
  }
  if ((shape->flags & SHAPE_CLONES) && (__u32)argument(call, 2) != kClone &&
      (__u32)argument(call, 2) != kCloneRange) {
    return 0;
  }
  const __u8 number = shape->file[1] ? shape->file[1] : shape->file[0];
  return number ? open_file(task, argument(call, number)) : 0;
}

static __always_inline __u64* reported_entry(__u64 address) {
  return &reported[(address * 0x9e3779b97f4a7c15ull >> 52) & (kReportedFiles - 1)];
}

// Whether an open file has not been reported yet.
static __always_inline int is_news(__u64 address) {
  return is_file(address) && *reported_entry(address) != told_value(address);
}

static __always_inline __u32 put_open_file(struct scratch* scratch, __u32 at, __u8 which,
                                           __u64 address) {
  struct file* file = TYPED(file, address);
  return put_real(scratch, at, which, GET(file, f_path.mnt), GET(file, f_path.dentry));
}

// A path and its base. Without a path, the base is what the call has changed.
static __always_inline __u32 put_path(struct scratch* scratch, __u32 at, __u8 which,
                                      struct task_struct* task, const struct bpf_thread* call,
                                      const volatile struct bpf_shape* shape) {
  const __u64 user = argument(call, shape->string[which & 1]);
  const __u8 dir = shape->dir[which & 1];
  if (user) at = put_string(scratch, at, which, user);
  if (dir && (int)argument(call, dir) != kAtCwd) {
    const __u64 address = open_file(task, argument(call, dir));
    return address ? put_open_file(scratch, at, which, address) : at;
  }
  struct fs_struct* fs = CAST(task_struct, task)->fs;
  return put_real(scratch, at, which, GET(fs, pwd.mnt), GET(fs, pwd.dentry));
}

// Continues the end of a call. A separate program, so that the verifier does not check it with the
// others.
SEC("tp_btf/sys_exit")
int BPF_PROG(others_changed, struct pt_regs* regs, long result) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct scratch* scratch = get_scratch();
  if (!scratch) return 0;
  // Names in a container or chroot are others than ours.
  struct fs_struct* fs = CAST(task_struct, task)->fs;
  if ((__u64)GET(fs, root.dentry) != own_root) return 0;
  const __u32 number = CALL_NUMBER(regs) & (SHAPES - 1);
  const volatile struct bpf_shape* shape = &shapes[number];
  const __u64 values[6] = LATE_ARGUMENTS(regs);
  struct bpf_thread* call = &scratch->other;
  for (__u32 i = 0; i < 6; ++i) call->arguments[i + 1] = values[i];
  call->arguments[0] = 0;
  call->result = result;
  const int is_named = shape->string[0] && !(shape->flags & SHAPE_OPENS);
  const __u64 file = is_named ? 0 : changed_file(task, call, shape);
  if (!is_named && !is_news(file)) return 0;
  struct bpf_event* event = (struct bpf_event*)scratch->bytes;
  const __u64 now = bpf_ktime_get_ns();
  begin_event(event, EVENT_OTHER, number, task, now, now);
  no_arguments(event);
  bpf_get_current_comm(event->arguments, 16);
  __u32 at = sizeof(*event);
  if (is_named) {
    at = put_path(scratch, at, 0, task, call, shape);
    if (shape->string[1]) at = put_path(scratch, at, 1, task, call, shape);
  } else {
    struct file* opened = TYPED(file, file);
    at = put_identity(scratch, at, GET(opened, f_inode), opened);
    at = put_open_file(scratch, at, 0, file);
  }
  at &= kMaxEvent - 1;
  event->size = at;
  const long full = bpf_ringbuf_output(&others, scratch->bytes, at, BPF_RB_NO_WAKEUP);
  if (file && !full) *reported_entry(file) = told_value(file);
  return 0;
}
