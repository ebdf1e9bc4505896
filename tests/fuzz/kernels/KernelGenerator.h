// SPDX-License-Identifier: MIT
// The generator's state: what the op has so far, what is in scope, and one function for each kind of thing to write. Its members are spread over files by
// family, KernelGen*.cpp.
#pragma once
#include "compiler/semantics/DType.h"
#include "tests/fuzz/Mutate.h"
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tilegym::fuzz {

using Shape = std::vector<int64_t>;

/// A written expression with its type and what is known of its values.
struct Term {
  std::string text;
  DType dtype = DType::F32;
  Shape shape;
  /// Floats: no element is NaN, infinite or larger in magnitude.
  double most = std::numeric_limits<double>::infinity();
  bool whole = false;         ///< floats: integers, so that sums which fit the significand are exact
  int64_t low = 0, high = -1; ///< index: where the values lie
};

/// A run-time extent of the op.
struct DimName {
  std::string name;
  int64_t least = 1, most = 64;
  bool isGroup = false;
  std::vector<int64_t> choices; ///< compile-time where there are some
};

/// An axis of the grid: blocks walk over `dim` (or over its tiles), each at `index`.
struct GridAxis {
  size_t dim = 0;
  int64_t tile = 1;
  std::string index, tileText; ///< `i`; `B0` or `16`
};

struct InputTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::string> dims;    ///< as written
  std::vector<std::string> extents; ///< as expressions of the kernel
  std::vector<int64_t> least, most; ///< of each extent
  std::string filling;              ///< empty: normal
  bool specials = false, whole = false;
  double magnitude = 0;
};

struct OutputTensor {
  std::string name, fill;
  DType dtype = DType::F32;
  std::vector<std::string> dims;
  Shape span;                       ///< extents of the block's own region
  std::vector<std::string> regions; ///< the block's own region, written in several ways
  std::string
      ownRow; ///< `y[i, ` and `]` around an index along a last axis that one block owns whole; may be empty
  std::string kind; ///< "store", or the one atomic that it is for
  bool isInout = false;
  std::string tolerance; ///< of approximate values
  int64_t ownExtent = 0;
};

class KernelGenerator {
public:
  explicit KernelGenerator(uint64_t seed) : seed(seed), random(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::string run();

private:
  // ---- chance
  bool chance(unsigned percent) { return random.below(100) < percent; }
  int64_t between(int64_t low, int64_t high) { return low + int64_t(random.below(size_t(high - low + 1))); }
  template <class T> const T &pick(const std::vector<T> &list) { return list[random.below(list.size())]; }
  template <class T> T pick(std::initializer_list<T> list) { return list.begin()[random.below(list.size())]; }
  DType anyDType();
  DType numberDType();
  int64_t tileExtent(int64_t most);
  int64_t rounded(int64_t extent) const { return hasWholeVectors ? (extent + 15) / 16 * 16 : extent; }

  // ---- text
  void line(const std::string &text) { body.push_back(std::string(2 * indent, ' ') + text); }
  std::string fresh(const char *prefix) { return prefix + std::to_string(counter++); }
  Term bind(Term term, const char *keyword = "let");
  Term raw(std::string text, DType dtype, Shape shape) const {
    Term term;
    term.text = std::move(text);
    term.dtype = dtype;
    term.shape = std::move(shape);
    return term;
  }

  // ---- values (KernelGenValues.cpp): exactly this shape, or one that broadcasts to it
  Term value(DType dtype, const Shape &shape, int depth);
  Term loose(DType dtype, const Shape &shape, int depth);
  Term leaf(DType dtype, const Shape &shape);
  Term literal(DType dtype);
  Term reshaped(Term term, const Shape &shape);
  Term index(int64_t most);
  Term indexTile(const Shape &shape, int64_t most, int depth);
  Term condition(const Shape &shape, int depth);
  bool broadcasts(const Shape &from, const Shape &to) const;

  // ---- elementwise (KernelGenElementwise.cpp)
  Term unary(DType dtype, const Shape &shape, int depth);
  Term binary(DType dtype, const Shape &shape, int depth);
  Term compare(const Shape &shape, int depth);
  Term converted(DType dtype, const Shape &shape, int depth);
  Term bits(DType dtype, const Shape &shape, int depth);
  Term randomNumbers(DType dtype, const Shape &shape, int depth);
  Term indexArithmetic(const Shape &shape, int depth);

  // ---- shapes, reductions, scans (KernelGenShapes.cpp, KernelGenReductions.cpp)
  Term shapeOp(DType dtype, const Shape &shape, int depth);
  Term reduction(DType dtype, const Shape &shape, int depth);
  Term scan(DType dtype, const Shape &shape, int depth);
  std::string combiner(DType dtype, bool isScan, std::string &init);
  Term summable(DType dtype, const Shape &shape, int64_t count);
  Term bounded(DType dtype, const Shape &shape, int depth);

  // ---- memory (KernelGenLoads.cpp, KernelGenStores.cpp)
  Term load(DType dtype, const Shape &shape, int depth);
  std::string view(InputTensor &tensor, const Shape &shape, int depth);
  InputTensor &input(DType dtype, size_t rank, bool data);
  std::string newDim(int64_t least, int64_t most, bool mayBeConst, int64_t &low, int64_t &high);
  OutputTensor &output(DType dtype, const std::string &kind);
  void store(int depth);
  void atomic(int depth);
  void approximate(int depth);
  Term ownLoad(DType dtype, const Shape &shape, int depth);

  // ---- statements (KernelGenStatements.cpp)
  void statements(int count, int depth);
  void statement(int depth);
  void facts();
  void optionalInput();
  void assign(int depth);
  void branch(int depth);
  void loop(int depth);
  void whileLoop(int depth);
  void constLoop(int depth);

  // ---- the spec around it (KernelGenSpec.cpp)
  void planGrid();
  std::string header() const;
  std::string tests();
  std::string caseText(int number);

  uint64_t seed;
  Random random;
  int counter = 0, budget = 40, indent = 1, loopDepth = 0;
  bool isPure = false, nondeterministic = false, inOddFlow = false;
  int64_t largest = 512; ///< elements of a tile
  std::vector<std::string> body, functions, scalarParams, params, tune, checks;
  std::vector<std::pair<std::string, DType>> scalars;
  std::vector<DimName> dims;
  std::vector<GridAxis> axes;
  std::string guard;            ///< ` when D3 <= 128`
  std::vector<Term> scope;      ///< lets, and vars that may be read
  std::vector<size_t> mutables; ///< places in scope of vars
  std::vector<InputTensor> inputs;
  std::vector<OutputTensor> outputs;
  bool hasFlag = false, hasMode = false, hasOptional = false, isPersistent = false;
  bool hasWholeVectors = false; ///< extents are multiples of 16, so that fast variants can take most calls
};

/// `[16, 1]`
std::string listText(const Shape &shape);
int64_t elementsOf(const Shape &shape);
std::string nameOf(DType dtype);

} // namespace tilegym::fuzz
