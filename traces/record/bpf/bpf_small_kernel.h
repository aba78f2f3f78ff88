// Small events, which are the majority, are built directly in the ring without copying. Others are
// built in scratch memory (bpf_parts_kernel.h).
#pragma once

#include "traces/record/bpf/bpf_parts_kernel.h"

enum {
  kSmall = 256,        // upper bound of part offsets
  kSmallString = 120,  // including the terminating zero
  kSmallCopy = 144,
  kSmallName = 63,
  kSmallRecord = kSmall + sizeof(struct bpf_part) + kSmallCopy,
};

// The compiler omits the mask where it knows the bound, but the verifier of Linux 6.1 does not know
// it.
static __always_inline __u8* small_place(__u8* record, __u32 at) {
  barrier_var(at);
  return record + (at & (kSmall - 1));
}

static __always_inline void small_head(__u8* record, __u32 at, __u8 kind, __u8 which, __u8 flags,
                                       __u32 size) {
  fill_head((struct bpf_part*)small_place(record, at), kind, which, flags, size);
}

// Each function returns the offset of the next part; kSmall or more if there is no room.

static __always_inline __u32 small_string(__u8* record, __u32 at, __u8 which, __u64 user) {
  __u8* text = small_place(record, at) + sizeof(struct bpf_part);
  const long size = bpf_probe_read_user_str(text, kSmallString, (const void*)user);
  if (size <= 0 || size >= kSmallString) return kSmall;
  small_head(record, at, PART_STRING, which, 0, size - 1);
  return at + sizeof(struct bpf_part) + (size - 1);
}

static __always_inline __u32 small_copy(__u8* record, __u32 at, __u8 which, __u8 size, __u64 user) {
  __u8* bytes = small_place(record, at) + sizeof(struct bpf_part);
  if (size > kSmallCopy) return kSmall;
  if (bpf_probe_read_user(bytes, size, (const void*)user) != 0) return kSmall;
  small_head(record, at, PART_COPY, which, 0, size);
  return at + sizeof(struct bpf_part) + size;
}

static __always_inline __u32 small_identity(__u8* record, __u32 at, struct file* file) {
  struct bpf_identity* identity =
      (struct bpf_identity*)(small_place(record, at) + sizeof(struct bpf_part));
  identify(GET(file, f_inode), identity);
  identity->open_flags = GET(file, f_flags);
  identity->open_mode = GET(file, f_mode);
  small_head(record, at, PART_IDENTITY, 0, 0, sizeof(*identity));
  return at + sizeof(struct bpf_part) + sizeof(*identity);
}

// Only the name; see PART_SIBLING.
static __always_inline __u32 small_sibling(__u8* record, __u32 at, struct dentry* dentry) {
  const __u32 length = GET(dentry, d_name.len);
  if (length > kSmallName) return kSmall;
  __u8* to = small_place(record, at) + sizeof(struct bpf_part);
  to[0] = length;
  bpf_probe_read_kernel(to + 1, length & kSmallName, GET(dentry, d_name.name));
  small_head(record, at, PART_REAL, 0, PART_SIBLING, 1 + length);
  return at + sizeof(struct bpf_part) + 1 + length;
}
