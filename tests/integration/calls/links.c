// Hard links, and symbolic links that are read, followed, replaced and not followed.
#include "check.h"

int main(int argc, char** argv) {
  begin(argc, argv);
  MUST(mkdir("folder", 0755));
  make_file("folder/file", 500);
  MUST(link("folder/file", "hard"));
  struct stat info;
  CHECK(stat("hard", &info) == 0 && info.st_nlink == 2);
  const int fd = open_file("hard", O_WRONLY | O_APPEND);
  write_some(fd, 500, 100);
  CHECK(stat("folder/file", &info) == 0 && info.st_size == 600);
  MUST_FAIL(link("folder", "folder link"), EPERM);
  MUST_FAIL(link("hard", "folder/file"), EEXIST);

  MUST(symlink("folder", "to folder"));
  MUST(symlink("to folder/file", "to file"));
  MUST(symlink("nowhere", "dangling"));
  char text[100];
  CHECK(readlink("to file", text, sizeof text) == 14 && memcmp(text, "to folder/file", 14) == 0);
  CHECK(readlink("to file", text, 4) == 4);
  MUST_FAIL(readlink("hard", text, sizeof text), EINVAL);
  CHECK(stat("to file", &info) == 0 && info.st_size == 600);
  CHECK(lstat("to file", &info) == 0 && S_ISLNK(info.st_mode));
  MUST_FAIL(stat("dangling", &info), ENOENT);
  MUST_FAIL(open("to file", O_RDONLY | O_NOFOLLOW), ELOOP);

  // Written, made and removed through links.
  MUST(truncate("to file", 50));
  make_file("to folder/through", 60);
  MUST_FAIL(open("dangling", O_WRONLY | O_CREAT | O_EXCL, 0644), EEXIST);
  const int made = open_file("dangling", O_WRONLY | O_CREAT);  // makes "nowhere"
  write_some(made, 0, 70);
  MUST(link("dangling", "dangling too"));  // the link itself gets a second name
  MUST(linkat(AT_FDCWD, "dangling", AT_FDCWD, "nowhere too", AT_SYMLINK_FOLLOW));
  MUST(unlink("to file"));
  MUST(mkdir("to folder/sub", 0755));
  MUST(chdir("to folder/sub"));
  make_file("../beside", 80);  // of "folder", not of ".."
  MUST(chdir("../.."));
  MUST(rename("to folder/through", "to folder/sub/through"));
  MUST(rename("to folder", "renamed link"));  // the link, not the folder

  // A link that points elsewhere later.
  MUST(mkdir("other", 0755));
  MUST(unlink("renamed link"));
  MUST(symlink("other", "renamed link"));
  make_file("renamed link/new", 90);
  MUST(unlink("hard"));
  CHECK(stat("folder/file", &info) == 0 && info.st_nlink == 1);
  return 0;
}
