# Runs pg_dump for `python -m django back_up`, which has none: workers/backups/dumping.py.
# $EXCHANGE is the folder that both share, $BACKUPS the folder of backups.
set -u
while :; do
  # In the background, so that a signal ends the wait at once.
  until test -e "$EXCHANGE/request"; do sleep 1 & wait $!; done
  pg_dump --format=custom --no-owner --no-privileges --snapshot="$(cat "$EXCHANGE/request")" \
    --file="$BACKUPS/.partial/database.dump" --dbname="$WAYPOST_DATABASE_URL" \
    >"$EXCHANGE/said" 2>&1
  echo $? | cat - "$EXCHANGE/said" >"$EXCHANGE/result.new"
  rm "$EXCHANGE/request"
  mv "$EXCHANGE/result.new" "$EXCHANGE/result"
done
