// SPDX-License-Identifier: MIT
// Preloaded into a process and its children: whoever makes a socket for a network, or asks for the address of a name, ends there and says so.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <netdb.h>
#include <sys/socket.h>

namespace {
[[noreturn]] void refuse(const char *what) {
  std::fprintf(stderr, "a connection was tried: %s\n", what);
  std::_Exit(99);
}
} // namespace

extern "C" int socket(int domain, int type, int protocol) noexcept {
  if (domain == AF_INET || domain == AF_INET6)
    refuse("socket()");
  using Function = int(int, int, int);
  static auto *next = reinterpret_cast<Function *>(dlsym(RTLD_NEXT, "socket"));
  return next(domain, type, protocol);
}

extern "C" int getaddrinfo(const char *, const char *, const addrinfo *, addrinfo **) {
  refuse("getaddrinfo()");
}
