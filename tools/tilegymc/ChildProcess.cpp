// SPDX-License-Identifier: MIT
// One socket is the child's input and output: writing to a socket whose other end is gone is an error, and no signal.
#include "ChildProcess.h"
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tilegym::cli {
namespace {

std::vector<char *> pointers(const std::vector<std::string> &texts) {
  std::vector<char *> list;
  for (const std::string &text : texts)
    list.push_back(const_cast<char *>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

/// Ours, with what is given in the place of what has the same name.
std::vector<std::string> joined(const std::vector<std::string> &given) {
  std::vector<std::string> all = given;
  for (char **entry = environ; *entry; ++entry) {
    std::string name(*entry, std::strcspn(*entry, "=") + 1);
    if (std::none_of(given.begin(), given.end(), [&](const std::string &g) { return g.starts_with(name); }))
      all.emplace_back(*entry);
  }
  return all;
}

void closeAll(std::initializer_list<int> files) {
  for (int file : files)
    if (file >= 0)
      ::close(file);
}

/// Reads both until both end.
void drain(std::array<int, 2> from, std::array<std::string *, 2> into) {
  std::array<pollfd, 2> polled = {{{from[0], POLLIN, 0}, {from[1], POLLIN, 0}}};
  for (int open = 2; open > 0;) {
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR)
      return;
    for (size_t i = 0; i < 2; ++i) {
      if (!polled[i].revents)
        continue;
      std::array<char, 65536> room;
      ssize_t count = ::read(polled[i].fd, room.data(), room.size());
      if (count > 0) {
        into[i]->append(room.data(), size_t(count));
      } else if (count == 0 || errno != EINTR) {
        polled[i].fd = -1; // poll passes over it
        --open;
      }
    }
  }
}

} // namespace

bool ChildProcess::start(const std::vector<std::string> &command, const std::vector<std::string> &environment,
                         std::string &error, bool keepErrors) {
  int ends[2], errorEnds[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
      (keepErrors && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, errorEnds) != 0)) {
    error = std::string("cannot make a socket: ") + std::strerror(errno);
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (keepErrors)
    posix_spawn_file_actions_adddup2(&actions, errorEnds[1], STDERR_FILENO);
  std::vector<std::string> all = joined(environment);
  int result = posix_spawnp(&pid, command[0].c_str(), &actions, nullptr, pointers(command).data(),
                            pointers(all).data());
  posix_spawn_file_actions_destroy(&actions);
  closeAll({ends[1], errorEnds[1]});
  if (result == 0) {
    socket = ends[0];
    errors = errorEnds[0];
    pending.clear();
    return true;
  }
  pid = 0;
  closeAll({ends[0], errorEnds[0]});
  error = "cannot start '" + command[0] + "': " + std::strerror(result);
  return false;
}

bool ChildProcess::send(const std::string &line) {
  std::string text = line + "\n";
  for (size_t at = 0; at < text.size();) {
    ssize_t sent = ::send(socket, text.data() + at, text.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0)
      return false;
    at += size_t(sent);
  }
  return true;
}

ChildProcess::Got ChildProcess::receive(std::string &line, double seconds) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point until = Clock::now() + std::chrono::milliseconds(int64_t(seconds * 1e3));
  for (;;) {
    if (size_t end = pending.find('\n'); end != std::string::npos) {
      line = pending.substr(0, end);
      pending.erase(0, end + 1);
      return Line;
    }
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd wanted{socket, POLLIN, 0};
    int ready = ::poll(&wanted, 1, int(std::clamp<int64_t>(left, 0, 1 << 30)));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready == 0)
      return Late;
    char bytes[4096];
    ssize_t got = ::recv(socket, bytes, sizeof bytes, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return Ended;
    pending.append(bytes, size_t(got));
  }
}

int ChildProcess::waitForAny(const std::vector<ChildProcess *> &children, double seconds) {
  std::vector<pollfd> wanted;
  for (const ChildProcess *child : children) {
    if (child->pending.find('\n') != std::string::npos)
      return int(wanted.size());
    wanted.push_back({child->socket, POLLIN, 0}); // a socket of -1 is passed over
  }
  if (::poll(wanted.data(), wanted.size(), int(std::clamp(seconds * 1e3, 0.0, 1e9))) > 0)
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i].revents)
        return int(i);
  return -1;
}

void ChildProcess::kill() {
  if (pid > 0)
    ::kill(pid, SIGKILL);
  wait();
}

int ChildProcess::wait() {
  if (pid <= 0)
    return -1;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  closeAll({socket, errors});
  pid = 0;
  socket = errors = -1;
  return status;
}

std::string ChildProcess::endingText(int status) {
  if (status < 0)
    return "it was not started";
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

ChildProcess::Finished ChildProcess::run(const std::vector<std::string> &command) {
  Finished finished;
  ChildProcess child;
  if (!child.start(command, {}, finished.crash, /*keepErrors=*/true))
    return finished;
  ::shutdown(child.socket, SHUT_WR); // its input is at an end
  drain({child.socket, child.errors}, {&finished.out, &finished.err});
  int status = child.wait();
  if (WIFEXITED(status))
    finished.code = WEXITSTATUS(status);
  else
    finished.crash = "it crashed: " + endingText(status);
  return finished;
}

std::string ChildProcess::Finished::firstError() const {
  if (!crash.empty())
    return crash;
  size_t at = err.find("error: ");
  std::string text = at == err.npos ? err : err.substr(at + 7, err.find('\n', at) - at - 7);
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

} // namespace tilegym::cli
