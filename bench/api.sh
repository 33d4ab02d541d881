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

# configure WORKERS: nginx at its fastest for this file, of four settings tried: no log, descriptors kept open, and the file
# written from a buffer together with the header, which costs less at this size than sendfile does.
configure() {
    cat >"$dir/nginx.conf" <<CONF
worker_processes $1;
pid $dir/nginx.pid;
error_log $dir/nginx.log;
daemon off;
events { worker_connections 1024; }
http {
    access_log off;
    sendfile off;
    output_buffers 1 32k;
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

# cpu PID: processor time of a process and its children so far, in ticks of 10 ms.
cpu() {
    local pid total=0
    for pid in "$1" $(pgrep -P "$1" || true); do
        total=$((total + $(awk '{ print $14 + $15 }' "/proc/$pid/stat")))
    done
    echo "$total"
}

# measure URL PID THREADS CPUS: requests a second, p99 in microseconds, and the server's processor time for a request in
# microseconds; or the end of the run at any answer that is not 2xx.
measure() {
    local out before after
    before=$(cpu "$2")
    out=$(taskset -c "$4" wrk --threads "$3" --connections "$connections" --duration "${seconds}s" --timeout 30s --latency "$1")
    after=$(cpu "$2")
    if grep -qE 'Non-2xx|Socket errors' <<<"$out"; then
        echo "$out" >&2
        return 1
    fi
    awk -v ticks=$((after - before)) -v hz="$(getconf CLK_TCK)" '
        / 99%/ { v = $2; f = (v ~ /us$/) ? 1 : (v ~ /ms$/) ? 1000 : 1000000; sub(/[a-z]+$/, "", v); p99 = v * f }
        /requests in/ { n = $1 } /Requests\/sec/ { rate = $2 }
        END { printf "%.0f %.0f %.2f\n", rate, p99, ticks / hz * 1e6 / n }' <<<"$out"
}

median() { sort -n | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# compare NAME CORES SERVER_CPUS LOAD_CPUS: both servers get the same cores, and are asked in turns.
compare() {
    local name=$1 n=$2 server=$3 load=$4 workers=$5 base=${#pids[@]}
    GOMAXPROCS=$n taskset -c "$server" "$dir/topk" api --listen "127.0.0.1:${ports[1]}" --postgres "$dsn" --stale-after 0 \
        2>"$dir/api.log" &
    local api_pid=$!
    pids+=("$api_pid")
    mkdir -p "$dir/www"
    await "$api$path" "$dir/www/topk.json"
    configure "$workers"
    taskset -c "$server" nginx -p "$dir" -c "$dir/nginx.conf" -e "$dir/nginx.log" &
    local nginx_pid=$!
    pids+=("$nginx_pid")
    await "$nginx$path" "$dir/nginx.json"
    cmp "$dir/www/topk.json" "$dir/nginx.json"
    : >"$dir/api.txt"; : >"$dir/nginx.txt"; : >"$dir/ratio.txt"
    local threads=$n round a b
    for ((round = 1; round <= rounds; round++)); do
        # Who begins changes from round to round.
        if ((round % 2)); then
            a=$(measure "$api$path" "$api_pid" "$threads" "$load")
            b=$(measure "$nginx$path" "$nginx_pid" "$threads" "$load")
        else
            b=$(measure "$nginx$path" "$nginx_pid" "$threads" "$load")
            a=$(measure "$api$path" "$api_pid" "$threads" "$load")
        fi
        echo "$a" >>"$dir/api.txt"; echo "$b" >>"$dir/nginx.txt"
        awk -v a="${a%% *}" -v b="${b%% *}" 'BEGIN { printf "%.3f\n", a / b }' >>"$dir/ratio.txt"
        echo "$name, round $round: api $a, nginx $b (requests/s, p99 us, CPU us a request)" >&2
    done
    column() { cut -d' ' -f"$2" "$dir/$1.txt" | median; }
    printf '| %s | %s | %s | %s (%s..%s) | %s | %s | %s | %s |\n' "$name" "$(column api 1)" "$(column nginx 1)" \
        "$(median <"$dir/ratio.txt")" "$(sort -n "$dir/ratio.txt" | head -1)" "$(sort -n "$dir/ratio.txt" | tail -1)" \
        "$(column api 3)" "$(column nginx 3)" "$(column api 2)" "$(column nginx 2)" >>"$dir/table.txt"
    while ((${#pids[@]} > base)); do
        kill "${pids[-1]}"
        wait "${pids[-1]}" 2>/dev/null || true
        unset 'pids[-1]'
    done
}

last=$((cores - 1))
if ((cores > 1)); then
    compare "1 for the server (worker_processes 1, GOMAXPROCS 1), the load on the rest" 1 0 "1-$last" 1
fi
compare "$cores (worker_processes auto, GOMAXPROCS $cores), shared with the load" "$cores" "0-$last" "0-$last" auto

size=$(stat -c %s "$dir/www/topk.json")
echo
echo "$size bytes, $connections connections, $rounds rounds of $seconds s for each; medians; $(go version), $(nginx -v 2>&1 | sed 's/.*: //')"
echo
echo "| cores | api requests/s | nginx requests/s | ratio (least..greatest) | api CPU us | nginx CPU us | api p99 us | nginx p99 us |"
echo "|---|---|---|---|---|---|---|---|"
cat "$dir/table.txt"
