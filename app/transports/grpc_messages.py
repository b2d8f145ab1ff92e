"""gRPC's messages: a request -> the fields of a ``start`` frame, an event -> its message. Pure.

The message classes are made from the compiled proto file at import instead of by generated code,
which would tie us to the one protobuf release that wrote it. Names are the same on both sides, so
a new field of the JSON wire needs a line in the proto file only (a test compares). It refuses to
know calls and what the fields may hold: that is intake's.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

import msgspec
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from app.events import AnyEvent, Delta, Done
from app.generation import TokenInfo

SERVICE = "firstword.v1.Generation"


def descriptors() -> descriptor_pb2.FileDescriptorSet:
    """The compiled proto file."""
    data = resources.files(__package__).joinpath("grpc_proto", "firstword.binpb").read_bytes()
    return descriptor_pb2.FileDescriptorSet.FromString(data)


def _message_classes() -> dict[str, Any]:
    return message_factory.GetMessages(list(descriptors().file), pool=descriptor_pool.DescriptorPool())


_classes = _message_classes()
GenerateRequest: Any = _classes["firstword.v1.GenerateRequest"]
AttachRequest: Any = _classes["firstword.v1.AttachRequest"]
Event: Any = _classes["firstword.v1.Event"]


def start_fields(request: Any) -> dict[str, Any]:
    """The request as the JSON object of a ``start`` frame; what was not set is absent."""
    return {field.name: _plain(field.name, value) for field, value in request.ListFields()}


def to_message(event: AnyEvent) -> Any:
    """The event's message."""
    fields = msgspec.structs.asdict(event)
    match event:
        case Delta():
            fields["info"] = [_token_info(info) for info in event.info]
        case Done():
            fields["usage"] = msgspec.structs.asdict(event.usage)
            fields["timings"] = _set_only(msgspec.structs.asdict(event.timings))
    return Event(**{str(event.__struct_config__.tag): _set_only(fields)})


# Private


def _plain(name: str, value: Any) -> Any:
    match name:
        case "messages":
            return [{field.name: value for field, value in message.ListFields()} for message in value]
        case "stop":
            return list(value)
        case "logit_bias":
            # JSON's objects have strings for names.
            return {str(token_id): bias for token_id, bias in value.items()}
    return value


def _token_info(info: TokenInfo) -> dict[str, Any]:
    top = [{"token_id": id, "data": data, "logprob": logprob} for id, data, logprob in info.top]
    return {"token_id": info.token_id, "data": info.data, "logprob": info.logprob, "top": top}


def _set_only(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
