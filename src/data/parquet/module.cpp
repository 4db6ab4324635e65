#include "data/parquet/parquet_text.hpp"

/// What open_parquet finds in the module libmonomorph_parquet.so.
extern "C" [[gnu::visibility("default")]] constinit const monomorph::data::ParquetReader monomorph_parquet_reader =
    monomorph::data::open_parquet_text;
