"""The report and the bar, over a result made by hand."""

from dataclasses import replace

from bench import bar, report
from bench.formulas import DEFINITIONS, Cell
from bench.machine import Machine
from bench.result import PeerResult, Result
from bench.scene import Scene

MACHINE = Machine("2026-01-02 03:04 UTC", "Some CPU", 2, "avx2", "Linux", "3.11", "torch 2.13.0", 0.1)
CELL = Cell("short", 1, 4, 4, 100.0, 110.0, 10.0, 12.0, 20.0, 90.0, 1.0)


def result() -> Result:
    ours = PeerResult("firstword", "Q4_1", cells=[CELL], cold_start_s=2.5, memory_mb=700.0)
    ours.scenes = [Scene("second turn after a long one", "TTFT ÷ gap", 2.5, "steps", "a | b")]
    theirs = PeerResult("llama.cpp Q8_0", "Q8_0", cells=[replace(CELL, ttft_p50_ms=80.0, gap_p50_ms=20.0)])
    return Result(MACHINE, 96, [ours, theirs], [("vLLM", "not installed")])


def verdict(result: Result, start: str) -> bar.Verdict:
    return next(v for v in bar.verdicts(result) if v.promise.startswith(start))


def test_a_promise_is_judged_against_the_best_server():
    measured = result()
    measured.peers.append(PeerResult("slow", "fp32", cells=[replace(CELL, ttft_p50_ms=900.0)]))
    first = verdict(measured, "short, 1 users: ttft")
    assert (first.value, first.kept, first.limit) == (1.25, False, "≤ 1")
    assert "llama.cpp Q8_0" in first.note
    gap = verdict(measured, "short, 1 users: gap")
    assert (gap.value, gap.kept) == (1.0, True)  # "slow" has 10 ms too: the best counts


def test_a_library_in_process_is_no_server():
    measured = result()
    measured.peers[1] = PeerResult("OpenVINO GenAI, in process", "Q4_1", in_process=True, cells=[CELL])
    assert verdict(measured, "short, 1 users: ttft").kept is None
    assert verdict(measured, "every cell: tokens_per_s ÷ that of OpenVINO").kept is True


def test_what_was_not_measured_is_not_judged():
    unmeasured = verdict(result(), "long, 16 users: gap_p99")
    assert (unmeasured.value, unmeasured.kept) == (None, None)


def test_a_cell_with_a_failed_answer_of_ours_keeps_no_promise():
    measured = result()
    measured.peers[0].cells = [replace(CELL, ok=3)]
    assert verdict(measured, "short, 1 users: ttft").kept is None


def test_every_cell_has_to_keep_the_distance():
    measured = result()
    slow = [replace(CELL, tokens_per_s=15.0), replace(CELL, users=16, tokens_per_s=100.0)]
    measured.peers[0].cells.append(replace(CELL, users=16, tokens_per_s=200.0))
    measured.peers.append(PeerResult("transformers serve", "fp32", cells=slow))
    worst = verdict(measured, "every cell: tokens_per_s ÷ that of transformers serve")
    assert (worst.value, worst.kept, worst.note) == (2.0, False, "least at short, 16")


def test_a_scene_is_held_against_its_limit():
    assert verdict(result(), "second turn").kept is True
    assert verdict(result(), "a 600-token prompt").value is None


def test_the_report_has_every_peer_cell_ratio_and_absentee():
    text = report.markdown(result())
    assert "| firstword | short | 1 | 100 / 110 | 10.0 / 12.0 / 20.0 | 90.0 | 1.00 | 4/4 |" in text
    assert "### Ratios to llama.cpp Q8_0" in text
    assert "| firstword | short | 1 | 1.25 | 0.50 | 1.00 | 1.00 |" in text
    assert "- vLLM: not installed" in text
    assert "Some CPU, 2 cores (avx2)" in text
    for formula in DEFINITIONS:
        assert formula in text


def test_every_row_of_a_table_has_as_many_cells_as_its_head():
    for block in report.markdown(result()).split("\n\n"):
        if block.startswith("|"):
            assert len({line.count("|") for line in block.splitlines()}) == 1


def test_ratios_are_taken_to_the_base_that_was_asked_for():
    assert "### Ratios to firstword" in report.markdown(result(), base="firstword")
    assert "### Ratios" not in report.markdown(result(), base="nobody")


def test_writing_again_replaces_only_the_generated_part():
    once = report.replaced("# Results\n\nBefore.\n", "one")
    both = once + "\nAfter.\n"
    again = report.replaced(both, "two")
    assert "Before." in again and "After." in again and "two" in again and "one" not in again
    assert report.replaced(again, "two") == again
