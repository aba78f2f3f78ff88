// System calls, from start to end.
#pragma once

#include "traces/record/bpf/bpf_others_kernel.h"
#include "traces/record/bpf/bpf_requests_kernel.h"
#include "traces/record/bpf/bpf_small_kernel.h"
#include "traces/record/bpf/bpf_threads_kernel.h"

// Whether the path is relative to the working directory.
static __always_inline int is_relative(const __u8* text, const struct bpf_thread* state,
                                       const volatile struct bpf_shape* shape, __u32 i) {
  const __u8 dir = shape->dir[i & 1];
  return i < 2 && *text != '/' && (!dir || (int)argument(state, dir) == kAtCwd);
}

// The paths of a call, and the bases of relative paths if threads can change them at any time.
static __always_inline __u32 put_strings(struct scratch* scratch, __u32 at,
                                         const struct bpf_thread* state,
                                         const volatile struct bpf_shape* shape) {
  __u32 relative = 0;
  for (__u32 i = 0; i < 3; ++i) {
    const __u64 user = argument(state, shape->string[i]);
    if (!user) continue;  // no such argument, or a null pointer
    const __u32 begin = at;
    at = put_string(scratch, at, i, user);
    if (is_relative(place(scratch, begin + sizeof(struct bpf_part)), state, shape, i)) relative = 1;
  }
  if (relative && state->directory) {
    at = put_real(scratch, at, 1, TYPED(vfsmount, state->directory_mount),
                  TYPED(dentry, state->directory));
  }
  return at;
}

// The second file of an ioctl that clones: its number, or the first member of file_clone_range.
static __always_inline __u64 cloned_file(struct task_struct* task, const struct bpf_thread* state) {
  __u64 number = argument(state, 3);
  if ((__u32)argument(state, 2) == kCloneRange) {
    if (bpf_probe_read_user(&number, sizeof(number), (const void*)number) != 0) return 0;
  } else if ((__u32)argument(state, 2) != kClone) {
    return 0;
  }
  return open_file(task, number);
}

// What the descriptors and relative paths of a call refer to, when it starts. At its end they may
// refer to something else: another thread may have reassigned the number, or the call itself may
// have changed the working directory. Returns whether a file has to be told.
static __always_inline int take_meaning(struct bpf_thread* state, struct task_struct* task,
                                        const volatile struct bpf_shape* shape) {
  int untold = 0;
  state->flags = 0;
  for (__u32 i = 0; i < 2; ++i) {
    const __u8 number = shape->file[i] | shape->dir[i];
    __u64 file = number ? open_file(task, argument(state, number)) : 0;
    if (i == 1 && (shape->flags & SHAPE_CLONES)) file = cloned_file(task, state);
    state->file[i] = file;
    if (!file) continue;
    if (!is_file(file)) {
      state->flags |= i ? EVENT_NO_FILE_2 : EVENT_NO_FILE;
    } else if (!is_told(file)) {
      untold = 1;
    }
  }
  state->directory = 0;
  if (shape->string[0]) {
    struct fs_struct* fs = CAST(task_struct, task)->fs;
    if (fs->users > 1) {
      state->directory = (__u64)GET(fs, pwd.dentry);
      state->directory_mount = (__u64)GET(fs, pwd.mnt);
    }
  }
  return untold;
}

static __always_inline void tell_file(struct scratch* scratch, struct bpf_thread* state,
                                      struct task_struct* task, __u64 address, __u64 number) {
  struct bpf_event* event = (struct bpf_event*)scratch->bytes;
  begin_event(event, EVENT_FILE, 0, task, state->begin_ns, state->begin_ns);
  no_arguments(event);
  event->arguments[0] = number;
  event->file[0] = address;
  event->position = position_of(address);
  struct file* file = TYPED(file, address);
  __u32 at = put_identity(scratch, sizeof(*event), GET(file, f_inode), file);
  at = put_real(scratch, at, 0, GET(file, f_path.mnt), GET(file, f_path.dentry));
  if (send(scratch, at)) set_told(address);
}

// Continues the start of a call that uses files whose names are unknown.
SEC("tp_btf/sys_enter")
int BPF_PROG(files_used) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct bpf_thread* state = find_thread(task->pid);
  struct scratch* scratch = get_scratch();
  if (!scratch || !state) return 0;
  const __u64 begin_ns = bpf_ktime_get_ns();
  const volatile struct bpf_shape* shape = &shapes[state->number & (SHAPES - 1)];
  for (__u32 i = 0; i < 2; ++i) {
    const __u64 address = state->file[i];
    const __u32 other = i ? EVENT_NO_FILE_2 : EVENT_NO_FILE;
    if (!address || (state->flags & other) || is_told(address)) continue;
    tell_file(scratch, state, task, address, argument(state, shape->file[i] | shape->dir[i]));
  }
  account_since(state, begin_ns);
  return 0;
}

// A 32-bit call: the number denotes another call than in 64-bit programs. Calls on files are
// counted.
static __always_inline void count_compat_call(struct bpf_thread* state, struct task_struct* task,
                                              struct pt_regs* regs, __u32 number) {
  const volatile struct bpf_shape* shape = &compat_shapes[number & (SHAPES - 1)];
  if (number >= SHAPES || !shape->recorded) return;
  if (shape->file[0]) {
    keep_compat_arguments(state, regs);
    const __u64 second = shape->file[1] ? open_file(task, argument(state, shape->file[1])) : 0;
    if (!is_file(open_file(task, argument(state, shape->file[0]))) && !is_file(second)) return;
  }
  count_lost(EVENT_CALL, COMPAT_CALLS);
}

struct {
  __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
  __uint(max_entries, 1);
  __uint(key_size, sizeof(__u32));
  __array(values, int());
} starts SEC(".maps") = {.values = {[0] = (void*)&files_used}};

// The descriptors of the call are those of pipes, sockets and the like.
static __always_inline int concerns_no_file(const struct bpf_thread* state) {
  const int first = state->file[0] && !(state->flags & EVENT_NO_FILE);
  const int second = state->file[1] && !(state->flags & EVENT_NO_FILE_2);
  return (state->file[0] || state->file[1]) && !first && !second;
}

// Whether overlapping calls may have to be put in order.
static __always_inline int is_start_reported(const struct bpf_thread* state,
                                             const volatile struct bpf_shape* shape) {
  if (!(shape->flags & (SHAPE_NAMES | SHAPE_CREATES)) || running < 2) return 0;
  return !(shape->flags & SHAPE_CREATES) || (argument(state, shape->open_flags) & kCreate);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_begins, struct pt_regs* regs, long id) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct bpf_thread* state = find_thread(task->pid);
  if (!state || !recording) return 0;
  const __u32 number = (__u32)id & (SHAPES - 1);
  const volatile struct bpf_shape* shape = &shapes[number];
  state->in_call = (__u32)id + 1;
  state->cost_ns += cost_of_other;
  state->number = NO_CALL;
  if (IS_COMPAT_CALL(task)) {
    count_compat_call(state, task, regs, id);
    return 0;
  }
  if (id < 0 || id >= SHAPES || !shape->recorded) return 0;
  keep_arguments(state, regs);
  state->number = number;
  state->begin_ns = bpf_ktime_get_ns();
  const __u32 flags = shape->flags;
  const int untold = take_meaning(state, task, shape);
  if ((flags & SHAPE_FILES_ONLY) && concerns_no_file(state)) {
    state->number = NO_CALL;
    return 0;
  }
  if ((flags & SHAPE_CLOSES) && state->file[0]) *told_entry(state->file[0]) = 0;
  if (flags & SHAPE_OPENS) state->truncates = 0;
  if (flags & SHAPE_SUBMITS) {
    struct submission submission = {.list = argument(state, 3), .count = argument(state, 2)};
    bpf_loop(kMostBuffers, submit_one, &submission, 0);
    return 0;
  }
  if (is_start_reported(state, shape)) {
    struct scratch* scratch = get_scratch();
    if (!scratch) return 0;
    struct bpf_event* event = (struct bpf_event*)scratch->bytes;
    begin_event(event, EVENT_ENTER, number, task, state->begin_ns, state->begin_ns);
    take_arguments(event, state);
    event->file[0] = state->file[0];
    event->file[1] = state->file[1];
    send(scratch, put_strings(scratch, sizeof(*event), state, shape));
    account_since(state, state->begin_ns);
  }
  if (untold) bpf_tail_call(ctx, &starts, 0);
  return 0;
}

// The call is unavailable or is restarted.
static __always_inline int is_ignored_result(long result, __u32 flags) {
  if (result >= 0 || (flags & SHAPE_SUBMITS)) return 0;
  if (result <= -512 && result >= -530) return 1;                    // ERESTARTSYS …
  if (result == -11 || result == -4) return !(flags & SHAPE_LOCKS);  // EAGAIN, EINTR
  return result == -38;                                              // ENOSYS
}

static __always_inline void begin_ended(struct bpf_event* event, const struct bpf_thread* state,
                                        struct task_struct* task) {
  begin_event(event, EVENT_CALL, state->number, task, state->begin_ns, state->end_ns);
  take_arguments(event, state);
  event->result = state->result;
  event->flags = state->flags;
  event->file[0] = state->file[0];
  event->file[1] = state->file[1];
  if (state->file[0]) event->position = position_of(state->file[0]);
}

static __always_inline void tell_size_before(struct bpf_event* event,
                                             const struct bpf_thread* state) {
  if (!state->truncates) return;
  event->flags |= EVENT_TRUNCATED;
  event->position = state->arguments[SIZE_BEFORE];
}

// Builds the event in the ring. If it does not fit, removes it and returns false.
static __always_inline int small_call(struct bpf_thread* state, struct task_struct* task,
                                      const volatile struct bpf_shape* shape) {
  const __u32 flags = shape->flags;
  __u64 opened = 0;
  if ((flags & (SHAPE_OPENS | SHAPE_DUPLICATES)) && state->result >= 0) {
    opened = open_file(task, state->result);
  }
  struct file* file = TYPED(file, opened);
  struct dentry* dentry = 0;
  if (opened && (flags & SHAPE_OPENS)) {
    dentry = GET(file, f_path.dentry);
    const __u64 number = directory_hash(opened);
    const int same = number && number == state->place;
    state->place = number;
    // The long form contains the whole path.
    if (!same || !shape->string[0]) return 0;
  }
  __u8* record = bpf_ringbuf_reserve(&ring, kSmallRecord, 0);
  if (!record) {
    count_lost(EVENT_CALL, state->number);
    state->place = 0;
    return 1;
  }
  struct bpf_event* event = (struct bpf_event*)record;
  begin_ended(event, state, task);
  event->extra = opened;
  if (dentry) tell_size_before(event, state);
  __u32 at = sizeof(*event), relative = 0;
  // The real path of an opened file suffices; reading the program's memory is expensive. A file
  // without a name has the path of its directory.
  const int named =
      dentry && (flags & SHAPE_CREATES) && !(argument(state, shape->open_flags) & kTemporary);
  for (__u32 i = 0; i < 3 && at < kSmall && !named; ++i) {
    const __u64 user = argument(state, shape->string[i]);
    if (!user) continue;
    const __u8* text = small_place(record, at) + sizeof(struct bpf_part);
    at = small_string(record, at, i, user);
    if (is_relative(text, state, shape, i)) relative = 1;
  }
  if (relative && state->directory) at = kSmall;  // its base must be reported, too
  for (__u32 i = 0; i < 2 && at < kSmall; ++i) {
    const __u64 user = argument(state, shape->copy[i]);
    if (user) at = small_copy(record, at, i, shape->copy_size[i], user);
  }
  if (dentry) {
    if (at < kSmall) at = small_identity(record, at, file);
    if (at < kSmall) at = small_sibling(record, at, dentry);
  }
  if (at >= kSmall) {
    bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
    state->place = 0;
    return 0;
  }
  event->size = at;
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
  if (dentry) set_told(opened);
  return 1;
}

// Handles events that do not fit the small form. A separate program, so that the verifier does not
// check both together.
SEC("tp_btf/sys_exit")
int BPF_PROG(large_call) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct bpf_thread* state = find_thread(task->pid);
  struct scratch* scratch = get_scratch();
  if (!scratch || !state) return 0;
  const volatile struct bpf_shape* shape = &shapes[state->number & (SHAPES - 1)];
  const long result = state->result;
  const __u32 flags = shape->flags;
  struct bpf_event* event = (struct bpf_event*)scratch->bytes;
  begin_ended(event, state, task);
  __u32 at = put_strings(scratch, sizeof(*event), state, shape);
  for (__u32 i = 0; i < 2; ++i) {
    const __u64 user = argument(state, shape->copy[i]);
    if (user) at = put_copy(scratch, at, PART_COPY, i, shape->copy_size[i], user);
  }
  if (shape->value) {
    const __u64 size = argument(state, shape->value + 1);
    if (size < kPathMax) {
      at = put_copy(scratch, at, PART_COPY, 0, size, argument(state, shape->value));
    }
  }
  if (shape->buffer && result > 0) {
    at = put_copy(scratch, at, PART_RESULT, 0, result, argument(state, shape->buffer));
  }
  if (shape->vector) {
    const __u64 vector = argument(state, shape->vector);
    event->extra = sum_of_buffers(vector, argument(state, shape->vector + 1));
    if (shape->copy_size[0] && result > 0) {
      at = put_first_buffer(scratch, at, vector, shape->copy_size[0]);
    }
  }
  if ((flags & SHAPE_LISTS) && result > 0) event->extra = count_entries(argument(state, 2), result);
  if ((flags & (SHAPE_OPENS | SHAPE_DUPLICATES)) && result >= 0) {
    event->extra = open_file(task, result);
    if (event->extra && (flags & SHAPE_OPENS)) {
      tell_size_before(event, state);
      struct file* file = TYPED(file, event->extra);
      at = put_identity(scratch, at, GET(file, f_inode), file);
      at = put_real(scratch, at, 0, GET(file, f_path.mnt), GET(file, f_path.dentry));
    }
  }
  if (!send(scratch, at)) {
    state->place = 0;
  } else if (flags & SHAPE_OPENS) {
    set_told(event->extra);
  }
  state->number = NO_CALL;
  account_since(state, state->end_ns);
  report_cost(state, task, kReportedCostNs);
  return 0;
}

struct {
  __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
  __uint(max_entries, 2);
  __uint(key_size, sizeof(__u32));
  __array(values, int());
} programs SEC(".maps") = {.values = {[0] = (void*)&large_call, [1] = (void*)&others_changed}};

SEC("tp_btf/sys_exit")
int BPF_PROG(call_ends, struct pt_regs* regs, long result) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct bpf_thread* state = find_thread(task->pid);
  if (!state) {
    if (is_others_change(task, CALL_NUMBER(regs), result)) bpf_tail_call(ctx, &programs, 1);
    return 0;
  }
  const __u32 number = state->number;
  state->in_call = 0;
  if (number >= SHAPES || !recording) return 0;
  const volatile struct bpf_shape* shape = &shapes[number & (SHAPES - 1)];
  const __u32 flags = shape->flags;
  state->number = NO_CALL;
  if (is_ignored_result(result, flags)) return 0;
  state->end_ns = bpf_ktime_get_ns();
  if (flags & SHAPE_REAPS) {
    struct harvest harvest = {argument(state, 4), state->begin_ns, result, number};
    if (result > 0) bpf_loop(64, reap_some, &harvest, 0);
    return 0;
  }
  if ((flags & SHAPE_MAPS) && (argument(state, 4) & kAnonymous) &&
      !(argument(state, 4) & (kFixed | kFixedNoReplace))) {
    return 0;
  }
  for (__u32 i = 0; i < 2; ++i) {
    const __u8 descriptor = shape->file[i];
    if (descriptor && state->file[i] != open_file(task, argument(state, descriptor))) {
      state->flags |= EVENT_REPLACED;
    }
  }
  state->number = number;
  state->result = result;
  const int is_large = shape->buffer || shape->vector || shape->value || (flags & SHAPE_LISTS);
  const int is_plain = !shape->string[0] && !shape->string[2] && !shape->copy[0] &&
                       !(flags & (SHAPE_OPENS | SHAPE_DUPLICATES));
  if (is_large || (!is_plain && !small_call(state, task, shape))) {
    bpf_tail_call(ctx, &programs, 0);
  } else if (is_plain) {
    state->cost_ns += cost_of_plain;
    struct bpf_event* event = bpf_ringbuf_reserve(&ring, sizeof(*event), 0);
    if (event) {
      begin_ended(event, state, task);
      bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
    } else {
      count_lost(EVENT_CALL, number);
    }
  } else {
    state->cost_ns += cost_of_small;
  }
  state->number = NO_CALL;
  report_cost(state, task, kReportedCostNs);
  return 0;
}

// Called when the kernel truncates a file because of O_TRUNC.
SEC("fentry/do_truncate")
int BPF_PROG(size_truncated, void* owner, struct dentry* dentry) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct bpf_thread* state = find_thread(task->pid);
  if (!state || state->number >= SHAPES) return 0;
  if (!(shapes[state->number & (SHAPES - 1)].flags & SHAPE_OPENS)) return 0;
  state->arguments[SIZE_BEFORE] = CAST(dentry, dentry)->d_inode->i_size;
  state->truncates = 1;
  return 0;
}
