// One workload at one point of its sweeps, as plain data: the content of docs/workloads.md, read,
// checked and without lists of values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/mysql/mysql_mix.h"
#include "traces/operation.h"
#include "traces/path_table.h"

namespace filereel {

// Limits of a workload at each of its points. A thread takes about 250 kB of memory, a file up
// to 250 bytes.
inline constexpr std::uint64_t kMostPhaseThreads = 4'096;  // of all groups of a phase
inline constexpr std::uint64_t kMostInFlight = 65'536;     // requests of all threads of a phase
inline constexpr std::uint64_t kMostBuffers = 1ull << 34;  // bytes of the requests in flight
inline constexpr std::uint64_t kMostEntries = 20'000'000;  // files and directories of all groups

// Files used by phases: either `count` files of `size` bytes each, or the entries of a file set.
struct RecipeFiles {
  std::string name;  // name of the group in phases, and of its directory
  std::string set;   // a file set (load_file_set), or empty
  std::uint64_t count = 1;
  std::uint64_t size = 0;   // bytes of each
  double fill = 0;          // share of the free space of the volume, instead of size
  std::uint64_t limit = 0;  // bytes of all files together, with `fill`; 0: none
  std::uint16_t compressed_permille = 1000;  // Content::compressed_permille; 0: zeros
  std::uint64_t per_directory = 0;           // 0: all in one directory
  bool exist = true;                         // before the first phase; otherwise created by a phase
  // The volumes of the group, in the order of roles; empty: all volumes.
  std::vector<Role> volumes = {Role::near};
};

struct SizeShare {
  std::uint64_t size = 0;   // bytes
  std::uint32_t share = 0;  // thousandths of a percent; the sum of a mix is 100'000
};

// Distribution of random accesses in the zone.
struct HotSpots {
  enum class Kind : std::uint8_t {
    uniform,
    zipf,    // `parameter`: exponent, above 0 and up to 5; a hash spreads the spots over the zone
    normal,  // `parameter`: standard deviation as a share of the zone, around its middle
  };
  Kind kind = Kind::uniform;
  double parameter = 0;
};

enum class SyncKind : std::uint8_t { none, sync, sync_data };

// The corresponding operation, which exists.
constexpr OperationKind operation_of(SyncKind kind) {
  return kind == SyncKind::sync_data ? OperationKind::sync_data : OperationKind::sync;
}

struct SyncPolicy {
  std::uint64_t every = 0;  // accesses of the thread between two syncs; 0: none
  SyncKind kind = SyncKind::sync;
  bool all_files = false;  // all files of the group in sequence, otherwise the written one
  bool at_end = false;
};

// Reads and writes at positions. The files of the group form one space, in order; no access crosses
// the end of a file.
struct AccessMix {
  std::vector<SizeShare> sizes;         // at least one
  std::uint32_t reads = 100'000;        // share of reads, thousandths of a percent
  double ratio = 0;                     // instead, if above 0: reads per write, in a fixed pattern
  std::uint32_t random = 0;             // share of accesses that do not continue the previous one
  std::uint64_t align = 0;              // bytes, of random positions; 0: the size of each access
  double zone_begin = 0, zone_end = 1;  // shares of the space
  bool disjoint = false;                // each thread of the group has its own part of the zone
  HotSpots hot;
  bool truncate = false;  // files are truncated when opened, and grow
};

constexpr bool writes(const AccessMix& mix) {
  return mix.ratio > 0 || mix.reads < 100'000;
}

enum class StepKind : std::uint8_t {
  create,     // create and write the file
  read,       // whole
  overwrite,  // whole, in place
  rewrite,    // truncate, then write
  append,     // `size` bytes at the end
  replace,    // write a new file, rename it over the old one
  rename,     // to its other name, and back the next time
  copy,       // read it and write a copy to the directory NAME.copy next to the group
  stat,
  list,  // its directory
  remove,
};

// Whether the step reads or writes.
constexpr bool moves_content(StepKind kind) {
  return kind != StepKind::rename && kind != StepKind::stat && kind != StepKind::list &&
         kind != StepKind::remove;
}

// One step for a file.
struct FileStep {
  StepKind kind = StepKind::read;
  std::uint64_t block = 128 << 10;  // bytes of one read or write
  std::uint64_t size = 0;           // append
  SyncKind sync = SyncKind::none;   // of written data, before the file is closed
};

// Steps performed on one file in sequence.
struct StepChoice {
  std::uint32_t share = 100'000;  // thousandths of a percent; the sum of a thread is 100'000
  std::vector<FileStep> steps;
};

enum class FileOrder : std::uint8_t { given, shuffled, random };

// Threads with the same work.
struct RecipeThreads {
  std::uint32_t count = 1;          // on each volume of the group
  std::uint32_t files = 0;          // number of the group in Recipe::files
  std::optional<AccessMix> access;  // or
  std::vector<StepChoice> choices;  // steps for the files; each file belongs to one thread
  FileOrder order = FileOrder::given;
  std::uint32_t depth = 1;     // requests in flight of each thread; access only
  bool direct = false;         // bypass the page cache
  bool write_through = false;  // O_DSYNC
  SyncPolicy sync;
  std::uint64_t think_ns = 0;  // pause after each access, or file
  double rate = 0;             // accesses (or files) per second and thread; 0: unlimited
};

// End of a phase: the first limit reached. Empty: after one pass.
struct StopRule {
  std::uint64_t time_ns = 0;     // 0: no limit; at most 30 days
  std::uint64_t operations = 0;  // accesses or files, total of all threads
  std::uint64_t bytes = 0;       // total of all threads
  std::uint64_t passes = 0;      // of each thread over its files or its zone
};

// Submission of requests to the kernel.
enum class RequestEngine : std::uint8_t {
  automatic,  // io_uring for threads with several requests in flight
  blocking,   // by calls, with a thread per request in flight
  io_uring,
};

// State of the caches before a phase or another step.
enum class Caches : std::uint8_t {
  cold,  // dropped
  keep,  // unchanged
  warm,  // its files are read until the page cache holds them
};

struct RecipePhase {
  std::string name;
  RequestEngine engine = RequestEngine::automatic;
  bool poll = false;  // poll for completions of direct requests instead of using interrupts
  bool measured = true;
  Caches caches = Caches::cold;
  std::uint64_t idle_ns = 0;  // without I/O, before the phase; not measured
  std::vector<RecipeThreads> threads;
  StopRule stop;
  std::uint64_t warm_up_ns = 0;  // not measured; the time of the phase starts afterwards
};

struct Recipe {
  std::vector<RecipeFiles> files;
  std::vector<RecipePhase> phases;
  std::uint64_t seed = 1;
  double scale = 1;   // of the file sets of groups
  bool fresh = true;  // new volumes for every point, otherwise for every repetition
  // Instead of files and phases:
  std::optional<MysqlMixOptions> mysql;
  std::string reel;  // in the catalogue, or a file
};

// Puts groups of all volumes on the first `count` volumes.
void name_volumes(Recipe& recipe, std::size_t count);

// Volumes of the recipe's groups, or of the groups used by a phase, in the order of roles.
std::vector<Role> volumes_of(const Recipe& recipe);
std::vector<Role> volumes_of(const Recipe& recipe, const RecipePhase& phase);

// --- Scales a recipe.

// `scale`: 0 to kMaxScale (filesets/specification/scaling.h), the factor for the bytes of each
// group of files and for the operations and bytes that end a phase. Files of a mebibyte or more
// shrink first, down to a mebibyte or the size of one access; then their number is reduced.
Recipe scaled(Recipe recipe, double scale);

}  // namespace filereel
