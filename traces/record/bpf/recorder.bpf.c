// Runs in the kernel while a program is recorded: follows threads from creation to end and reports
// each system call that concerns files. Nothing blocks: events that do not fit into the ring are
// counted.
#include "traces/record/bpf/bpf_faults_kernel.h"
#include "traces/record/bpf/bpf_processes_kernel.h"
#include "traces/record/bpf/bpf_requests_kernel.h"
#include "traces/record/bpf/bpf_system_calls_kernel.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
