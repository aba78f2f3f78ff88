#include "filesets/formats/fileset_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <zstd.h>

#include "filesets/ownership/atomic_file.h"
#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "filesets/system/failure_text.h"
#include "filesets/system/limits.h"
#include "filesets/system/numbers.h"
#include "filesets/system/printable.h"
#include "filesets/system/wording.h"

namespace filereel {
namespace {

// `zstd -d` also accepts windows of up to 128 MiB; the writer uses 2 MiB.
constexpr int kMaxWindowLog = 27;
constexpr std::size_t kReadSize = 256u << 10;  // bytes read from the file at a time
constexpr std::string_view kRemedy =
    "; copy the file again from its source, or capture the tree again";

struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Returns the text up to the next blank and removes both from `rest`.
std::string_view next_word(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

// Builds the set line by line from uncompressed text in pieces of any length.
class FileSetLines {
 public:
  explicit FileSetLines(std::string_view name) : name_(name) {}

  void feed(std::string_view text) {
    while (!text.empty()) {
      const std::size_t newline = text.find('\n');
      const std::string_view piece = text.substr(0, newline);
      if (line_.size() + piece.size() > kMaxFileSetLine) fail("the line is longer than 64 KiB");
      if (newline == std::string_view::npos) {
        line_ += piece;
        return;
      }
      text.remove_prefix(newline + 1);
      if (line_.empty()) {
        take_line(piece);
      } else {
        line_ += piece;
        take_line(line_);
        line_.clear();
      }
    }
  }

  FileSet finish() {
    if (!ended_) {
      fail("unexpected end of file before the 'end' line");
    }
    check_file_set(set_);
    return std::move(set_);
  }

  // `text` describes the error in the current line.
  [[noreturn]] void fail(std::string_view text) const {
    throw Error(ErrorKind::unusable_input,
                fmt::format("{}: line {} (byte {} of the uncompressed text): {}{}", name_, number_,
                            offset_, text, kRemedy));
  }

 private:
  void take_line(std::string_view line) {
    if (ended_) fail("unexpected text after the 'end' line");
    std::string_view rest = line;
    const std::string_view word = next_word(rest);
    if (number_ == 1) {
      read_first(word, rest);
    } else if (word == "end") {
      read_end(rest);
    } else if (!header_done_) {
      read_header(word, rest);
    } else {
      read_item(word, rest);
    }
    if (!ended_) {
      hash_.add(line);
      hash_.add("\n");
    }
    offset_ += line.size() + 1;
    ++number_;
  }

  void read_first(std::string_view word, std::string_view rest) const {
    if (word != "filereel-fileset") {
      throw Error(ErrorKind::unusable_input,
                  fmt::format("{}: not a .fileset file (its text does not start with "
                              "'filereel-fileset'); create one with 'filereel capture'",
                              name_));
    }
    int version = 0;
    if (!parse_number(rest, version)) fail("the version is not a number");
    if (version != kFileSetFormatVersion) {
      throw Error(
          ErrorKind::unusable_input,
          fmt::format(
              "{}: line 1: unsupported .fileset version {}, expected {}; use a newer filereel",
              name_, version, kFileSetFormatVersion));
    }
  }

  void read_header(std::string_view word, std::string_view rest) {
    if (word == "seed") {
      if (!parse_number(rest, set_.seed)) fail("the seed is not a number");
      header_done_ = true;
      return;
    }
    std::string* text = word == "name"          ? &set_.name
                        : word == "description" ? &set_.description
                        : word == "source"      ? &set_.source
                                                : nullptr;
    if (text == nullptr) fail("expected name, description, source or seed");
    if (!unescape(rest, Blanks::kept, *text)) fail("invalid escape sequence in the text");
  }

  void read_end(std::string_view rest) {
    std::uint64_t entries = 0;
    std::uint64_t digest = 0;
    const std::string_view count = next_word(rest);
    if (!header_done_ || !parse_number(count, entries) || rest.size() != 16 ||
        !parse_number(rest, digest, 16)) {
      fail("invalid 'end' line");
    }
    if (entries != set_.entries.size()) {
      fail(fmt::format("the file has {}, but its 'end' line says {}",
                       counted(set_.entries.size(), "entry", "entries"), entries));
    }
    if (digest != hash_.digest()) {
      fail("the file is corrupt: checksum mismatch for the lines before this one");
    }
    ended_ = true;
  }

  void read_item(std::string_view word, std::string_view rest) {
    if (++items_ > kMaxFileSetItems) fail("more than 32 million entries");
    if (word == "hole") {
      Hole hole;
      const std::string_view offset = next_word(rest);
      if (set_.entries.empty() || set_.entries.kind(set_.entries.size() - 1) != EntryKind::file) {
        fail("a hole must follow a file");
      }
      if (!parse_number(offset, hole.offset) || !parse_number(rest, hole.length)) {
        fail("a hole needs an offset and a length");
      }
      set_.entries.add_hole(set_.entries.size() - 1, hole);
      return;
    }
    Entry entry;
    if (word == "dir") {
      entry.kind = EntryKind::directory;
    } else if (word == "file") {
      entry.kind = EntryKind::file;
    } else if (word == "symlink") {
      entry.kind = EntryKind::symlink;
    } else if (word == "link") {
      entry.kind = EntryKind::hard_link;
    } else {
      fail("expected dir, file, symlink, link, hole or end");
    }
    if (!unescape(next_word(rest), Blanks::escaped, entry.path))
      fail("invalid escape sequence in the path");
    if (!parse_number(next_word(rest), entry.mode, 8)) fail("the mode is not an octal number");
    if (entry.kind == EntryKind::file) {
      if (!parse_number(next_word(rest), entry.size)) fail("the size is not a number");
    } else if (entry.kind != EntryKind::directory) {
      if (!unescape(next_word(rest), Blanks::escaped, entry.target))
        fail("invalid escape sequence in the target");
      if (entry.target.empty()) fail("missing target");
    }
    while (!rest.empty()) read_attribute(next_word(rest), entry);
    set_.entries.push_back(entry);
  }

  void read_attribute(std::string_view word, Entry& entry) const {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = word.substr(std::min(equals + 1, word.size()));
    bool good = false;
    if (key == "mtime") {
      good = parse_number(value, entry.mtime_ns) && entry.mtime_ns != Entry::kNoTime;
    } else if (entry.kind == EntryKind::file && key == "key") {
      good = parse_number(value, entry.content.key, 16);
    } else if (entry.kind == EntryKind::file && key == "compressed") {
      good = parse_number(value, entry.content.compressed_permille);
    } else if (entry.kind == EntryKind::file && key == "duplicate") {
      good = parse_number(value, entry.content.duplicate_permille);
    }
    if (!good) fail("unknown attribute or invalid value");
  }

  std::string name_;
  RunningHash hash_;
  FileSet set_;
  std::string line_;  // incomplete line
  std::uint64_t number_ = 1;
  std::uint64_t offset_ = 0;  // of the current line
  std::uint64_t items_ = 0;
  bool header_done_ = false;
  bool ended_ = false;
};

// Decompresses bytes in pieces of any length.
class FileSetReader {
 public:
  explicit FileSetReader(std::string_view name)
      : name_(name),
        lines_(name),
        decompressor_(ZSTD_createDCtx()),
        unpacked_(ZSTD_DStreamOutSize()) {
    if (!decompressor_) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(decompressor_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }

  void feed(std::span<const std::byte> bytes) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    bool output_was_full = false;
    while (in.pos < in.size || output_was_full) {
      ZSTD_outBuffer out{unpacked_.data(), unpacked_.size(), 0};
      const std::size_t left = ZSTD_decompressStream(decompressor_.get(), &out, &in);
      if (ZSTD_isError(left)) fail_packed(packed_ + in.pos, left);
      inside_frame_ = left != 0;
      output_was_full = out.pos == out.size;
      total_ += out.pos;
      if (total_ > kMaxFileSetText) lines_.fail("the uncompressed text is larger than 8 GiB");
      lines_.feed({unpacked_.data(), out.pos});
      if (left == 0) output_was_full = false;
    }
    packed_ += bytes.size();
  }

  FileSet finish() {
    if (packed_ == 0) {
      throw Error(ErrorKind::unusable_input,
                  fmt::format("{}: the file is empty{}", name_, kRemedy));
    }
    if (inside_frame_) {
      lines_.fail(
          fmt::format("the file is truncated: it ends at byte {}, inside a zstd frame", packed_));
    }
    return lines_.finish();
  }

 private:
  [[noreturn]] void fail_packed(std::uint64_t offset, std::size_t code) const {
    const std::string_view reason = zstd_failure(code);
    if (total_ == 0) {
      throw Error(ErrorKind::unusable_input,
                  fmt::format("{}: byte {}: not a .fileset file, or corrupt ({}){}", name_, offset,
                              reason, kRemedy));
    }
    lines_.fail(fmt::format("the file is corrupt near byte {} ({})", offset, reason));
  }

  std::string name_;
  FileSetLines lines_;
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> decompressor_;
  std::vector<char> unpacked_;
  std::uint64_t packed_ = 0;  // compressed bytes consumed
  std::uint64_t total_ = 0;   // uncompressed bytes produced
  bool inside_frame_ = false;
};

}  // namespace

FileSet read_fileset_file(const std::string& path) {
  const auto fail = [&](int error) {
    throw Error(ErrorKind::failed, fmt::format("{}: cannot read: {}", path, error_text(error)));
  };
  const Stream file(std::fopen(path.c_str(), "rbe"));
  if (!file) fail(errno);
  FileSetReader reader(path);
  std::vector<std::byte> buffer(kReadSize);
  for (;;) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get());
    if (got == 0) break;
    reader.feed(std::span(buffer).first(got));
  }
  if (std::ferror(file.get()) != 0) fail(errno);
  return reader.finish();
}

FileSet parse_fileset(std::span<const std::byte> bytes, std::string_view name) {
  FileSetReader reader(name);
  reader.feed(bytes);
  return reader.finish();
}

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
