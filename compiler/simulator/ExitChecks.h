// SPDX-License-Identifier: MIT
// What may not be left open when a thread or a block ends.
#pragma once
#include "compiler/simulator/Thread.h"

namespace tilegym::sim {

struct Site;

/// Called by the machine when a thread has ended, and when the last one of its block has.
void checkThreadAtExit(Thread &thread);
void checkBlockAtExit(Block &block);

/// Another block's agent touches shared memory of `owner`: that must happen before `owner` ends.
void noteRemoteAccess(Block &owner, const Agent &agent, const Site *site);

// What the families have to say.
void leaveClusterBarrier(Thread &thread);
void checkMbarriersAtExit(Block &block);
void checkBulkGroupsAtExit(Thread &thread);
void checkCopiesAtExit(Thread &thread);
void checkWgmmasAtExit(Thread &thread);

} // namespace tilegym::sim
