// SPDX-License-Identifier: MIT
// A Latin hypercube: in each eight calls, every dim ends once in each eighth of a tile.
#include "compiler/semantics/EdgeCalls.h"
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace tilegym::sem {
namespace {

constexpr size_t kParts = 8;
constexpr int64_t kMostTiles = 2;  ///< whole ones before the last
constexpr size_t kDeepest = 5;     ///< the number of the call whose leading dims all have an extent
constexpr size_t kMostLeading = 7; ///< dims of a group
constexpr int64_t kUnbounded = std::numeric_limits<int32_t>::max();

constexpr int64_t kMostTried = 1 << 17; ///< beyond, sizes are not looked at

/// Those that guard and derived parameters let pass, where they know no other dim.
std::vector<int64_t> sizesAlone(const OpModel &op, const Specialization &variant, size_t dim) {
  const KernelModel &kernel = op.kernels[size_t(variant.kernel)];
  std::vector<int64_t> sizes;
  HostValues values = knownValues(op, variant);
  for (int64_t size = 0; size <= kMostTried; ++size) {
    values.dims[dim] = size;
    bool fits = true;
    for (size_t i = 0; fits && i < kernel.derived.size(); ++i) {
      if (!kernel.derived[i])
        continue;
      Evaluated value = evaluateHost(*kernel.derived[i], values);
      fits = !value.value || value.value->asInt() == variant.params[i].value;
    }
    if (fits && kernel.guard) {
      Evaluated value = evaluateHost(*kernel.guard, values);
      fits = !value.value || value.value->asBool();
    }
    if (fits)
      sizes.push_back(size);
  }
  return sizes;
}

/// splitmix64
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  int64_t below(int64_t bound) { return int64_t(next() % uint64_t(bound)); }

private:
  uint64_t state;
};

class EdgeMaker {
public:
  EdgeMaker(const OpModel &op, const TestModel &model, const Specialization &variant,
            const std::vector<ExprPtr> &grid, const EdgeOptions &options)
      : op(op), model(model), variant(variant), grid(grid), options(options), random(round) {
    for (const NamedInt &param : variant.params)
      if (param.value > 1)
        tiles.push_back(param.value);
    if (tiles.empty())
      tiles.push_back(1);
    findRows();
    for (size_t id = 0; id < op.dims.size(); ++id) {
      std::vector<int64_t> sizes = sizesAlone(op, variant, id);
      leasts.push_back(sizes.empty() ? 1 : std::max<int64_t>(1, sizes.front()));
      if (sizes.empty() || sizes.back() == kMostTried)
        sizes.clear();
      if (options.wholeVectors && isRow[id])
        std::erase_if(sizes, [&](int64_t size) { return size % vector != 0; });
      bounded.push_back(std::move(sizes));
    }
  }

  /// Of the section's own settings; where it says no such constants, as `precision = tf32`, of the cases that do.
  std::vector<TestCall> run() {
    std::vector<TestCall> calls = run(nullptr);
    for (const TestCaseModel &one : model.cases)
      if (calls.empty() && isFree(one))
        calls = run(&one);
    return calls;
  }

private:
  /// Neither results nor elements of it stand in the spec.
  static bool isFree(const TestCaseModel &one) {
    auto isLiteral = [](const std::vector<Generator> &all) {
      return std::any_of(all.begin(), all.end(), [](auto &rule) { return rule.kind == Generator::Literal; });
    };
    const auto &tensors = one.settings.tensors;
    return one.expects.empty() && std::none_of(tensors.begin(), tensors.end(), isLiteral);
  }

  std::vector<TestCall> run(const TestCaseModel *one) {
    testCase = one;
    std::vector<TestCall> calls;
    for (size_t number = 0; number < options.count; ++number)
      if (std::optional<TestCall> call = make(number))
        if (std::none_of(calls.begin(), calls.end(), [&](auto &other) { return other.name == call->name; }))
          calls.push_back(std::move(*call));
    return calls;
  }

  /// Which dims are the last axis of a tensor, or a factor of one: their sizes decide on whole vectors.
  void findRows() {
    isRow.assign(op.dims.size(), false);
    auto isMatrix = [](const TensorParam &tensor) { return tensor.dims.size() > 1; };
    bool anyMatrix = std::any_of(op.tensors.begin(), op.tensors.end(), isMatrix);
    for (const TensorParam &tensor : op.tensors)
      if (!tensor.dims.empty() && isMatrix(tensor) == anyMatrix) // beside matrices, one number a row
        markRows(*tensor.dims.back().expr);
    int64_t least = 16;
    for (DType type : variant.dtypes)
      least = std::min<int64_t>(least, sizeInBytes(type));
    vector = 16 / least;
  }
  void markRows(const Expr &e) {
    if (e.op == Op::Dim)
      isRow[size_t(e.index)] = true;
    for (const ExprPtr &operand : e.operands)
      markRows(*operand);
  }

  /// Sizes of dims that neither guard nor derived parameters speak of. Where it is too much to have all as wished, one is, or is in a tile of the smallest
  /// size, and the others are small, or as the section has them, which knows what goes with what.
  enum class Way { Wished, Near, Small, Listed, Least };

  std::optional<TestCall> make(size_t number) {
    using enum Way;
    static constexpr std::pair<Way, Way> attempts[] = {{Wished, Wished}, {Wished, Small}, {Near, Listed},
                                                       {Near, Least},    {Small, Small},  {Least, Least}};
    for (size_t attempt = 0; attempt < std::size(attempts); ++attempt) {
      round = number * 64 + attempt;
      random = Random(round);
      isDeep = number == kDeepest && attempt < 3;
      Sizes sizes(op.dims.size());
      for (size_t id = 0; id < op.dims.size(); ++id) {
        auto [focus, others] = attempts[isDeep ? 3 : attempt];
        sizes[id] = sizeOf(id, number, id == number % op.dims.size() ? focus : others);
        if (isDeep && op.dims[id].isGroup)
          sizes[id] = std::vector<int64_t>(kMostLeading - attempt, 2);
        else if (isDeep && !bounded[id].empty())
          sizes[id] = {roundOne(bounded[id])};
      }
      std::vector<TestCall> fitting;
      for (TestCall &call : resizedCalls(op, model, sizes, testCase))
        if (fits(call))
          fitting.push_back(std::move(call));
      if (fitting.empty())
        continue;
      TestCall chosen = std::move(fitting[size_t(random.below(int64_t(fitting.size())))]);
      chooseValues(chosen, number);
      return chosen;
    }
    return std::nullopt;
  }

  /// Half of the calls have other floats than the section asks for. Each kind of them comes with sizes of every kind, and names the call: "R=1 N=5, low".
  void chooseValues(TestCall &call, size_t number) {
    size_t kind = (number + number / kParts) % 8;
    if (kind % 4 < 2)
      return;
    bool isBlank = number / kParts % 3 == 2;
    for (size_t id = 0; id < op.tensors.size(); ++id)
      for (size_t element = 0; element < call.fillings[id].size(); ++element)
        if (const ArrayShape &array = call.shape.tensors[id][element]; isFloat(array.dtype))
          chooseValues(call.fillings[id][element], array, kind, isBlank);
    call.name += kind == 2 ? ", few values" : kind == 3 ? ", low" : kind == 6 ? ", special" : ", one";
  }

  void chooseValues(Filling &filling, const ArrayShape &array, size_t kind, bool isBlank) {
    constexpr double inf = std::numeric_limits<double>::infinity(),
                     nan = std::numeric_limits<double>::quiet_NaN();
    bool isWhole = filling.kind == Generator::RandInt; // sums are exact, and stay so
    if (!isWhole && filling.kind != Generator::Normal && filling.kind != Generator::Uniform)
      return;
    if (kind == 3) { // all below what pads
      double first = filling.args[0], second = filling.args[1];
      filling.args = filling.kind == Generator::Normal ? std::vector<double>{-8 * second, second}
                                                       : std::vector<double>{2 * first - second, first};
    } else if (isWhole && kind == 6 && array.dtype == DType::F64) { // both words differ
      filling.args = {-0x1p40, 0x1p40};
    } else if (isWhole && kind > 5) { // hardly two alike
      filling.args = {-4000, 4000};
    } else if (isWhole) {
      return;
    } else if (kind == 2 && isBlank) { // sums that are 0
      filling = {Generator::Fill, {0}, nullptr};
    } else if (kind == 2) { // meet each other often; halves
      filling = {Generator::Choice, {-2.5, -0.5, 0.5, 1.5, 3}, nullptr};
    } else if (kind == 6) {
      filling = {Generator::Choice, {nan, inf, -inf, -0.0, 1, 1, 2, 2}, nullptr};
    } else if (array.extents.size() > 1) { // one of a row counts, wherever it is
      filling = {Generator::OneHot, {200, 0.25}, nullptr};
    }
  }

  /// The least that is whole in every respect: nothing that an op may want of a size stands against it.
  static int64_t roundOne(const std::vector<int64_t> &sizes) {
    auto found =
        std::find_if(sizes.begin(), sizes.end(), [](int64_t size) { return size > 0 && size % 16 == 0; });
    return found == sizes.end() ? sizes.back() : *found;
  }

  bool fits(const TestCall &call) const {
    const Specialization &have = call.bound.spec;
    int64_t deeper = isDeep ? 2 : 1;
    if (have.dtypes != variant.dtypes || have.present != variant.present || elementsOf(call) < 1 ||
        elementsOf(call) > deeper * options.mostElements || !guardHolds(op, variant.kernel, call.bound, 0))
      return false;
    for (size_t id = 0; id < op.scalars.size(); ++id)
      if (op.scalars[id].isConst && have.consts[id] != variant.consts[id])
        return false;
    int64_t blocks = 1;
    for (const ExprPtr &extent : grid)
      if (Evaluated value = evaluateHost(*extent, call.bound.values); value.value)
        blocks *= value.value->asInt();
    if (blocks < 1 || (blocks > options.mostBlocks && !isDeep))
      return false;
    std::optional<Specialization> derived = deriveFor(op, variant.kernel, call.bound);
    return derived && std::all_of(derived->params.begin(), derived->params.end(), [&](const NamedInt &param) {
             return std::find(variant.params.begin(), variant.params.end(), param) != variant.params.end();
           });
  }

  std::optional<std::vector<int64_t>> sizeOf(size_t id, size_t number, Way way) {
    const DimVar &dim = op.dims[id];
    bool isBounded = !bounded[id].empty();
    if (dim.perElement || variant.constDims[id] != kDynamic || (way == Way::Listed && !isBounded) ||
        (saysOne(id) && random.below(2)))
      return std::nullopt;
    int64_t size = leasts[id];
    auto isBoundedRow = [&](size_t other) { return isRow[other] && !bounded[other].empty(); };
    std::vector<size_t> all(op.dims.size());
    std::iota(all.begin(), all.end(), 0);
    auto other = std::find_if(all.begin(), all.end(), isBoundedRow);
    if (isBounded)
      size = boundedSize(id, number);
    // Where dims of rows have an order (`P <= D`), it is at their equality that something ends, or some tiles further.
    else if (isRow[id] && other != all.end() && (way != Way::Wished || random.below(3) == 0))
      size = boundedSize(*other, number) +
             random.below(std::array<int64_t, 3>{1, 24, 3 * tiles.back()}[size_t(random.below(3))]);
    else if (way == Way::Wished || way == Way::Near)
      size = wishedSize(id, number, way == Way::Near);
    else if (way == Way::Small)
      size += dim.isGroup ? random.below(8) : random.below(6);
    if (options.wholeVectors && isRow[id] && !isBounded)
      size += (vector << random.below(2)) - 1, size -= size % vector;
    return dim.isGroup ? leading(size) : std::vector<int64_t>{size};
  }

  /// Of all that the range leaves. Equal for equal rounds.
  int64_t boundedSize(size_t id, size_t number) const {
    Random own(round << 8 | id);
    const std::vector<int64_t> &sizes = bounded[id];
    int64_t part = partOf(id, number), count = int64_t(sizes.size());
    if ((part == 0 || part + 1 == int64_t(kParts)) &&
        number / kParts % 2 == 0) // where masks of whole registers change
      return part ? sizes.back() : sizes.front();
    return sizes[size_t(std::min(count - 1, (part * count + own.below(count)) / int64_t(kParts)))];
  }

  /// Some tiles and an end.
  int64_t wishedSize(size_t id, size_t number, bool isNear) {
    // Three dims with an extent: what is done for one of seven shows where another one has rows, too.
    if (op.dims[id].isGroup && number % 2)
      return random.below(2) ? 12 : 18;
    int64_t part = partOf(id, number), tile = tiles[(number / kParts + id) % tiles.size()];
    if (isNear)
      tile = *std::min_element(tiles.begin(), tiles.end());
    bool isMost = part + 1 == int64_t(kParts) && random.below(2);
    int64_t end =
        isMost ? tile : 1 + std::min(tile - 1, (part * tile + random.below(tile)) / int64_t(kParts));
    return leasts[id] - 1 + random.below(kMostTiles + 1) * tile + end;
  }

  /// A section that gives a dim one size may rely on it, in how it fills the tensors.
  bool saysOne(size_t id) const {
    return !testCase && model.settings.dims[id].size() == 1; // a case is of one size as a rule
  }

  /// A permutation of the parts by dim, another one each round.
  int64_t partOf(size_t id, size_t number) const {
    std::array<int64_t, kParts> order;
    std::iota(order.begin(), order.end(), 0);
    Random shuffle(number / kParts * 64 + id + 1);
    for (size_t i = kParts; i-- > 1;)
      std::swap(order[i], order[size_t(shuffle.below(int64_t(i) + 1))]);
    return order[number % kParts];
  }

  /// The factors of `size` on dims apart, the others 1: strides of dims that nothing merges.
  std::vector<int64_t> leading(int64_t size) {
    std::vector<int64_t> factors;
    for (int64_t factor = 2; factor * factor <= size; ++factor)
      for (; size % factor == 0; size /= factor)
        factors.push_back(factor);
    factors.push_back(size);
    while (factors.size() > kMostLeading) {
      factors[0] *= factors.back();
      factors.pop_back();
    }
    size_t rank = factors.size() + size_t(random.below(int64_t(kMostLeading - factors.size()) + 1));
    factors.resize(rank, 1);
    for (size_t i = rank; i-- > 1;)
      std::swap(factors[i], factors[size_t(random.below(int64_t(i) + 1))]);
    return factors;
  }

  const OpModel &op;
  const TestModel &model;
  const Specialization &variant;
  const std::vector<ExprPtr> &grid;
  const EdgeOptions &options;
  const TestCaseModel *testCase = nullptr; ///< whose settings are taken; null: the section's
  uint64_t round = 0;
  bool isDeep = false; ///< the call with a group of many dims, none of which is 1
  Random random;
  std::vector<int64_t> tiles;
  std::vector<int64_t> leasts;
  std::vector<std::vector<int64_t>> bounded; ///< by dim: all sizes of one that has few, else none
  std::vector<bool> isRow;
  int64_t vector = 1;
};

} // namespace

std::optional<std::pair<int64_t, int64_t>> sizeRange(const OpModel &op, const Specialization &variant,
                                                     size_t dim) {
  std::vector<int64_t> sizes = sizesAlone(op, variant, dim);
  if (sizes.empty())
    return std::nullopt;
  return std::pair(sizes.front(), sizes.back() == kMostTried ? kUnbounded : sizes.back());
}

std::vector<TestCall> edgeCalls(const OpModel &op, const TestModel &model, const Specialization &variant,
                                const std::vector<ExprPtr> &grid, const EdgeOptions &options) {
  return op.dims.empty() ? std::vector<TestCall>() : EdgeMaker(op, model, variant, grid, options).run();
}

} // namespace tilegym::sem
