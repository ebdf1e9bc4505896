// SPDX-License-Identifier: MIT
// Who a thread is; trap, print and clocks.
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Machine.h"
#include <bit>
#include <cstdio>

namespace tilegym::sim {
namespace {

void threadId(const uint64_t *, uint64_t *results, const Site *) {
  Thread &thread = current();
  results[0] = thread.index % thread.machine->config().block.x;
}
void blockId(const uint64_t *, uint64_t *results, const Site *) { results[0] = current().block->position.x; }
void gridSize(const uint64_t *, uint64_t *results, const Site *) {
  results[0] = current().machine->config().grid.x;
}
void laneId(const uint64_t *, uint64_t *results, const Site *) { results[0] = current().lane; }
void multiprocessorId(const uint64_t *, uint64_t *results, const Site *) {
  results[0] = current().block->cluster->place;
}
void sharedBase(const uint64_t *, uint64_t *results, const Site *) {
  results[0] = current().block->sharedStart;
}

/// Both clocks count what the machine did, so that time passes and runs of one seed are equal.
void clock(const uint64_t *, uint64_t *results, const Site *) {
  Report &report = current().machine->result();
  results[0] = ++report.accesses + report.switches;
}

void trap(const uint64_t *, uint64_t *, const Site *site) {
  Thread &thread = current();
  thread.machine->stop(fault(FindingKind::Trap, thread, site, "traps"));
}

/// Each conversion of the format as C has it, with the operand's own type; the format is the compiler's own.
std::string formatted(const char *format, const uint64_t *operands, const Site *site) {
  std::string text;
  uint32_t used = 0;
  for (const char *at = format; *at;) {
    if (*at != '%' || at[1] == '%') {
      at += *at == '%';
      text += *at++;
      continue;
    }
    const char *end = at + 1;
    while (*end && !std::isalpha(static_cast<unsigned char>(*end)))
      ++end;
    while (*end == 'l' || *end == 'h')
      ++end;
    if (!*end || used == site->numOperands)
      break;
    std::string conversion(at, ++end);
    char piece[512];
    uint64_t bits = operands[used];
    if (Site::isFloat(site->operandType(used)))
      std::snprintf(piece, sizeof piece, conversion.c_str(), std::bit_cast<double>(bits));
    else
      std::snprintf(piece, sizeof piece, conversion.c_str(), static_cast<long long>(bits));
    text += piece;
    ++used;
    at = end;
  }
  return text;
}

void print(const uint64_t *operands, uint64_t *, const Site *site) {
  current().machine->result().output += formatted(site->text(0), operands, site);
}

constexpr Row rows[] = {{"thread_id", threadId},
                        {"block_id", blockId},
                        {"grid_size", gridSize},
                        {"lane_id", laneId},
                        {"sm_id", multiprocessorId},
                        {"shared_base", sharedBase},
                        {"clock", clock},
                        {"trap", trap},
                        {"print", print}};

} // namespace

std::span<const Row> executionInstructions() { return rows; }

} // namespace tilegym::sim
