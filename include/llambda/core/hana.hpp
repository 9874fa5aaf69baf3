// The parts of Boost.Hana the library uses, included here and nowhere else (0.3 s to compile instead of 0.5 s for
// <boost/hana.hpp>). Hana declares each tensor once and lets loading, planning and reports iterate over it; it never
// appears in the forward pass, where its keys would make symbols of a kilobyte.
#pragma once

#include <llambda/core/config_macros.hpp>

#pragma push_macro("min")
#pragma push_macro("max")
#pragma push_macro("small")
#pragma push_macro("ERROR")
#undef min
#undef max
#undef small
#undef ERROR
#include <boost/hana/accessors.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/fwd/for_each.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>
#pragma pop_macro("min")
#pragma pop_macro("max")
#pragma pop_macro("small")
#pragma pop_macro("ERROR")

namespace llambda::inline LLAMBDA_ABI {
namespace hana = boost::hana;
}  // namespace llambda::inline LLAMBDA_ABI
