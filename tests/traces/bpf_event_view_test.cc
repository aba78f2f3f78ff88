#include "traces/record/bpf/bpf_event_view.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "tests/traces/bpf_events.h"

namespace filereel {
namespace {

// Keeps the bytes that it views.
struct Seen {
  explicit Seen(const BpfEvent& event) : bytes(event.bytes()), whole(view.read(bytes)) {}

  std::vector<std::byte> bytes;
  BpfEventView view;
  bool whole;
};

TEST_CASE("an event is taken apart into its head and its parts") {
  const Seen seen(BpfEvent::call(257, {1, 2}, -2)
                      .path("a")
                      .path2("bc")
                      .text("")
                      .copy(1, std::uint32_t{7})
                      .part(PART_RESULT, 0, "xyz")
                      .identity(12, S_IFREG | 0644, 99));
  REQUIRE(seen.whole);
  CHECK(seen.view.head().number == 257);
  CHECK(seen.view.head().result == -2);
  CHECK(seen.view.argument(1) == 2);
  CHECK(seen.view.string(0).bytes == "a");
  CHECK(seen.view.string(1).bytes == "bc");
  CHECK(seen.view.string(2).there);
  CHECK(seen.view.string(2).bytes.empty());
  CHECK_FALSE(seen.view.copy(0).there);
  CHECK(BpfEventView::number<std::uint32_t>(seen.view.copy(1), 0) == 7);
  CHECK(seen.view.result().bytes == "xyz");
  REQUIRE(seen.view.identity());
  CHECK(seen.view.identity()->inode == 12);
}

TEST_CASE("parsing an event resets the previous one") {
  Seen seen(BpfEvent::call(2, {})
                .path("a")
                .identity(1, S_IFREG)
                .copy(0, 5)
                .real(0, "/a")
                .part(PART_ENTRY, 2, "e"));
  REQUIRE(seen.whole);
  const std::vector<std::byte> bare = BpfEvent::call(3, {}).bytes();
  REQUIRE(seen.view.read(bare));
  CHECK_FALSE(seen.view.string(0).there);
  CHECK_FALSE(seen.view.identity());
  CHECK_FALSE(seen.view.copy(0).there);
  CHECK_FALSE(seen.view.real(0).there);
  CHECK_FALSE(seen.view.entry().there);
}

TEST_CASE("incomplete events are rejected") {
  const BpfEvent event = BpfEvent::call(2, {}).path("abc");
  const std::vector<std::byte> whole = event.bytes();
  BpfEventView view;
  CHECK(view.read(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const bool only_head = size == sizeof(bpf_event);  // which is whole without parts
    CHECK(view.read(std::span(whole).first(size)) == only_head);
  }
  CHECK_FALSE(Seen(BpfEvent::call(2, {}).part(static_cast<part_kind>(7), 0, "")).whole);
  CHECK_FALSE(Seen(BpfEvent::call(2, {}).part(PART_IDENTITY, 0, "short")).whole);
}

TEST_CASE("unknown parts are skipped") {
  const Seen seen(BpfEvent::call(2, {})
                      .part(PART_STRING, 3, "a")
                      .part(PART_COPY, 2, "b")
                      .part(PART_REAL, 200, "c")
                      .path("d"));
  REQUIRE(seen.whole);
  CHECK(seen.view.string(0).bytes == "d");
}

TEST_CASE("a truncated part is absent, and numbers beyond its end are 0") {
  const Seen seen(BpfEvent::call(2, {})
                      .part(PART_COPY, 0, "", PART_CUT)
                      .part(PART_COPY, 1, std::string("\1\0\0\0\2", 5)));
  REQUIRE(seen.whole);
  CHECK_FALSE(seen.view.copy(0).there);
  CHECK(BpfEventView::number<std::uint64_t>(seen.view.copy(0), 0) == 0);
  CHECK(BpfEventView::number<std::uint32_t>(seen.view.copy(1), 0) == 1);
  CHECK(BpfEventView::number<std::uint32_t>(seen.view.copy(1), 4) == 0);
}

TEST_CASE("the components of a real path are stored last first") {
  const auto path = [](const BpfEvent& event) {
    const Seen seen(event);
    REQUIRE(seen.whole);
    return real_path(seen.view.real(0));
  };
  CHECK(path(BpfEvent::call(2, {}).real(0, "/usr/lib/x")) == "/usr/lib/x");
  CHECK(path(BpfEvent::call(2, {}).real(0, "/")) == "/");
  CHECK(path(BpfEvent::call(2, {}).real(0, "/a/b", PART_DELETED)) ==
        std::string("/a/b") + kRemovedMark);
  CHECK(path(BpfEvent::call(2, {}).real(0, "/a/b", PART_CUT)).empty());
  CHECK(path(BpfEvent::call(2, {}).part(PART_REAL, 0, "\5ab")).empty());
  CHECK(path(BpfEvent::call(2, {})).empty());
  const std::string longest(255, 'n');
  CHECK(path(BpfEvent::call(2, {}).real(0, "/a/" + longest)) == "/a/" + longest);
}

TEST_CASE("device numbers match stat's") {
  bpf_identity identity{};
  identity.device = 259u << 20 | 0x54321;
  identity.inode = 5;
  identity.generation = 6;
  identity.mode = S_IFDIR | 0700;
  identity.size = 4096;
  const SeenStat seen = seen_stat(identity);
  CHECK(seen.device == makedev(259, 0x54321));
  CHECK(seen.inode == 5);
  CHECK(seen.generation == 6);
  CHECK(seen.mode == (S_IFDIR | 0700));
  CHECK(seen.size == 4096);
}

}  // namespace
}  // namespace filereel
