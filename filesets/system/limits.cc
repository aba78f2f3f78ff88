#include "filesets/system/limits.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <boost/filesystem/operations.hpp>
#include <fmt/format.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "filesets/system/control_groups.h"
#include "filesets/system/error.h"
#include "filesets/system/printable.h"
#include "filesets/system/read_file.h"
#include "filesets/system/units.h"

namespace filereel {
namespace {

constexpr std::uint64_t kKilo = 1024;  // "kB" of /proc

std::uint64_t current_limit(__rlimit_resource_t resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

std::optional<std::uint64_t> number_in(const std::string& file) {
  const std::string text = read_file(file, 64).value_or("");
  std::uint64_t number = 0;
  if (!(std::istringstream(text) >> number)) return std::nullopt;  // "max" of version 2
  return number;
}

// The files of one version of control groups.
struct CgroupFiles {
  std::array<const char*, 2> limits;  // of memory; null: no second one
  const char* usage;
  std::array<const char*, 2> cache;  // in memory.stat
};
constexpr CgroupFiles kVersion1{{"memory.limit_in_bytes", nullptr},
                                "memory.usage_in_bytes",
                                {"total_inactive_file", "total_active_file"}};
constexpr CgroupFiles kVersion2{
    {"memory.max", "memory.high"}, "memory.current", {"inactive_file", "active_file"}};

// Adds the limits of the group in a directory.
void add_limits(const std::string& directory, const CgroupFiles& files,
                std::vector<MemoryLimit>& limits) {
  constexpr std::uint64_t kNone = std::uint64_t{1} << 60;  // version 1 has a huge number instead
  for (const char* const name : files.limits) {
    if (name == nullptr) continue;
    const std::string file = directory + "/" + name;
    const std::optional<std::uint64_t> limit = number_in(file);
    if (!limit || *limit >= kNone) continue;
    const std::string stat = read_file(directory + "/memory.stat").value_or("");
    std::uint64_t used = number_in(directory + "/" + files.usage).value_or(0);
    for (const char* const cache : files.cache) used -= std::min(used, number_after(stat, cache));
    limits.push_back({.bytes = *limit,
                      .left = *limit - std::min(*limit, used),
                      .name = "memory limit of the control group",
                      .remedy = fmt::format("raise {}", printable_line(file))});
  }
}

void keep_least(MemoryLimit& least, MemoryLimit other) {
  if (other.left < least.left) least = std::move(other);
}

MemoryLimit machine_memory() {
  const std::string text = read_file("/proc/meminfo").value_or("");
  const auto total = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t available = number_after(text, "MemAvailable:") * kKilo;
  return {.bytes = total,
          .left = available == 0 ? total : available,
          .name = "memory of the machine",
          .remedy = "end other programs",
          .is_machine = true};
}

MemoryLimit own_limit(__rlimit_resource_t resource, std::string_view used_line,
                      std::string_view name, std::string_view option) {
  const std::uint64_t limit = current_limit(resource);
  const std::string status = read_file("/proc/self/status").value_or("");
  const std::uint64_t used = number_after(status, used_line) * kKilo;
  return {
      .bytes = limit,
      .left = limit == RLIM_INFINITY ? RLIM_INFINITY : limit - std::min<std::uint64_t>(limit, used),
      .name = std::string(name),
      .remedy = fmt::format("raise it (ulimit {})", option)};
}

std::string joined(int error, const std::string& limit, std::string_view advice) {
  const std::string_view end = limit.empty() ? advice : limit;
  return fmt::format("{}{}{}", strerror(error), end.empty() ? "" : "; ", end);
}

}  // namespace

std::string MemoryLimit::text() const {
  return fmt::format("the {} is {}: {}", name, format_size(bytes), remedy);
}

std::vector<MemoryLimit> cgroup_memory_limits(const std::string& membership,
                                              const std::vector<MountedFileSystem>& mounts) {
  std::vector<MemoryLimit> limits;
  for (const ControlGroup& group : control_groups(membership, mounts, "memory")) {
    add_limits(group.directory, group.second_version ? kVersion2 : kVersion1, limits);
  }
  return limits;
}

MemoryLimit memory_limit() {
  MemoryLimit least = machine_memory();
  for (MemoryLimit& limit :
       cgroup_memory_limits(read_file("/proc/self/cgroup").value_or(""), mounted_file_systems())) {
    keep_least(least, std::move(limit));
  }
  keep_least(least, own_limit(RLIMIT_AS, "VmSize:", "limit on address space", "-v"));
  keep_least(least, own_limit(RLIMIT_DATA, "VmData:", "limit on data", "-d"));
  return least;
}

std::uint64_t resident_memory() {
  return number_after(read_file("/proc/self/status").value_or(""), "VmRSS:") * kKilo;
}

bool is_address_space_limited() {
  return current_limit(RLIMIT_AS) != RLIM_INFINITY || current_limit(RLIMIT_DATA) != RLIM_INFINITY;
}

std::uint64_t open_descriptors() {
  boost::system::error_code error;
  boost::filesystem::directory_iterator at("/proc/self/fd", error), end;
  std::uint64_t count = 0;
  for (; !error && at != end; at.increment(error)) ++count;
  return count;
}

std::uint64_t descriptor_limit() {
  return current_limit(RLIMIT_NOFILE);
}

std::uint64_t largest_file_of_process() {
  return current_limit(RLIMIT_FSIZE);
}

std::string limit_text(int error) {
  switch (error) {
    case EMFILE:
      return fmt::format("the limit on open files is {}: raise it (ulimit -n)", descriptor_limit());
    case ENFILE:
      return "the limit of the machine on open files is reached: raise it (sysctl fs.file-max)";
    case EFBIG:
      return file_size_limit_text();
    case ENOMEM:
      return memory_limit().text();
    case EDQUOT:
      return "raise the quota, or choose another volume";
    default:
      return "";
  }
}

std::string error_text(int error) {
  return error_text(error, "");
}

std::string error_text(int error, std::string_view advice) {
  return joined(error, limit_text(error), advice);
}

std::string start_error_text(int error, std::string_view advice) {
  if (error != EAGAIN) return error_text(error, advice);
  constexpr std::uint64_t kLittle = 16 << 20;  // the stack of a thread may not fit
  const MemoryLimit memory = memory_limit();
  if (!memory.is_machine && memory.left < kLittle) return joined(error, memory.text(), advice);
  const std::uint64_t limit = current_limit(RLIMIT_NPROC);
  return joined(error,
                limit == RLIM_INFINITY
                    ? "the number of processes and threads is limited: raise pids.max of the "
                      "control group"
                    : fmt::format("the number of processes and threads is limited to {}: raise it "
                                  "(ulimit -u, or pids.max of the control group)",
                                  limit),
                advice);
}

std::string file_size_limit_text() {
  const std::uint64_t limit = largest_file_of_process();
  if (limit == RLIM_INFINITY) return "";
  return fmt::format("the limit on file sizes is {}: raise it (ulimit -f)", format_size(limit));
}

void fail_for_memory(std::string_view what) {
  throw_failed(fmt::format("{} needs more memory than is available; {}, or reduce the size", what,
                           memory_limit().text()));
}

void require_memory(std::size_t bytes, const std::string& what) {
  if (bytes == 0) return;
  // The memory is never touched, so none is used. malloc and free could be optimised away.
  void* const there =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (there == MAP_FAILED) fail_for_memory(what);
  munmap(there, bytes);
}

namespace {

constexpr std::size_t kEnough = 2 << 20;    // of the main thread and of all others
constexpr std::size_t kSmall = 256 << 10;   // of other threads, where address space is limited
constexpr std::size_t kOwnStack = 8 << 20;  // the usual limit; untouched pages take no memory

struct Run {
  const std::function<int()>& work;
  int result = 0;
};

// makecontext passes integers only.
void run(unsigned high, unsigned low) {
  const auto address = static_cast<std::uintptr_t>(high) << 32 | low;
  Run& run = *reinterpret_cast<Run*>(address);  // NOLINT(performance-no-int-to-ptr)
  run.result = run.work();
}

}  // namespace

void size_thread_stacks() {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  std::size_t bytes = 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  const bool is_limited = is_address_space_limited();
  const std::size_t wanted = is_limited ? kSmall : std::max(bytes, kEnough);
  if (wanted != bytes && pthread_attr_setstacksize(&attributes, wanted) == 0) {
    pthread_setattr_default_np(&attributes);
  }
  pthread_attr_destroy(&attributes);
  if (is_limited) mallopt(M_ARENA_MAX, 1);
}

int on_large_stack(const std::function<int()>& work) {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kEnough) return work();
  void* const stack = mmap(nullptr, kOwnStack, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) return work();
  mprotect(stack, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE);  // its end
  Run wanted{work};
  ucontext_t here{}, there{};
  getcontext(&there);
  there.uc_stack = {.ss_sp = stack, .ss_flags = 0, .ss_size = kOwnStack};
  there.uc_link = &here;
  const auto address = reinterpret_cast<std::uintptr_t>(&wanted);
  makecontext(&there, reinterpret_cast<void (*)()>(run), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
  swapcontext(&here, &there);
  munmap(stack, kOwnStack);
  return wanted.result;
}

}  // namespace filereel
