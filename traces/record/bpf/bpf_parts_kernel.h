// Builds events part by part, in memory of the current processor. The builder must not be
// interrupted by another: tracepoints run with preemption disabled. Programs attached to functions
// do not; they have their own memory, which they take and give back.
//
// The verifier shapes this code. It follows every path through a program and must find a bound for
// each access. So offsets are masked where they are used (place), kept from the compiler's
// conclusions (barrier_var), and made unknown again after each part (any_offset): otherwise the
// paths of all parts multiply. Long loops are bpf_loop with a callback, whose body is checked once.
// A change that compiles may still be rejected, by one kernel only; other_kernel.py tries kernels.
#pragma once

// clang-format off: libbpf's headers need the kernel's types before them
#include "traces/record/bpf/bpf_event.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
// clang-format on

// Access to members of kernel structures. From Linux 6.2 on, a pointer can be cast to its type and
// members are read directly; before, each access takes a call. The same source is built for both.
#ifdef RECORDER_TYPED
extern void* bpf_rdonly_cast(const void* pointer, __u32 type) __ksym;
#define GET(pointer, member) ((pointer)->member)
#define TYPED(type, pointer) \
  ((struct type*)bpf_rdonly_cast((const void*)(pointer), bpf_core_type_id_kernel(struct type)))
// A trusted pointer, from which pointers are read. For each of these, the verifier searches the
// kernel's types by name, which takes longer than all else; for a cast pointer, it does not.
#define CAST(type, pointer) TYPED(type, pointer)
#else
#define GET(pointer, member) BPF_CORE_READ(pointer, member)
#define TYPED(type, pointer) ((struct type*)(pointer))
#define CAST(type, pointer) (pointer)
#endif

enum {
  kPathMax = 4096,
  kMaxEvent = 0x4000,     // upper bound of offsets in an event
  kMostComponents = 512,  // in a real path
  kMostCheapLevels = 16,
  kMostRealBytes = 3800,
  kMostEntries = 1 << 17,  // limit on directory entries listed by one call
  kMostBuffers = 1024,     // UIO_MAXIOV
};

struct scratch {
  __u8 bytes[kMaxEvent + kPathMax + 64];
  __u8 list[kPathMax + 8];
  __u32 taken;
  __u32 at;
  struct bpf_thread other;  // a call of a thread that is not recorded
};
enum { kOfTracepoints, kOfFunctions, kScratches = kOfFunctions + 3 };

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, kScratches);
  __type(key, __u32);
  __type(value, struct scratch);
} scratches SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1);  // set before loading
} ring SEC(".maps");

// For EVENT_OTHER. Separate, because what others do must not displace the events of the recorded
// program.
struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 1 << 20);
} others SEC(".maps");

__u64 lost[EVENT_KINDS][SHAPES];  // events dropped, ring full; by kind and call

static __always_inline struct scratch* scratch_of(__u32 whose) {
  return bpf_map_lookup_elem(&scratches, &whose);
}
static __always_inline struct scratch* get_scratch(void) {
  return scratch_of(kOfTracepoints);
}

static __always_inline struct scratch* take_scratch(__u32* whose) {
  for (*whose = kOfFunctions; *whose < kScratches; ++*whose) {
    struct scratch* scratch = scratch_of(*whose);
    if (scratch && __sync_bool_compare_and_swap(&scratch->taken, 0, 1)) return scratch;
  }
  return 0;
}
static __always_inline void give_back(struct scratch* scratch) {
  *(volatile __u32*)&scratch->taken = 0;  // callers run on this processor
}

static __always_inline void count_lost(__u32 kind, __u32 number) {
  if (kind >= EVENT_KINDS) return;
  __sync_fetch_and_add(&lost[kind][number & (SHAPES - 1)], 1);
}

static __always_inline void* place(struct scratch* scratch, __u32 at) {
  return &scratch->bytes[at & (kMaxEvent - 1)];
}

static __always_inline void fill_head(struct bpf_part* part, __u8 kind, __u8 which, __u8 flags,
                                      __u32 size) {
  part->kind = kind;
  part->which = which;
  part->flags = flags;
  part->unused = 0;
  part->size = size;
}

static __always_inline void put_head(struct scratch* scratch, __u32 at, __u8 kind, __u8 which,
                                     __u8 flags, __u32 size) {
  fill_head(place(scratch, at), kind, which, flags, size);
}

// The offset `at`, without what the verifier knows of it. It would otherwise check all that follows
// once for each way that leads here, which takes most of the time of loading.
static __always_inline __u32 any_offset(struct scratch* scratch, __u32 at) {
  volatile __u32* kept = &scratch->at;
  *kept = at;
  return *kept;
}

// Each put_ function returns the offset of the next part.

static __always_inline __u32 put_string(struct scratch* scratch, __u32 at, __u8 which, __u64 user) {
  __u8* text = place(scratch, at + sizeof(struct bpf_part));
  const long size = bpf_probe_read_user_str(text, kPathMax, (const void*)user);
  const __u32 length = size > 0 ? (size - 1) & (kPathMax - 1) : 0;
  put_head(scratch, at, PART_STRING, which, size > 0 ? 0 : PART_CUT, length);
  return any_offset(scratch, at + sizeof(struct bpf_part) + length);
}

static __always_inline __u32 put_copy(struct scratch* scratch, __u32 at, __u8 kind, __u8 which,
                                      __u32 size, __u64 user) {
  barrier_var(size);  // otherwise the compiler may remove the bound that the verifier needs
  size &= kPathMax - 1;
  __u8* bytes = place(scratch, at + sizeof(struct bpf_part));
  if (bpf_probe_read_user(bytes, size, (const void*)user) != 0) {
    put_head(scratch, at, kind, which, PART_CUT, 0);
    return any_offset(scratch, at + sizeof(struct bpf_part));
  }
  put_head(scratch, at, kind, which, 0, size);
  return any_offset(scratch, at + sizeof(struct bpf_part) + size);
}

// The first bytes behind the first element of a struct iovec[].
static __always_inline __u32 put_first_buffer(struct scratch* scratch, __u32 at, __u64 vector,
                                              __u32 most) {
  __u64 first[2];
  if (bpf_probe_read_user(first, sizeof(first), (const void*)vector) != 0) return at;
  return put_copy(scratch, at, PART_COPY, 0, first[1] < most ? first[1] : most, first[0]);
}

static __always_inline void identify(struct inode* inode, struct bpf_identity* identity) {
  struct super_block* super = GET(inode, i_sb);
  identity->inode = GET(inode, i_ino);
  identity->size = GET(inode, i_size);
  identity->device = GET(super, s_dev);
  identity->generation = GET(inode, i_generation);
  identity->mode = GET(inode, i_mode);
  identity->open_flags = 0;
  identity->open_mode = 0;
  identity->unused = 0;
}

static __always_inline __u32 put_identity(struct scratch* scratch, __u32 at, struct inode* inode,
                                          struct file* file) {
  struct bpf_identity* identity = place(scratch, at + sizeof(struct bpf_part));
  identify(inode, identity);
  if (file) {
    identity->open_flags = GET(file, f_flags);
    identity->open_mode = GET(file, f_mode);
  }
  put_head(scratch, at, PART_IDENTITY, 0, 0, sizeof(*identity));
  return at + sizeof(struct bpf_part) + sizeof(*identity);
}

// The recorder's root directory: it may be in a chroot. Copies of its mount in other mount
// namespaces have the same two ends.
__u64 own_root = 0;
__u64 own_mounted = 0, own_mountpoint = 0;  // its mount's root, and the mount point

static __always_inline __u64 mount_of(struct vfsmount* mount) {
  return (__u64)mount - bpf_core_field_offset(struct mount, mnt);
}

static __always_inline void find_own_root(struct task_struct* task) {
  struct fs_struct* fs = CAST(task_struct, task)->fs;
  struct vfsmount* vfsmount = GET(fs, root.mnt);
  struct mount* mount = TYPED(mount, mount_of(vfsmount));
  own_root = (__u64)GET(fs, root.dentry);
  own_mounted = (__u64)GET(vfsmount, mnt_root);
  own_mountpoint = (__u64)GET(mount, mnt_mountpoint);
}

struct walk {
  __u64 dentry;
  __u64 top;                      // root of the file system, if the mount is known
  __u64 mount;                    // 0: unknown
  __u64 root_dentry, root_mount;  // of the process
  __u32 begin, at;
  __u32 at_root;  // where this root or the recorder's was passed last; 0: neither was
  __u32 flags;
  __u32 done;
  __u32 whose;  // owner of the scratch memory
};

// Paths are relative to the higher of two roots: the recorder's, or that of a process outside it.
static __always_inline int is_root(const struct walk* walk) {
  if (walk->dentry == walk->root_dentry && walk->mount == walk->root_mount) return 1;
  if (walk->dentry != own_root) return 0;
  // Without a mount, the best guess is that its file system is seen through this one.
  if (!walk->mount) return 1;
  struct mount* mount = TYPED(mount, walk->mount);
  return walk->top == own_mounted && (__u64)GET(mount, mnt_mountpoint) == own_mountpoint;
}

static long walk_up(__u32 step, struct walk* walk) {
  struct scratch* scratch = scratch_of(walk->whose);
  if (!scratch) return 1;
  if (is_root(walk)) walk->at_root = walk->at;
  struct dentry* dentry = TYPED(dentry, walk->dentry);
  if (walk->mount && walk->dentry == walk->top) {
    struct mount* mount = TYPED(mount, walk->mount);
    struct mount* above = GET(mount, mnt_parent);
    if ((__u64)above == walk->mount || !above) {
      walk->done = 1;
      return 1;
    }
    walk->dentry = (__u64)GET(mount, mnt_mountpoint);
    walk->mount = (__u64)above;
    walk->top = (__u64)GET(above, mnt.mnt_root);
    return 0;
  }
  struct dentry* parent = GET(dentry, d_parent);
  if ((__u64)parent == walk->dentry || !parent) {
    walk->done = 1;
    return 1;
  }
  const __u32 length = GET(dentry, d_name.len) & 0xff;
  const unsigned char* name = GET(dentry, d_name.name);
  __u8* to = place(scratch, walk->at);
  to[0] = length;
  bpf_probe_read_kernel(to + 1, length, name);
  walk->at += 1 + length;
  walk->dentry = (__u64)parent;
  return walk->at - walk->begin > kMostRealBytes;
}

static __always_inline __u32 finish_walk(struct scratch* scratch, __u32 at, __u8 which,
                                         struct walk* walk) {
  struct dentry* dentry = TYPED(dentry, walk->dentry);
  struct hlist_bl_node** hashed = GET(dentry, d_hash.pprev);
  struct dentry* parent = GET(dentry, d_parent);
  if (!hashed && (__u64)parent != walk->dentry) walk->flags |= PART_DELETED;
  walk->begin = walk->at = at + sizeof(struct bpf_part);
  walk->done = 0;
  bpf_loop(kMostComponents, walk_up, walk, 0);
  if (walk->at_root) {
    walk->at = walk->at_root;
    walk->flags &= ~PART_PARTIAL;
    walk->done = 1;
  }
  if (!walk->done) walk->flags |= PART_CUT;
  put_head(scratch, at, PART_REAL, which, walk->flags, walk->at - walk->begin);
  return any_offset(scratch, walk->at);
}

// The current path, relative to the recorder's root, or to the process's root if that is elsewhere.
// A path below neither is relative to the top of its mounts.
static __always_inline __u32 put_real(struct scratch* scratch, __u32 at, __u8 which,
                                      struct vfsmount* mount, struct dentry* dentry) {
  struct walk walk = {};
  struct fs_struct* fs = CAST(task_struct, bpf_get_current_task_btf())->fs;
  walk.dentry = (__u64)dentry;
  walk.mount = mount_of(mount);
  walk.top = (__u64)GET(mount, mnt_root);
  walk.root_dentry = (__u64)GET(fs, root.dentry);
  walk.root_mount = mount_of(GET(fs, root.mnt));
  return finish_walk(scratch, at, which, &walk);
}

// A hash of the directories above a file: their identities and names. Files with the same hash have
// the same path up to their names. 0: too deep. A separate function, so that the verifier checks it
// once.
__noinline __u64 directory_hash(__u64 opened) {
#ifdef RECORDER_TYPED
  struct file* file = TYPED(file, opened);
  struct vfsmount* vfsmount = GET(file, f_path.mnt);
  struct dentry* dentry = GET(file, f_path.dentry);
  __u64 mount = mount_of(vfsmount), number = 0;
  __u64 top = (__u64)GET(vfsmount, mnt_root);
  __u64 at = (__u64)GET(dentry, d_parent);
  // The root of a mount or a detached entry: its parents do not give its name.
  if ((__u64)dentry == top || (__u64)dentry == at) return 0;
  for (int i = 0; i < kMostCheapLevels; ++i) {
    struct dentry* here = TYPED(dentry, at);
    __u64 above = (__u64)GET(here, d_parent);
    struct inode* inode = GET(here, d_inode);
    if (at == top) {
      struct mount* mounted = TYPED(mount, mount);
      const __u64 parent = (__u64)GET(mounted, mnt_parent);
      if (parent == mount) return number | 1;
      above = (__u64)GET(mounted, mnt_mountpoint);
      mount = parent;
      struct mount* outer = TYPED(mount, parent);
      top = (__u64)GET(outer, mnt.mnt_root);
    } else if (at == above) {
      return number | 1;
    }
    number = (number ^ GET(inode, i_ino) ^ GET(here, d_name.hash_len)) * 0x9e3779b97f4a7c15ull;
    at = above;
  }
#endif
  return 0;  // otherwise walking costs as much as reporting
}

// A path of the inode, relative to the root of its file system unless it leads to the recorder's
// root.
static __always_inline __u32 put_alias(struct scratch* scratch, __u32 whose, __u32 at,
                                       struct inode* inode) {
  struct hlist_node* alias = GET(inode, i_dentry.first);
  if (!alias) return at;
  struct walk walk = {};
  walk.dentry = (__u64)alias - bpf_core_field_offset(struct dentry, d_u.d_alias);
  walk.flags = PART_PARTIAL;
  walk.whose = whose;
  return finish_walk(scratch, at, 0, &walk);
}

// False if the ring was full.
static __always_inline int send(struct scratch* scratch, __u32 size) {
  struct bpf_event* event = (struct bpf_event*)scratch->bytes;
  size &= kMaxEvent - 1;
  event->size = size;
  if (bpf_ringbuf_output(&ring, scratch->bytes, size, BPF_RB_NO_WAKEUP) != 0) {
    count_lost(event->kind, event->number);
    return 0;
  }
  return 1;
}

struct listing {
  __u64 user;
  __u32 size, at;
  __u32 loaded;  // start of the part of the buffer that is in scratch->list
  __u32 entries;
};

// One directory entry: the length is at byte 16, in struct linux_dirent64 and in linux_dirent.
static long count_entry(__u32 step, struct listing* listing) {
  struct scratch* scratch = get_scratch();
  if (!scratch || listing->at + 18 > listing->size) return 1;
  __u32 offset = listing->at - listing->loaded;
  if (listing->loaded == ~0u || offset > kPathMax - 18) {
    listing->loaded = listing->at;
    offset = 0;
    __u32 size = listing->size - listing->at;
    if (size > kPathMax) size = kPathMax;
    if (bpf_probe_read_user(scratch->list, size, (const void*)(listing->user + listing->at))) {
      return 1;
    }
  }
  offset = (offset + 16) & (kPathMax - 1);
  barrier_var(offset);  // otherwise the compiler removes the bound that the verifier needs
  const __u8* length_at = &scratch->list[offset & (kPathMax - 1)];
  const __u32 length = length_at[0] | length_at[1] << 8;
  if (length == 0) return 1;
  ++listing->entries;
  listing->at += length;
  return 0;
}

static __always_inline __u64 count_entries(__u64 user, __u32 size) {
  struct listing listing = {.user = user, .size = size, .loaded = ~0u};
  bpf_loop(kMostEntries, count_entry, &listing, 0);
  return listing.entries;
}

struct buffers {
  __u64 user, sum;
  __u32 count;
};

static long add_buffer(__u32 step, struct buffers* buffers) {
  __u64 vector[2];
  if (step >= buffers->count) return 1;
  if (bpf_probe_read_user(vector, sizeof(vector), (const void*)(buffers->user + step * 16ull))) {
    return 1;
  }
  buffers->sum += vector[1];
  return 0;
}

static __always_inline __u64 sum_of_buffers(__u64 user, __u64 count) {
  struct buffers buffers = {.user = user, .count = count};
  bpf_loop(kMostBuffers, add_buffer, &buffers, 0);
  return buffers.sum;
}
