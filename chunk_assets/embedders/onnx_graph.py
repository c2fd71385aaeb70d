"""Turns a dynamically quantised ONNX graph into a plain float32 one, without the onnx package.

ONNX files are protocol buffers. Only the few messages that are changed are decoded; all others are
copied as the bytes they are. Numbers are from onnx.proto.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Field = tuple[int, int, "int | bytes"]  # number, wire type, value

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_TENSOR = 1, 5
NODE_INPUT, NODE_OUTPUT, NODE_NAME, NODE_TYPE = 1, 2, 3, 4
TENSOR_DIMS, TENSOR_TYPE, TENSOR_FLOATS, TENSOR_INTS, TENSOR_NAME, TENSOR_RAW = 1, 2, 4, 5, 8, 9
FLOAT32 = 1
NUMPY_TYPES = {1: "<f4", 2: "u1", 3: "i1"}


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def fields(data: bytes) -> Iterator[Field]:
    """The fields of a message, in order."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        wire = key & 7
        if wire == VARINT:
            value, at = _read_varint(data, at)
            yield key >> 3, wire, value
            continue
        size = {FIXED64: 8, FIXED32: 4}.get(wire)
        if size is None:
            size, at = _read_varint(data, at)
        yield key >> 3, wire, data[at : at + size]
        at += size


def message(content: Iterator[Field] | list[Field]) -> bytes:
    """The bytes of a message with these fields."""
    parts = []
    for number, wire, value in content:
        parts.append(_varint(number << 3 | wire))
        if isinstance(value, int):
            parts.append(_varint(value))
        else:
            parts += [_varint(len(value)), value] if wire == BYTES else [value]
    return b"".join(parts)


@dataclass(slots=True)
class Node:
    """One operation of the graph, and its bytes."""

    kind: str
    inputs: list[str]
    outputs: list[str]
    raw: bytes

    @classmethod
    def parse(cls, raw: bytes) -> Node:
        """From the bytes of a ``NodeProto``."""
        node = cls("", [], [], raw)
        for number, _, value in fields(raw):
            if number == NODE_INPUT:
                node.inputs.append(bytes(value).decode())
            elif number == NODE_OUTPUT:
                node.outputs.append(bytes(value).decode())
            elif number == NODE_TYPE:
                node.kind = bytes(value).decode()
        return node


@dataclass(slots=True)
class Graph:
    """Nodes in order, tensors by name, and the other fields as they are."""

    nodes: list[Node] = field(default_factory=list)
    tensors: dict[str, bytes] = field(default_factory=dict)
    others: list[Field] = field(default_factory=list)

    @classmethod
    def parse(cls, raw: bytes) -> Graph:
        """From the bytes of a ``GraphProto``."""
        graph = cls()
        for number, wire, value in fields(raw):
            if number == GRAPH_NODE:
                graph.nodes.append(Node.parse(bytes(value)))
            elif number == GRAPH_TENSOR:
                name = next(bytes(v).decode() for n, _, v in fields(bytes(value)) if n == TENSOR_NAME)
                graph.tensors[name] = bytes(value)
            else:
                graph.others.append((number, wire, value))
        return graph

    def dump(self) -> bytes:
        """The bytes of a ``GraphProto``."""
        nodes: list[Field] = [(GRAPH_NODE, BYTES, node.raw) for node in self.nodes]
        tensors: list[Field] = [(GRAPH_TENSOR, BYTES, raw) for raw in self.tensors.values()]
        return message([*nodes, *self.others, *tensors])


def tensor_values(raw: bytes) -> NDArray[Any]:
    """The numbers of a ``TensorProto`` of float32, uint8 or int8."""
    import numpy as np

    parts: dict[int, list[Any]] = {}
    for number, _, value in fields(raw):
        parts.setdefault(number, []).append(value)
    kind, shape = NUMPY_TYPES[parts[TENSOR_TYPE][0]], _integers(parts.get(TENSOR_DIMS, []))
    if TENSOR_INTS in parts:
        return np.array(_integers(parts[TENSOR_INTS]), dtype=np.int64).astype(kind).reshape(shape)
    data = parts.get(TENSOR_RAW) or parts.get(TENSOR_FLOATS) or [b""]
    return np.frombuffer(data[0], dtype=kind).reshape(shape)


def _integers(values: list[Any]) -> list[int]:
    """A repeated integer field, written one by one or packed; negative ones are 64-bit complements."""
    found: list[int] = []
    for value in values:
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = _read_varint(value, at)
            found.append(number)
    return [number - (1 << 64) if number >> 63 else number for number in found]


def float_tensor(name: str, values: NDArray[np.float32]) -> bytes:
    """A ``TensorProto``."""
    dims: list[Field] = [(TENSOR_DIMS, VARINT, size) for size in values.shape]
    return message(
        [
            *dims,
            (TENSOR_TYPE, VARINT, FLOAT32),
            (TENSOR_NAME, BYTES, name.encode()),
            (TENSOR_RAW, BYTES, values.astype("<f4").tobytes()),
        ]
    )


def _node(kind: str, inputs: list[str], output: str) -> Node:
    content: list[Field] = [(NODE_INPUT, BYTES, name.encode()) for name in inputs]
    content += [
        (NODE_OUTPUT, BYTES, output.encode()),
        (NODE_NAME, BYTES, f"{output}_float".encode()),
        (NODE_TYPE, BYTES, kind.encode()),
    ]
    return Node(kind, inputs, [output], message(content))


def dequantized(model: bytes) -> bytes:
    """The model with each quantised product replaced by a float32 ``MatMul`` over the same weights.

    ``DynamicQuantizeLinear → MatMulInteger → Cast → Mul`` (by activation scale × weight scale)
    becomes one ``MatMul`` of the activation itself with ``(weight − zero) × scale``. ``ValueError``
    when the graph has another pattern.
    """
    top = list(fields(model))
    graph = Graph.parse(next(bytes(value) for number, _, value in top if number == MODEL_GRAPH))
    _replace_products(graph)
    return message([(n, w, graph.dump() if n == MODEL_GRAPH else v) for n, w, v in top])


def _replace_products(graph: Graph) -> None:
    maker = {output: node for node in graph.nodes for output in node.outputs}
    user: dict[str, list[Node]] = {}
    for node in graph.nodes:
        for name in node.inputs:
            user.setdefault(name, []).append(node)
    replaced: dict[int, Node | None] = {}
    for node in graph.nodes:
        if node.kind == "DynamicQuantizeLinear":
            replaced[id(node)] = None
        elif node.kind == "MatMulInteger":
            cast = _only(user, node, "Cast")
            result = _only(user, cast, "Mul")
            scale = maker[next(name for name in result.inputs if name != cast.outputs[0])]
            product = _product(graph, node, scale, maker, result.outputs[0])
            replaced |= dict.fromkeys((id(node), id(cast), id(scale)), None) | {id(result): product}
    kept = [(node, replaced.get(id(node), node)) for node in graph.nodes]
    graph.nodes = [new for _, new in kept if new is not None]


def _only(user: Mapping[str, list[Node]], node: Node, kind: str) -> Node:
    users = user.get(node.outputs[0], [])
    if len(users) != 1 or users[0].kind != kind:
        raise ValueError(f"{node.kind} is not followed by one {kind}")
    return users[0]


def _product(graph: Graph, integer: Node, scale: Node, maker: Mapping[str, Node], output: str) -> Node:
    """The float32 product for one ``MatMulInteger``; its weight tensors are replaced by one."""
    import numpy as np

    quantized, weight, _, zero = integer.inputs
    activation = maker[quantized]
    weight_scale = next(name for name in scale.inputs if name not in activation.outputs)
    numbers = tensor_values(graph.tensors[weight]).astype(np.float32)
    values = (numbers - tensor_values(graph.tensors[zero]).astype(np.float32)) * tensor_values(
        graph.tensors[weight_scale]
    )
    name = f"{weight}_float"
    graph.tensors[name] = float_tensor(name, values.astype(np.float32))
    for gone in (weight, zero, weight_scale):
        graph.tensors.pop(gone)
    return _node("MatMul", [activation.inputs[0], name], output)
