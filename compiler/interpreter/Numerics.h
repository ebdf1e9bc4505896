// SPDX-License-Identifier: MIT
// The bit-exact numerics of the language: everything a user of them needs.
#pragma once

#include "compiler/interpreter/NumericsConvert.h"
#include "compiler/interpreter/NumericsFloat.h"
#include "compiler/interpreter/NumericsOps.h"
#include "compiler/interpreter/NumericsRandom.h"
