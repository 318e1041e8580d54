# A program of a reader of docs/reference/http-api.md, with the client that openapi-python-client makes of the document. Says what it got as JSON.
import json
import os

from offhook_client.api.calls import get_call
from offhook_client.models import EndReason

from httpx_sse import connect_sse
from offhook_client import AuthenticatedClient
from offhook_client.api.calls import get_call_audio, list_calls
from offhook_client.api.commands import hang_up_call
from offhook_client.models import CallEndedEvent, Error, HangUpRequest, Snapshot
from offhook_client.types import UNSET


def connect(url, token):
    return AuthenticatedClient(base_url=url, token=token)


def checked(answer):
    if isinstance(answer, Error):
        raise RuntimeError(f"{answer.error.code}: {answer.error.message}")
    return answer


def read_history(api, limit):
    """All calls, newest first, page by page."""
    cursor = UNSET
    while cursor is not None:
        page = checked(list_calls.sync(client=api, limit=limit, cursor=cursor))
        yield from page.calls
        cursor = page.next_cursor


def read_audio(api, call_id):
    """The recording, a WAV file."""
    return checked(get_call_audio.sync(call_id, client=api)).payload.read()


def hang_up(api, call_id):
    return checked(hang_up_call.sync(call_id, client=api, body=HangUpRequest())).hang_up


def follow(api):
    """The live calls as they are now, then the end of each call."""
    with connect_sse(api.get_httpx_client(), "GET", "/api/dashboard/events", timeout=None) as source:
        for message in source.iter_sse():
            if message.event == "snapshot":
                yield Snapshot.from_dict(message.json())
            elif message.event == "call.ended":
                yield CallEndedEvent.from_dict(message.json())


def end_first_call(api):
    """Hangs up the first live call, and gives the event of its end."""
    for message in follow(api):
        if isinstance(message, Snapshot):
            call_id = message.active[0].call_id
            hang_up(api, call_id)
        elif message.call_id == call_id:
            return message


def refusal(ask):
    try:
        ask()
    except RuntimeError as error:
        return str(error)
    return None


url, token = os.environ["OFFHOOK_URL"], os.environ["DASHBOARD_TOKEN"]
api = connect(url, token)
stranger = connect(url, "another-token")
history = list(read_history(api, limit=2))
record = checked(get_call.sync(history[1].call_id, client=api))
audio = read_audio(api, record.call_id)
unfinished = refusal(lambda: read_audio(api, history[0].call_id))
ended = end_first_call(api)
print(
    json.dumps(
        {
            "callIds": [call.call_id for call in history],
            "record": record.to_dict(),
            "turns": len(record.turns),
            "audioBytes": len(audio),
            "ended": ended.to_dict(),
            "byOperator": ended.end_reason is EndReason.OPERATOR_HANGUP,
            "refusals": {
                "stranger": refusal(lambda: list(read_history(stranger, limit=2))),
                "range": refusal(lambda: list(read_history(api, limit=0))),
                "unknown": refusal(lambda: checked(get_call.sync("none", client=api))),
                "unfinished": unfinished,
                "over": refusal(lambda: hang_up(api, history[1].call_id)),
            },
        }
    )
)
