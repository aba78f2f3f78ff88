// What the recorder reads of kernel structures that differ by processor: x86-64.
#pragma once

struct pt_regs {
  unsigned long r10, r9, r8, dx, si, di, bx, cx, orig_ax;
};

struct thread_info {
  __u32 status;
};

// Of a system call at its start.
#define CALL_ARGUMENTS(regs) {regs->di, regs->si, regs->dx, regs->r10, regs->r8, regs->r9}
#define COMPAT_ARGUMENTS(regs) {regs->bx, regs->cx, regs->dx, regs->si, regs->di}

// The same at its end, and its number.
#define LATE_ARGUMENTS(regs) CALL_ARGUMENTS(regs)
#define CALL_NUMBER(regs) ((regs)->orig_ax)

// Whether a thread is in a 32-bit call: TS_COMPAT (arch/x86/include/asm/thread_info.h).
#define IS_COMPAT_CALL(task) ((task)->thread_info.status & 2)
