// SPDX-License-Identifier: MIT
// Processes, pipes and the text of verdicts in them.
#include "tests/fuzz/kernels/compiled/Forked.h"
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <poll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tilegym::fuzz {
namespace {

/// A field's length, a colon, its bytes.
void put(std::string &text, const std::string &field) { text += std::to_string(field.size()) + ":" + field; }
bool take(const std::string &text, size_t &at, std::string &field) {
  size_t colon = text.find(':', at);
  if (colon == std::string::npos)
    return false;
  size_t length = std::strtoull(text.c_str() + at, nullptr, 10);
  if (text.size() - colon - 1 < length)
    return false;
  field = text.substr(colon + 1, length);
  at = colon + 1 + length;
  return true;
}

std::string packed(uint64_t seed, const Verdict &verdict) {
  std::string text, uses;
  put(text, std::to_string(seed));
  put(text, std::to_string(int(verdict.kind)));
  put(text, verdict.message);
  put(text, std::to_string(verdict.runs));
  put(text, std::to_string(verdict.variants));
  put(text, std::to_string(verdict.compared));
  for (const std::string &use : verdict.uses)
    uses += use + "\n";
  put(text, uses);
  return text;
}

bool unpack(const std::string &text, size_t &at, uint64_t &seed, Verdict &verdict) {
  std::string field[7];
  size_t from = at;
  for (std::string &f : field)
    if (!take(text, from, f))
      return false;
  at = from;
  seed = std::strtoull(field[0].c_str(), nullptr, 10);
  verdict = Verdict();
  verdict.kind = Verdict::Kind(std::atoi(field[1].c_str()));
  verdict.message = field[2];
  verdict.runs = std::strtoull(field[3].c_str(), nullptr, 10);
  verdict.variants = std::strtoull(field[4].c_str(), nullptr, 10);
  verdict.compared = std::strtoull(field[5].c_str(), nullptr, 10);
  for (size_t begin = 0, end; (end = field[6].find('\n', begin)) != std::string::npos; begin = end + 1)
    verdict.uses.insert(field[6].substr(begin, end - begin));
  return true;
}

struct Child {
  pid_t pid = -1;
  int fd = -1;
  uint64_t next = 0, end = 0; ///< the seed it is at; one beyond its last
  std::string text;
  size_t parsed = 0;
};

bool start(Child &child, const std::function<Verdict(uint64_t)> &judge, unsigned seconds) {
  int ends[2];
  if (pipe(ends) != 0)
    return false;
  std::fflush(nullptr);
  child.pid = fork();
  if (child.pid == 0) {
    close(ends[0]);
    for (uint64_t seed = child.next; seed < child.end; ++seed) {
      // Of the process's own time, as others may be busy.
      itimerval limit = {{0, 0}, {time_t(seconds), 0}};
      setitimer(ITIMER_PROF, &limit, nullptr);
      std::string text = packed(seed, judge(seed));
      for (size_t sent = 0; sent < text.size();) {
        ssize_t n = write(ends[1], text.data() + sent, text.size() - sent);
        if (n <= 0)
          _exit(1);
        sent += size_t(n);
      }
    }
    std::fflush(nullptr);
    _exit(0); // what static objects hold is the parent's
  }
  close(ends[1]);
  child.fd = ends[0];
  return child.pid > 0;
}

std::string endText(int status) {
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGPROF ? std::string("it did not end in time")
                                       : std::string("signal: ") + strsignal(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

} // namespace

void judgeSeeds(const SeedRange &range, const std::function<Verdict(uint64_t)> &judge,
                const std::function<void(uint64_t, const Verdict &)> &done) {
  auto begin = std::chrono::steady_clock::now();
  auto over = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >= range.seconds;
  };
  uint64_t next = range.first,
           end = range.count > UINT64_MAX - range.first ? UINT64_MAX : range.first + range.count;
  std::deque<Child> children;
  std::deque<std::pair<uint64_t, uint64_t>> again; ///< what a dead process left
  for (;;) {
    while (children.size() < range.jobs && !over() && (next < end || !again.empty())) {
      Child child;
      if (!again.empty()) {
        std::tie(child.next, child.end) = again.front();
        again.pop_front();
      } else {
        child.next = next;
        child.end = next = std::min(end, next + range.chunk);
      }
      if (!start(child, judge, range.secondsOfOne))
        return;
      children.push_back(std::move(child));
    }
    if (children.empty())
      return;
    std::vector<pollfd> fds;
    for (const Child &child : children)
      fds.push_back({child.fd, POLLIN, 0});
    poll(fds.data(), fds.size(), 1000);
    for (size_t i = fds.size(); i-- > 0;) {
      if (!fds[i].revents)
        continue;
      Child &child = children[i];
      char bytes[65536];
      ssize_t n = read(child.fd, bytes, sizeof bytes);
      if (n > 0) {
        child.text.append(bytes, size_t(n));
        uint64_t seed = 0;
        Verdict verdict;
        while (unpack(child.text, child.parsed, seed, verdict)) {
          child.next = seed + 1;
          done(seed, verdict);
        }
        continue;
      }
      int status = 0;
      waitpid(child.pid, &status, 0);
      close(child.fd);
      if (child.next < child.end) {
        Verdict verdict;
        verdict.kind = Verdict::Crash;
        verdict.message = endText(status);
        done(child.next, verdict);
        if (child.next + 1 < child.end)
          again.emplace_back(child.next + 1, child.end);
      }
      children.erase(children.begin() + long(i));
    }
  }
}

Verdict judgeForked(const std::function<Verdict()> &judge) {
  Verdict result;
  SeedRange one;
  one.first = 0;
  one.count = one.jobs = 1;
  judgeSeeds(
      one, [&](uint64_t) { return judge(); }, [&](uint64_t, const Verdict &verdict) { result = verdict; });
  return result;
}

} // namespace tilegym::fuzz
