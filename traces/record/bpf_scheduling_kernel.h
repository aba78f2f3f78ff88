// When recorded threads do not run, and who wakes them. This tells the work of a thread from its
// waits, and the order that pipes, sockets, locks in memory and signals enforce.
#pragma once

#include "traces/record/bpf_threads_kernel.h"

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
