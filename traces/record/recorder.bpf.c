// What runs in the kernel while a program is recorded: it follows threads from where they are made
// to where they end, and tells of each system call that concerns files. Nothing here waits: what
// finds no room in the ring is counted.
#include "traces/record/bpf_faults_kernel.h"
#include "traces/record/bpf_processes_kernel.h"
#include "traces/record/bpf_requests_kernel.h"
#include "traces/record/bpf_system_calls_kernel.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
