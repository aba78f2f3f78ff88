#include "traces/calls/call_commands.h"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <sys/ioctl.h>

#include "filesets/system/search.h"

namespace filereel {
namespace {

// Locks are only asked for; signals, leases, seals, hints and the sizes of pipes are no content.
constexpr auto kHarmlessFcntl = std::to_array<std::uint64_t>({
    F_GETFD,
    F_GETFL,
    F_GETLK,
    F_OFD_GETLK,
    F_SETOWN,
    F_GETOWN,
    F_SETSIG,
    F_GETSIG,
    F_SETOWN_EX,
    F_GETOWN_EX,
    F_SETLEASE,
    F_GETLEASE,
    F_NOTIFY,
    F_SETPIPE_SZ,
    F_GETPIPE_SZ,
    F_ADD_SEALS,
    F_GET_SEALS,
    F_GET_RW_HINT,
    F_SET_RW_HINT,
    F_GET_FILE_RW_HINT,
    F_SET_FILE_RW_HINT,
});
// F_GETOWNER_UIDS; F_DUPFD_QUERY, F_CREATED_QUERY, F_CANCELLK; F_GETDELEG, F_SETDELEG; F_GETLK64 of
// 32-bit programs.
constexpr auto kHarmlessInNoHeader =
    std::to_array<std::uint64_t>({17, 1027, 1028, 1029, 1039, 1040, 12});

struct Ioctl {
  unsigned type, number;
};
// Those that look at files, but have a direction for writing or none.
constexpr auto kHarmlessIoctl = std::to_array<Ioctl>({
    {0, 1},
    {0, 2},  // FIBMAP, FIGETBSZ
    // FS_IOC_FIEMAP; GET_ENCRYPTION_PWSALT, _POLICY, _POLICY_EX, _KEY_STATUS; MEASURE_VERITY,
    // READ_VERITY_METADATA; EXT4_IOC_GET_ES_CACHE, EXT4_IOC_GETFSUUID
    {'f', 11},
    {'f', 20},
    {'f', 21},
    {'f', 22},
    {'f', 26},
    {'f', 134},
    {'f', 135},
    {'f', 42},
    {'f', 44},
    // XFS: GETBMAP, GETBMAPX, GETFSMAP, FSGEOMETRY, FSBULKSTAT, INUMBERS, BULKSTAT and handles
    {'X', 38},
    {'X', 56},
    {'X', 59},
    {'X', 100},
    {'X', 101},
    {'X', 102},
    {'X', 103},
    {'X', 104},
    {'X', 105},
    {'X', 124},
    {'X', 127},
    {'X', 128},
    {'X', 129},
    // Btrfs: SYNC, TREE_SEARCH, INO_LOOKUP, SPACE_INFO, WAIT_SYNC, DEV_INFO, INO_PATHS,
    // LOGICAL_INO, GET_DEV_STATS, LOGICAL_INO_V2, GET_SUBVOL_ROOTREF, INO_LOOKUP_USER
    {0x94, 8},
    {0x94, 17},
    {0x94, 18},
    {0x94, 20},
    {0x94, 22},
    {0x94, 30},
    {0x94, 35},
    {0x94, 36},
    {0x94, 52},
    {0x94, 59},
    {0x94, 61},
    {0x94, 62},
});

}  // namespace

bool is_harmless_fcntl(std::uint64_t command) {
  return contains(kHarmlessFcntl, command) || contains(kHarmlessInNoHeader, command);
}

bool is_harmless_ioctl(std::uint64_t command) {
  constexpr unsigned kTerminals = 'T', kSockets = 0x89, kEvents = 0x8a;
  const auto number = static_cast<unsigned>(command);
  const unsigned type = _IOC_TYPE(number);
  if (type == kTerminals || type == kSockets || type == kEvents) return true;
  if (_IOC_DIR(number) == _IOC_READ) return true;  // it only returns something
  return std::ranges::any_of(kHarmlessIoctl, [&](const Ioctl& one) {
    return one.type == type && one.number == _IOC_NR(number);
  });
}

}  // namespace filereel
