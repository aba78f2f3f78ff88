// The few members of kernel structures that the recorder reads. CO-RE relocates them when the
// program is loaded: building needs no kernel headers, and one build runs on all kernels.
// Maintained by hand; names are the kernel's.
#pragma once

typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

enum {
  BPF_MAP_TYPE_HASH = 1,
  BPF_MAP_TYPE_ARRAY = 2,
  BPF_MAP_TYPE_PROG_ARRAY = 3,
  BPF_MAP_TYPE_PERCPU_ARRAY = 6,
  BPF_MAP_TYPE_RINGBUF = 27,
};
enum { BPF_ANY = 0 };
enum { BPF_RB_NO_WAKEUP = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#include RECORDER_PROCESSOR  // bpf_processor_*_kernel.h

struct qstr {
  __u64 hash_len;
  __u32 len;
  const unsigned char* name;
};

struct hlist_node {
  struct hlist_node* next;
};
struct hlist_head {
  struct hlist_node* first;
};
struct hlist_bl_node {
  struct hlist_bl_node** pprev;
};

struct super_block {
  __u32 s_dev;
};

struct inode {
  __u16 i_mode;
  struct super_block* i_sb;
  unsigned long i_ino;
  __s64 i_size;
  __u32 i_generation;
  struct hlist_head i_dentry;
};

struct dentry {
  struct hlist_bl_node d_hash;
  struct dentry* d_parent;
  struct qstr d_name;
  struct inode* d_inode;
  struct {
    struct hlist_node d_alias;
  } d_u;
};

struct vfsmount {
  struct dentry* mnt_root;
};
struct mount {
  struct mount* mnt_parent;
  struct dentry* mnt_mountpoint;
  struct vfsmount mnt;
};

struct path {
  struct vfsmount* mnt;
  struct dentry* dentry;
};

struct address_space {
  struct inode* host;
};

struct file {
  __u32 f_mode;
  struct inode* f_inode;
  __u32 f_flags;
  struct path f_path;
  __s64 f_pos;
  struct address_space* f_mapping;
};

struct fdtable {
  unsigned int max_fds;
  struct file** fd;
};
struct files_struct {
  struct fdtable* fdt;
};
struct fs_struct {
  int users;
  struct path root, pwd;
};

struct task_struct {
  struct thread_info thread_info;
  unsigned int flags;
  unsigned int __state;
  int exit_state, exit_code;
  int pid, tgid;
  struct task_struct* real_parent;
  struct files_struct* files;
  struct fs_struct* fs;
};

struct seq_file;
struct bpf_iter_meta {
  struct seq_file* seq;
};
struct bpf_iter__task {
  struct bpf_iter_meta* meta;
  struct task_struct* task;
};

struct linux_binprm {
  struct file* file;
  const char* filename;
};

struct vm_area_struct {
  struct file* vm_file;
};
struct vm_fault {
  struct vm_area_struct* vma;
  unsigned long pgoff;
};
struct folio {
  unsigned long index;
};

struct io_rsrc_node {
  unsigned long file_ptr;
};
struct io_rsrc_data {
  unsigned int nr;
  struct io_rsrc_node** nodes;
};
struct io_file_table {
  struct io_rsrc_data data;
};
// Before Linux 6.13.
struct io_fixed_file {
  unsigned long file_ptr;
};
struct io_file_table___before_6_13 {
  struct io_fixed_file* files;
};
struct io_ring_ctx {
  __u32 flags;
  __u32* sq_array;
  void* sq_sqes;
  unsigned int cached_sq_head, sq_entries;
  struct io_file_table file_table;
};
struct io_ring_ctx___before_6_13 {
  struct io_file_table___before_6_13 file_table;
  unsigned int nr_user_files;
};
struct io_kiocb {
  struct io_ring_ctx* ctx;
};
struct io_uring_cqe {
  __s32 res;
};

#pragma clang attribute pop
