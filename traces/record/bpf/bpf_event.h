// The protocol between the kernel program and the recorder.
//
// The kernel reports, the recorder interprets. An event has what only the kernel knows, at the only
// moment when it is right: which open file a descriptor was when the call started, where a relative
// path began, what the open file's position was after the call, the resolved path and the identity
// of an opened file. Asked later, from /proc, the number may be another file. All that can be
// concluded later is left to the recorder.
//
// The ring is that of the kernel (BPF_MAP_TYPE_RINGBUF), written by all processors. Records appear
// in it in the order of reservation, which is nearly that of the ends of calls, but not exactly;
// call_order.cc expects that. Two rings: what other processes do (EVENT_OTHER) has its own, or it
// could displace events of the recorded program. Nothing in the kernel waits. An event that finds
// no room is dropped and counted by kind and call in `lost`, which the recorder reports with the
// trace.
//
// Which parts a call's event has, is a row of data: bpf_shape, one for each number of a system
// call, filled by the recorder from the table of calls (bpf_calls.cc) before loading. So the kernel
// program knows hardly any calls, only shapes. Strings and structures are read at the end of a call
// (except for EVENT_ENTER): by then the kernel has read them, so their pages are in memory.
//
// To save time and room, some things are sent once: the name of an open file (told, in
// bpf_threads_kernel.h), and the directory of consecutive opens (PART_SIBLING). After a lost event,
// the kernel side must not refer to what it contained: it forgets bpf_thread::place, and marks a
// file as told only if its event was sent. Both are the first to check when changing an event.
//
// Both sides are always of the same build, so numbers and layouts may change freely. File formats
// do not depend on them.
//
// The events that the kernel program sends to the recorder; C for both sides. An event is a head
// followed by parts, up to the end of the record in the ring. All numbers use the machine's byte
// order.
#pragma once

#ifdef __cplusplus
#include <linux/types.h>
#else
#include "traces/record/bpf/bpf_types_kernel.h"
#endif

enum event_kind {
  EVENT_CALL = 0,      // a system call has ended
  EVENT_ENTER = 1,     // a call has started whose start the order of calls needs (SHAPE_NAMES)
  EVENT_FORK = 2,      // result: the new thread; arguments[0]: CLONE_*
  EVENT_EXEC = 3,      // arguments[0]: the thread's previous number
  EVENT_EXIT = 4,      // the thread has ended; result: its status, as from wait
  EVENT_FAULT = 5,     // arguments: first page, pages, 1 for a write; PART_IDENTITY, PART_REAL
  EVENT_SUBMIT = 6,    // arguments[0]: the request; [1]: bytes of its buffers; PART_ENTRY; file[0]
  EVENT_COMPLETE = 7,  // arguments[0]: the request; result; for a file opened into the ring's own
                       // table: extra: its index, file[0]
  EVENT_WAIT = 8,      // the thread was off the processors; flags: event_wait;
                       // arguments[0]: ns until it was woken, or spent by the recorder; [1]: 1 if a
                       // signal had stopped it; result: the thread that woke it
  EVENT_WAKE = 9,      // the thread woke the waiting thread `result`
  EVENT_FILE = 10,     // an open file not reported before is used by the call that starts: file[0],
                       // position; arguments[0]: its descriptor; PART_IDENTITY, PART_REAL
  EVENT_OTHER = 11,    // a process that is not recorded has changed files by a call; arguments[0],
                     // [1]: name of its program; PART_STRING: its paths, PART_REAL: their bases, or
                     // the open file, with PART_IDENTITY
  EVENT_KINDS = 12,
};

enum event_flags {
  EVENT_TRUNCATED = 1,  // an open: `position` is the file's size before O_TRUNC
  EVENT_NO_FILE = 2,    // file[0] is a pipe, a socket, a device …
  EVENT_NO_FILE_2 = 4,  // the same for file[1]
  EVENT_REPLACED = 8,   // a descriptor was reassigned during the call; `position` is unknown
};

// Flags of EVENT_WAIT; the first ones are those of the operation (wait_flags in
// traces/operation.h).
enum event_wait {
  WAIT_FOR_THREAD = 0,
  WAIT_FOR_OUTSIDE = 1,
  WAIT_FOR_PROCESSOR = 2,
  WAIT_FOR_RECORDER = 3,
  WAIT_FOR_PAGE = 4,  // of a mapped file, or swapped out
};

struct bpf_event {
  __u8 kind;
  __u8 flags;
  __u16 number;  // of the system call
  __u32 size;    // including all parts
  __u32 thread, process;
  __u64 begin_ns, end_ns;  // CLOCK_MONOTONIC
  __s64 result;
  __u64 arguments[6];
  __u64 file[2];   // open files behind descriptor arguments, or bases of paths, at its start
  __u64 position;  // of file[0], after the call
  __u64 extra;     // number of listed entries, bytes of all buffers, or the resulting open file
};

enum part_kind {
  PART_STRING = 1,    // a path or text; which: 0 path, 1 path2, 2 text; without a terminating zero
  PART_COPY = 2,      // bytes behind a pointer; which: 0 or 1
  PART_IDENTITY = 3,  // struct bpf_identity, of file[0] or of the opened file
  PART_REAL = 4,      // path components, last first: length byte, text; which: 0 file, 1 directory
  PART_ENTRY = 5,     // struct io_uring_sqe, struct iocb, or several struct io_event
  PART_RESULT = 6,    // data that the call put into the buffer
};

enum part_flags {
  PART_CUT = 1,      // could not be read completely or at all
  PART_DELETED = 2,  // the name has been removed
  PART_SIBLING = 8,  // only the last component: the rest is as in this thread's previous open
  PART_PARTIAL = 4,  // the path is relative to the root of its file system, not the recorder's
};

struct bpf_part {
  __u8 kind, which;
  __u8 flags;
  __u8 unused;
  __u32 size;  // of the following data
};

struct bpf_identity {
  __u64 inode, size;
  __u32 device, generation;  // device: as in the kernel, with a 20-bit minor number
  __u32 mode;                // S_IF* and permissions
  __u32 open_flags;          // O_*
  __u32 open_mode;           // FMODE_*
  __u32 unused;
};

// Data to attach to the event of a system call. Argument numbers count from 1; 0: none.
enum shape_flags {
  SHAPE_OPENS = 1,         // the result is a descriptor: identity and real path of its file
  SHAPE_FILES_ONLY = 2,    // no event if the descriptor is a pipe, a socket or a terminal
  SHAPE_NAMES = 4,         // changes names, locks or waits: report its start if several threads run
  SHAPE_CREATES = 8,       // the same for an open, if its flags (arguments[flag]) contain O_CREAT
  SHAPE_LISTS = 16,        // count the entries in the buffer (the second argument)
  SHAPE_MAPS = 32,         // anonymous memory only if its address is given
  SHAPE_SUBMITS = 64,      // io_submit
  SHAPE_REAPS = 128,       // io_getevents
  SHAPE_LOCKS = 256,       // EAGAIN is a valid result
  SHAPE_DUPLICATES = 512,  // the result is a descriptor: report only its open file
  SHAPE_JOINS = 1024,      // waits for the end of a process
  SHAPE_EXECUTES = 2048,   // lets the parent of a vfork continue
  SHAPE_CLOSES = 4096,     // its descriptor is closed
  SHAPE_CLONES = 8192,     // ioctl: FICLONE and FICLONERANGE name a second file
  SHAPE_CHANGES = 16384,   // changes a file or names: of interest if another process calls it
};

enum {
  SHAPES = 512,
  COMPAT_CALLS = 511,  // index of lost 32-bit calls
};

struct bpf_shape {
  __u16 flags;
  __u8 recorded;
  __u8 file[2];    // descriptors
  __u8 dir[2];     // base descriptors of paths
  __u8 string[3];  // path, path2, text
  __u8 copy[2], copy_size[2];
  __u8 vector;      // struct iovec[]; its length is the next argument
  __u8 buffer;      // the result's buffer, `result` bytes
  __u8 open_flags;  // of SHAPE_CREATES
  __u8 value;       // bytes to copy; their number is the next argument
};

// State of a recorded thread. States are in a two-way set-associative array indexed by thread ID,
// so that lookups are cheap for threads that are not recorded, too.
enum { THREAD_SLOTS = 65536, NO_CALL = 0xffff, SIZE_BEFORE = 7 };

struct bpf_thread {
  __u32 thread;     // 0: the entry is free
  __u32 number;     // of the system call in flight; NO_CALL: none that matters
  __u32 in_call;    // also set for calls that do not matter
  __u16 truncates;  // an open has O_TRUNC: arguments[SIZE_BEFORE] is the size before
  __u16 is_worker;  // an io_uring worker: not counted, makes no calls
  __u32 flags;      // of the call's event: event_flags
  __u32 stopped;    // it left its processor because a signal stopped it
  __u64 begin_ns, end_ns;
  __u64 arguments[8];  // of the call, from index 1
  __s64 result;
  __u64 file[2];  // behind its descriptors when it started
  // The working directory when it started, if other threads share it; otherwise 0.
  __u64 directory, directory_mount;
  __u64 place;     // directory of the last opened file; 0: unknown
  __u64 off_ns;    // when it left its processor; 0: it has one
  __u64 woken_ns;  // when it was woken since then; 0: not yet
  __u32 waker;     // the recorded thread that woke it; 0: something else
  __u32 blocked;   // it waits for something, otherwise for a processor
  __u64 cost_ns;   // time that the recorder took from it and has not reported
};

static inline __u32 bpf_first_slot(__u32 thread) {
  return thread & (THREAD_SLOTS - 1);
}
static inline __u32 bpf_second_slot(__u32 thread) {
  return (thread * 0x9e3779b1u >> 16) & (THREAD_SLOTS - 1);
}
