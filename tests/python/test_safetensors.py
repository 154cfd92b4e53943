"""Tests tra/safetensors.py, loaded by its path: it must work where torch and libtra_ops are missing."""

import importlib.util
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).resolve().parents[2] / "python" / "tra" / "safetensors.py"


def load_by_path():
    spec = importlib.util.spec_from_file_location("tra_safetensors", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


safetensors = load_by_path()


def by_hand(header, data=b""):
    """Returns the bytes of a file: the header as given, or as JSON if it is not bytes, then the data."""
    if not isinstance(header, bytes):
        header = json.dumps(header).encode()
    return struct.pack("<Q", len(header)) + header + data


def entry(dtype="U8", shape=(0,), data_offsets=(0, 0)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(data_offsets)}


class SafetensorsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.path = self.directory / "weights.safetensors"

    def load_bytes(self, data):
        self.path.write_bytes(data)
        return safetensors.load(self.path)

    def assert_rejected(self, data, message):
        with self.subTest(message), self.assertRaises(safetensors.SafetensorsError) as raised:
            self.load_bytes(data)
        self.assertEqual(str(raised.exception)[: len(f"{self.path}: {message}")], f"{self.path}: {message}")

    def assert_not_written(self, message, tensors, metadata=None):
        with self.subTest(message), self.assertRaises(safetensors.SafetensorsError) as raised:
            safetensors.save(self.path, tensors, metadata)
        self.assertEqual(str(raised.exception)[: len(f"{self.path}: {message}")], f"{self.path}: {message}")

    def assert_round_trip(self, tensors, metadata=None):
        safetensors.save(self.path, tensors, metadata)
        self.assertEqual(os.listdir(self.directory), [self.path.name])
        arrays, read = safetensors.load(self.path)
        self.assertEqual(read, metadata or {})
        self.assertEqual(set(arrays), set(tensors))
        for name, array in arrays.items():
            want = np.asarray(tensors[name])
            self.assertEqual(array.dtype, want.dtype.newbyteorder("="), name)
            self.assertEqual(array.shape, want.shape, name)
            self.assertEqual(array.tobytes(), want.astype(array.dtype).tobytes(), name)
            self.assertTrue(array.flags.writeable)

    def test_every_dtype_scalars_and_empty_arrays_round_trip(self):
        tensors = {}
        for dtype in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "?"):
            tensors[dtype] = (np.arange(15).reshape(3, 5) % 7 - 2).astype(dtype)
            tensors[dtype + " scalar"] = np.ones((), dtype)
            tensors[dtype + " empty"] = np.zeros((4, 0, 2), dtype)
        self.assert_round_trip(tensors, {"step": "12"})
        self.assert_round_trip({})

    def test_views_and_other_byte_orders_are_written_as_their_elements(self):
        x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        self.assert_round_trip({
            "transposed": x.T, "sliced": x[:, ::2, 1:], "reversed": x[::-1],
            "expanded": np.broadcast_to(x, (5, 2, 3, 4)),
            "big-endian": x.astype(">f4"), "nan": np.array([np.nan, -0.0, np.inf]),
        })

    def test_names_and_metadata_may_be_any_text(self):
        names = ["", "a.b/c", '"quoted" \\', "line\nbreak\x01\x7f", "größe", "重み", "\U0001f511", "nul\0nul"]
        self.assert_round_trip({name: np.ones(1) for name in names}, dict(zip(names, reversed(names))))

    def test_reads_bytes_made_by_hand(self):
        header = (
            b'{ "b": {"shape": [2, 1], "data_offsets": [3, 11], "dtype": "F32"},\n'
            b'"__metadata__": {"k\\u00e9y": "v"}, "a": {"dtype":"U8","shape":[3],"data_offsets":[0,3]}}  '
        )
        arrays, metadata = self.load_bytes(by_hand(header, struct.pack("<3B2f", 1, 0, 7, 1.5, -2.0)))
        self.assertEqual(metadata, {"k\u00e9y": "v"})
        self.assertEqual(set(arrays), {"a", "b"})
        np.testing.assert_array_equal(arrays["a"], np.array([1, 0, 7], np.uint8), strict=True)
        np.testing.assert_array_equal(arrays["b"], np.array([[1.5], [-2.0]], np.float32), strict=True)

    def test_writes_the_bytes_that_the_cpp_writer_writes(self):
        # The same example is in tests/model/safetensors_test.cc.
        x = np.array([[1, 2], [3, 4]], np.float32)
        safetensors.save(self.path, {"z": x, "a": np.array([7], np.uint8), "b": x[1]}, {"y": "2", "x": "1"})
        header = (
            b'{"__metadata__":{"x":"1","y":"2"},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
            b'"z":{"dtype":"F32","shape":[2,2],"data_offsets":[8,24]},'
            b'"a":{"dtype":"U8","shape":[1],"data_offsets":[24,25]}}'
        )
        header += b" " * (-len(header) % 8)
        self.assertEqual(self.path.read_bytes(), by_hand(header, struct.pack("<6fB", 3, 4, 1, 2, 3, 4, 7)))

    def test_rejects_lengths_that_do_not_fit(self):
        self.assert_rejected(b"1234567", "7 bytes cannot hold a safetensors header; the file is truncated: copy it")
        self.assert_rejected(by_hand({}, b"")[:-1], "header of 2 bytes in a file of 9; the file is truncated")
        self.assert_rejected(b"\xff" * 64, "a header of 18446744073709551615 bytes is beyond the limit of 100000000")

    def test_rejects_headers_that_are_no_json_object(self):
        for header in (b"", b"[]", b" {}", b"\xef\xbb\xbf{}"):
            self.assert_rejected(by_hand(header), "header is not a JSON object")
        for header in (b"{", b"{}}", b"{}\0", b'{"a":NaN}', b'{"\xff":{}}', b'{"\n":{}}', b'{"a":' * 200_000):
            self.assert_rejected(by_hand(header), "header is not JSON in UTF-8")
        self.assert_rejected(by_hand(b'{"__metadata__":{"\\ud800":""}}'), "names and metadata must be valid Unicode")

    def test_rejects_duplicates(self):
        one = json.dumps(entry()).encode()
        self.assert_rejected(by_hand(b'{"a":' + one + b',"\\u0061":' + one + b"}"), '"a" appears twice')
        self.assert_rejected(by_hand(b'{"__metadata__":{"k":"1","k":"2"}}'), '"k" appears twice')

    def test_rejects_missing_unknown_and_ill_typed_fields(self):
        def tensor(message, value, data=b""):
            self.assert_rejected(by_hand({"a": value}, data), f'tensor "a": {message}')

        self.assert_rejected(by_hand({"a": []}), '"a" must be an object')
        self.assert_rejected(by_hand({"__metadata__": "x"}), '"__metadata__" must be an object')
        self.assert_rejected(by_hand({"__metadata__": {"k": 1}}), 'metadata "k" must be a string')
        for field in ("dtype", "shape", "data_offsets"):
            tensor(f"lacks {field}", {key: value for key, value in entry().items() if key != field})
        tensor('has an unknown field "strides"', {**entry(), "strides": []})
        tensor("dtype must be a string", entry(dtype=8))
        tensor('dtype "F8_E4M3" is not supported; convert it to one of F64', entry(dtype="F8_E4M3"))
        tensor('dtype "BF16" is not supported; convert it to one of F64', entry(dtype="BF16"))
        tensor("shape must be an array", {**entry(), "shape": 4})
        for number in (True, 1.0, "1", [1], None):
            tensor("shape must hold whole numbers from 0 up", entry(shape=[number]), b"x")
        tensor("data_offsets must be two numbers", entry(data_offsets=[0]))
        self.assert_rejected(by_hand({"a": entry(shape=[-1])}), "header holds the negative number -1")
        self.assert_rejected(by_hand(b'{"a":-0}'), "header holds the negative number -0")

    def test_rejects_shapes_and_ranges_that_do_not_fit(self):
        def tensor(message, shape, data_offsets, data):
            header = {"a": entry("F32", shape, data_offsets)}
            self.assert_rejected(by_hand(header, bytes(data)), f'tensor "a": {message}')

        for shape in ([2**63], [2**61], [2**32, 2**32 + 1], [0, 2**32, 2**32], [10**4000]):
            tensor("shape is too large", shape, [0, 4], 4)
        tensor("shape has more than 32 numbers", [1] * 33, [0, 4], 4)
        tensor("data_offsets [8, 0] end before they begin", [2], [8, 0], 8)
        tensor("data_offsets [0, 8] lie outside the data of 7 bytes; the file is truncated", [2], [0, 8], 7)
        tensor("data_offsets [0, 4] are 4 bytes, but dtype and shape need 8", [2], [0, 4], 4)

    def test_rejects_overlaps_holes_and_trailing_bytes(self):
        def two(begin, end, data):
            return by_hand({"a": entry("U8", [4], [0, 4]), "b": entry("U8", [end - begin], [begin, end])}, bytes(data))

        self.assertEqual(len(self.load_bytes(two(4, 8, 8))[0]), 2)
        self.assert_rejected(two(3, 7, 7), 'tensor "b": overlaps the tensor before it (begins at 3, expected 4)')
        self.assert_rejected(two(2, 2, 4), 'tensor "b": overlaps the tensor before it')
        self.assert_rejected(two(5, 9, 9), 'tensor "b": a hole lies before it (begins at 5, expected 4)')
        self.assert_rejected(two(4, 8, 10), "2 trailing bytes belong to no tensor")

    def test_rejects_bools_other_than_0_and_1(self):
        header = {"a": entry("BOOL", [3], [0, 3])}
        self.assertEqual(self.load_bytes(by_hand(header, b"\0\1\0"))[0]["a"].tolist(), [False, True, False])
        self.assert_rejected(by_hand(header, b"\0\1\2"), 'tensor "a": BOOL element 2 is 2, neither 0 nor 1')

    def test_refuses_to_write_what_the_format_cannot_hold(self):
        x = np.ones(2)
        self.assert_not_written('tensor "x": dtype complex64 cannot be written', {"x": x.astype(np.complex64)})
        self.assert_not_written('tensor "x": dtype uint16 cannot be written', {"x": x.astype(np.uint16)})
        self.assert_not_written('tensor "x": dtype object cannot be written', {"x": np.array([None])})
        self.assert_not_written('tensor "__metadata__": this name is the format\'s own', {"__metadata__": x})
        self.assert_not_written("tensor 1: names must be strings", {1: x})
        self.assert_not_written("metadata 'k': keys and values must be strings", {}, {"k": 1})
        self.assert_not_written("names and metadata must be valid Unicode", {"\ud800": x})
        self.assert_not_written('tensor "x": BOOL element 1 is 2', {"x": np.array([1, 2], np.uint8).view(np.bool_)})
        self.assertEqual(os.listdir(self.directory), [])

    def test_missing_directory_leaves_nothing_behind(self):
        with self.assertRaises(FileNotFoundError):
            safetensors.save(self.directory / "none" / "a", {"x": np.ones(2)})
        self.assertEqual(os.listdir(self.directory), [])

    def test_full_disk_leaves_the_old_file_and_nothing_else(self):
        safetensors.save(self.path, {"x": np.ones(2)})
        before = self.path.read_bytes()
        # The limit stands for a full disk, and stops root too. Python ignores the signal that comes with it.
        self.assertEqual(signal.getsignal(signal.SIGXFSZ), signal.SIG_IGN)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        try:
            with self.assertRaises(OSError):
                safetensors.save(self.path, {"x": np.zeros(10_000)})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        self.assertEqual(self.path.read_bytes(), before)
        self.assertEqual(os.listdir(self.directory), [self.path.name])

    def test_does_not_replace_what_is_no_file(self):
        os.mkfifo(self.path)  # stands for any device
        self.assert_not_written("exists and is not a regular file; write to another name", {})
        self.assertTrue(self.path.is_fifo())

    def test_works_without_torch(self):
        program = (
            "import runpy, sys; sys.modules['torch'] = None\n"
            "module = runpy.run_path(sys.argv[1]); import numpy\n"
            "module['save'](sys.argv[2], {'x': numpy.arange(3)})\n"
            "assert module['load'](sys.argv[2])[0]['x'].tolist() == [0, 1, 2]"
        )
        subprocess.run([sys.executable, "-B", "-c", program, str(SOURCE), str(self.path)], check=True)

    def test_a_pipe_is_refused_and_not_waited_for(self):
        pipe = f"{self.path}-pipe"
        os.mkfifo(pipe)
        self.addCleanup(os.remove, pipe)
        with self.assertRaisesRegex(safetensors.SafetensorsError, "is not a regular file"):
            safetensors.load(pipe)


if __name__ == "__main__":
    unittest.main()
