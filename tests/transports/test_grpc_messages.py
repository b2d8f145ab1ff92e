from pathlib import Path

import msgspec
import pytest

from app import events
from app.generation import TokenInfo
from app.intake.fields import Fields
from app.prompt import Message
from app.settings import Settings
from app.transports import grpc_messages
from app.transports.grpc_messages import Event, GenerateRequest, start_fields, to_message
from app.transports.reading import read_start

PROTO = Path(grpc_messages.__file__).parent / "grpc_proto"


def test_the_compiled_file_is_the_proto_file_s(tmp_path):
    protoc = pytest.importorskip("grpc_tools.protoc")
    compiled = tmp_path / "firstword.binpb"
    assert protoc.main(["", f"-I{PROTO}", f"--descriptor_set_out={compiled}", "firstword.proto"]) == 0
    assert compiled.read_bytes() == (PROTO / "firstword.binpb").read_bytes()


@pytest.mark.parametrize(
    "kind",
    [events.Queued, events.Started, events.Delta, events.Paused, events.Resumed, events.Done, events.Error],
)
def test_messages_have_the_fields_of_the_events(kind):
    name = str(kind.__struct_config__.tag)
    message = Event.DESCRIPTOR.fields_by_name[name].message_type
    assert set(message.fields_by_name) == {f.name for f in msgspec.structs.fields(kind)}


@pytest.mark.parametrize(("field", "kind"), [("usage", events.Usage), ("timings", events.Timings)])
def test_usage_and_timings_have_them_too(field, kind):
    done = Event.DESCRIPTOR.fields_by_name["done"].message_type
    message = done.fields_by_name[field].message_type
    assert set(message.fields_by_name) == {f.name for f in msgspec.structs.fields(kind)}


def test_every_field_of_a_request_reaches_intake():
    request = GenerateRequest(
        messages=[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "He"}],
        id="mine",
        pace="word",
        max_tokens=9,
        min_tokens=2,
        temperature=0.5,
        top_p=0.25,
        top_k=3,
        min_p=0.125,
        seed=2**40,
        stop=["a", "b"],
        ignore_eos=True,
        continue_last=True,
        repetition_penalty=1.5,
        presence_penalty=-1.0,
        frequency_penalty=1.0,
        logit_bias={7: -2.5},
        logprobs=2,
        tokens_per_second=4.0,
        await_readers=2,
        slow_policy="abort",
    )
    assert {field.name for field, _ in request.ListFields()} == set(GenerateRequest.DESCRIPTOR.fields_by_name)
    start = read_start(Fields(start_fields(request)), Settings(), lambda: "r")
    assert start.prompt.messages == (Message("user", "Hi"), Message("assistant", "He"))
    assert (start.id, start.reading.pace, start.await_readers, start.slow_policy) == (
        "mine",
        "word",
        2,
        "abort",
    )
    assert start.prompt.stop == ("a", "b")
    assert start.prompt.sampling.logit_bias == {7: -2.5}
    assert (start.prompt.sampling.seed, start.prompt.max_tokens, start.prompt.min_tokens) == (2**40, 9, 2)


def test_what_was_not_set_is_absent_and_a_zero_that_was_set_is_not():
    assert start_fields(GenerateRequest()) == {}
    assert start_fields(GenerateRequest(max_tokens=0, ignore_eos=False)) == {
        "max_tokens": 0,
        "ignore_eos": False,
    }


def test_a_delta_carries_its_tokens():
    info = TokenInfo(5, b"\xe2\x82", -0.5, [(5, b"\xe2\x82", -0.5), (6, b"x", -1.5)])
    delta = to_message(events.Delta("r", 3, "…", 2, 7.5, [info])).delta
    assert (delta.reply, delta.seq, delta.text, delta.tokens, delta.t) == ("r", 3, "…", 2, 7.5)
    assert (delta.info[0].token_id, delta.info[0].data, delta.info[0].logprob) == (5, b"\xe2\x82", -0.5)
    assert [(t.token_id, t.data, t.logprob) for t in delta.info[0].top] == info.top


def test_stages_that_were_not_reached_are_absent():
    timings = events.Timings(1.5, None, None, None, 0.0, 2.0)
    message = to_message(events.Done("r", 0, "cancelled", events.Usage(1, 0, 1, 0), timings, 2.0))
    assert message.WhichOneof("event") == "done"
    assert message.done.timings.queue_ms == 1.5
    assert not message.done.timings.HasField("prefill_ms")
    assert not message.done.HasField("stop")
