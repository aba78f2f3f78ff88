// Memory maps. Only requests to the page cache are visible, not anonymous memory.
#pragma once

#include "traces/record/bpf/bpf_threads_kernel.h"

// A call's write to its own files is not a store to a map. A store to another file is: the call may
// read into a buffer that maps that file.
static __always_inline int is_own_write(struct bpf_thread* state, struct task_struct* task,
                                        struct inode* inode) {
  if (!state->in_call) return 0;
  const __u32 number = state->in_call - 1;
  const volatile struct bpf_shape* shape = &shapes[number & (SHAPES - 1)];
  if (number == kEnterRing || (shape->flags & SHAPE_SUBMITS)) return 1;  // requests write, too
  if (!shape->recorded) return 0;
  for (__u32 i = 0; i < 2; ++i) {
    if (!shape->file[i]) continue;
    const __u64 address = open_file(task, argument(state, shape->file[i]));
    struct file* file = TYPED(file, address);
    if (address && GET(file, f_inode) == inode) return 1;
  }
  return shape->file[0] == 0;  // truncate and similar calls
}

static __always_inline int fault(int in_function, struct inode* inode, __u64 first, __u64 pages,
                                 __u64 write) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct bpf_thread* state = find_thread(task->pid);
  if (!state || !recording || !inode) return 0;
  if (write && (task->flags & kWorker || is_own_write(state, task, inode))) return 0;
  if ((GET(inode, i_mode) & kFormat) != kRegular) return 0;
  __u32 whose = kOfTracepoints;
  struct scratch* scratch = in_function ? take_scratch(&whose) : get_scratch();
  if (!scratch) {
    count_lost(EVENT_FAULT, 0);
    return 0;
  }
  struct bpf_event* event = (struct bpf_event*)scratch->bytes;
  const __u64 now = bpf_ktime_get_ns();
  begin_event(event, EVENT_FAULT, 0, task, now, now);
  no_arguments(event);
  event->arguments[0] = first;
  event->arguments[1] = pages;
  event->arguments[2] = write;
  __u32 at = put_identity(scratch, sizeof(*event), inode, 0);
  send(scratch, put_alias(scratch, whose, at, inode));
  if (in_function) give_back(scratch);
  account_since(state, now);
  return 0;
}

SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(page_needed, struct address_space* mapping, unsigned long index) {
  return fault(0, CAST(address_space, mapping)->host, index, 1, 0);
}

SEC("tp_btf/mm_filemap_map_pages")
int BPF_PROG(pages_mapped, struct address_space* mapping, unsigned long first, unsigned long last) {
  return fault(0, CAST(address_space, mapping)->host, first, last - first + 1, 0);
}

SEC("tp_btf/writeback_dirty_folio")
int BPF_PROG(page_dirtied, struct folio* folio, struct address_space* mapping) {
  return mapping ? fault(0, CAST(address_space, mapping)->host, folio->index, 1, 1) : 0;
}

// The same for kernels before Linux 6.11, which lack the tracepoints for reading. There are no
// pages beyond the end of the file, although they may be requested.
static __always_inline int fault_of_function(struct vm_fault* of, __u64 first, __u64 last) {
  struct inode* inode = CAST(vm_fault, of)->vma->vm_file->f_mapping->host;
  const __u64 pages = ((__u64)inode->i_size + (1ull << page_shift) - 1) >> page_shift;
  if (first >= pages) return 0;
  if (last >= pages) last = pages - 1;
  return fault(1, inode, first, last - first + 1, 0);
}

SEC("fentry/filemap_fault")
int BPF_PROG(page_needed_older, struct vm_fault* of) {
  return fault_of_function(of, of->pgoff, of->pgoff);
}

SEC("fexit/filemap_map_pages")
int BPF_PROG(pages_mapped_older, struct vm_fault* of, unsigned long first, unsigned long last,
             unsigned int result) {
  return result & kMapped ? fault_of_function(of, first, last) : 0;
}
