// The recorded threads, and the data common to all events.
//
// Every system call of the machine comes through here, and nearly all belong to threads that are
// not recorded. The look-up that finds this out must be cheap. So `threads` is a plain array with
// two places for each thread (bpf_first_slot, bpf_second_slot), and the second is looked at only if
// any thread has needed it (`crowded`): an index and a comparison. If both places of a new thread
// are taken, it is not recorded, and counted as lost.
//
// Who owns an entry: the thread that it is about, while it runs. Programs of a thread run on its
// processor, at its own calls, switches and faults, so members need no locks. Others write to it in
// two cases: to take a free entry for a new thread, and when they wake it (woken_ns, waker).
// Entries are taken and freed by compare and exchange of `thread`. `running` counts those that are
// not io_uring workers; the recording ends when it is 0, so each entry must be counted down once
// (leave_thread).
//
// The time that the recorder takes from a thread is part of the protocol: programs add it to
// cost_ns and report it from time to time, so that it can be subtracted from the thread's work.
#pragma once

// clang-format off: libbpf's headers need the kernel's types before them
#include "traces/record/bpf/bpf_parts_kernel.h"
#include <bpf/bpf_tracing.h>
// clang-format on

enum {
  kCreate = 0100,          // O_CREAT
  kTemporary = 020000000,  // part of O_TMPFILE
  kAtCwd = -100,           // AT_FDCWD
  kFixed = 0x10,           // MAP_FIXED
  kFixedNoReplace = 0x100000,
  kAnonymous = 0x20,
  kWorker = 0x10 | 0x4000,  // PF_IO_WORKER, PF_USER_WORKER
  kExiting = 4,             // PF_EXITING
  kMostGenerations = 64,
  kEnterRing = 426,  // io_uring_enter
  kMostRequests = 65536,
  kFormat = 0170000,
  kRegular = 0100000,
  kDirectory = 0040000,
  kLink = 0120000,
  kMapped = 0x100,  // VM_FAULT_NOPAGE: the required page is present
  kReportedCostNs = 20000,
  kToldFiles = 16384,
  kClone = 0x40049409,       // FICLONE
  kCloneRange = 0x4020940d,  // FICLONERANGE
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, THREAD_SLOTS);
  __type(key, __u32);
  __type(value, struct bpf_thread);
} threads SEC(".maps");

const volatile struct bpf_shape shapes[SHAPES];
const volatile struct bpf_shape compat_shapes[SHAPES];  // by number of the 32-bit call
const volatile __u32 has_completion_entry = 0;          // io_uring_complete passes a cqe
const volatile __u32 page_shift = 12;                   // binary logarithm of the page size
__u32 running = 0;                                      // number of recorded threads
__u32 recording = 0;
__u32 crowded = 0;      // some thread uses its second entry
__u32 own_process = 0;  // filereel
// What the recorder takes from a thread, in ns: for a call that is not reported, for one whose
// event has no parts, and for one whose event fits the small form. Measured at the start
// (Calibration). Everything else is measured as it happens.
__u32 cost_of_other = 0, cost_of_plain = 0, cost_of_small = 0;

static __always_inline struct bpf_thread* find_thread(__u32 thread) {
  if (!thread) return 0;  // an idle processor, not a free entry
  __u32 place = bpf_first_slot(thread);
  struct bpf_thread* found = bpf_map_lookup_elem(&threads, &place);
  if (found && found->thread == thread) return found;
  if (!crowded) return 0;
  place = bpf_second_slot(thread);
  found = bpf_map_lookup_elem(&threads, &place);
  return found && found->thread == thread ? found : 0;
}

// A free entry for the thread; 0 if there is none.
static __always_inline struct bpf_thread* add_thread(__u32 thread) {
  __u32 place = bpf_first_slot(thread);
  struct bpf_thread* added = bpf_map_lookup_elem(&threads, &place);
  if (!added || !__sync_bool_compare_and_swap(&added->thread, 0, thread)) {
    place = bpf_second_slot(thread);
    added = bpf_map_lookup_elem(&threads, &place);
    if (!added || !__sync_bool_compare_and_swap(&added->thread, 0, thread)) return 0;
    crowded = 1;
  }
  added->number = NO_CALL;
  added->in_call = 0;
  added->is_worker = 0;
  added->begin_ns = 0;
  added->place = 0;
  added->cost_ns = 0;
  added->stopped = 0;
  added->off_ns = 0;
  added->woken_ns = 0;
  added->waker = 0;
  return added;
}

// The address of the open file behind a descriptor; 0: none.
static __always_inline __u64 open_file(struct task_struct* task, __u64 descriptor) {
  struct fdtable* table = CAST(task_struct, task)->files->fdt;
  if ((__u32)descriptor >= table->max_fds) return 0;
#ifdef RECORDER_DIRECT
  return (__u64)table->fd[(__u32)descriptor];
#else
  __u64 file = 0;
  bpf_probe_read_kernel(&file, sizeof(file), (void*)(table->fd + (__u32)descriptor));
  return file;
#endif
}

static __always_inline int is_file(__u64 address) {
  if (!address) return 0;
  struct file* file = TYPED(file, address);
  struct inode* inode = GET(file, f_inode);
  const __u32 format = GET(inode, i_mode) & kFormat;
  return format == kRegular || format == kDirectory || format == kLink;
}

// The open files whose names the recorder knows, by a hash of their addresses; 0: none. What the
// recorder learns later, from /proc, may be about another file: the number of a descriptor, and the
// address of an open file, are reused. So the first call on an open file whose open was not seen
// reports its name (EVENT_FILE), as the kernel knows it when the call starts. An entry that others
// take over only causes another report. An address that is reused has another inode, which is part
// of the entry; or the trace contains the open.
__u64 told[kToldFiles];

static __always_inline __u64* told_entry(__u64 address) {
  return &told[(address * 0x9e3779b97f4a7c15ull >> 50) & (kToldFiles - 1)];
}
static __always_inline __u64 told_value(__u64 address) {
  struct file* file = TYPED(file, address);
  struct inode* inode = GET(file, f_inode);
  struct super_block* super = GET(inode, i_sb);
  // Numbers: where pointers have types, the verifier rejects calculations with the inode's address.
  const __u64 device = GET(super, s_dev), generation = GET(inode, i_generation);
  return address + 3 * (GET(inode, i_ino) + (device << 32) + (generation << 16));
}
static __always_inline int is_told(__u64 address) {
  return *told_entry(address) == told_value(address);
}
static __always_inline void set_told(__u64 address) {
  if (address) *told_entry(address) = told_value(address);
}

static __always_inline __u64 position_of(__u64 address) {
  struct file* file = TYPED(file, address);
  return GET(file, f_pos);
}

static __always_inline void keep_arguments(struct bpf_thread* state, struct pt_regs* regs) {
  const __u64 values[6] = CALL_ARGUMENTS(regs);
  for (__u32 i = 0; i < 6; ++i) state->arguments[i + 1] = values[i];
}

// The arguments of a 32-bit call that can be descriptors.
static __always_inline void keep_compat_arguments(struct bpf_thread* state, struct pt_regs* regs) {
  const __u64 values[5] = COMPAT_ARGUMENTS(regs);
  for (__u32 i = 0; i < 5; ++i) state->arguments[i + 1] = values[i];
}

// Counted from 1; argument 0 is 0.
static __always_inline __u64 argument(const struct bpf_thread* state, __u32 number) {
  return state->arguments[number & 7];
}

static __always_inline void begin_event(struct bpf_event* event, __u32 kind, __u32 number,
                                        struct task_struct* task, __u64 begin_ns, __u64 end_ns) {
  event->kind = kind;
  event->flags = 0;
  event->number = number;
  event->size = sizeof(*event);
  event->thread = task->pid;
  event->process = task->tgid;
  event->begin_ns = begin_ns;
  event->end_ns = end_ns;
  event->result = 0;
  event->file[0] = event->file[1] = 0;
  event->position = event->extra = 0;
}

static __always_inline void no_arguments(struct bpf_event* event) {
  event->arguments[0] = event->arguments[1] = event->arguments[2] = 0;
  event->arguments[3] = event->arguments[4] = event->arguments[5] = 0;
}

static __always_inline void take_arguments(struct bpf_event* event,
                                           const struct bpf_thread* state) {
  for (__u32 i = 0; i < 6; ++i) event->arguments[i] = state->arguments[i + 1];
}

static __always_inline struct bpf_event* reserve(__u32 kind, struct task_struct* task,
                                                 __u64 begin_ns) {
  struct bpf_event* event = bpf_ringbuf_reserve(&ring, sizeof(*event), 0);
  const __u64 now = bpf_ktime_get_ns();
  if (!event) {
    count_lost(kind, 0);
    return 0;
  }
  begin_event(event, kind, 0, task, begin_ns ? begin_ns : now, now);
  no_arguments(event);
  return event;
}

// Adds the time since `begin_ns` to what the recorder took from the thread, and the start of a
// program: half of what both programs of a call take that is not recorded. In calls, whose starts
// count already, it stands for keeping their arguments.
static __always_inline void account_since(struct bpf_thread* state, __u64 begin_ns) {
  state->cost_ns += bpf_ktime_get_ns() - begin_ns + cost_of_other / 2;
}

// Reports what the recorder took, if that is at least `least` ns.
static __always_inline void report_cost(struct bpf_thread* state, struct task_struct* task,
                                        __u64 least) {
  if (state->cost_ns < least) return;
  const __u64 cost = state->cost_ns;
  state->cost_ns = 0;
  struct bpf_event* event = reserve(EVENT_WAIT, task, 0);
  if (!event) return;
  event->flags = WAIT_FOR_RECORDER;
  event->arguments[0] = cost;
  bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

// Frees the entry of an ending thread. False if that was done before or the thread is not counted.
static __always_inline int leave_thread(struct bpf_thread* state, struct task_struct* task) {
  const __u32 thread = task->pid;
  const int is_worker = state->is_worker;
  if (!__sync_bool_compare_and_swap(&state->thread, thread, 0)) return 0;
  if (is_worker) return 0;
  __sync_fetch_and_add(&running, -1);
  return 1;
}

static __always_inline void end_thread(struct bpf_thread* state, struct task_struct* task) {
  if (recording && !state->is_worker) report_cost(state, task, 1);
  if (!leave_thread(state, task)) return;
  struct bpf_event* event = reserve(EVENT_EXIT, task, 0);
  if (!event) return;
  event->result = GET(CAST(task_struct, task), exit_code);
  bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}
