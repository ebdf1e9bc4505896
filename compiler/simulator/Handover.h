// SPDX-License-Identifier: MIT
// What a thread hands over even where it releases nothing: asynchronous operations whose end it has waited for (a relaxed arrival may say "this
// buffer has been read"), and mbarriers that it initialised and fenced.
#pragma once
#include "compiler/simulator/Thread.h"

namespace tilegym::sim {

struct Handover {
  SyncClock clocks;
};
inline SyncClock &handover(Thread &thread) { return thread.family.get<Handover>().clocks; }

} // namespace tilegym::sim
