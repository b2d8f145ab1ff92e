"""Figures from elsewhere are scaled by a peer that ran in both places, or not used."""

from bench.formulas import Cell
from bench.machine import Machine
from bench.reference import estimates
from bench.result import PeerResult, Result

MACHINE = Machine("2026-01-02 03:04 UTC", "Some CPU", 2, "avx2", "Linux", "3.11", "torch 2.13.0", 0.1)


def cell(users: int, ttft_ms: float, gap_ms: float, speed: float) -> Cell:
    return Cell("short", users, 2, 2, ttft_ms, ttft_ms, gap_ms, gap_ms, gap_ms, speed, 1.0)


def test_an_absent_server_is_scaled_by_the_anchors_own_factor_in_each_metric():
    # The anchor has twice its TTFT, half its gaps, and thrice its speed here.
    llama = PeerResult("llama.cpp Q8_0", "Q8_0", cells=[cell(1, 160.0, 3.65, 369.0)])
    (vllm,) = estimates(Result(MACHINE, 96, [llama]))
    (found,) = vllm.cells
    assert (found.ttft_p50_ms, found.gap_p50_ms, found.tokens_per_s) == (106.0, 11.0, 132.0)
    assert found.gap_p99_ms is None and "llama.cpp" in vllm.note


def test_without_an_anchor_there_is_no_estimate():
    assert estimates(Result(MACHINE, 96, [PeerResult("firstword", "Q4_1", cells=[cell(1, 1, 1, 1)])])) == []


def test_without_llama_both_are_scaled_by_transformers():
    anchor = PeerResult("transformers serve, continuous batching", "fp32", cells=[cell(16, 2064, 171, 74)])
    names = {peer.name: peer for peer in estimates(Result(MACHINE, 96, [anchor]))}
    assert set(names) == {"llama.cpp Q8_0 (estimate)", "vLLM on CPU, bf16 (estimate)"}
    assert names["llama.cpp Q8_0 (estimate)"].cells[0].tokens_per_s == 309


def test_another_number_of_tokens_cannot_be_scaled():
    llama = PeerResult("llama.cpp Q8_0", "Q8_0", cells=[cell(1, 160.0, 3.65, 369.0)])
    assert [peer.cells for peer in estimates(Result(MACHINE, 32, [llama]))] == [[]]
