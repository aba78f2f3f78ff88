#include "traces/record/last_words.h"

#include <doctest/doctest.h>

using filereel::last_words;

TEST_CASE("of a program that the verifier refused its name and the reason are told") {
  CHECK(last_words("libbpf: prog 'call_ends': BPF program load failed: Permission denied\n"
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
        "prog 'call_ends': BPF program load failed: Permission denied, "
        "0: (79) r6 = *(u64 *)(r1 +8), R6 invalid mem access 'scalar'");
}

TEST_CASE("the last words are one line, however little or much was said") {
  CHECK(last_words("") == "no reason given");
  CHECK(last_words("\n-- END PROG LOAD LOG --") == "no reason given");
  CHECK(last_words("libbpf: extern (func ksym) 'x': not found") ==
        "extern (func ksym) 'x': not found");
  CHECK(last_words("a\tb\n" + std::string(1000, 'x') + "\nc\n").size() < 300);
  CHECK(last_words("a\tb\n").find('\t') == std::string::npos);
}
