from __future__ import annotations

import numpy as np
import pytest

from chunk_assets.embedders.bge_small import FILES, MODEL
from chunk_assets.embedders.model_files import locate
from chunk_assets.embedders.onnx_graph import Graph, dequantized, fields, float_tensor, message, tensor_values


@pytest.fixture(scope="module")
def model() -> bytes:
    return locate(FILES)[MODEL].read_bytes()


def graph_of(model: bytes) -> Graph:
    return Graph.parse(next(value for number, _, value in fields(model) if number == 7))


def test_reading_and_writing_a_model_gives_the_same_bytes(model):
    assert message(fields(model)) == model


def test_no_quantised_product_is_left_and_every_input_has_a_maker(model):
    graph = graph_of(dequantized(model))
    kinds = {node.kind for node in graph.nodes}
    assert not kinds & {"MatMulInteger", "DynamicQuantizeLinear"}
    made = {name for node in graph.nodes for name in node.outputs} | set(graph.tensors)
    needed = {name for node in graph.nodes for name in node.inputs if name}
    assert needed - made == {"input_ids", "attention_mask", "token_type_ids"}


def test_the_float_weights_are_the_quantised_ones_times_their_scale(model):
    before, after = graph_of(model), graph_of(dequantized(model))
    name = next(name for name in after.tensors if name.endswith("_float"))
    base = name.removesuffix("_quantized_float")
    whole = tensor_values(before.tensors[f"{base}_quantized"]).astype(np.int64)
    zero = tensor_values(before.tensors[f"{base}_zero_point"]).astype(np.int64)
    scale = tensor_values(before.tensors[f"{base}_scale"]).astype(np.float64)
    np.testing.assert_allclose(tensor_values(after.tensors[name]), (whole - zero) * scale, rtol=1e-6)


def test_a_tensor_keeps_its_shape_and_numbers():
    values = np.arange(300, dtype=np.float32).reshape(2, 150)
    assert tensor_values(float_tensor("x", values)).tolist() == values.tolist()


def test_a_graph_of_another_pattern_is_refused():
    integer = message([(1, 2, b"a"), (1, 2, b"b"), (2, 2, b"c"), (4, 2, b"MatMulInteger")])
    other = message([(7, 2, message([(1, 2, integer)]))])
    with pytest.raises(ValueError, match="not followed by one Cast"):
        dequantized(other)
