"""check_torch_file.py FILE.pt FILE.safetensors: that the first is a file of PyTorch's with the tensors of the second.

The archive and the pickle in it are read by Python's own modules, with the globals alone that torch.load(weights_only=True)
allows. Where PyTorch itself can be imported it reads the file as well, by bytes and mapped into memory; where not, the last
line says so.
"""
import collections
import json
import pickle
import sys
import zipfile

STORAGES = {
    "DoubleStorage": ("F64", 8), "FloatStorage": ("F32", 4), "HalfStorage": ("F16", 2), "BFloat16Storage": ("BF16", 2),
    "LongStorage": ("I64", 8), "IntStorage": ("I32", 4), "ShortStorage": ("I16", 2), "CharStorage": ("I8", 1),
    "ByteStorage": ("U8", 1), "BoolStorage": ("BOOL", 1),
}


def rebuild_tensor(storage, offset, shape, strides, requires_grad, hooks):
    (dtype, _), data = storage
    expected, n = [], 1
    for size in reversed(shape):
        expected.insert(0, n)
        n *= size
    assert (offset, requires_grad, dict(hooks)) == (0, False, {}) and tuple(strides) == tuple(expected)
    return dtype, list(shape), data


class Unpickler(pickle.Unpickler):
    def __init__(self, archive):
        super().__init__(archive.open("checkpoint/data.pkl"))
        self.archive = archive

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return rebuild_tensor
        assert module == "torch", (module, name)
        return STORAGES[name]

    def persistent_load(self, identifier):
        kind, storage, record, device, elements = identifier
        assert (kind, device) == ("storage", "cpu")
        data = self.archive.read(f"checkpoint/data/{record}")
        assert len(data) == elements * storage[1]
        return storage, data


def tensors_of_safetensors(path):
    data = open(path, "rb").read()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    return {
        name: (entry["dtype"], entry["shape"], data[begin + entry["data_offsets"][0] : begin + entry["data_offsets"][1]])
        for name, entry in header.items()
    }


def check_archive(path, expected):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.read("checkpoint/byteorder") == b"little" and archive.read("checkpoint/version") == b"3\n"
        for record in archive.infolist():
            with open(path, "rb") as file:
                file.seek(record.header_offset + 26)
                name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
            assert (record.header_offset + 30 + name + extra) % 64 == 0, record
        assert Unpickler(archive).load() == expected


def check_with_torch(path, expected):
    try:
        import torch
    except (ImportError, OSError) as failure:
        print(f"skipped: PyTorch cannot be imported here ({failure})")
        return
    for mapped in False, True:
        loaded = torch.load(path, weights_only=True, mmap=mapped)
        assert loaded.keys() == expected.keys()
        for name, tensor in loaded.items():
            _, shape, data = expected[name]
            assert list(tensor.shape) == shape, name
            assert tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() == data, name
    print("read by PyTorch", torch.__version__)


if __name__ == "__main__":
    tensors = tensors_of_safetensors(sys.argv[2])
    check_archive(sys.argv[1], tensors)
    print(len(tensors), "tensors")
    check_with_torch(sys.argv[1], tensors)
