#include "traces/record/bpf/bpf_log_summary.h"

#include <doctest/doctest.h>

using filereel::summarise_bpf_log;

TEST_CASE("the summary of a rejected program contains its name and the reason") {
  CHECK(summarise_bpf_log("libbpf: prog 'call_ends': BPF program load failed: Permission denied\n"
                          "libbpf: prog 'call_ends': -- BEGIN PROG LOAD LOG --\n"
                          "reg type unsupported for arg#0 function call_ends#42\n"
                          "0: R1=ctx(off=0,imm=0) R10=fp0\n"
                          "0: (79) r6 = *(u64 *)(r1 +8)\n"
                          "R6 invalid mem access 'scalar'\n"
                          "processed 81 insns (limit 1000000) max_states_per_insn 0\n"
                          "-- END PROG LOAD LOG --\n"
                          "libbpf: prog 'call_ends': failed to load: -13\n"
                          "libbpf: failed to load object 'recorder_bpf'\n"
                          "libbpf: failed to load BPF skeleton 'recorder_bpf': -13\n") ==
        "'call_ends' (R6 invalid mem access 'scalar')");
}

TEST_CASE("the summary is one line for any log") {
  CHECK(summarise_bpf_log("") == "no reason given");
  CHECK(summarise_bpf_log("\n-- END PROG LOAD LOG --") == "no reason given");
  CHECK(summarise_bpf_log("libbpf: extern (func ksym) 'x': not found") == "'x'");
  CHECK(summarise_bpf_log("a\tb\n" + std::string(1000, 'x') + "\n").size() < 300);
  CHECK(summarise_bpf_log("a\tb\n").find('\t') == std::string::npos);
}
