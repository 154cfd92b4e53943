# Writes a C++ file that holds the bytes of a file: cmake -D IN=FILE -D OUT=FILE.cc -D NAME=kName -P Embed.cmake. It
# defines `extern const char tra::NAME[]` and `extern const size_t tra::NAMESize`.
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${OUT}.part "#include <cstddef>
namespace tra {
extern const char ${NAME}[];
extern const size_t ${NAME}Size;
const char ${NAME}[] = {${bytes}'\\0'};
const size_t ${NAME}Size = sizeof(${NAME}) - 1;
}  // namespace tra
")
file(RENAME ${OUT}.part ${OUT})
