// SPDX-License-Identifier: MIT
// The backend `vendor`: ops that are a product of matrices, by cuBLASLt. What it does not take it declines, before anything has been done.
#include "tilegym/vendor.h"
#include "KernelLaunch.h"
#include "PackageHandle.h"
#include "ProductLibrary.h"
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tilegym::runtime {
namespace {

constexpr size_t kWorkspaceLimit = size_t(32) << 20;

struct Workspace {
  void *data = nullptr;
  size_t bytes = 0;
};
constinit thread_local Workspace givenWorkspace;

TilegymStatus decline(const char *why) { return fail(TILEGYM_UNAVAILABLE, "%s", why); }

/// A matrix as an axis of rows and one of columns.
struct Matrix {
  int64_t rows = 0, columns = 0, rowStride = 0, columnStride = 0, batch = 1, batchStride = 0;
};

/// Of the last two axes as written, of which the first may be the group; false where its rows do not follow one another evenly.
bool matrixOf(const Call &call, uint32_t id, bool turned, Matrix *matrix) {
  std::span<const format::DimUse> uses = call.table.get<format::DimUse>(call.tensors[id].dims);
  const BoundTensor &b = call.bound[id];
  if (!b.given || uses.size() < 2 || uses.size() > 3 ||
      (b.hasGroup && (uses.size() != 2 || call.group.rank > 1)))
    return false;
  auto row = uint32_t(uses.size() - 2), column = row + 1;
  matrix->rows = b.hasGroup ? call.dimValues[call.plan.groupDim] : b.shape[b.axis(int(row))];
  matrix->columns = b.shape[b.axis(int(column))];
  matrix->rowStride = call.strideOf(id, row);
  matrix->columnStride = call.strideOf(id, column);
  if (row == 1) {
    matrix->batch = b.shape[0];
    matrix->batchStride = b.strides[0];
  }
  if (turned) {
    std::swap(matrix->rows, matrix->columns);
    std::swap(matrix->rowStride, matrix->columnStride);
  }
  return true;
}

/// How the library is told of it: whether columns are contiguous, and how far apart rows (or columns) are. Axes of extent 1 have any stride.
bool leadOf(const Matrix &m, bool *columns, int64_t *lead) {
  for (bool byColumns : {false, true}) {
    int64_t inner = byColumns ? m.rows : m.columns, outer = byColumns ? m.columns : m.rows;
    int64_t step = byColumns ? m.rowStride : m.columnStride, next = byColumns ? m.columnStride : m.rowStride;
    if (step != 1 && inner > 1)
      continue;
    *columns = byColumns;
    *lead = outer > 1 ? next : inner;
    if (*lead >= inner)
      return true;
  }
  return false;
}

TilegymStatus shapeOf(const Call &call, const TilegymProduct &p, ProductShape *shape) {
  std::span<const format::Argument> arguments = call.table.get<format::Argument>(call.op.arguments);
  auto tensor = [&](int32_t number) { return arguments[size_t(number)].id; };
  Matrix a, b, c;
  if (!matrixOf(call, tensor(p.a), p.turn_a, &a) || !matrixOf(call, tensor(p.b), p.turn_b, &b) ||
      !matrixOf(call, tensor(p.c), false, &c))
    return decline("leading axes that are not one");
  bool fits = a.rows == c.rows && b.columns == c.columns && a.columns == b.rows && a.batch == c.batch &&
              b.batch == c.batch;
  if (!fits)
    return decline("it is no product of two matrices, or of as many");
  bool columnsC = false;
  if (!leadOf(a, &shape->columnsA, &shape->leadA) || !leadOf(b, &shape->columnsB, &shape->leadB) ||
      !leadOf(c, &columnsC, &shape->leadC) || columnsC)
    return decline("strides that cuBLASLt has no word for");
  shape->m = c.rows;
  shape->n = c.columns;
  shape->k = a.columns;
  shape->batch = c.batch;
  shape->strideA = a.batchStride;
  shape->strideB = b.batchStride;
  shape->strideC = c.batchStride;
  if (std::max({shape->m, shape->n, shape->k, shape->batch}) > INT32_MAX ||
      std::min(a.batchStride, b.batchStride) < 0)
    return decline("extents beyond 2^31, or negative strides");
  auto addresses = uint64_t(256);
  for (int32_t number : {p.a, p.b, p.c})
    addresses |= reinterpret_cast<uint64_t>(call.bound[tensor(number)].given->data);
  if (p.bias >= 0 && call.bound[tensor(p.bias)].given) {
    const BoundTensor &bias = call.bound[tensor(p.bias)];
    if (bias.rank != 1 || bias.shape[0] != c.columns || (bias.strides[0] != 1 && c.columns > 1))
      return decline("a bias that is no vector of the columns");
    shape->hasBias = true;
    addresses |= reinterpret_cast<uint64_t>(bias.given->data);
  }
  shape->alignment = 1 << std::countr_zero(addresses);
  shape->typeA = uint8_t(call.bound[tensor(p.a)].given->dtype);
  shape->typeB = uint8_t(call.bound[tensor(p.b)].given->dtype);
  shape->typeC = uint8_t(call.bound[tensor(p.c)].given->dtype);
  return TILEGYM_OK;
}

/// The thread's last plans; the library takes tens of microseconds to choose an algorithm.
const ProductPlan *planFor(const CublasLt &library, int device, const ProductShape &shape,
                           std::string &lacking) {
  struct Kept {
    int device = -1;
    std::unique_ptr<ProductPlan> plan;
  };
  static thread_local std::array<Kept, 16> kept;
  static thread_local size_t next = 0;
  for (const Kept &one : kept)
    if (one.device == device && one.plan->shape() == shape)
      return one.plan.get();
  auto plan = std::make_unique<ProductPlan>();
  if (!plan->make(library, device, shape, kWorkspaceLimit, lacking))
    return nullptr;
  Kept &slot = kept[next++ % kept.size()];
  slot = {device, std::move(plan)};
  return slot.plan.get();
}

TilegymStatus multiply(const Driver &driver, const ProductPlan &plan, const Call &call,
                       const TilegymProduct &p, const void *const *args, CUstream stream) {
  auto data = [&](int32_t number) {
    return number < 0 || !args[number] ? nullptr : static_cast<const TilegymTensor *>(args[number])->data;
  };
  void *workspace = nullptr;
  bool isOurs = plan.workspace() > givenWorkspace.bytes;
  if (!isOurs) {
    workspace = plan.workspace() ? givenWorkspace.data : nullptr;
  } else {
    CUdeviceptr address = 0;
    if (CUresult result = driver.memAllocAsync(&address, plan.workspace(), stream); result != kSuccess)
      return driver.failure("allocating cuBLASLt's workspace", result);
    workspace = reinterpret_cast<void *>(address);
  }
  int status = plan.run(data(p.a), data(p.b), data(p.bias), data(p.c), workspace, stream);
  if (isOurs)
    driver.memFreeAsync(reinterpret_cast<CUdeviceptr>(workspace), stream);
  return status == 0 ? TILEGYM_OK
                     : fail(TILEGYM_CUDA_ERROR, "%s: cuBLASLt fails: status %d",
                            Text(call.table.text(call.op.name)).data, status);
}

TilegymStatus runProduct(void *user, TilegymPackage *package, size_t number, const void *const *args,
                         void *stream) {
  const auto &p = *static_cast<const TilegymProduct *>(user);
  const format::Op &op = package->table.ops()[number];
  auto isArgument = [&](int32_t i, bool isTensor) {
    return i >= 0 && uint32_t(i) < op.arguments.count &&
           bool(package->table.get<format::Argument>(op.arguments)[size_t(i)].isTensor) == isTensor;
  };
  if (!isArgument(p.a, true) || !isArgument(p.b, true) || !isArgument(p.c, true) ||
      (p.bias >= 0 && !isArgument(p.bias, true)) || (p.plain >= 0 && !isArgument(p.plain, false)))
    return fail(TILEGYM_INVALID_ARGUMENT, "%s: its product names arguments that it does not have", p.op);
  Call call(package->table, op);
  TRY(call.bind(args, /*forShape=*/false));
  if (p.plain >= 0) {
    uint32_t id = package->table.get<format::Argument>(op.arguments)[size_t(p.plain)].id;
    if (call.scalarValues[id].i != p.plain_value)
      return decline("more than a product");
  }
  ProductShape shape;
  TRY(shapeOf(call, p, &shape));
  if (shape.m == 0 || shape.n == 0 || shape.batch == 0)
    return TILEGYM_OK;
  if (shape.k == 0)
    return decline("a product of nothing");
  std::string lacking;
  const CublasLt *library = CublasLt::open("", lacking);
  const Driver *driver = nullptr;
  const Device *device = nullptr;
  if (!library)
    return decline(lacking.c_str());
  TRY(getDriver(&driver));
  TRY(currentDevice(*driver, call.bound[0].given ? call.bound[0].given->data : nullptr, &device));
  TRY(checkPointers(*driver, *device, call, static_cast<CUstream>(stream)));
  const ProductPlan *plan = planFor(*library, device->ordinal, shape, lacking);
  return plan ? multiply(*driver, *plan, call, p, args, static_cast<CUstream>(stream))
              : decline(lacking.c_str());
}

TilegymStatus add(const TilegymProduct &product) {
  // Kept for good, as what is registered is.
  auto *kept = new TilegymProduct(product);
  kept->op = strdup(product.op);
  return tilegym_register_impl(
      kept->op, "vendor",
      [](void *user, TilegymPackage *package, size_t op, const void *const *args, void *stream) {
        return guarded([&] { return runProduct(user, package, op, args, stream); });
      },
      kept);
}

} // namespace
} // namespace tilegym::runtime

using namespace tilegym::runtime;

extern "C" {

TilegymStatus tilegym_add_vendor(const TilegymProduct *products, size_t count) {
  if (!products && count)
    return fail(TILEGYM_INVALID_ARGUMENT, "the products are null");
  for (size_t i = 0; i < count; ++i) {
    if (!products[i].op)
      return fail(TILEGYM_INVALID_ARGUMENT, "a product has no op");
    TRY(guarded([&] { return add(products[i]); }));
  }
  return TILEGYM_OK;
}

void tilegym_set_workspace(void *data, size_t bytes) {
  givenWorkspace = data ? Workspace{data, bytes} : Workspace{};
}

} // extern "C"
