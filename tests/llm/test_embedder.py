from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tablewright.domain.run import measure_usage
from tablewright.errors import BadSetting, ModelRefused, ModelUnavailable
from tablewright.llm.embedder import BATCH_TEXTS, EndpointEmbedder, build_embedder
from tablewright.llm.tokens import estimate_tokens
from tablewright.settings import Settings
from tests.llm.conftest import Naps
from tests.llm.endpoint import Asked, Endpoint, Reply, json_reply, refusal


def vectors(asked: Asked) -> Reply:
    """[length, 1, 0] of each text, in the wrong order."""
    data = [{"index": n, "embedding": [len(text), 1.0, 0.0]} for n, text in enumerate(asked.body["input"])]
    return json_reply({"data": data[::-1], "usage": {"prompt_tokens": len(data)}})


async def test_like_texts_are_near_and_the_order_is_kept() -> None:
    embedder = build_embedder(Settings())
    texts = ["the dog barked at the postman", "quarterly revenue grew", "a hound yapped at the mail carrier", ""]
    found = await embedder.embed(texts * 30)
    assert (found.shape, found.dtype, embedder.dimensions) == ((120, 256), np.float32, 256)
    assert np.linalg.norm(found[:3], axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    assert found[0] @ found[2] > found[0] @ found[1] + 0.2
    assert not np.isnan(found).any()
    np.testing.assert_allclose(found[4:8], found[:4], atol=1e-6)
    assert (await embedder.embed([])).shape == (0, 256)
    await embedder.close()


def test_loading_leaves_the_logging_of_the_program_alone() -> None:
    """Not even while it loads: other threads may log then."""
    program = (
        "import logging; from tablewright.llm.embedder import load_wordllama; "
        "levels = []; logging.root.setLevel = levels.append; load_wordllama(); print(logging.root.handlers, levels)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[] []", done.stderr


def test_threads_that_need_the_word_vectors_at_once_share_one_copy() -> None:
    """Several copies would take 130 MB each, and stop the event loop while they are read."""
    program = (
        "from concurrent.futures import ThreadPoolExecutor; from tablewright.llm.embedder import load_wordllama; "
        "pool = ThreadPoolExecutor(8); print(len({id(each.result()) for each in "
        "[pool.submit(load_wordllama) for _ in range(8)]}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "1", done.stderr


async def test_an_endpoint_is_asked_in_batches(endpoint: Endpoint) -> None:
    endpoint.otherwise = vectors
    embedder = build_embedder(Settings(embedder="openai:e5", embedder_base_url=endpoint.url, embedder_api_key="secret"))
    with measure_usage() as meter:
        found = await embedder.embed(["x" * (1 + n % 7) for n in range(BATCH_TEXTS + 3)])
    await embedder.close()
    assert (found.shape, found.dtype, embedder.dimensions) == ((BATCH_TEXTS + 3, 3), np.float32, 3)
    assert found[1] == pytest.approx([2 / 5**0.5, 1 / 5**0.5, 0])
    assert [len(asked.body["input"]) for asked in endpoint.asked] == [BATCH_TEXTS, 3]
    assert (endpoint.asked[0].path, endpoint.asked[0].body["model"]) == ("/v1/embeddings", "e5")
    assert endpoint.asked[0].headers["authorization"] == "Bearer secret"
    assert meter.usage.input_tokens == BATCH_TEXTS + 3


async def test_passing_trouble_of_an_endpoint_is_waited_out(endpoint: Endpoint, naps: Naps) -> None:
    endpoint.otherwise = vectors
    endpoint.replies = [refusal(500), Reply(body=b"x" * 10, cut=True), refusal(429)]
    embedder = EndpointEmbedder("e5", endpoint.url, sleep=naps.sleep)
    assert (await embedder.embed(["a"])).shape == (1, 3)
    await embedder.close()
    assert len(naps.taken) == 3


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (refusal(401), ModelRefused),
        (refusal(500), ModelUnavailable),
        (json_reply({"data": []}), ModelUnavailable),
        (json_reply({"object": "?"}), ModelUnavailable),
    ],
)
async def test_an_endpoint_that_does_not_embed_says_so(
    endpoint: Endpoint, naps: Naps, reply: Reply, error: type[Exception]
) -> None:
    endpoint.otherwise = reply
    embedder = EndpointEmbedder("e5", endpoint.url, sleep=naps.sleep)
    with pytest.raises(error, match="The embedder openai:e5"):
        await embedder.embed(["a"])
    await embedder.close()


def test_an_unknown_embedder_and_a_missing_key_are_refused() -> None:
    with pytest.raises(BadSetting, match="no embedder 'bert'"):
        build_embedder(Settings(embedder="bert"))
    with pytest.raises(BadSetting, match="no key for the embedder"):
        build_embedder(Settings(embedder="openai:e5"))


def test_tokens_are_estimated_a_little_too_high() -> None:
    sentence = "The quick brown fox jumps over the lazy dog. "  # 10 tokens in most vocabularies
    assert estimate_tokens("") == 0
    assert 10 <= estimate_tokens(sentence) <= 15
    assert 1_000 <= estimate_tokens(sentence * 100) <= 1_500
    half_chinese = "word " * 2_000 + "漢字" * 5_000
    assert 10_000 <= estimate_tokens(half_chinese) <= 40_000
