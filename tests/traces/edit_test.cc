#include "traces/edit/edit.h"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <linux/fs.h>
#include <sys/mman.h>

#include "tests/entries.h"
#include "tests/traces/tale.h"
#include "traces/open_flags.h"

namespace filereel {
namespace {

// A tale that has been told to its end, to be read as often as one likes.
class Told {
 public:
  explicit Told(Tale& tale)
      : tale_(tale), info_(tale.builder.info()), trees_(tale.builder.trees()) {}

  TraceInput input() {
    sources_.emplace_back(tale_.kept.operations);
    return {sources_.back(), tale_.tables, info_, trees_};
  }

 private:
  Tale& tale_;
  TraceInfo info_;
  TraceTrees trees_;
  std::deque<VectorRecordedSource> sources_;
};

TraceThread thread_of(std::uint32_t process, std::uint32_t parent = TraceThread::kNoParent) {
  TraceThread thread;
  thread.process = process;
  thread.parent = parent;
  return thread;
}

struct Edited {
  TraceTables tables;
  VectorSink kept;
  TraceBuilder builder{tables, kept};

  std::string initial() const { return Tale::words(builder.trees().initial); }
  std::string final() const { return Tale::words(builder.trees().final); }
  const std::vector<RecordedOperation>& operations() const { return kept.operations; }

  // "open a/f", "write" …, one operation a word or two, each in brackets.
  std::string story() const {
    std::string text;
    for (const RecordedOperation& recorded : kept.operations) {
      const Operation& operation = recorded.operation;
      const OperationInfo& info = operation_info(operation.kind);
      text += "[" + std::string(info.name);
      if (has(info.fields, Field::path) ||
          (has(info.fields, Field::target) && operation.file == kNoFile)) {
        text += " " + tables.paths.relative(operation.path);
      }
      text += "]";
    }
    return text;
  }
};

TEST_CASE("a cut keeps the operations that start in its time, which begins at 0") {
  Tale tale;
  for (const char* name : {"a", "b", "c", "d"}) {
    tale.mkdir(name);
    tale.now_ns += 100;
  }
  Told told(tale);
  Edited out;
  Cut cut;
  cut.from_ns = 100;
  cut.to_ns = 300;
  cut_trace(told.input(), cut, out.builder);
  CHECK(out.story() == "[mkdir b][mkdir c]");
  CHECK(out.operations()[0].start_ns == 0);
  CHECK(out.operations()[1].start_ns == 100);
  CHECK(out.initial() == "a/");
  CHECK(out.final() == "a/ b/ c/");
}

TEST_CASE("files that are open where the cut begins are opened first, where they are then") {
  Tale tale;
  tale.mkdir("d");
  tale.open(7, "d/f", O_RDWR | O_CREAT | O_EXCL | O_APPEND);
  tale.write(7, 0, 100);
  tale.open(3, "closed", O_RDONLY);
  tale.close(3);
  tale.rename("d", "e");
  tale.now_ns = 50;
  tale.write(7, 100, 10);
  Told told(tale);
  Edited out;
  Cut cut;
  cut.from_ns = 50;
  cut_trace(told.input(), cut, out.builder);
  CHECK(out.story() == "[open e/f][write][close]");
  CHECK(out.operations()[0].operation.flags == (O_RDWR | O_APPEND));
  CHECK(out.operations()[0].operation.file == 0);
  CHECK(out.operations()[1].operation.file == 0);
  CHECK(out.builder.info().slots == 1);
  CHECK(out.initial() == "closed=0 e/ e/f=100");
  CHECK(out.final() == "closed=0 e/ e/f=110");
}

TEST_CASE("a removed file that is open where the cut begins is there without a name again") {
  Tale tale;
  tale.open(0, "f", O_RDWR | O_CREAT | O_EXCL);
  tale.write(0, 0, 100);
  tale.unlink("f");
  tale.open(1, "dir", open_flags::kTemporary | O_RDWR);
  tale.now_ns = 50;
  tale.read(0, 0, 100);
  tale.write(1, 0, 10);
  Told told(tale);
  Edited out;
  Cut cut;
  cut.from_ns = 50;
  cut_trace(told.input(), cut, out.builder);
  CHECK(out.story() ==
        "[open filereel-removed-1][open filereel-removed-2][unlink filereel-removed-1]"
        "[unlink filereel-removed-2][read][write][close][close]");
  CHECK(out.operations()[1].operation.flags == O_RDWR);
  CHECK(out.initial() == "dir/ filereel-removed-1=100 filereel-removed-2=0");
  CHECK(out.final() == "dir/");
}

TEST_CASE("what is mapped where the cut begins is mapped first") {
  Tale tale;
  tale.open(0, "f", O_RDWR);
  tale.read(0, 0, 8192);
  tale.map(5, 0, PROT_READ | PROT_WRITE, MAP_SHARED, 4096, 4096);
  tale.close(0);
  tale.now_ns = 50;
  tale.on_mapping(OperationKind::fault, 5, 1, 0, 4096);
  Told told(tale);
  Edited out;
  Cut cut;
  cut.from_ns = 50;
  cut_trace(told.input(), cut, out.builder);
  CHECK(out.story() == "[open f][mmap][close][fault][munmap]");
  CHECK(out.operations()[0].operation.flags == O_RDWR);
  CHECK(out.operations()[1].operation.offset == 4096);
  CHECK(out.operations()[3].operation.source == out.operations()[1].operation.source);
  CHECK(out.builder.info().mappings == 1);
}

// With its time.
RecordedOperation timed(Operation operation, std::uint64_t start_ns, std::uint64_t duration_ns) {
  return {operation, start_ns, duration_ns};
}

TEST_CASE("what is under way where the cut begins is in it, from its begin on") {
  Tale tale;
  tale.builder.add_thread(thread_of(11));
  tale.open(0, "f", O_RDWR | O_CREAT | O_EXCL);
  tale.builder.add(timed(tale.on_path(OperationKind::make_directory, "d"), 100, 10));
  Operation write = Tale::on_file(OperationKind::write, 0, 100);
  write.length = 100;
  write.thread = 1;
  tale.builder.add(timed(write, 50, 100));  // operations stand in the order of their ends
  Told told(tale);
  Edited out;
  Cut cut;
  SUBCASE("behind an operation that begins in it") {
    cut.from_ns = 100;
    cut_trace(told.input(), cut, out.builder);
    CHECK(out.story() == "[open f][mkdir d][write][close]");
    CHECK(out.operations()[2].start_ns == 0);
    CHECK(out.operations()[2].duration_ns == 50);
  }
  SUBCASE("as its only one") {
    cut.from_ns = 120;
    cut_trace(told.input(), cut, out.builder);
    CHECK(out.story() == "[open f][write][close]");
    CHECK(out.operations()[1].start_ns == 0);
    CHECK(out.operations()[1].duration_ns == 30);
    CHECK(out.operations()[2].start_ns == 30);
  }
  SUBCASE("but not what begins where it ends") {
    cut.from_ns = 60;
    cut.to_ns = 100;
    cut_trace(told.input(), cut, out.builder);
    CHECK(out.story() == "[open f][write][close]");
    CHECK(out.operations()[1].duration_ns == 90);
  }
}

TEST_CASE("what is still open where the cut ends is closed there") {
  Tale tale;
  tale.open(0, "f", O_RDWR | O_CREAT | O_EXCL);
  tale.open(1, "g", O_RDWR);
  tale.map(0, 1, PROT_READ, MAP_SHARED, 0, 4096);
  tale.now_ns = 50;
  tale.write(0, 0, 100);
  tale.now_ns = 900;
  tale.close(0);
  tale.mkdir("d");
  Told told(tale);
  Edited out;
  Cut cut;
  cut.to_ns = 100;
  cut_trace(told.input(), cut, out.builder);
  CHECK(out.story() == "[open f][open g][mmap][write][close][munmap][close]");
  CHECK(out.operations()[4].start_ns == 100);
  CHECK(out.operations()[5].start_ns == 100);
  CHECK(out.operations()[6].operation.file == 1);
  CHECK(out.final() == "f=100 g=4096");
}

// The first one is the parent of the others.
void begin_three_threads(Tale& tale) {
  tale.builder.thread(0).process = 10;
  tale.builder.add_thread(thread_of(11, 0));
  tale.builder.add_thread(thread_of(12, 0));
}

TEST_CASE("a cut keeps the threads that it names, numbered anew") {
  Tale tale;
  begin_three_threads(tale);
  for (const std::uint64_t child : {1U, 2U}) {
    Operation fork;
    fork.kind = OperationKind::fork;
    fork.second = child;
    tale.add(fork);
  }
  tale.thread = 1;
  tale.mkdir("one");
  tale.thread = 2;
  tale.mkdir("two");
  Told told(tale);
  Edited out;
  Cut cut;
  cut.threads = {0, 2};
  cut_trace(told.input(), cut, out.builder);
  CHECK(out.story() == "[fork][mkdir two]");
  CHECK(out.operations()[0].operation.second == 1);
  CHECK(out.operations()[1].operation.thread == 1);
  REQUIRE(out.builder.info().threads.size() == 2);
  CHECK(out.builder.info().threads[1].process == 12);
  CHECK(out.builder.info().threads[1].parent == 0);
}

TEST_CASE("a cut keeps the waits of its threads, also those that others ended") {
  Tale tale;
  begin_three_threads(tale);
  const auto add = [&](std::uint32_t thread, OperationKind kind, std::uint64_t other) {
    tale.thread = thread;
    Operation operation;
    operation.kind = kind;
    operation.second = other;
    tale.add(operation);
  };
  add(0, OperationKind::fork, 1);
  add(0, OperationKind::fork, 2);
  add(1, OperationKind::wake, 2);
  add(2, OperationKind::wait, 1);
  add(0, OperationKind::wake, 2);
  add(2, OperationKind::wait, 0);
  Told told(tale);
  Edited out;
  Cut cut;
  cut.threads = {0, 2};
  cut_trace(told.input(), cut, out.builder);
  CHECK(out.story() == "[fork][wait][wake][wait]");
  CHECK(out.operations()[1].operation.flags == wait_flags::kForOutside);
  CHECK(out.operations()[1].operation.second == 1);  // itself
  CHECK(out.operations()[2].operation.second == 1);
  CHECK(out.operations()[3].operation.flags == wait_flags::kForThread);
  CHECK(out.operations()[3].operation.second == 0);
}

TEST_CASE("a file that an unwanted thread opened is opened where a wanted one uses it") {
  Tale tale;
  tale.builder.thread(0).process = 10;
  tale.builder.add_thread(thread_of(11));
  tale.open(0, "f", O_RDONLY);
  tale.open(1, "g", O_RDWR | O_CREAT | O_EXCL);
  tale.thread = 1;
  tale.now_ns = 70;
  tale.read(0, 0, 10);
  tale.copy(0, 0, 1, 0, 10);
  Told told(tale);
  Edited out;
  Cut cut;
  cut.threads = {1};
  cut_trace(told.input(), cut, out.builder);
  CHECK(out.story() == "[open f][read][open g][copy_range][close][close]");
  CHECK(out.operations()[0].start_ns == 70);
  CHECK(out.operations()[0].operation.thread == 0);
  CHECK(out.initial() == "f=10 g=0");
}

// Thread 1 is wanted, thread 0 is not.
struct OneOfTwo {
  Tale tale;
  Edited out;

  OneOfTwo() {
    tale.builder.thread(0).process = 10;
    tale.builder.add_thread(thread_of(11));
  }
  void make_cut() {
    Told told(tale);
    Cut cut;
    cut.threads = {1};
    cut_trace(told.input(), cut, out.builder);
  }
};

TEST_CASE("an unwanted thread's close ends what a wanted one has open") {
  OneOfTwo two;
  Tale& tale = two.tale;
  tale.open(0, "a", O_RDONLY);
  tale.thread = 1;
  tale.read(0, 0, 10);
  tale.thread = 0;
  SUBCASE("that is said") {
    tale.now_ns = 40;
    tale.close(0);
    tale.open(0, "b", O_RDONLY);
  }
  SUBCASE("that the trace lost") {
    tale.now_ns = 40;
    tale.open(0, "b", O_RDONLY);
  }
  tale.thread = 1;
  tale.now_ns = 70;
  tale.read(0, 1000, 10);
  two.make_cut();
  CHECK(two.out.story() == "[open a][read][close][open b][read][close]");
  CHECK(two.out.operations()[2].start_ns == 40);
  CHECK(two.out.operations()[2].operation.thread == 0);
  CHECK(two.out.initial() == "a=10 b=1010");
  CHECK(two.out.builder.info().slots == 1);
}

TEST_CASE("an open of an unwanted thread that failed ends nothing") {
  OneOfTwo two;
  Tale& tale = two.tale;
  tale.open(0, "a", O_RDONLY);
  tale.thread = 1;
  tale.read(0, 0, 10);
  tale.thread = 0;
  tale.open(0, "b", O_RDONLY, -ENOENT);
  tale.thread = 1;
  tale.read(0, 1000, 10);
  two.make_cut();
  CHECK(two.out.story() == "[open a][read][read][close]");
}

TEST_CASE("an unwanted thread's unmap ends what a wanted one has mapped") {
  OneOfTwo two;
  Tale& tale = two.tale;
  tale.open(0, "a", O_RDWR);
  tale.open(1, "b", O_RDWR);
  tale.map(0, 0, PROT_READ, MAP_SHARED, 0, 4096);
  tale.thread = 1;
  tale.now_ns = 20;
  tale.on_mapping(OperationKind::fault, 0, 0, 0, 4096);
  tale.thread = 0;
  tale.on_mapping(OperationKind::unmap, 0);
  tale.map(0, 1, PROT_READ, MAP_SHARED, 8192, 4096);
  tale.thread = 1;
  tale.now_ns = 30;
  tale.on_mapping(OperationKind::fault, 0, 0, 0, 4096);
  two.make_cut();
  CHECK(two.out.story() ==
        "[open a][mmap][close][fault][munmap][open b][mmap][close][fault][munmap]");
  CHECK(two.out.operations()[0].start_ns == 20);
  CHECK(two.out.operations()[4].operation.thread == 0);
  CHECK(two.out.operations()[6].operation.offset == 8192);
  CHECK(two.out.builder.info().mappings == 1);
}

TEST_CASE("a wanted thread unmaps only what is mapped in the cut") {
  OneOfTwo two;
  Tale& tale = two.tale;
  tale.open(0, "a", O_RDWR);
  tale.map(0, 0, PROT_READ, MAP_SHARED, 0, 4096);
  SUBCASE("which it is before") {
    tale.thread = 1;
    tale.on_mapping(OperationKind::unmap, 0);
    two.make_cut();
    CHECK(two.out.story() == "[open a][mmap][close][munmap]");
  }
  SUBCASE("or is lost") {
    tale.unlink("a");
    tale.thread = 1;
    tale.on_mapping(OperationKind::unmap, 0);
    two.make_cut();
    CHECK(two.out.story().empty());
    CHECK(two.out.builder.info().lost.size() == 1);
  }
}

TEST_CASE("a cut keeps what lies below its paths") {
  Tale tale;
  tale.mkdir("in");
  tale.mkdir("inner");
  tale.open(0, "in/f", O_RDWR | O_CREAT);
  tale.open(1, "out", O_RDWR | O_CREAT);
  tale.write(0, 0, 10);
  tale.write(1, 0, 10);
  tale.rename("out", "in/out");
  tale.stat("out/x", 0);
  tale.close(0);
  tale.close(1);
  Told told(tale);
  Edited out;
  Cut cut;
  cut.below = {"/in/"};
  cut_trace(told.input(), cut, out.builder);
  CHECK(out.story() == "[mkdir in][open in/f][write][rename in/out][close]");
}

TEST_CASE("a cut of everything is the same trace") {
  Tale tale;
  tale.model().begin_with(set_of({directory("d"), file("d/untouched", 77)}));
  tale.open(0, "d/f", O_RDWR | O_CREAT);
  tale.write(0, 0, 10);
  tale.symlink("f", "d/l");
  tale.close(0);
  Told told(tale);
  Edited out;
  cut_trace(told.input(), {}, out.builder);
  CHECK(out.story() == "[open d/f][write][symlink d/l][close]");
  CHECK(out.initial() == tale.initial());
  CHECK(out.final() == tale.final());
}

TEST_CASE("merged traces run side by side from the same moment") {
  Tale one, two;
  one.now_ns = 1000;
  one.open(0, "f", O_RDONLY);
  one.now_ns = 1100;
  one.read(0, 0, 100);
  two.now_ns = 5;
  two.stat("g", S_IFREG | 0644, 7);
  two.now_ns = 55;
  two.open(0, "f", O_RDONLY);
  two.read(0, 0, 500);
  Told first(one), second(two);
  const std::vector<TraceInput> inputs = {first.input(), second.input()};
  SUBCASE("on the same tree") {
    Edited out;
    merge_traces(inputs, false, out.builder);
    CHECK(out.story() == "[open f][stat g][open f][read][read]");
    CHECK(out.initial() == "f=500 g=7");
    CHECK(out.operations()[3].operation.file == 1);
    CHECK(out.operations()[3].operation.thread == 1);
    CHECK(out.operations()[3].operation.entry == out.operations()[4].operation.entry);
    CHECK(out.operations()[4].start_ns == 100);
  }
  SUBCASE("apart") {
    Edited out;
    merge_traces(inputs, true, out.builder);
    CHECK(out.story() == "[open 1/f][stat 2/g][open 2/f][read][read]");
    CHECK(out.initial() == "1/ 1/f=100 2/ 2/f=500 2/g=7");
  }
}

TEST_CASE("trees that disagree are united as far as they agree") {
  Tale one, two;
  one.open(0, "x", O_RDWR);
  two.open(0, "x/f", O_RDWR);
  Told first(one), second(two);
  const std::vector<TraceInput> inputs = {first.input(), second.input()};
  Edited out;
  merge_traces(inputs, false, out.builder);
  CHECK_NOTHROW(check_file_set(out.builder.trees().initial));
}

TEST_CASE("each repetition works in a directory of its own after the one before") {
  Tale tale;
  tale.builder.add_thread(thread_of(0, 0));
  tale.now_ns = 500;
  tale.open(0, "f", O_RDONLY);
  tale.thread = 1;
  tale.now_ns = 900;
  tale.mkdir("d");
  Told told(tale);
  Edited out;
  repeat_trace([&] { return told.input(); }, 3, out.builder);
  CHECK(out.story() ==
        "[open 1/f][mkdir 1/d][close][join][join][open 2/f][mkdir 2/d][close][join][join]"
        "[open 3/f][mkdir 3/d][close]");
  CHECK(out.builder.info().threads.size() == 6);
  CHECK(out.builder.info().threads[5].parent == 4);
  CHECK(out.operations()[0].start_ns == 0);
  CHECK(out.operations()[2].start_ns == 400);
  CHECK(out.operations()[3].operation.thread == 2);
  CHECK(out.operations()[3].operation.second == 0);
  CHECK(out.operations()[4].operation.second == 1);
  CHECK(out.operations()[5].start_ns == 400);
  CHECK(out.operations()[11].start_ns == 1200);
  CHECK(out.initial() == "1/ 1/f=0 2/ 2/f=0 3/ 3/f=0");
  CHECK(out.final() == "1/ 1/d/ 1/f=0 2/ 2/d/ 2/f=0 3/ 3/d/ 3/f=0");
}

TEST_CASE("what a repetition leaves open and mapped is given back for the next one") {
  Tale tale;
  tale.open(0, "f", O_RDONLY);
  tale.map(0, 0, PROT_READ, MAP_SHARED, 0, 4096);
  Told told(tale);
  Edited out;
  repeat_trace([&] { return told.input(); }, 3, out.builder);
  CHECK(out.builder.info().slots == 1);
  CHECK(out.builder.info().mappings == 1);
  CHECK(out.builder.info().by_kind[static_cast<std::size_t>(OperationKind::close)] == 3);
  CHECK(out.builder.info().by_kind[static_cast<std::size_t>(OperationKind::unmap)] == 3);
}

TEST_CASE("an anonymous trace has the same shape under other names") {
  Tale tale;
  tale.builder.fact("source", "strace");
  tale.builder.fact("command", "tar xf secret.tar");
  tale.model().begin_with(set_of({directory("secret"), file("secret/untouched.log", 3)}));
  tale.open(0, "secret/plan.txt", O_RDONLY);
  tale.read(0, 0, 10);
  tale.symlink("../secret/plan.txt", "other/plan.txt");
  tale.symlink("/secret", "absolute");
  Operation xattr = tale.on_path(OperationKind::set_xattr, "secret/.hidden");
  xattr.text = tale.text("user.secret.tag");
  tale.add(xattr);
  Told told(tale);
  Edited out;
  anonymise_trace(told.input(), 42, out.builder);

  REQUIRE(out.operations().size() == tale.kept.operations.size());
  std::string all = out.initial() + out.final() + out.story();
  for (TextId id = 0; id < out.tables.texts.size(); ++id) all += out.tables.texts.text(id);
  for (const auto& [name, value] : out.builder.info().facts) all += value;
  for (const std::string& word : std::vector<std::string>{"secret", "plan", "untouched", "other",
                                                          "absolute", "hidden", "tag"}) {
    CAPTURE(word);
    CAPTURE(all);
    CHECK(all.find(word) == all.npos);
  }
  CHECK(out.builder.info().facts.at("source") == "strace");

  const auto path = [&](std::size_t i) {
    return out.tables.paths.relative(out.operations()[i].operation.path);
  };
  const std::string plan = path(0);
  const std::string secret = plan.substr(0, plan.find('/')), name = plan.substr(secret.size() + 1);
  CHECK(plan.size() == std::string("secret/plan.txt").size());
  CHECK(plan.ends_with(".txt"));
  CHECK(path(2).ends_with("/" + name));
  const auto text = [&](std::size_t i) {
    return out.tables.texts.text(out.operations()[i].operation.text);
  };
  CHECK(text(2) == "../" + plan);
  CHECK(text(3) == "/" + secret);
  CHECK(path(4).starts_with(secret + "/."));
  CHECK(text(4).starts_with("user."));
  CHECK(out.builder.trees().initial.entries.size() == tale.builder.trees().initial.entries.size());
}

TEST_CASE("anonymous names follow from the key, and two names never become one") {
  Tale tale;
  for (char c = 'a'; c <= 'z'; ++c) {
    tale.mkdir(std::string(1, c));
    tale.mkdir(std::string(1, static_cast<char>(c - 'a' + 'A')));
  }
  const auto names = [&](std::uint64_t key) {
    Told told(tale);
    Edited out;
    anonymise_trace(told.input(), key, out.builder);
    return out.final();
  };
  CHECK(names(1) == names(1));
  CHECK(names(1) != names(2));
  Told told(tale);
  Edited out;
  anonymise_trace(told.input(), 3, out.builder);
  CHECK(out.builder.trees().final.entries.size() == 52);
}

TEST_CASE("what a trace lost stays lost in what is made of it") {
  Tale tale;
  tale.builder.lost("events", 3);
  tale.builder.approximated("pipes", 2);
  tale.mkdir("d");
  Told told(tale);
  const auto check = [](Edited& out) {
    CHECK(out.builder.info().lost.at("events") == 3);
    CHECK(out.builder.info().approximated.at("pipes") == 2);
  };
  Edited cut, merged, repeated, anonymous;
  cut_trace(told.input(), {}, cut.builder);
  check(cut);
  const std::vector<TraceInput> inputs = {told.input()};
  merge_traces(inputs, false, merged.builder);
  check(merged);
  repeat_trace([&] { return told.input(); }, 2, repeated.builder);
  check(repeated);
  anonymise_trace(told.input(), 1, anonymous.builder);
  check(anonymous);
}

}  // namespace
}  // namespace filereel
