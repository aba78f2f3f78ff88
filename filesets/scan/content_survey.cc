#include "filesets/scan/content_survey.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>
#include <utility>

#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

namespace filereel {
namespace {

constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::size_t kPieces = 8;
constexpr std::size_t kSurveyBytes = kPieces * kPieceBytes;
constexpr int kSurveyLevel = 1;  // defines Content::compressed_permille

// Bytes [offset, offset + length) of a file that are allocated.
struct DataRange {
  std::uint64_t offset;
  std::uint64_t length;
};

struct Layout {
  std::vector<DataRange> data;
  std::vector<Hole> holes;
  std::uint64_t data_bytes = 0;
};

Layout find_layout(int fd, std::uint64_t size) {
  Layout layout;
  const auto end = static_cast<off_t>(size);
  for (off_t at = 0; at < end;) {
    off_t data = lseek(fd, at, SEEK_DATA);
    if (data < 0) {
      // ENXIO: only a hole follows. Other errors: the file system does not report holes.
      data = errno == ENXIO ? end : at;
    }
    data = std::min(data, end);
    if (data > at) {
      layout.holes.push_back(
          {static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(data - at)});
    }
    if (data == end) break;
    at = lseek(fd, data, SEEK_HOLE);
    if (at < 0 || at > end) at = end;
    if (at <= data) throw SurveyFailure{ESTALE};
    layout.data.push_back(
        {static_cast<std::uint64_t>(data), static_cast<std::uint64_t>(at - data)});
    layout.data_bytes += layout.data.back().length;
  }
  return layout;
}

}  // namespace

// Content keys by hash. Open addressing in one array, so that a file costs only its slot.
class ContentSurvey::Table {
 public:
  struct Slot {
    XXH128_hash_t hash{};
    std::uint32_t key = 0;  // 0: free
    std::uint16_t compressed_permille = 0;
  };

  // Returns the slot of `hash`. For a new slot (key 0) the caller must call add.
  Slot& find(XXH128_hash_t hash) {
    std::size_t i = hash.low64 & (slots_.size() - 1);
    while (slots_[i].key != 0 && !XXH128_isEqual(slots_[i].hash, hash)) {
      i = (i + 1) & (slots_.size() - 1);
    }
    return slots_[i];
  }

  Content add(XXH128_hash_t hash, std::uint16_t compressed_permille) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow();
    find(hash) = {hash, ++used_, compressed_permille};
    return {used_, compressed_permille, 0};
  }

 private:
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != 0) find(slot.hash) = slot;
    }
  }

  std::uint32_t used_ = 0;
  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of two
};

// Computes hash and compressibility of files through one buffer.
class ContentSurvey::Reader {
 public:
  explicit Reader(std::function<bool(std::size_t)> on_read) : on_read_(std::move(on_read)) {
    if (!hash_ || !compressor_) throw std::bad_alloc();
  }

  // Hashes the data and its location; nullopt if `on_read` returned false.
  std::optional<XXH128_hash_t> hash(int fd, std::uint64_t size, const Layout& layout) {
    // A file that fits stays in the buffer for compressed_permille.
    const bool keep = layout.data_bytes <= buffer_.size();
    std::size_t used = 0;
    XXH3_128bits_reset(hash_.get());
    for (const DataRange& range : layout.data) {
      for (std::uint64_t done = 0; done < range.length;) {
        if (!keep) used = 0;
        const auto room = std::span(buffer_).subspan(used);
        const auto part = room.first(std::min<std::uint64_t>(room.size(), range.length - done));
        read_all(fd, range.offset + done, part);
        XXH3_128bits_update(hash_.get(), part.data(), part.size());
        done += part.size();
        used += part.size();
        if (!on_read_(part.size())) return std::nullopt;
      }
    }
    XXH3_128bits_update(hash_.get(), &size, sizeof size);
    XXH3_128bits_update(hash_.get(), layout.holes.data(), layout.holes.size() * sizeof(Hole));
    return XXH3_128bits_digest(hash_.get());
  }

  // Compressibility of the file last read by `hash`.
  std::uint16_t compressed_permille(int fd, const Layout& layout) {
    std::size_t length = buffer_.size();
    if (layout.data_bytes <= buffer_.size()) {
      length = layout.data_bytes;
    } else {
      for (std::size_t i = 0; i < kPieces; ++i) {
        // The first piece is at the start of the data, the last one at its end.
        const std::uint64_t at = (layout.data_bytes - kPieceBytes) / (kPieces - 1) * i;
        read_data(fd, layout, at, std::span(buffer_).subspan(i * kPieceBytes, kPieceBytes));
      }
    }
    const std::size_t compressed =
        ZSTD_compressCCtx(compressor_.get(), compressed_.data(), compressed_.size(), buffer_.data(),
                          length, kSurveyLevel);
    if (ZSTD_isError(compressed) != 0) throw std::bad_alloc();  // the only possible cause
    // The frame would dominate in a small file but says nothing about the content: magic number,
    // descriptor, content size (RFC 8878, 3.1.1.1) and one block header.
    const std::size_t size_field = length < 256 ? 1 : length < 65536 + 256 ? 2 : 4;
    const std::size_t frame = std::min(compressed, 4 + 1 + size_field + 3);
    const std::size_t permille = ((compressed - frame) * 1000 + length / 2) / length;
    return static_cast<std::uint16_t>(std::min<std::size_t>(permille, 1000));
  }

 private:
  static void read_all(int fd, std::uint64_t offset, std::span<char> out) {
    while (!out.empty()) {
      const ssize_t got = pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw SurveyFailure{errno};
      if (got == 0) throw SurveyFailure{ESTALE};  // truncated
      offset += static_cast<std::uint64_t>(got);
      out = out.subspan(static_cast<std::size_t>(got));
    }
  }

  // Reads from position `at` of the data, holes not counted.
  static void read_data(int fd, const Layout& layout, std::uint64_t at, std::span<char> out) {
    for (const DataRange& range : layout.data) {
      if (at < range.length) {
        const auto part = out.first(std::min<std::uint64_t>(out.size(), range.length - at));
        read_all(fd, range.offset + at, part);
        out = out.subspan(part.size());
        at = 0;
        if (out.empty()) return;
      } else {
        at -= range.length;
      }
    }
  }

  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  std::function<bool(std::size_t)> on_read_;
  std::vector<char> buffer_ = std::vector<char>(kSurveyBytes);
  std::vector<char> compressed_ = std::vector<char>(ZSTD_compressBound(kSurveyBytes));
  std::unique_ptr<XXH3_state_t, Free> hash_{XXH3_createState()};
  std::unique_ptr<ZSTD_CCtx, Free> compressor_{ZSTD_createCCtx()};
};

ContentSurvey::ContentSurvey(std::function<bool(std::size_t)> on_read)
    : known_(std::make_unique<Table>()), reader_(std::make_unique<Reader>(std::move(on_read))) {}

ContentSurvey::~ContentSurvey() = default;

std::optional<SurveyedContent> ContentSurvey::survey(int fd, std::uint64_t size) {
  posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  Layout layout = find_layout(fd, size);
  SurveyedContent found;
  if (layout.data_bytes != 0) {
    const auto hash = reader_->hash(fd, size, layout);
    if (!hash) return std::nullopt;
    const Table::Slot& known = known_->find(*hash);
    found.duplicate = known.key != 0;
    found.content = found.duplicate ? Content{known.key, known.compressed_permille, 0}
                                    : known_->add(*hash, reader_->compressed_permille(fd, layout));
  }
  found.holes = std::move(layout.holes);
  return found;
}

}  // namespace filereel
