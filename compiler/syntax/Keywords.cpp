// SPDX-License-Identifier: MIT
// Reserved words and the edit distance behind "did you mean".
#include "compiler/syntax/Keywords.h"
#include <algorithm>
#include <vector>

namespace tilegym::syntax {

static constexpr std::string_view sectionWords[] = {"op",   "reference", "kernel", "plan", "tune",
                                                    "test", "bench",     "fn",     "use"};
static constexpr std::string_view statementWords[] = {"let", "var",  "const", "for",      "while",
                                                      "if",  "else", "break", "continue", "return",
                                                      "in",  "true", "false"};

bool isSectionWord(std::string_view word) {
  return std::find(std::begin(sectionWords), std::end(sectionWords), word) != std::end(sectionWords);
}

bool isReserved(std::string_view word) {
  return isSectionWord(word) ||
         std::find(std::begin(statementWords), std::end(statementWords), word) != std::end(statementWords);
}

/// Edits between two short words; adjacent letters swapped count once, as that is the usual slip.
static size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

std::string_view nearest(std::string_view word, std::initializer_list<std::string_view> candidates) {
  std::string_view best;
  if (word.size() > 32)
    return best;
  size_t bestDistance = std::max<size_t>(1, word.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    size_t d = distance(word, candidate);
    if (d < bestDistance)
      bestDistance = d, best = candidate;
  }
  return best;
}

std::string didYouMean(std::string_view word, std::initializer_list<std::string_view> candidates) {
  std::string_view best = nearest(word, candidates);
  return best.empty() ? std::string() : "did you mean `" + std::string(best) + "`?";
}

} // namespace tilegym::syntax
