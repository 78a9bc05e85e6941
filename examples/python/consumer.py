#!/usr/bin/env python3
"""A consumer in Python with nothing but the standard library.

Claims an event, does the work, completes it; the second delivery of the same event is told the first one's result.

    RANBOOK_URL=http://127.0.0.1:8080 RANBOOK_KEY=... python3 examples/python/consumer.py [event-id]
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

URL = os.environ.get("RANBOOK_URL", "http://127.0.0.1:8080")
KEY = os.environ["RANBOOK_KEY"]
TRIES = 8
# Answers that say "not now": the same request, with the same claim token, may be sent again.
PASSING = {429, 502, 503, 504}


def post(path, body):
    """Status and answer. After a lost connection the outcome is unknown; with the same claim token a repeat is safe."""
    request = urllib.request.Request(
        URL + path,
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"},
        method="POST",
    )
    for attempt in range(TRIES):
        pause = 2**attempt / 10
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as refused:
            if refused.code not in PASSING:
                return refused.code, json.load(refused)
            lost, pause = refused, float(refused.headers.get("Retry-After", pause))
        except (OSError, http.client.HTTPException) as error:
            lost = error
        if attempt < TRIES - 1:
            time.sleep(pause)
    raise RuntimeError(f"no answer of the service in {TRIES} tries") from lost


def handle(event_id, effect):
    """Runs `effect` once per event, however often the event is delivered. Returns (ran_now, result)."""
    status, claim = post(
        "/v1/claims",
        {"class": "invoice.created", "consumer": "python", "key": event_id, "claim_token": str(uuid.uuid4())},
    )
    if status == 200:
        return False, claim["result"]
    if status != 201:
        raise RuntimeError(f"not run: {claim.get('outcome') or claim.get('detail')} ({status})")

    own = {"claim_token": claim["claim_token"]}
    try:
        result = effect(claim["idempotency_key"])
    except Exception as error:
        post(f"/v1/claims/{claim['id']}/fail", {**own, "error": {"message": str(error)}})
        raise
    status, answer = post(f"/v1/claims/{claim['id']}/complete", {**own, "result": result})
    if status != 200:
        raise RuntimeError(f"ran, but complete was refused: {answer['detail']} ({status})")
    return True, result


def main():
    event_id = sys.argv[1] if len(sys.argv) > 1 else f"evt-{uuid.uuid4()}"
    effects = []

    def create_invoice(idempotency_key):
        effects.append(idempotency_key)
        return {"invoice": f"inv-{event_id}", "cents": 12345678901234567890}

    for delivery in ("first", "second"):
        ran, result = handle(event_id, create_invoice)
        print(f"{delivery} delivery: {'ran' if ran else 'duplicate'}, result {json.dumps(result)}")
    print(f"effects: {len(effects)}")
    return 0 if len(effects) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
