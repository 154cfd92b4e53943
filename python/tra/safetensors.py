"""Reads and writes named arrays in safetensors files with NumPy alone.

This file needs neither torch nor libtra_ops: `import tra.safetensors` loads both with the package, but a program
without them can load the file by its path. The checks, and the bytes written, are those of tra/model/safetensors.h.

BF16 is refused: NumPy has no such type, and its bits read as integers could be mistaken for weights.
"""

import contextlib
import itertools
import json
import os
import stat
import struct

import numpy as np

__all__ = ["SafetensorsError", "load", "save"]

_DTYPES = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_METADATA = "__metadata__"
_FIELDS = ("dtype", "shape", "data_offsets")
_MAX_HEADER = 100_000_000
_MAX_DIMS = 32
_EXPORT_AGAIN = "; the file is damaged or malformed: copy it or export it again"
_TRUNCATED = "; the file is truncated: copy it again"

_count = itertools.count()


class SafetensorsError(ValueError):
    """Reports a file or arrays that break the format. The message begins with the file name, and says what to do."""


def load(path):
    """Returns ({name: array}, {key: value}): the arrays, each with its own memory, and the metadata."""
    path = os.fspath(path)
    # Opening a pipe would wait until somebody writes to it.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise SafetensorsError(f"{path}: is not a regular file; name one")
        try:
            return _read(file, status.st_size)
        except SafetensorsError as error:
            raise SafetensorsError(f"{path}: {error}") from None


def save(path, tensors, metadata=None):
    """Writes {name: array} and {key: value}. A failure leaves `path` as it was, never half written.

    Equal arrays and metadata give equal bytes: wider elements first, so that all are aligned, then by name.
    """
    path = os.fspath(path)
    try:
        header, arrays = _lay_out(tensors, metadata or {})
    except SafetensorsError as error:
        raise SafetensorsError(f"{path}: {error}") from None
    # A rename would replace a device by a file.
    if os.path.exists(path) and not os.path.isfile(path):
        raise SafetensorsError(f"{path}: exists and is not a regular file; write to another name")
    directory = os.path.dirname(path) or "."
    file, temporary = _open_aside(directory)
    try:
        with file:
            file.write(struct.pack("<Q", len(header)))
            file.write(header)
            for array in arrays:
                file.write(array.tobytes())
            file.flush()
            os.fsync(file.fileno())  # or the name may reach the disk before the bytes do
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_directory(directory)


def _open_aside(directory):
    while True:
        temporary = os.path.join(directory, f".tra-{os.getpid()}-{next(_count)}.tmp")
        try:
            return open(temporary, "xb"), temporary
        except FileExistsError:  # left by a writer that was killed
            continue


def _sync_directory(directory):
    """Syncs a directory if possible: the file is complete either way, and not every file system can do this."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        return
    with contextlib.suppress(OSError):
        os.fsync(descriptor)
    os.close(descriptor)


def _read(file, size):
    if size < 8:
        raise SafetensorsError(f"{size} bytes cannot hold a safetensors header{_TRUNCATED}")
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _MAX_HEADER:
        raise SafetensorsError(
            f"a header of {length} bytes is beyond the limit of {_MAX_HEADER}; this is not a safetensors file: check the "
            "path"
        )
    if length > size - 8:
        raise SafetensorsError(f"header of {length} bytes in a file of {size}{_TRUNCATED}")
    header = _parse(file.read(length))
    metadata = _metadata(header.pop(_METADATA, {}))
    data_size = size - 8 - length
    entries = sorted((_entry(name, value, data_size) for name, value in header.items()), key=lambda entry: entry[:3])
    _check_cover(entries, data_size)

    arrays = {}
    for begin, end, name, dtype, shape in entries:  # which is also their order in the file
        flat = np.empty((end - begin) // dtype.itemsize, dtype)
        if file.readinto(flat.view(np.uint8)) != end - begin:
            raise SafetensorsError("became shorter while it was read; read it again")
        _check_bools(name, flat)
        arrays[name] = flat.reshape(shape)
    return arrays, metadata


def _parse(header):
    if not header.startswith(b"{"):
        raise SafetensorsError(f"header is not a JSON object{_EXPORT_AGAIN}")

    def unique(pairs):
        result = {}
        for name, value in pairs:
            if name in result:
                raise SafetensorsError(f"{_quote(name)} appears twice{_EXPORT_AGAIN}")
            result[name] = value
        return result

    def natural(digits):  # -0 would pass for 0
        if digits.startswith("-"):
            raise SafetensorsError(f"header holds the negative number {digits[:20]}{_EXPORT_AGAIN}")
        return int(digits)

    def constant(name):  # NaN and infinities, which Python accepts as JSON
        raise ValueError(name)

    try:
        return json.loads(
            header.decode("utf-8"), object_pairs_hook=unique, parse_int=natural, parse_constant=constant
        )
    except SafetensorsError:
        raise
    except (ValueError, RecursionError):
        raise SafetensorsError(f"header is not JSON in UTF-8{_EXPORT_AGAIN}") from None


def _metadata(value):
    if not isinstance(value, dict):
        raise SafetensorsError(f'"{_METADATA}" must be an object{_EXPORT_AGAIN}')
    for key, text in value.items():
        if not isinstance(text, str):
            raise SafetensorsError(f"metadata {_quote(key)} must be a string{_EXPORT_AGAIN}")
        _encode(key), _encode(text)
    return value


def _entry(name, value, data_size):
    """Returns (begin, end, name, dtype, shape) of one tensor, checked."""
    _encode(name)

    def fail(what, remedy=_EXPORT_AGAIN):
        raise SafetensorsError(f"tensor {_quote(name)}: {what}{remedy}")

    if not isinstance(value, dict):
        raise SafetensorsError(f"{_quote(name)} must be an object{_EXPORT_AGAIN}")
    for field in value:
        if field not in _FIELDS:
            fail(f"has an unknown field {_quote(field)}")
    for field in _FIELDS:
        if field not in value:
            fail(f"lacks {field}")
    dtype, shape, offsets = (value[field] for field in _FIELDS)
    if not isinstance(dtype, str):
        fail("dtype must be a string")
    if dtype not in _DTYPES:
        fail(f"dtype {_quote(dtype)} is not supported", f"; convert it to one of {' '.join(_DTYPES)}")
    for field in ("shape", "data_offsets"):
        if not isinstance(value[field], list):
            fail(f"{field} must be an array")
        if not all(type(number) is int for number in value[field]):  # True is an int too
            fail(f"{field} must hold whole numbers from 0 up")
    if len(shape) > _MAX_DIMS:
        fail(f"shape has more than {_MAX_DIMS} numbers")
    if len(offsets) != 2:
        fail("data_offsets must be two numbers, [begin, end]")
    begin, end = offsets
    if end < begin:
        fail(f"data_offsets [{begin}, {end}] end before they begin")
    if end > data_size:
        fail(f"data_offsets [{begin}, {end}] lie outside the data of {data_size} bytes", _TRUNCATED)
    # A dimension of 0 does not excuse huge other dimensions: strides are products of those.
    needed = _DTYPES[dtype].itemsize
    for number in shape:
        needed *= max(number, 1)
    if needed >= 2**63:
        fail("shape is too large")
    if 0 in shape:
        needed = 0
    if needed != end - begin:
        fail(f"data_offsets [{begin}, {end}] are {end - begin} bytes, but dtype and shape need {needed}")
    return begin, end, name, _DTYPES[dtype], shape


def _check_cover(entries, data_size):
    covered = 0
    for begin, end, name, _, _ in entries:
        if begin != covered:
            what = "overlaps the tensor before it" if begin < covered else "a hole lies before it"
            raise SafetensorsError(
                f"tensor {_quote(name)}: {what} (begins at {begin}, expected {covered}){_EXPORT_AGAIN}"
            )
        covered = end
    if covered != data_size:
        raise SafetensorsError(
            f"{data_size - covered} trailing bytes belong to no tensor; the file has been appended to or damaged: copy "
            "it or export it again"
        )


def _check_bools(name, array):
    if array.dtype != np.bool_:
        return
    values = array.reshape(-1).view(np.uint8)
    wrong = np.flatnonzero(values > 1)
    if wrong.size:
        raise SafetensorsError(
            f"tensor {_quote(name)}: BOOL element {wrong[0]} is {values[wrong[0]]}, neither 0 nor 1; store it as U8 or "
            "export it again"
        )


def _lay_out(tensors, metadata):
    """Returns the bytes of the header, and the arrays in the order and byte order of the file."""
    arrays = {}
    for name, value in tensors.items():
        if not isinstance(name, str):
            raise SafetensorsError(f"tensor {name!r}: names must be strings; convert it with str()")
        if name == _METADATA:
            raise SafetensorsError(f"tensor {_quote(name)}: this name is the format's own; choose another")
        array = np.asarray(value)
        little = array.dtype.newbyteorder("<")
        if little not in _NAMES:
            raise SafetensorsError(
                f"tensor {_quote(name)}: dtype {array.dtype} cannot be written; convert it to one of "
                f"{' '.join(_DTYPES)}"
            )
        if array.ndim > _MAX_DIMS:
            raise SafetensorsError(f"tensor {_quote(name)}: has more than {_MAX_DIMS} dimensions; flatten some")
        arrays[name] = array.astype(little, order="C", copy=False)
        _check_bools(name, arrays[name])
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise SafetensorsError(f"metadata {key!r}: keys and values must be strings; convert them with str()")

    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    header = {_METADATA: dict(sorted(metadata.items()))} if metadata else {}
    offset = 0
    for name in order:
        array = arrays[name]
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = _encode(json.dumps(header, ensure_ascii=False, separators=(",", ":")))
    text += b" " * (-len(text) % 8)
    if len(text) > _MAX_HEADER:
        raise SafetensorsError(
            f"names and metadata take {len(text)} bytes, more than the format's {_MAX_HEADER}; shorten them"
        )
    return text, [arrays[name] for name in order]


def _encode(text):
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:  # a surrogate without its other half
        raise SafetensorsError("names and metadata must be valid Unicode; encode them so") from None


def _quote(name):
    """Returns a name in quotes; a name from a file may be long or unprintable."""
    return json.dumps(name if len(name) <= 80 else name[:80] + "...")
