// Loading. The same source is compiled in three forms, the fastest first (kForms); the kernel's
// verifier decides which one this kernel accepts. Programs for functions and tracepoints that the
// kernel lacks are left out beforehand, or the whole object would be rejected: tracepoints are
// looked up in its types (BTF), functions are tried with an empty program, because a kernel may
// have them and not support such programs. If a form is rejected with optional programs, it is
// tried without.
//
// Order of a recording: attach(), so that calibration measures what recording costs; adopt() and
// start_recording() for the calibrating process, whose events are discarded; then start_recording()
// before adopt() for the program, or calls between the two would be missing. adopt() repeats until
// it finds no new threads: threads may be created by ones that it has not reached yet.
//
// Draining. The thread of drain() looks every 5 ms, but empties the ring only when it is half full,
// or after 0.1 s: between, the processors belong to the program. Its priority is high, since it
// does little and a late look loses events. The ring of others is read first and in parts, because
// it may fill faster than it is read. If the queue is full, events stay in the ring and are lost
// there, counted as lost for lack of memory. The last time, after a stop, everything is read,
// whatever the receiver says.
//
// Who owns what: State belongs to the thread that records, except that the drain thread alone uses
// `receiver`, `ring` and `others` between start_draining() and the end of the queue. Variables of
// the kernel program are in memory shared with the kernel; those that change meanwhile are accessed
// by atomic_ref.
#include "traces/record/bpf/bpf_program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/limits.h"
#include "filesets/system/privileges.h"
#include "traces/record/bpf/bpf_calls.h"
#include "traces/record/bpf/bpf_event.h"
#include "traces/record/bpf/bpf_log.h"
#include "traces/record/bpf/bpf_receiver.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "recorder.skel.h"
#include "recorder_direct.skel.h"
#include "recorder_typed.skel.h"
#pragma GCC diagnostic pop

namespace filereel {
namespace {

std::string_view what_to_do() {
  return root_advice("run as root, or record with --backend strace",
                     "allow BPF (CAP_BPF and CAP_PERFMON), or record with --backend strace");
}

[[noreturn]] void fail(int error, std::string_view what) {
  throw Error(ErrorKind::failed, fmt::format("cannot record with BPF: {}: {}", what,
                                             error_text(error < 0 ? -error : error, what_to_do())));
}

struct DeleteBtf {
  void operator()(btf* types) const { btf__free(types); }
};

// The kernel's BTF type information; null if there is none. Loaded once, because that takes some 30
// ms.
const btf* kernel_types() {
  static const std::unique_ptr<btf, DeleteBtf> kTypes(btf__load_vmlinux_btf());
  return kTypes.get();
}

// The type of a tracepoint; 0 or less: this kernel lacks it.
int find_tracepoint(const std::string& name) {
  const std::string type = "btf_trace_" + name;
  return btf__find_by_name_kind(kernel_types(), type.c_str(), BTF_KIND_TYPEDEF);
}

std::size_t tracepoint_arguments(const std::string& name) {
  const btf* types = kernel_types();
  const int id = find_tracepoint(name);
  if (id <= 0) return 0;
  const auto target = [&](std::uint32_t type) {
    return btf__type_by_id(types, btf__type_by_id(types, type)->type);
  };
  const btf_type* pointer = target(static_cast<std::uint32_t>(id));
  const btf_type* function = btf__type_by_id(types, pointer->type);
  return btf_vlen(function) - 1u;  // the first is not an argument of the tracepoint
}

// A kernel function that a program can be attached to; 0 or less: there is none.
int find_function(const char* name) {
  return btf__find_by_name_kind(kernel_types(), name, BTF_KIND_FUNC);
}

// Variants of the program, the fastest first; bpf_parts_kernel.h describes the differences. All
// have the same maps and programs in the same order, so that one type fits all.
using Bytes = const void* (*)(std::size_t* size);
struct FormBytes {
  BpfProgram::Form form;
  Bytes bytes;
};
constexpr std::array<FormBytes, 3> kForms = {
    {{BpfProgram::Form::direct, recorder_direct_bpf__elf_bytes},
     {BpfProgram::Form::typed, recorder_typed_bpf__elf_bytes},
     {BpfProgram::Form::portable, recorder_bpf__elf_bytes}}};

struct Destroy {
  void operator()(recorder_bpf* program) const { recorder_bpf__destroy(program); }
};
using Program = std::unique_ptr<recorder_bpf, Destroy>;

Program open_program(Bytes form) {
  Program program(static_cast<recorder_bpf*>(calloc(1, sizeof(recorder_bpf))));
  if (!program || recorder_bpf__create_skeleton(program.get()) != 0) return nullptr;
  program->skeleton->data = form(&program->skeleton->data_sz);
  if (bpf_object__open_skeleton(program->skeleton, nullptr) != 0) return nullptr;
  return program;
}

// Tries to load an empty program for a tracepoint or a function; returns the error.
int try_program(bpf_attach_type kind, int id) {
  if (id <= 0) return ENOENT;
  const std::array<bpf_insn, 2> nothing{
      bpf_insn{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
      bpf_insn{.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0}};
  bpf_prog_load_opts options{};
  options.sz = sizeof(options);
  options.expected_attach_type = kind;
  options.attach_btf_id = static_cast<__u32>(id);
  const Descriptor program(bpf_prog_load(BPF_PROG_TYPE_TRACING, "filereel", "GPL", nothing.data(),
                                         nothing.size(), &options));
  return program.get() < 0 ? errno : 0;
}

struct Tracepoint {
  bpf_program* program;
  const char* name;
};

// Optional programs attached to functions: they report more if the kernel accepts them.
struct OptionalProgram {
  bpf_program* decltype(recorder_bpf::progs)::* program;
  const char* function;
  const char* instead_of;  // a tracepoint; null: no equivalent
};
constexpr std::array<OptionalProgram, 3> kOptional = {{
    {&decltype(recorder_bpf::progs)::page_needed_older, "filemap_fault", "mm_filemap_fault"},
    {&decltype(recorder_bpf::progs)::pages_mapped_older, "filemap_map_pages",
     "mm_filemap_map_pages"},
    {&decltype(recorder_bpf::progs)::size_truncated, "do_truncate", nullptr},
}};

std::vector<OptionalProgram> usable_programs(bool faults) {
  std::vector<OptionalProgram> usable;
  for (const OptionalProgram& program : kOptional) {
    if (program.instead_of && (!faults || find_tracepoint(program.instead_of) > 0)) continue;
    if (try_program(BPF_TRACE_FENTRY, find_function(program.function)) == 0)
      usable.push_back(program);
  }
  return usable;
}

// Disables programs that this kernel does not support or that are not wanted.
void prepare(recorder_bpf& program, const BpfProgram::Options& options,
             std::span<const OptionalProgram> usable) {
  const auto& programs = program.progs;
  for (const Tracepoint& tracepoint :
       {Tracepoint{programs.page_needed, "mm_filemap_fault"},
        Tracepoint{programs.pages_mapped, "mm_filemap_map_pages"},
        Tracepoint{programs.page_dirtied, "writeback_dirty_folio"}}) {
    bpf_program__set_autoload(tracepoint.program,
                              options.faults && find_tracepoint(tracepoint.name) > 0);
  }
  for (const Tracepoint& one : {Tracepoint{programs.request_begins, "io_uring_submit_req"},
                                Tracepoint{programs.request_begins_older, "io_uring_submit_sqe"},
                                Tracepoint{programs.request_ends, "io_uring_complete"}}) {
    bpf_program__set_autoload(one.program, find_tracepoint(one.name) > 0);
  }
  for (const OptionalProgram& one : kOptional) {
    bpf_program__set_autoload(programs.*one.program, false);
    bpf_program__set_autoattach(programs.*one.program, false);
  }
  for (const OptionalProgram& one : usable) bpf_program__set_autoload(programs.*one.program, true);
  bpf_program__set_autoattach(programs.large_call, false);  // call_ends continues there
  bpf_program__set_autoattach(programs.others_changed, false);
  bpf_program__set_autoattach(programs.files_used, false);  // and call_begins there
  // Older kernels pass the result to the tracepoint, newer ones a pointer to it.
  program.rodata->has_completion_entry = tracepoint_arguments("io_uring_complete") == 3;
  program.rodata->page_shift =
      static_cast<__u32>(std::countr_zero(static_cast<unsigned long>(sysconf(_SC_PAGESIZE))));
  program.rodata->sees_others = options.others;
  set_shapes(std::span<bpf_shape, SHAPES>(program.rodata->shapes), options.content);
  set_compat_shapes(std::span<bpf_shape, SHAPES>(program.rodata->compat_shapes));
  bpf_map__set_max_entries(program.maps.ring, options.ring_bytes);
}

}  // namespace

struct BpfProgram::State {
  struct FreeLink {
    void operator()(bpf_link* link) const { bpf_link__destroy(link); }
  };
  struct FreeRing {
    void operator()(ring_buffer* buffer) const { ring_buffer__free(buffer); }
  };

  Program program;
  Form form = Form::portable;
  std::vector<std::unique_ptr<bpf_link, FreeLink>> optional_links;
  std::optional<BpfReceiver> receiver;  // used by the ring
  std::unique_ptr<ring_buffer, FreeRing> ring, others;
  RingLevel level;
  std::jthread drain;
};

BpfProgram::BpfProgram(const Options& options) : state_(std::make_unique<State>()) {
  BpfLog log;
  if (!kernel_types())
    fail(errno, "the kernel has no BTF type information (CONFIG_DEBUG_INFO_BTF)");
  const std::vector<OptionalProgram> usable = usable_programs(options.faults);
  const auto load = [&](Bytes bytes, std::span<const OptionalProgram> optional) {
    log.clear();
    state_->program = open_program(bytes);
    if (!state_->program) fail(errno, "the BPF program is corrupt");
    prepare(*state_->program, options, optional);
    const int error = recorder_bpf__load(state_->program.get());
    if (error == -ENOMEM || error == -EMFILE) fail(error, "cannot load the program");
    return error;
  };
  for (const auto& [form, bytes] : kForms) {
    state_->form = form;
    if (load(bytes, usable) == 0 || (!usable.empty() && load(bytes, {}) == 0)) return;
  }
  // Permission is not the cause: bpf_missing() has checked it.
  throw Error(ErrorKind::failed,
              fmt::format("cannot record with BPF: the kernel rejected the program {}; "
                          "record with --backend strace",
                          log.summary()));
}

BpfProgram::~BpfProgram() = default;

void BpfProgram::attach() {
  BpfLog log;
  const int error = recorder_bpf__attach(state_->program.get());
  if (error != 0) {
    fail(error, fmt::format("cannot attach to the kernel's tracepoints: {}", log.summary()));
  }
  for (const OptionalProgram& one : kOptional) {
    bpf_program* program = state_->program->progs.*one.program;
    if (!bpf_program__autoload(program)) continue;
    if (bpf_link* link = bpf_program__attach(program)) state_->optional_links.emplace_back(link);
  }
}

std::vector<BpfProgram::Thread> BpfProgram::adopt(std::uint32_t process) {
  constexpr int kMostPasses = 50;
  recorder_bpf& program = *state_->program;
  std::atomic_ref(program.bss->own_process).store(static_cast<std::uint32_t>(getpid()));
  std::atomic_ref(program.bss->wanted_process).store(process);
  std::vector<Thread> found;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const Descriptor threads(bpf_iter_create(bpf_link__fd(program.links.take_up_threads)));
    if (threads.get() < 0) fail(errno, "cannot follow the process");
    const std::size_t before = found.size();
    std::array<Thread, 512> some;
    ssize_t size = 0;
    while ((size = read(threads.get(), some.data(), sizeof(some))) > 0) {
      found.insert(found.end(), some.begin(),
                   some.begin() + size / static_cast<ssize_t>(sizeof(Thread)));
    }
    if (size < 0) fail(errno, "cannot follow the process");
    if (found.size() == before) break;
  }
  return found;
}

void BpfProgram::start_recording() {
  std::atomic_ref(state_->program->bss->recording).store(1);
}

void BpfProgram::set_costs(const Costs& costs) {
  auto& globals = *state_->program->bss;
  std::atomic_ref(globals.cost_of_other).store(costs.other);
  std::atomic_ref(globals.cost_of_plain).store(costs.plain);
  std::atomic_ref(globals.cost_of_small).store(costs.small);
}

void BpfProgram::discard_events() {
  const auto drop = [](void*, void*, std::size_t) { return 0; };
  const std::unique_ptr<ring_buffer, State::FreeRing> events(
      ring_buffer__new(bpf_map__fd(state_->program->maps.ring), drop, nullptr, nullptr));
  if (!events) return;
  ring_buffer__add(events.get(), bpf_map__fd(state_->program->maps.others), drop, nullptr);
  ring_buffer__consume(events.get());
  std::ranges::fill(state_->program->bss->reported, 0);  // they are reported again
}

void BpfProgram::stop_recording() {
  std::atomic_ref(state_->program->bss->recording).store(0);
}

BpfProgram::Form BpfProgram::form() const {
  return state_->form;
}

std::uint64_t BpfProgram::running() const {
  return std::atomic_ref(state_->program->bss->running).load();
}

void BpfProgram::start_draining(EventQueue& queue, OtherChanges& others) {
  auto& lost = state_->program->bss->lost;
  BpfReceiver& receiver = state_->receiver.emplace(
      queue, others, std::span(&lost[0][0], std::size_t{EVENT_KINDS} * SHAPES));
  const int map = bpf_map__fd(state_->program->maps.ring);
  const int other_map = bpf_map__fd(state_->program->maps.others);
  state_->ring.reset(ring_buffer__new(map, BpfReceiver::put, &receiver, nullptr));
  state_->others.reset(ring_buffer__new(other_map, BpfReceiver::put_other, &receiver, nullptr));
  if (!state_->ring || !state_->others ||
      !state_->level.watch(map, bpf_map__max_entries(state_->program->maps.ring))) {
    fail(errno, "cannot read the event buffer");
  }
  state_->drain = std::jthread([this](const std::stop_token& stop) { drain(stop); });
}

void BpfProgram::drain(const std::stop_token& stop) {
  // The thread does little, but must run in time: events that do not fit into the ring are lost.
  // While there is room, it leaves the processors to the program.
  constexpr int kUrgent = -15;
  constexpr auto kLook = std::chrono::milliseconds(5);
  constexpr int kLooks = 20;  // a tenth of a second
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kUrgent);
  EventQueue& queue = state_->receiver->queue();
  std::mutex idle;
  std::condition_variable_any wake;
  int looks = 0;
  bool last = false, others_remain = false;
  // False if its receiver has ended the reading. The last time, everything is read.
  const auto read = [&](const auto& ring) {
    int more = ring_buffer__consume(ring.get());
    while (more < 0 && last) more = ring_buffer__consume(ring.get());
    return more >= 0;
  };
  while (!last) {
    last = stop.stop_requested();
    const bool due = ++looks >= kLooks || others_remain || state_->level.is_half_full();
    const bool has_room = last || !due || !queue.is_full();
    if (!has_room) state_->receiver->note_no_memory();
    if (due || last) others_remain = !read(state_->others);
    if (last || (due && has_room)) {
      if (!read(state_->ring)) state_->receiver->note_no_memory();
      queue.flush();
      looks = 0;
    }
    std::unique_lock lock(idle);
    wake.wait_for(lock, stop, kLook, [] { return false; });
  }
  queue.end();
}

void BpfProgram::finish_draining() {
  state_->drain.request_stop();
}

std::uint64_t BpfProgram::lost() const {
  std::uint64_t sum = 0;
  for (auto& kind : state_->program->bss->lost) {
    for (__u64& count : kind) sum += std::atomic_ref(count).load(std::memory_order_relaxed);
  }
  return sum;
}

void BpfProgram::count_lost(TraceBuilder& builder) const {
  const bool had_no_memory = state_->receiver && state_->receiver->had_no_memory();
  const std::string_view reason = had_no_memory ? kEventsBeyondMemory : kEventsLost;
  const auto& lost = state_->program->bss->lost;
  for (std::uint32_t kind = 0; kind < EVENT_KINDS; ++kind) {
    for (std::uint32_t number = 0; number < SHAPES; ++number) {
      const std::uint64_t count = lost[kind][number];
      if (count == 0) continue;
      if (kind == EVENT_CALL && number == COMPAT_CALLS) {
        builder.lost("calls of 32-bit programs: record them with --backend strace", count);
      } else {
        builder.lost(fmt::format("{}: {}", reason, event_name(kind, number)), count);
      }
    }
  }
}

std::string bpf_missing() {
  // The kernel program sees process numbers of the initial PID namespace.
  constexpr const char* kFirstNamespace = "pid:[4026531836]";  // linux/nsfs.h: PROC_PID_INIT_INO
  std::array<char, 64> name{};
  if (readlink("/proc/self/ns/pid", name.data(), name.size() - 1) > 0 &&
      std::string_view(name.data()) != kFirstNamespace) {
    return "BPF does not work in a PID namespace (container); record from the host";
  }
  if (std::string denied = denial("bpf"); !denied.empty()) return denied;
  const BpfLog log;
  if (!kernel_types()) {
    if (access("/sys/kernel", F_OK) != 0) {  // as in a chroot
      return "BPF needs /sys: mount it (mount -t sysfs sysfs /sys)";
    }
    return "BPF needs a kernel with BTF type information (CONFIG_DEBUG_INFO_BTF, "
           "/sys/kernel/btf/vmlinux)";
  }
  if (const int error = try_program(BPF_TRACE_RAW_TP, find_tracepoint("sys_enter")); error != 0) {
    return error == EPERM || error == EACCES
               ? std::string(
                     root_advice("BPF needs root, or CAP_BPF and CAP_PERFMON; run as root",
                                 "BPF needs CAP_BPF and CAP_PERFMON, which root lacks here"))
               : fmt::format("the kernel rejects BPF programs for tracepoints: {}",
                             strerror(error));
  }
  if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_TRACEPOINT, BPF_FUNC_loop, nullptr) <= 0) {
    return "BPF needs Linux 5.17 or newer";
  }
  return {};
}

}  // namespace filereel
