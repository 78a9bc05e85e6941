#!/bin/sh
# A consumer in shell: claim, do the work, complete; and what a second delivery of the same event gets.
# The status code alone decides: 201 run it, 200 acknowledge, anything else do not run.
#
#   RANBOOK_URL=http://127.0.0.1:8080 RANBOOK_KEY=… sh examples/curl.sh [event-id]
set -eu
url=${RANBOOK_URL:-http://127.0.0.1:8080}
event=${1:-evt-$(date +%s)-$$}
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

call() { # path, body: prints the status, leaves the answer in $answer
  curl -sS -o "$answer" -w '%{http_code}' "$url$1" \
    -H "Authorization: Bearer $RANBOOK_KEY" -H 'Content-Type: application/json' -d "$2"
}

field() { # name: prints a string member of the answer
  sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$answer" | head -n 1
}

deliver() {
  status=$(call /v1/claims "{\"class\": \"mail.welcome\", \"consumer\": \"shell\", \"key\": \"$event\"}")
  case $status in
    201)
      id=$(field id) token=$(field claim_token)
      echo "claimed: sending the mail, with idempotency key $(field idempotency_key)"
      status=$(call "/v1/claims/$id/complete" "{\"claim_token\": \"$token\", \"result\": {\"mail\": \"sent\"}}")
      [ "$status" = 200 ] || { echo "complete was refused with $status:"; cat "$answer"; exit 1; }
      echo "completed"
      ;;
    200) echo "duplicate: already done, nothing to do" ;;
    *)
      echo "not run ($status):"
      cat "$answer"
      exit 1
      ;;
  esac
}

echo "first delivery of $event"
deliver
echo "second delivery of $event"
deliver
