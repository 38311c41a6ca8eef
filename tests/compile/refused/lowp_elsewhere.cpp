// SPDX-License-Identifier: BSD-3-Clause
// refused: a device multiplies 16-bit operands by cuBLAS or rocBLAS
//
// Products of 16-bit operands on a device whose vendor's library is not known.
#include "plinth/kernel/lowp/device_gemm.hpp"
#include "plinth/kernel/lowp/gemm.hpp"

#ifdef PLINTH_REFUSED
struct Elsewhere;
using Products = plinth::kernel::lowp::VendorBlas<Elsewhere>;
#else
using Products = plinth::kernel::lowp::Workspace;
#endif

Products products();
Products products() { return {}; }
