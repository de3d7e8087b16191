"""A real GGUF model of 140 KB with random weights: it says nonsense, but llama.cpp loads it and holds it to schemas."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

UINT32, FLOAT32, STRING, ARRAY, INT32 = 4, 6, 8, 9, 5
WIDTH, HIDDEN, HEADS, ALIGNMENT = 32, 64, 2, 32
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6


def write_tiny_model(path: Path) -> Path:
    tokens = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
    tokens += [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    tokens += [(chr(code), NORMAL) for code in range(33, 127)] + [("▁", NORMAL)]
    facts = [
        ("general.architecture", STRING, "llama"),
        ("llama.context_length", UINT32, 2048),
        ("llama.embedding_length", UINT32, WIDTH),
        ("llama.block_count", UINT32, 1),
        ("llama.feed_forward_length", UINT32, HIDDEN),
        ("llama.attention.head_count", UINT32, HEADS),
        ("llama.attention.head_count_kv", UINT32, HEADS),
        ("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5),
        ("llama.vocab_size", UINT32, len(tokens)),
        ("tokenizer.ggml.model", STRING, "llama"),
        ("tokenizer.ggml.tokens", STRING, [text for text, _ in tokens]),
        ("tokenizer.ggml.scores", FLOAT32, [0.0] * len(tokens)),
        ("tokenizer.ggml.token_type", INT32, [kind for _, kind in tokens]),
        ("tokenizer.ggml.bos_token_id", UINT32, 1),
        ("tokenizer.ggml.eos_token_id", UINT32, 2),
        ("tokenizer.ggml.unknown_token_id", UINT32, 0),
    ]
    shapes = {
        "token_embd.weight": (WIDTH, len(tokens)),
        "output.weight": (WIDTH, len(tokens)),
        "output_norm.weight": (WIDTH,),
        "blk.0.attn_norm.weight": (WIDTH,),
        "blk.0.attn_q.weight": (WIDTH, WIDTH),
        "blk.0.attn_k.weight": (WIDTH, WIDTH),
        "blk.0.attn_v.weight": (WIDTH, WIDTH),
        "blk.0.attn_output.weight": (WIDTH, WIDTH),
        "blk.0.ffn_norm.weight": (WIDTH,),
        "blk.0.ffn_gate.weight": (WIDTH, HIDDEN),
        "blk.0.ffn_up.weight": (WIDTH, HIDDEN),
        "blk.0.ffn_down.weight": (HIDDEN, WIDTH),
    }
    random = np.random.default_rng(7)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(facts))
    head += b"".join(fact(*each) for each in facts)
    weights = b""
    for name, shape in shapes.items():
        head += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(weights))
        weights += padded(random.normal(0, 0.3, int(np.prod(shape))).astype("<f4").tobytes())
    path.write_bytes(padded(head) + weights)
    return path


def fact(name: str, kind: int, value: object) -> bytes:
    if isinstance(value, list):
        items = b"".join(packed(kind, item) for item in value)
        return string(name) + struct.pack("<IIQ", ARRAY, kind, len(value)) + items
    return string(name) + struct.pack("<I", kind) + packed(kind, value)


def packed(kind: int, value: object) -> bytes:
    if kind == STRING:
        return string(str(value))
    return struct.pack({UINT32: "<I", FLOAT32: "<f", INT32: "<i"}[kind], value)


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
