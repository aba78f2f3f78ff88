// What the recorder reads of kernel structures that differ by processor: arm64.
#pragma once

struct pt_regs {
  __u64 regs[31];
  __u64 orig_x0;
  __s32 syscallno;
};

struct thread_info {
  unsigned long flags;
};

// Of a system call at its start: later, the first register is the result. 32-bit programs pass
// theirs in the same registers.
#define CALL_ARGUMENTS(at) \
  {at->regs[0], at->regs[1], at->regs[2], at->regs[3], at->regs[4], at->regs[5]}
#define COMPAT_ARGUMENTS(at) {at->regs[0], at->regs[1], at->regs[2], at->regs[3], at->regs[4]}

// The same at its end, and its number.
#define LATE_ARGUMENTS(at) \
  {at->orig_x0, at->regs[1], at->regs[2], at->regs[3], at->regs[4], at->regs[5]}
#define CALL_NUMBER(at) ((at)->syscallno)

// Whether a thread makes 32-bit calls: TIF_32BIT (arch/arm64/include/asm/thread_info.h).
#define IS_COMPAT_CALL(task) ((task)->thread_info.flags & 1 << 22)
