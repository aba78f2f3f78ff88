#include <vector>

#include <fmt/format.h>
#include <zstd.h>

#include "filesets/formats/fileset_file.h"
#include "filesets/formats/running_hash.h"
#include "filesets/ownership/atomic_file.h"
#include "filesets/system/counted.h"
#include "filesets/system/error.h"
#include "filesets/system/escapes.h"
#include "filesets/system/zstd_failure.h"

namespace filereel {
namespace {

constexpr int kCompressionLevel = 3;
constexpr std::size_t kFlushAt = 128u << 10;  // bytes of text buffered before compression

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

}  // namespace

struct FileSetWriter::State {
  explicit State(const std::string& path)
      : file(path), compressor(ZSTD_createCCtx()), packed(ZSTD_CStreamOutSize()) {
    if (!compressor) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_compressionLevel, kCompressionLevel);
    ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_checksumFlag, 1);
  }

  void pack(ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{packed.data(), packed.size(), 0};
      const std::size_t left = ZSTD_compressStream2(compressor.get(), &out, &in, directive);
      if (ZSTD_isError(left)) {
        throw Error(ErrorKind::failed,
                    fmt::format("{}: cannot compress: {}", file.path(), zstd_failure(left)));
      }
      file.write({packed.data(), out.pos});
      if (directive == ZSTD_e_end ? left == 0 : in.pos == in.size) break;
    }
    text.clear();
  }

  // Ends the line that starts at `begin` in the text.
  void end_line(std::size_t begin) {
    const std::size_t length = text.size() - begin;
    if (length > kMaxFileSetLine) {
      text.resize(begin);
      throw Error(ErrorKind::unusable_input,
                  fmt::format("{}: a line of {} is too long for a .fileset file; shorten the "
                              "name, description or path",
                              file.path(), counted(length, "byte")));
    }
    text += '\n';
    total += length + 1;
    if (total > kMaxFileSetText) too_large();
    hash.add({text.data() + begin, length + 1});
    if (text.size() >= kFlushAt) pack(ZSTD_e_continue);
  }

  void count_item() {
    if (++items > kMaxFileSetItems) too_large();
  }

  [[noreturn]] void too_large() const {
    throw Error(ErrorKind::unusable_input,
                fmt::format("{}: the tree is too large for a .fileset file (limits: 32 million "
                            "entries, 8 GiB of text); capture parts of it",
                            file.path()));
  }

  void header_line(std::string_view key, std::string_view value) {
    if (value.empty()) return;
    const std::size_t begin = text.size();
    text += key;
    text += ' ';
    append_escaped(value, Blanks::kept, text);
    end_line(begin);
  }

  AtomicFile file;
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> compressor;
  RunningHash hash;
  std::vector<char> packed;
  std::string text;  // lines not compressed yet
  std::uint64_t total = 0;
  std::uint64_t items = 0;
  std::uint64_t entries = 0;
};

FileSetWriter::FileSetWriter(const std::string& path, const FileSetHeader& header)
    : state_(std::make_unique<State>(path)) {
  state_->text = fmt::format("filereel-fileset {}", kFileSetFormatVersion);
  state_->end_line(0);
  state_->header_line("name", header.name);
  state_->header_line("description", header.description);
  state_->header_line("source", header.source);
  state_->header_line("seed", std::to_string(header.seed));
}

FileSetWriter::~FileSetWriter() = default;

void FileSetWriter::add(const Entry& entry) {
  check_path(entry.path, state_->file.path());
  state_->count_item();
  std::string& text = state_->text;
  const std::size_t begin = text.size();
  const auto out = std::back_inserter(text);
  static constexpr std::string_view kWords[] = {"dir ", "file ", "symlink ", "link "};
  text += kWords[static_cast<std::size_t>(entry.kind)];
  append_escaped(entry.path, Blanks::escaped, text);
  fmt::format_to(out, " {:04o}", entry.mode);
  if (entry.kind == EntryKind::file) fmt::format_to(out, " {}", entry.size);
  if (entry.kind == EntryKind::symlink || entry.kind == EntryKind::hard_link) {
    text += ' ';
    append_escaped(entry.target, Blanks::escaped, text);
  }
  if (entry.mtime_ns != Entry::kNoTime) fmt::format_to(out, " mtime={}", entry.mtime_ns);
  if (entry.kind == EntryKind::file) {
    const Content& content = entry.content;
    if (content.key != 0) fmt::format_to(out, " key={:x}", content.key);
    if (content.compressed_permille != Content{}.compressed_permille) {
      fmt::format_to(out, " compressed={}", content.compressed_permille);
    }
    if (content.duplicate_permille != 0) {
      fmt::format_to(out, " duplicate={}", content.duplicate_permille);
    }
  }
  state_->end_line(begin);
  ++state_->entries;
  for (const Hole& hole : entry.holes) {
    state_->count_item();
    const std::size_t hole_begin = text.size();
    fmt::format_to(out, "hole {} {}", hole.offset, hole.length);
    state_->end_line(hole_begin);
  }
}

std::string FileSetWriter::finish() {
  const std::size_t begin = state_->text.size();
  state_->text += fmt::format("end {} {:016x}", state_->entries, state_->hash.digest());
  state_->end_line(begin);
  state_->pack(ZSTD_e_end);
  return state_->file.commit();
}

void write_fileset_file(const FileSet& set, const std::string& path) {
  FileSetWriter writer(path, {set.name, set.description, set.source, set.seed});
  for (const Entry& entry : set.entries) writer.add(entry);
  writer.finish();
}

}  // namespace filereel
