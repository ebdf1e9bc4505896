// SPDX-License-Identifier: MIT
// Reading of peers' texts, of the few forms that products are written in.
#include "compiler/semantics/ProductPeer.h"
#include <algorithm>
#include <regex>

namespace tilegym::sem {
namespace {

std::optional<ProductPeer> operandsOf(const OpModel &op, const std::string &text) {
  static const std::regex plain(R"(\s*(\w+)(\.m?T)?\s*@\s*(\w+)(\.m?T)?\s*)"),
      stacks(R"(\s*torch\.bmm\((\w+), (\w+)\)\s*)"),
      linear(R"(torch\.nn\.functional\.linear\((\w+), (\w+)(?:, (\w+))?\))");
  std::smatch match;
  ProductPeer product;
  std::string second;
  if (std::regex_match(text, match, plain)) {
    second = match[3].str();
    product.turnA = match[2].matched;
    product.turnB = match[4].matched;
    product.isAll = true;
  } else if (std::regex_match(text, match, stacks) || std::regex_search(text, match, linear)) {
    second = match[2].str();
    product.turnB = match.size() > 3;
    product.isAll = size_t(match.length()) == text.size() || match.size() == 3;
  } else {
    return std::nullopt;
  }
  product.a = op.findTensor(match[1].str());
  product.b = op.findTensor(second);
  if (product.a < 0 || product.b < 0)
    return std::nullopt;
  if (match.size() == 4 && match[3].matched)
    product.bias = op.findTensor(match[3].str());
  return product;
}

/// `{'none': lambda t: t, ...}[activation](product)`: the value of the const for which nothing is done to the product.
void findPlainValue(const OpModel &op, const std::string &text, ProductPeer &product) {
  static const std::regex chosen(
      R"(\s*\{.*'(\w+)': lambda (\w+): \2\s*[,}].*\[(\w+)\]\(torch\.nn\.functional\.linear\([^()]*\)\)\s*)");
  std::smatch match;
  if (!std::regex_match(text, match, chosen))
    return;
  int64_t id = op.findScalar(match[3].str());
  if (id < 0 || !op.scalars[size_t(id)].isConst)
    return;
  const std::vector<std::string> &names = op.scalars[size_t(id)].enumerators;
  auto name = std::find(names.begin(), names.end(), match[1].str());
  if (name == names.end())
    return;
  product.isAll = true;
  product.plainConst = id;
  product.plainValue = name - names.begin();
}

} // namespace

std::optional<ProductPeer> productPeer(const OpModel &op) {
  if (!op.spec->bench)
    return std::nullopt;
  for (const ast::External &peer : op.spec->bench->peers)
    if (peer.backend.name == "torch")
      if (std::optional<ProductPeer> product = operandsOf(op, peer.text)) {
        findPlainValue(op, peer.text, *product);
        return product;
      }
  return std::nullopt;
}

} // namespace tilegym::sem
