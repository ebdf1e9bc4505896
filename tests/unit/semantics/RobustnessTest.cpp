// SPDX-License-Identifier: MIT
// Specs with a few tokens changed: whatever they say, checking ends, and with an error or a checked tree.
#include "BodyTesting.h"
#include "compiler/semantics/SpecLookup.h"
#include <filesystem>
#include <random>

using namespace tilegym;
using namespace tilegym::sem;
using namespace tilegym::sem::testing;
namespace fs = std::filesystem;

namespace {

/// Words, numbers and single other characters, blanks kept with what follows them.
std::vector<std::string> tokensOf(std::string_view text) {
  std::vector<std::string> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && text[end] == ' ')
      ++end;
    auto isWord = [&] {
      return end < text.size() && (isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_');
    };
    if (isWord())
      while (isWord())
        ++end;
    else if (end < text.size())
      ++end;
    tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

/// What a token is likely to be replaced by: a word by a word, a number by a number, an operator by an operator.
int kindOf(const std::string &token) {
  char last = token.empty() ? ' ' : token.back();
  if (isdigit(static_cast<unsigned char>(last)))
    return 1;
  if (isalpha(static_cast<unsigned char>(last)) || last == '_')
    return 0;
  return std::string_view("+-*/%<>&|^").find(last) != std::string_view::npos ? 2 : 3;
}

std::string mutated(std::vector<std::string> tokens, std::mt19937 &random) {
  static const std::vector<std::string> words = {" inf",  " None", " f16",  " i8",   " x",   " y", " sum",
                                                 " load", " N",    " true", " none", " exp", " T", " bool"};
  static const std::vector<std::string> numbers = {
      " 0", " -1", " 9223372036854775807", " 100", " 1e300", " 0.5", " 7", " 65536"};
  static const std::vector<std::string> operators = {" +", " %", " <", " ^", " *", " //"};
  size_t changes = 1 + random() % 3;
  for (size_t i = 0; i < changes; ++i) {
    size_t at = random() % tokens.size(), other = random() % tokens.size();
    int kind = kindOf(tokens[at]);
    switch (random() % 16) {
    case 0:
      tokens.erase(tokens.begin() + long(at));
      break;
    case 1:
      tokens.insert(tokens.begin() + long(at), tokens[other]);
      break;
    case 2:
      std::swap(tokens[at], tokens[other]);
      break;
    default:
      // Like for like, from the table or from elsewhere in the spec.
      if (random() % 2 == 0 && kind < 3) {
        const auto &table = kind == 0 ? words : kind == 1 ? numbers : operators;
        tokens[at] = table[random() % table.size()];
      } else if (kindOf(tokens[other]) == kind) {
        tokens[at] = tokens[other];
      }
    }
  }
  std::string text;
  for (const std::string &token : tokens)
    text += token;
  return text;
}

} // namespace

TEST_CASE("specs with tokens changed are checked without a crash") {
  std::string root = TILEGYM_SOURCE_DIR;
  std::vector<std::vector<std::string>> sources;
  for (const char *folder : {"/tests/specs/good", "/specs"})
    for (const auto &entry : fs::directory_iterator(root + folder))
      if (entry.path().extension() == ".tile")
        sources.push_back(tokensOf(readSource(entry.path().string())->text()));
  std::mt19937 random(20240601);
  size_t parsed = 0, analyzed = 0, good = 0;
  for (int i = 0; i < 2500; ++i) {
    std::string text = mutated(sources[random() % sources.size()], random);
    INFO(text);
    auto loaded = loadText(text);
    parsed += loaded->spec->op.has_value();
    if (loaded->op) {
      ++analyzed;
      bool checked = checkSpec(*loaded->op, loaded->sink);
      good += checked;
      CHECK(checked != loaded->sink.hasErrors());
    } else {
      CHECK(loaded->sink.hasErrors());
    }
  }
  // Enough of them must get as far as the bodies, or nothing was tried.
  CHECK(analyzed > 600);
  CHECK(good > 50);
  CHECK(parsed > analyzed);
}
