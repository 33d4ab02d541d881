#!/usr/bin/env bash
# Compares GET /v1/topk with the same bytes as a static file behind nginx, in one run, in turns: the same machine, the same
# load generator, the same number of cores. Only the ratios mean something: what else the machine does falls on both.
#
#   bench/api.sh [ROUNDS] [SECONDS]      default 5 rounds of 6 seconds for each
#
# Needs nginx and wrk (Debian: nginx-light, wrk), curl, and the engines (make engines). Everything it starts it stops.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5}
seconds=${2:-6}
connections=${CONNECTIONS:-64}
cores=$(nproc)

dir=$(mktemp -d)
chmod 755 "$dir" # nginx's workers and PostgreSQL run as other users when the caller is root
pids=()
stop() {
    for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
        kill "${pids[i]}" 2>/dev/null || true
        wait "${pids[i]}" 2>/dev/null || true
    done
    pids=()
}
trap 'stop; rm -rf "$dir"' EXIT

go build -o "$dir/topk" ./cmd/topk
go build -o "$dir/prepare" ./bench/api
mapfile -t ports < <("$dir/prepare" --ports 3)
api=http://127.0.0.1:${ports[1]} nginx=http://127.0.0.1:${ports[2]}
path='/v1/topk?item_type=video&window=1h&k=100'
dsn="postgres://topk@127.0.0.1:${ports[0]}/topk?sslmode=disable"

export TOPK_ENGINES=${TOPK_ENGINES:-$PWD/embedded/node_modules}
mkdir "$dir/postgres"
"$dir/topk" dev postgres --listen "127.0.0.1:${ports[0]}" --data-dir "$dir/postgres" 2>"$dir/postgres.log" &
pids+=($!)
"$dir/prepare" --postgres "$dsn"

# await URL: until it answers 200, half a minute at most.
await() {
    curl --silent --show-error --fail --output "${2:-/dev/null}" --retry 60 --retry-delay 0 --retry-max-time 30 \
        --retry-connrefused --retry-all-errors "$1" 2>"$dir/curl.log" || { cat "$dir/curl.log" "$dir"/*.log >&2; exit 1; }
}

# configure WORKERS: nginx as its own manual tunes a static file: no log, descriptors kept open, the kernel sends the file.
configure() {
    cat >"$dir/nginx.conf" <<CONF
worker_processes $1;
pid $dir/nginx.pid;
error_log $dir/nginx.log;
daemon off;
events { worker_connections 1024; }
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    open_file_cache max=100;
    default_type application/json;
    client_body_temp_path $dir; proxy_temp_path $dir; fastcgi_temp_path $dir; uwsgi_temp_path $dir; scgi_temp_path $dir;
    server {
        listen 127.0.0.1:${ports[2]};
        root $dir/www;
        location = /v1/topk { try_files /topk.json =404; add_header Cache-Control "public, max-age=10"; }
    }
}
CONF
}

# measure URL THREADS CPUS: requests a second and p99 in microseconds, or the end of the run at any answer that is not 2xx.
measure() {
    local out
    out=$(taskset -c "$3" wrk --threads "$2" --connections "$connections" --duration "${seconds}s" --latency "$1")
    if grep -qE 'Non-2xx|Socket errors' <<<"$out"; then
        echo "$out" >&2
        return 1
    fi
    awk '/99%/ { v = $2; if (v ~ /us$/) f = 1; else if (v ~ /ms$/) f = 1000; else f = 1000000; sub(/[a-z]+$/, "", v); p99 = v * f }
         /Requests\/sec/ { rate = $2 } END { printf "%.0f %.0f\n", rate, p99 }' <<<"$out"
}

median() { sort -n | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# compare NAME CORES SERVER_CPUS LOAD_CPUS: both servers get the same cores, and are asked in turns.
compare() {
    local name=$1 n=$2 server=$3 load=$4 base=${#pids[@]}
    GOMAXPROCS=$n taskset -c "$server" "$dir/topk" api --listen "127.0.0.1:${ports[1]}" --postgres "$dsn" --stale-after 0 \
        2>"$dir/api.log" &
    pids+=($!)
    mkdir -p "$dir/www"
    await "$api$path" "$dir/www/topk.json"
    configure "$n"
    taskset -c "$server" nginx -p "$dir" -c "$dir/nginx.conf" -e "$dir/nginx.log" &
    pids+=($!)
    await "$nginx$path" "$dir/nginx.json"
    cmp "$dir/www/topk.json" "$dir/nginx.json"
    : >"$dir/api.txt"; : >"$dir/nginx.txt"; : >"$dir/ratio.txt"
    local threads=$n a b
    for ((round = 1; round <= rounds; round++)); do
        # Who begins changes from round to round.
        if ((round % 2)); then
            a=$(measure "$api$path" "$threads" "$load"); b=$(measure "$nginx$path" "$threads" "$load")
        else
            b=$(measure "$nginx$path" "$threads" "$load"); a=$(measure "$api$path" "$threads" "$load")
        fi
        echo "$a" >>"$dir/api.txt"; echo "$b" >>"$dir/nginx.txt"
        awk -v a="${a% *}" -v b="${b% *}" 'BEGIN { printf "%.3f\n", a / b }' >>"$dir/ratio.txt"
        echo "$name, round $round: api $a, nginx $b (requests/s, p99 in us)" >&2
    done
    printf '| %s | %s | %s | %s | %s | %s | %s..%s |\n' "$name" \
        "$(cut -d' ' -f1 "$dir/api.txt" | median)" "$(cut -d' ' -f1 "$dir/nginx.txt" | median)" \
        "$(median <"$dir/ratio.txt")" \
        "$(cut -d' ' -f2 "$dir/api.txt" | median)" "$(cut -d' ' -f2 "$dir/nginx.txt" | median)" \
        "$(sort -n "$dir/ratio.txt" | head -1)" "$(sort -n "$dir/ratio.txt" | tail -1)" >>"$dir/table.txt"
    while ((${#pids[@]} > base)); do
        kill "${pids[-1]}"
        wait "${pids[-1]}" 2>/dev/null || true
        unset 'pids[-1]'
    done
}

last=$((cores - 1))
if ((cores > 1)); then
    compare "1 core (nginx worker_processes 1, GOMAXPROCS 1), load from the others" 1 0 "1-$last"
fi
compare "$cores cores (worker_processes auto, GOMAXPROCS $cores), shared with the load" "$cores" "0-$last" "0-$last"

size=$(stat -c %s "$dir/www/topk.json")
echo
echo "$size bytes, $connections connections, $rounds rounds of $seconds s for each; medians; $(go version), $(nginx -v 2>&1 | sed 's/.*: //')"
echo
echo "| cores | api requests/s | nginx requests/s | ratio | api p99 us | nginx p99 us | ratio, least..greatest |"
echo "|---|---|---|---|---|---|---|"
cat "$dir/table.txt"
