include_guard(GLOBAL)
# Debian has OpenBLAS in two flavours: one starts its own threads (pthread), the other uses OpenMP's, as LibTorch does.
# Two sets of threads on the same cores wait for each other: a mini step took 1.1 to 1.3 times as long. LibTorch loads
# libblas.so.3, which loads libopenblas.so.0; if the program has already loaded the OpenMP flavour, LibTorch gets that
# one.
#
# The target tra_blas provides cblas.h and OpenBLAS, in the OpenMP flavour where that is installed.
add_library(tra_blas INTERFACE)
find_path(TRA_BLAS_INCLUDE cblas.h PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)
find_library(TRA_BLAS_LIBRARY openblas PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)
if(TRA_BLAS_INCLUDE AND TRA_BLAS_LIBRARY)
  target_include_directories(tra_blas SYSTEM INTERFACE ${TRA_BLAS_INCLUDE})
  target_link_libraries(tra_blas INTERFACE ${TRA_BLAS_LIBRARY})
else()
  message(WARNING "no OpenMP flavour of OpenBLAS (libopenblas-openmp-dev): training will be slow beside LibTorch's threads")
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(OpenBLAS REQUIRED IMPORTED_TARGET openblas)
  target_link_libraries(tra_blas INTERFACE PkgConfig::OpenBLAS)
endif()
