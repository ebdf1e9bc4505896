// SPDX-License-Identifier: MIT
// fork and a pipe.
#include "Child.h"
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilegym::mutation {

Ended runInChild(unsigned seconds, const std::function<std::string()> &work) {
  std::fflush(nullptr);
  int ends[2];
  if (pipe(ends) != 0)
    return {"", "no pipe"};
  pid_t child = fork();
  if (child < 0)
    return {"", "no process"};
  if (child == 0) {
    close(ends[0]);
    rlimit limit = {seconds, seconds + 1};
    setrlimit(RLIMIT_CPU, &limit);
    limit = {0, 0};
    setrlimit(RLIMIT_CORE, &limit);
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    std::string said = work();
    for (size_t at = 0; at < said.size();) {
      ssize_t wrote = write(ends[1], said.data() + at, said.size() - at);
      if (wrote <= 0)
        break;
      at += size_t(wrote);
    }
    _exit(0);
  }
  close(ends[1]);
  Ended ended;
  char part[4096];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
    ended.said.append(part, size_t(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    ended.how = WTERMSIG(status) == SIGXCPU ? "never ends"
                                            : "crash (signal " + std::to_string(WTERMSIG(status)) + ")";
  else if (WEXITSTATUS(status) != 0)
    ended.how = "crash (exit code " + std::to_string(WEXITSTATUS(status)) + ")";
  return ended;
}

} // namespace tilegym::mutation
