// renameat2: exchanging names, and refusing to replace.
#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(mkdir("a", 0755));
  MUST(mkdir("b", 0755));
  make_file("a/file", 100);
  make_file("b/other", 200);
  make_file("plain", 300);
  const int open_one = open_file("a/file", O_RDWR | O_APPEND);

  MUST(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE));
  write_some(open_one, 100, 11);  // now b/file
  struct stat info;
  CHECK(stat("b/file", &info) == 0 && info.st_size == 111);
  MUST_FAIL(stat("a/file", &info), ENOENT);

  // A folder and a file.
  MUST(renameat2(AT_FDCWD, "b", AT_FDCWD, "plain", RENAME_EXCHANGE));
  CHECK(stat("b", &info) == 0 && info.st_size == 300);
  write_some(open_one, 111, 9);  // now plain/file
  MUST_FAIL(renameat2(AT_FDCWD, "b", AT_FDCWD, "a", RENAME_NOREPLACE), EEXIST);
  MUST_FAIL(renameat2(AT_FDCWD, "b", AT_FDCWD, "missing", RENAME_EXCHANGE), ENOENT);
  MUST(renameat2(AT_FDCWD, "b", AT_FDCWD, "fresh", RENAME_NOREPLACE));

  // Between folders given by descriptors.
  const int a = open_file("a", O_RDONLY | O_DIRECTORY), plain = open_file("plain", O_PATH);
  MUST(renameat2(a, "other", plain, "file", RENAME_EXCHANGE));
  CHECK(fstatat(plain, "file", &info, 0) == 0 && info.st_size == 200);
  write_some(open_one, 120, 1);
  CHECK(fstatat(a, "other", &info, 0) == 0 && info.st_size == 121);
  MUST(renameat(a, "other", plain, "file"));     // replaces
  MUST(renameat(plain, "file", plain, "file"));  // nothing
  MUST_FAIL(rename("fresh", "plain"), EISDIR);
  MUST_FAIL(rename("plain", "fresh"), ENOTDIR);
  // Two names of one file: nothing happens, both stay.
  MUST(link("fresh", "fresh too"));
  MUST(rename("fresh", "fresh too"));
  CHECK(stat("fresh", &info) == 0 && info.st_nlink == 2);
  // A device stays at the old name.
  make_file("covered", 10);
  if (renameat2(AT_FDCWD, "covered", AT_FDCWD, "uncovered", RENAME_WHITEOUT) == 0) {
    CHECK(lstat("covered", &info) == 0 && S_ISCHR(info.st_mode));
  }
  return 0;
}
