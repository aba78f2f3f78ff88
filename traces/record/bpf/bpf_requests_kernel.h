// Asynchronous requests of libaio and io_uring.
#pragma once

#include "traces/record/bpf/bpf_threads_kernel.h"

struct submission {
  __u64 list;
  __u32 count;
  struct task_struct* task;
};

// The file of a request, if its name is unknown or `always`; see `told`. Sets the flag of what is
// not a file.
static __always_inline __u32 put_used_file(struct scratch* scratch, __u32 at,
                                           struct bpf_event* event, int always) {
  const __u64 address = event->file[0];
  if (!address) return at;
  if (!is_file(address)) {
    event->flags = EVENT_NO_FILE;
    return at;
  }
  if (!always && is_told(address)) return at;
  struct file* file = TYPED(file, address);
  event->position = position_of(address);
  at = put_identity(scratch, at, GET(file, f_inode), file);
  return put_real(scratch, at, 0, GET(file, f_path.mnt), GET(file, f_path.dentry));
}

static __always_inline void send_request(struct scratch* scratch, __u32 at,
                                         const struct bpf_event* event) {
  if (send(scratch, at) && event->file[0]) set_told(event->file[0]);
}

// One request of io_submit. Reported before the kernel sees it, because after that it may complete
// and its memory may be reused.
static long submit_one(__u32 step, struct submission* submission) {
  struct scratch* scratch = get_scratch();
  if (step >= submission->count || !scratch) return 1;
  __u64 user = 0;
  if (bpf_probe_read_user(&user, sizeof(user), (const void*)(submission->list + step * 8ull))) {
    return 1;
  }
  struct task_struct* task = bpf_get_current_task_btf();
  struct bpf_event* event = (struct bpf_event*)scratch->bytes;
  const __u64 now = bpf_ktime_get_ns();
  begin_event(event, EVENT_SUBMIT, 0, task, now, now);
  no_arguments(event);
  event->arguments[0] = user;
  __u32 at = put_copy(scratch, sizeof(*event), PART_ENTRY, 1, 64, user);
  // struct iocb: aio_lio_opcode at 16, aio_fildes at 20, aio_buf at 24, aio_nbytes at 32
  const __u8* entry = place(scratch, sizeof(*event) + sizeof(struct bpf_part));
  const __u32 opcode = *(const __u16*)(entry + 16), descriptor = *(const __u32*)(entry + 20);
  event->file[0] = open_file(task, descriptor);
  if (opcode == 7 || opcode == 8) {  // IOCB_CMD_PREADV, IOCB_CMD_PWRITEV
    event->extra = sum_of_buffers(*(const __u64*)(entry + 24), *(const __u64*)(entry + 32));
  }
  at = put_used_file(scratch, at, event, 0);
  send_request(scratch, at, event);
  return 0;
}

// Reports requests that io_getevents found completed: 128 of them take 4096 bytes.
struct harvest {
  __u64 list;
  __u64 begin_ns;
  __u32 count;
  __u32 number;
};

static long reap_some(__u32 step, struct harvest* harvest) {
  struct scratch* scratch = get_scratch();
  const __u32 first = step * 120;
  if (first >= harvest->count || !scratch) return 1;
  __u32 count = harvest->count - first;
  if (count > 120) count = 120;
  struct bpf_event* event = (struct bpf_event*)scratch->bytes;
  begin_event(event, EVENT_COMPLETE, harvest->number, bpf_get_current_task_btf(), harvest->begin_ns,
              bpf_ktime_get_ns());
  no_arguments(event);
  send(scratch,
       put_copy(scratch, sizeof(*event), PART_ENTRY, 2, count * 32, harvest->list + first * 32ull));
  return 0;
}

// Requests of io_uring in flight, and their submitters.
struct request {
  __u32 thread, process;
  __u32 place;  // index in the ring's own file table, for files opened there, from 1; ~0: any
};
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, kMostRequests);
  __type(key, __u64);
  __type(value, struct request);
} requests SEC(".maps");

static __always_inline __u64 fixed_file(struct io_ring_ctx* context, __u32 index) {
  __u64 pointer = 0;
  if (bpf_core_type_exists(struct io_rsrc_node) &&
      bpf_core_field_exists(context->file_table.data)) {
    struct io_rsrc_node* node = 0;
    if (index >= BPF_CORE_READ(context, file_table.data.nr)) return 0;
    struct io_rsrc_node** nodes = BPF_CORE_READ(context, file_table.data.nodes);
    bpf_probe_read_kernel(&node, sizeof(node), nodes + index);
    pointer = BPF_CORE_READ(node, file_ptr);
  } else {
    struct io_ring_ctx___before_6_13* older = (void*)context;
    if (index >= BPF_CORE_READ(older, nr_user_files)) return 0;
    struct io_fixed_file* files = BPF_CORE_READ(older, file_table.files);
    bpf_probe_read_kernel(&pointer, sizeof(pointer), files + index);
  }
  return pointer & ~7ull;  // the low bits are flags
}

// linux/io_uring.h: struct io_uring_sqe
enum {
  kEntrySize = 64,
  kFixedFile = 1,           // IOSQE_FIXED_FILE
  kSetupNoArray = 1 << 16,  // IORING_SETUP_NO_SQARRAY
  kOpenAt = 18,
  kOpenAt2 = 28,
  kSetupBigEntries = 1 << 10,  // IORING_SETUP_SQE128
};

// The members through which such requests name files, as indexes of 8-byte words.
static __always_inline __u32 put_entry_strings(struct scratch* scratch, __u32 at, __u32 opcode,
                                               const __u64* entry) {
  switch (opcode) {
    case kOpenAt:
    case kOpenAt2:
    case 21:  // STATX
    case 36:  // UNLINKAT
    case 37:  // MKDIRAT
      return put_string(scratch, at, 0, entry[2]);
    case 35:  // RENAMEAT
    case 38:  // SYMLINKAT
    case 39:  // LINKAT
      at = put_string(scratch, at, 0, entry[2]);
      return put_string(scratch, at, 1, entry[1]);
  }
  return at;
}

static __always_inline int submit(struct io_kiocb* request) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct bpf_thread* state = find_thread(task->pid);
  struct scratch* scratch = get_scratch();
  if (!state || !scratch || !recording) return 0;
  struct io_ring_ctx* context = CAST(io_kiocb, request)->ctx;
  __u32 place_of = context->cached_sq_head - 1;
  place_of &= context->sq_entries - 1;
  const __u32 setup = context->flags;
  __u32* array = context->sq_array;
  if (!(setup & kSetupNoArray) && array) {
    bpf_probe_read_kernel(&place_of, sizeof(place_of), (void*)(array + place_of));
  }
  if (setup & kSetupBigEntries) place_of <<= 1;
  struct bpf_event* event = (struct bpf_event*)scratch->bytes;
  const __u64 now = bpf_ktime_get_ns();
  begin_event(event, EVENT_SUBMIT, 0, task, now, now);
  no_arguments(event);
  if (task->flags & kWorker) event->thread = task->tgid;  // the kernel's thread of this ring
  const __u64 key = (__u64)request;
  event->arguments[0] = key;
  __u32 at = sizeof(*event);
  __u64* entry = place(scratch, at + sizeof(struct bpf_part));
  char* entries = context->sq_sqes;
  if (bpf_probe_read_kernel(entry, kEntrySize, entries + place_of * (__u64)kEntrySize)) return 0;
  put_head(scratch, at, PART_ENTRY, 0, 0, kEntrySize);
  at += sizeof(struct bpf_part) + kEntrySize;
  const __u32 opcode = entry[0] & 0xff, flags = (entry[0] >> 8) & 0xff;
  const __u32 descriptor = entry[0] >> 32;
  event->file[0] =
      flags & kFixedFile ? fixed_file(context, descriptor) : open_file(task, descriptor);
  // READV, WRITEV, and their fixed forms
  if (opcode == 1 || opcode == 2 || opcode == 60 || opcode == 61) {
    event->extra = sum_of_buffers(entry[2], entry[3] & 0xffffffff);
  }
  at = put_entry_strings(scratch, at, opcode, entry);
  // The program may have closed all descriptors of a registered file.
  at = put_used_file(scratch, at, event, flags & kFixedFile);
  if (opcode == kOpenAt2) at = put_copy(scratch, at, PART_COPY, 0, 24, entry[1]);
  const __u32 own = opcode == kOpenAt || opcode == kOpenAt2 ? entry[5] >> 32 : 0;
  struct request known = {event->thread, event->process, own};
  if (bpf_map_update_elem(&requests, &key, &known, BPF_ANY) != 0) count_lost(EVENT_COMPLETE, 0);
  send_request(scratch, at, event);
  return 0;
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(request_begins, struct io_kiocb* request) {
  return submit(request);
}

// Its name before Linux 6.4.
SEC("tp_btf/io_uring_submit_sqe")
int BPF_PROG(request_begins_older, struct io_kiocb* request) {
  return submit(request);
}

SEC("tp_btf/io_uring_complete")
int request_ends(__u64* arguments) {
  const __u64 key = arguments[1];
  struct request* known = bpf_map_lookup_elem(&requests, &key);
  if (!known) return 0;
  struct bpf_event* event = bpf_ringbuf_reserve(&ring, sizeof(*event), 0);
  if (!event) {
    count_lost(EVENT_COMPLETE, 0);
    bpf_map_delete_elem(&requests, &key);
    return 0;
  }
  const __u64 now = bpf_ktime_get_ns();
  begin_event(event, EVENT_COMPLETE, 0, bpf_get_current_task_btf(), now, now);
  no_arguments(event);
  event->thread = known->thread;
  event->process = known->process;
  event->arguments[0] = key;
  __s32 result = 0;
  if (has_completion_entry) {
    const struct io_uring_cqe* entry = (void*)arguments[2];
    bpf_core_read(&result, sizeof(result), &entry->res);
  } else {
    result = (__s32)arguments[3];
  }
  event->result = result;
  if (known->place && result >= 0) {
    struct io_ring_ctx* context = TYPED(io_ring_ctx, arguments[0]);
    event->extra = known->place == ~0u ? result : known->place - 1;
    event->file[0] = fixed_file(context, event->extra);
  }
  bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
  bpf_map_delete_elem(&requests, &key);
  return 0;
}
