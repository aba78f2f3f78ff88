#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>
#include <zstd.h>

#include "filesets/system/descriptor.h"
#include "filesets/system/error.h"
#include "tests/temp_dir.h"
#include "traces/import/importers.h"

using namespace filereel;

namespace {

std::vector<std::string> lines(LineReader& reader) {
  std::vector<std::string> all;
  for (std::string_view line; reader.next(line);) all.emplace_back(line);
  return all;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string packed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);  // as the zstd tool does
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

}  // namespace

TEST_CASE("Lines come without their newlines, the last one with or without") {
  LineReader reader("a\n\nb", "text");
  CHECK(lines(reader) == std::vector<std::string>{"a", "", "b"});
  CHECK(reader.line() == 3);
  LineReader ended("a\n", "text");
  CHECK(lines(ended) == std::vector<std::string>{"a"});
  LineReader empty("", "text");
  CHECK(lines(empty).empty());
}

TEST_CASE("What was peeked at is given again") {
  const TempDir dir;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "line " + std::to_string(i) + "\n";
  write(dir / "plain", text);
  write(dir / "packed", packed(text.substr(0, 300'000)) + packed(text.substr(300'000)));
  for (const std::string name : {"plain", "packed"}) {
    CAPTURE(name);
    LineReader reader(dir / name);
    CHECK(reader.peek() == std::string_view(text).substr(0, 64 << 10));
    const std::vector<std::string> all = lines(reader);
    REQUIRE(all.size() == 100'000);
    CHECK(all[0] == "line 0");
    CHECK(all[99'999] == "line 99999");
    CHECK(reader.peek().empty());
  }
}

TEST_CASE("A line longer than the buffer comes whole, one of 17 MiB is refused") {
  const TempDir dir;
  write(dir / "long", std::string(3 << 20, 'x') + "\ny\n");
  LineReader reader(dir / "long");
  const std::vector<std::string> all = lines(reader);
  REQUIRE(all.size() == 2);
  CHECK(all[0].size() == 3 << 20);
  write(dir / "too-long", "a\n" + std::string(17 << 20, 'x'));
  LineReader refused(dir / "too-long");
  std::string_view line;
  CHECK(refused.next(line));
  CHECK_THROWS_WITH_AS(refused.next(line), doctest::Contains("too-long:2: "), Error);
}

TEST_CASE("Packed text that is cut off or damaged is refused") {
  const TempDir dir;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919 % 100'003) + "\n";
  std::string bytes = packed(text);
  write(dir / "cut", bytes.substr(0, bytes.size() / 2));
  bytes[bytes.size() / 2] ^= 0x55;
  bytes[bytes.size() / 2 + 1] ^= 0x55;
  write(dir / "damaged", bytes);
  LineReader cut(dir / "cut");
  CHECK_THROWS_WITH_AS(lines(cut), doctest::Contains("unexpected end of zstd data"), Error);
  LineReader damaged(dir / "damaged");
  CHECK_THROWS_WITH_AS(lines(damaged), doctest::Contains("corrupt zstd data (the "), Error);
}

TEST_CASE("A file that cannot be opened is named") {
  CHECK_THROWS_WITH_AS(LineReader("/nonexistent/trace"), doctest::Contains("/nonexistent/trace: "),
                       Error);
}

TEST_CASE("what another program writes is read as it comes, and peeking waits for no more") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  Descriptor write_end(ends[1]);
  const auto say = [&](std::string_view text) {
    REQUIRE(::write(write_end.get(), text.data(), text.size()) ==
            static_cast<ssize_t>(text.size()));
  };
  say("first\nsec");
  LineReader reader(Descriptor(ends[0]), "a pipe");
  CHECK(reader.peek().starts_with("first"));
  std::string_view line;
  REQUIRE(reader.next(line));
  CHECK(line == "first");
  say("ond\nlast");
  write_end.reset();
  CHECK(lines(reader) == std::vector<std::string>{"second", "last"});
  CHECK(reader.again() == nullptr);
}

TEST_CASE("a pipe into which nothing was written is empty") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[1]);
  LineReader reader(Descriptor(ends[0]), "a pipe");
  CHECK(reader.peek().empty());
  CHECK(lines(reader).empty());
}
