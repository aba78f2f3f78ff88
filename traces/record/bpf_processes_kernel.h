// Threads and processes, from start to end.
#pragma once

#include "traces/record/bpf_threads_kernel.h"

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
