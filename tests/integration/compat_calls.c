// 32-bit system calls, without a C library, so that neither needs to be installed for 32 bits:
//   cc -m32 -nostdlib -static …             a 32-bit program
//   cc -nostdlib -static -fno-pie -no-pie … a 64-bit program that makes 32-bit calls
// With an argument, 1,500 calls about files and some that are not; without, one of each form.
enum {
  kExit = 1, kRead = 3, kWrite = 4, kOpen = 5, kClose = 6, kUnlink = 10, kGetPid = 20, kRename = 38,
  kSymlink = 83, kReadlink = 85, kMunmap = 91, kSocketCall = 102,
  kLongSeek = 140, kGetDents = 141, kReadv = 145, kPread64 = 180, kPwrite64 = 181, kMmap2 = 192,
  kTruncate64 = 193, kFtruncate64 = 194, kStat64 = 195, kLstat64 = 196, kFstat64 = 197,
  kChown32 = 212, kGetDents64 = 220, kFcntl64 = 221, kSendfile64 = 239, kStatfs64 = 268,
  kFadvise64 = 272, kOpenAt = 295, kFstatAt64 = 300, kSyncFileRange = 314, kUtimensAt = 320,
  kFallocate = 324, kPreadv = 333, kStatx = 383, kAtCwd = -100
};

struct words {
  int number, arguments[6];
};
int make_call(const struct words* words);

#ifdef __x86_64__
__asm__(".text\n.globl make_call\nmake_call:\n"
        "push %rbx\npush %rbp\nmov %rdi, %rax\n"
        "mov 4(%rax), %ebx\nmov 8(%rax), %ecx\nmov 12(%rax), %edx\n"
        "mov 16(%rax), %esi\nmov 20(%rax), %edi\nmov 24(%rax), %ebp\n"
        "mov (%rax), %eax\nint $0x80\npop %rbp\npop %rbx\nret\n"
        ".globl _start\n_start:\nmov (%rsp), %rdi\nand $-16, %rsp\ncall run\n");
#else
__asm__(".text\n.globl make_call\nmake_call:\n"
        "push %ebx\npush %esi\npush %edi\npush %ebp\nmov 20(%esp), %eax\n"
        "mov 4(%eax), %ebx\nmov 8(%eax), %ecx\nmov 12(%eax), %edx\n"
        "mov 16(%eax), %esi\nmov 20(%eax), %edi\nmov 24(%eax), %ebp\n"
        "mov (%eax), %eax\nint $0x80\npop %ebp\npop %edi\npop %esi\npop %ebx\nret\n"
        ".globl _start\n_start:\nmov (%esp), %eax\nand $-16, %esp\nsub $12, %esp\npush %eax\n"
        "call run\n");
#endif

static char name[] = "data", other[] = "other", link_name[] = "link", here[] = ".", text[] = "hello";
static char bytes[8192];
static long long position;
static unsigned vector[4];
static struct __attribute__((packed)) {
  short type, whence;
  long long start, length;
  int process;
} lock = {1, 0, 7, 3, 0};
static int times[4] = {1000, 0, 2000, 0}, socket_arguments[3] = {1, 1, 0};

static int address(const void* place) { return (int)(long)place; }

// Ends with the number of the call that failed.
static int call(int number, int a, int b, int c, int d, int e, int f) {
  const struct words words = {number, {a, b, c, d, e, f}};
  const int result = make_call(&words);
  if (result < 0 && result > -4096) {
    const struct words end = {kExit, {1 + number % 250}};
    make_call(&end);
  }
  return result;
}

static void each_form(void) {
  const int file = call(kOpen, address(name), 0100102, 0644, 0, 0, 0);
  call(kWrite, file, address(text), 5, 0, 0, 0);
  call(kPwrite64, file, address(text), 5, 5, 1, 0);  // at 4 GiB + 5
  call(kFtruncate64, file, 1, 1, 0, 0, 0);
  call(kLongSeek, file, 0, 2, address(&position), 0, 0);
  call(kRead, file, address(bytes), 3, 0, 0, 0);
  vector[0] = (unsigned)address(bytes), vector[1] = 2, vector[2] = vector[0], vector[3] = 4;
  call(kReadv, file, address(vector), 2, 0, 0, 0);
  call(kPread64, file, address(bytes), 4, 1, 0, 0);
  call(kPreadv, file, address(vector), 2, 1, 0, 0);
  call(kFcntl64, file, 13, address(&lock), 0, 0, 0);  // F_SETLK64
  call(kFallocate, file, 0, 0, 0, 9000, 0);
  call(kFadvise64, file, 0, 0, 4096, 0, 3);
  call(kSyncFileRange, file, 0, 0, 4096, 0, 2);
  call(kFstat64, file, address(bytes), 0, 0, 0, 0);
  const int map = call(kMmap2, 0, 4096, 1, 2, file, 1);
  call(kMunmap, map, 4096, 0, 0, 0, 0);
  const int copy = call(kOpenAt, kAtCwd, address(other), 0101, 0600, 0, 0);
  position = 1;
  call(kSendfile64, copy, file, address(&position), 3, 0, 0);
  call(kClose, copy, 0, 0, 0, 0, 0);
  call(kClose, file, 0, 0, 0, 0, 0);
  call(kTruncate64, address(name), 77, 0, 0, 0, 0);
  call(kStat64, address(name), address(bytes), 0, 0, 0, 0);
  call(kSymlink, address(name), address(link_name), 0, 0, 0, 0);
  call(kReadlink, address(link_name), address(bytes), 100, 0, 0, 0);
  call(kLstat64, address(link_name), address(bytes), 0, 0, 0, 0);
  call(kFstatAt64, kAtCwd, address(name), address(bytes), 0, 0, 0);
  call(kStatx, kAtCwd, address(name), 0, 0xfff, address(bytes), 0);
  call(kChown32, address(name), 0, 0, 0, 0, 0);
  call(kUtimensAt, kAtCwd, address(name), address(times), 0, 0, 0);
  call(kStatfs64, address(name), 84, address(bytes), 0, 0, 0);
  const int folder = call(kOpen, address(here), 0200000, 0, 0, 0, 0);
  while (call(kGetDents64, folder, address(bytes), sizeof bytes, 0, 0, 0) > 0) continue;
  call(kClose, folder, 0, 0, 0, 0, 0);
  const int again = call(kOpen, address(here), 0200000, 0, 0, 0, 0);
  while (call(kGetDents, again, address(bytes), sizeof bytes, 0, 0, 0) > 0) continue;
  const int socket = call(kSocketCall, 1, address(socket_arguments), 0, 0, 0, 0);
  call(kClose, again, 0, 0, 0, 0, 0);
  call(kClose, socket, 0, 0, 0, 0, 0);
  const int reused = call(kOpen, address(name), 0, 0, 0, 0, 0);
  call(kRead, reused, address(bytes), 6, 0, 0, 0);
  call(kClose, reused, 0, 0, 0, 0, 0);
  call(kRename, address(other), address(text), 0, 0, 0, 0);
}

static void many(void) {
  const int file = call(kOpen, address(name), 0102, 0644, 0, 0, 0);
  for (int i = 0; i < 749; ++i) {
    call(kWrite, file, address(text), 1, 0, 0, 0);
    call(kPread64, file, address(bytes), 1, i, 0, 0);
    call(kGetPid, 0, 0, 0, 0, 0, 0);
  }
  call(kMunmap, call(kMmap2, 0, 4096, 1, 0x22, -1, 0), 4096, 0, 0, 0, 0);
  call(kWrite, 1, address(text), 5, 0, 0, 0);  // into a pipe
  call(kClose, file, 0, 0, 0, 0, 0);
}

void run(long count);
void run(long count) {
  if (count > 1) {
    many();
  } else {
    each_form();
  }
  call(kExit, 0, 0, 0, 0, 0, 0);
}
