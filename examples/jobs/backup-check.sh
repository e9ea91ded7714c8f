# Checks that a folder can be packed and restored: {"folder": "/path"}, by default the folder of this script.
# What it writes goes to $TMPDIR, which belongs to this one job and is removed after it.
set -eu

folder=$(sed -n 's/.*"folder" *: *"\([^"]*\)".*/\1/p' "$LONGSHORE_PARAMS_FILE")
folder=${folder:-$PWD}
if [ ! -d "$folder" ]; then
  echo '{"error":{"code":"NOT_FOUND","message":"there is no such folder"}}' >&3
  exit 1
fi

sums() {
  (cd "$1" && find . -type f -exec sha256sum {} + | sort -k 2)
}

echo '{"progress":0.1,"message":"packing"}' >&3
tar -cf "$TMPDIR/backup.tar" -C "$folder" .

echo '{"progress":0.5,"message":"restoring"}' >&3
mkdir "$TMPDIR/restored"
tar -xf "$TMPDIR/backup.tar" -C "$TMPDIR/restored"

echo '{"progress":0.8,"message":"comparing"}' >&3
sums "$folder" > "$TMPDIR/before"
sums "$TMPDIR/restored" > "$TMPDIR/after"
if ! cmp -s "$TMPDIR/before" "$TMPDIR/after"; then
  diff "$TMPDIR/before" "$TMPDIR/after" >&2 || true
  echo '{"error":{"message":"the restored data differs; was the source changed meanwhile?"}}' >&3
  exit 1
fi

files=$(wc -l < "$TMPDIR/before")
bytes=$(wc -c < "$TMPDIR/backup.tar")
sum=$(sha256sum "$TMPDIR/backup.tar" | cut -d ' ' -f 1)
echo "{\"result\":{\"files\":$((files)),\"bytes\":$((bytes)),\"sha256\":\"$sum\"}}" >&3
