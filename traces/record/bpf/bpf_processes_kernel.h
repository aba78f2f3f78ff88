// Threads and processes, from start to end.
#pragma once

#include "traces/record/bpf/bpf_threads_kernel.h"

SEC("tp_btf/task_newtask")
int BPF_PROG(thread_begins, struct task_struct* child, __u64 flags) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct bpf_thread* state = find_thread(task->pid);
  if (!state || !recording) return 0;
  if (find_thread(child->pid)) return 0;  // already added by the scan of running threads
  struct bpf_thread* added = add_thread(child->pid);
  if (!added) {
    count_lost(EVENT_FORK, 0);
    return 0;
  }
  // io_uring workers make no calls, but submit for others. Some kernels do not identify them when
  // they end.
  added->is_worker = (child->flags & kWorker) != 0;
  if (added->is_worker) return 0;
  __sync_fetch_and_add(&running, 1);
  struct bpf_event* event = reserve(EVENT_FORK, task, state->begin_ns);
  if (!event) return 0;
  event->result = child->pid;
  event->arguments[0] = flags;
  const __u64 begin_ns = event->end_ns;
  added->off_ns = begin_ns;  // it waits for its first processor
  added->blocked = 0;
  bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
  account_since(state, begin_ns);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(program_begins, struct task_struct* task, int old_thread, struct linux_binprm* bprm) {
  struct bpf_thread* state = find_thread(old_thread);
  struct scratch* scratch = get_scratch();
  if (!state || !scratch || !recording) return 0;
  const __u64 begin_ns = state->begin_ns;
  state->number = NO_CALL;        // the end of the call itself adds nothing
  if (old_thread != task->pid) {  // it continues under the number of its process
    state->thread = 0;
    struct bpf_thread* leader = find_thread(task->pid);
    if (leader) end_thread(leader, task);
    state = add_thread(task->pid);
    if (!state) {
      count_lost(EVENT_EXEC, 0);
      return 0;
    }
    state->in_call = 1;
  }
  struct bpf_event* event = (struct bpf_event*)scratch->bytes;
  const __u64 now = bpf_ktime_get_ns();
  begin_event(event, EVENT_EXEC, 0, task, begin_ns ? begin_ns : now, now);
  no_arguments(event);
  event->arguments[0] = old_thread;
  __u32 at = sizeof(*event);
  __u8* text = place(scratch, at + sizeof(struct bpf_part));
  const long size = bpf_probe_read_kernel_str(text, kPathMax, CAST(linux_binprm, bprm)->filename);
  const __u32 length = size > 0 ? (size - 1) & (kPathMax - 1) : 0;
  put_head(scratch, at, PART_STRING, 0, size > 0 ? 0 : PART_CUT, length);
  at += sizeof(struct bpf_part) + length;
  struct file* file = CAST(linux_binprm, bprm)->file;
  if (file) {
    at = put_identity(scratch, at, GET(file, f_inode), file);
    at = put_real(scratch, at, 0, GET(file, f_path.mnt), GET(file, f_path.dentry));
  }
  send(scratch, at);
  account_since(state, now);
  return 0;
}

// Existing processes: walks all threads of the machine, adds those of the wanted process and its
// descendants, and reports them. Threads created meanwhile are followed from their start or are
// found by another pass.
__u32 wanted_process = 0;

static __always_inline int is_wanted(struct task_struct* of) {
  struct task_struct* task = CAST(task_struct, of);
  for (int i = 0; i < kMostGenerations; ++i) {
    const __u32 process = task->tgid;
    if (process == own_process || process <= 1) return 0;
    if (process == wanted_process) return 1;
    task = task->real_parent;
    if (!task) return 0;
  }
  return 0;
}

SEC("iter/task")
int take_up_threads(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (task && (__u32)task->pid == own_process) find_own_root(task);
  if (!task || (task->flags & kExiting) || find_thread(task->pid) || !is_wanted(task)) return 0;
  struct bpf_thread* state = add_thread(task->pid);
  if (!state) {
    count_lost(EVENT_FORK, 0);
    return 0;
  }
  state->is_worker = (task->flags & kWorker) != 0;
  if (!state->is_worker) __sync_fetch_and_add(&running, 1);
  // If it ended meanwhile, nothing else reports that.
  if (task->flags & kExiting) {
    leave_thread(state, task);
    return 0;
  }
  const __u32 found[2] = {task->tgid, task->pid};
  if (!state->is_worker) bpf_seq_write(context->meta->seq, found, sizeof(found));
  return 0;
}

// When recorded threads do not run, and who wakes them. This tells the work of a thread from its
// waits, and the order that pipes, sockets, locks in memory and signals enforce.

enum {
  kDead = 0x80,            // TASK_DEAD: the last switch of a thread
  kStopped = 0x4,          // __TASK_STOPPED: by SIGSTOP and its like
  kShortestWaitNs = 2000,  // shorter waits for a processor are not reported
};

// Whether a wait of the thread is not a part of an operation: the call in flight does not concern
// files, or there is none. The end of a process is an operation (join).
static __always_inline int waits_by_itself(struct bpf_thread* state, struct task_struct* task) {
  if (!state->in_call) return 1;  // a page fault
  const __u32 number = state->in_call - 1;
  if (number >= SHAPES) return 1;
  const volatile struct bpf_shape* shape = &shapes[number & (SHAPES - 1)];
  if (!shape->recorded || (shape->flags & SHAPE_EXECUTES)) return 1;
  if (shape->string[0] || (shape->flags & (SHAPE_JOINS | SHAPE_SUBMITS | SHAPE_REAPS))) return 0;
  for (__u32 i = 0; i < 2; ++i) {
    if (shape->file[i] && is_file(open_file(task, argument(state, shape->file[i])))) return 0;
  }
  return number != kEnterRing;
}

static __always_inline void leaves_processor(struct task_struct* task, int preempted) {
  struct bpf_thread* state = find_thread(task->pid);
  if (!state) return;
  if (task->__state & kDead) return end_thread(state, task);
  if (!recording || state->is_worker) return;
  state->off_ns = bpf_ktime_get_ns();
  state->stopped = (task->__state & kStopped) != 0;
  state->blocked = !preempted && (task->__state != 0 || state->woken_ns != 0);
}

static __always_inline void gets_processor(struct task_struct* task) {
  struct bpf_thread* state = find_thread(task->pid);
  if (!state || !state->off_ns) return;
  const __u64 begin = state->off_ns, woken = state->woken_ns;
  const int blocked = state->blocked;
  state->off_ns = state->woken_ns = 0;
  const __u64 now = bpf_ktime_get_ns();
  if (!blocked && now - begin < kShortestWaitNs) return;
  if (!waits_by_itself(state, task)) return;
  struct bpf_event* event = reserve(EVENT_WAIT, task, begin);
  if (!event) return;
  event->end_ns = now;
  event->flags = !blocked          ? WAIT_FOR_PROCESSOR
                 : !state->in_call ? WAIT_FOR_PAGE
                 : state->waker    ? WAIT_FOR_THREAD
                                   : WAIT_FOR_OUTSIDE;
  event->result = blocked ? state->waker : 0;
  event->arguments[0] = woken > begin ? woken - begin : 0;
  event->arguments[1] = state->stopped;
  bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
  account_since(state, now);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(processor_passes, _Bool preempted, struct task_struct* before,
             struct task_struct* after) {
  leaves_processor(before, preempted);
  if (recording) gets_processor(after);
  return 0;
}

// Whether the thread wakes others by what it does. Otherwise, an interrupt that has nothing to do
// with it has taken its processor: calls on files wake nobody.
static __always_inline int can_wake(struct bpf_thread* state, struct task_struct* task) {
  if (task->flags & kExiting) return 1;
  return state->in_call && waits_by_itself(state, task);
}

static __always_inline void tell_waker(struct bpf_thread* state, struct task_struct* woken,
                                       struct bpf_thread* own, struct task_struct* task) {
  state->woken_ns = bpf_ktime_get_ns();
  state->waker = 0;
  if (!own && (task->flags & kExiting) && task->real_parent->tgid == woken->tgid) {
    state->waker = task->pid;  // it has ended when it wakes more threads of its parent
  }
  if (!own || task->pid == woken->pid || !can_wake(own, task)) return;
  state->waker = task->pid;
  struct bpf_event* event = reserve(EVENT_WAKE, task, 0);
  if (!event) return;
  event->result = woken->pid;
  bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
  account_since(own, state->woken_ns);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(thread_wakes, struct task_struct* woken) {
  struct bpf_thread* state = find_thread(woken->pid);
  if (!state || !recording) return 0;
  struct task_struct* task = bpf_get_current_task_btf();
  struct bpf_thread* own = find_thread(task->pid);
  if (waits_by_itself(state, woken)) tell_waker(state, woken, own, task);
  // A process that wakes its parent has ended. The parent must not be told before it.
  if (own && task->exit_state) end_thread(own, task);
  return 0;
}
