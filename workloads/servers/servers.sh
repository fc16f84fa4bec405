# shellcheck shell=bash disable=SC2154 # $here comes from the sourcing script
# What start, stop, load and acceptance share: each server's way to be started, asked and loaded. Sourced, not run.
#
# A server is a folder with a pom.xml (pinned versions; Maven fetches them) and, where it needs code of ours, src/.
# Its functions: start_NAME DIR PORT, is_ready_NAME DIR PORT, load_NAME DIR PORT SECONDS.

NAMES="tomcat jetty spring kafka cassandra solr brokerage supermarket"
root=$(cd "$here/../.." && pwd)
cache=$root/.assay/servers
java=${JAVA:-java}
assay=${ASSAY:-$root/assay}
ready_timeout_s=180
stop_timeout_s=60
dependency_plugin=org.apache.maven.plugins:maven-dependency-plugin:3.9.0

say() { echo "servers: $*" >&2; }
is_known() { case " $NAMES " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }

# prepare NAME   fetches and compiles into .assay/servers/NAME, unless its inputs are those of the last time
# Options for the server's JVM (JAVA_TOOL_OPTIONS), such as a collector, may contradict Maven's own.
prepare() {
  local name=$1 out=$cache/$1 inputs
  case $name in brokerage | supermarket)
    env -u JAVA_TOOL_OPTIONS "$root/workloads/$name/build" >&2
    return
    ;;
  esac
  mkdir -p "$out"
  inputs=$(cd "$here/$name" && find . -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1)
  [ "$(cat "$out/stamp" 2>/dev/null)" != "$inputs" ] || return 0
  say "fetching $name through Maven"
  rm -rf "${out:?}/lib" "${out:?}/classes" "$out/stamp"
  env -u JAVA_TOOL_OPTIONS mvn -q -B -f "$here/$name/pom.xml" "$dependency_plugin:copy-dependencies" -DincludeScope=runtime \
    -DoutputDirectory="$out/lib" >&2
  mkdir -p "$out/classes"
  if [ -d "$here/$name/src" ]; then
    find "$here/$name/src" -name '*.java' -print0 |
      xargs -0 javac --release 17 -parameters -nowarn -proc:none -cp "$out/lib/*" -d "$out/classes"
    (cd "$here/$name/src" && find . -type f ! -name '*.java' -exec cp --parents {} "$out/classes" \;)
  fi
  echo "$inputs" > "$out/stamp"
}

# 127.0.0.1 only, like everything that Assay starts.
is_open() { (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }
free_port() {
  local port
  while port=$((20000 + RANDOM % 12000)); is_open "$port"; do :; done
  echo "$port"
}

# run DIR CLASSPATH WORD...   starts a JVM in the background, in DIR
run() {
  local dir=$1 classpath=$2
  shift 2
  (cd "$dir" && exec "$java" -cp "$classpath" "$@" > "$dir/server.log" 2>&1 < /dev/null 9>&-) &
  echo $! > "$dir/pid"
}

home_of_java() { dirname "$(dirname "$(readlink -f "$(command -v "$java")")")"; }

# tool NAME WORD...   a program of the server's own libraries, in a JVM of its own
tool() {
  local name=$1
  shift
  "$java" -cp "$cache/$name/classes:$cache/$name/lib/*" "$@"
}

is_alive() { kill -0 "$1" 2>/dev/null; }

wait_until_ready() {
  local name=$1 dir=$2 port=$3 until=$((SECONDS + ready_timeout_s))
  until "is_ready_$name" "$dir" "$port"; do
    if ! is_alive "$(cat "$dir/pid")" || [ $SECONDS -ge $until ]; then
      tail -n 30 "$dir/server.log" >&2
      say "$name did not start (its last words are above)"
      stop_server "$dir"
      return 1
    fi
    sleep 1
  done
}

stop_server() {
  local pid until=$((SECONDS + stop_timeout_s))
  pid=$(cat "$1/pid" 2>/dev/null) || return 0
  kill "$pid" 2>/dev/null || true
  while is_alive "$pid" && [ $SECONDS -lt $until ]; do sleep 0.2; done
  if is_alive "$pid"; then kill -9 "$pid"; fi
  rm -f "$1/pid"
}

# --- HTTP ----------------------------------------------------------------------------------------------------

# Reads one page; good when the status is 200.
answers() {
  local status
  exec 3<> "/dev/tcp/127.0.0.1/$1" || return 1
  printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$2" >&3
  read -r -t 20 _ status _ <&3 || status=none
  exec 3>&-
  [ "$status" = 200 ]
} 2> /dev/null

# load_url URL SECONDS   four users, by Assay's own generator
load_url() { "$assay" load "$1" --users 4 --duration "${2}s" > /dev/null; }

# --- the servers ---------------------------------------------------------------------------------------------

start_tomcat() { run "$1" "$cache/tomcat/classes:$cache/tomcat/lib/*" TomcatServer "$2" "$1"; }
is_ready_tomcat() { answers "$2" /; }
load_tomcat() { load_url "http://127.0.0.1:$2/" "$3"; }

start_jetty() { run "$1" "$cache/jetty/classes:$cache/jetty/lib/*" JettyServer "$2"; }
is_ready_jetty() { answers "$2" /; }
load_jetty() { load_url "http://127.0.0.1:$2/" "$3"; }

start_spring() {
  run "$1" "$cache/spring/classes:$cache/spring/lib/*" clinic.SpringServer \
    --server.address=127.0.0.1 --server.port="$2" --spring.jpa.hibernate.ddl-auto=create --spring.jpa.open-in-view=false
}
is_ready_spring() { answers "$2" /; }
load_spring() { load_url "http://127.0.0.1:$2/" "$3"; }

start_solr() {
  mkdir -p "$1/pages"
  cp -r "$here/solr/conf" "$1/pages/"
  echo 'name=pages' > "$1/pages/core.properties"
  echo '<solr/>' > "$1/solr.xml"
  run "$1" "$cache/solr/classes:$cache/solr/lib/*" SolrServer "$2" "$1"
}
is_ready_solr() { answers "$2" /index; }
load_solr() {
  load_url "http://127.0.0.1:$2/index" "$(($3 / 2))"
  load_url "http://127.0.0.1:$2/query" "$(($3 - $3 / 2))"
}

start_kafka() {
  local controller
  controller=$(free_port)
  cat > "$1/server.properties" << END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller
listeners=PLAINTEXT://127.0.0.1:$2,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$2
controller.listener.names=CONTROLLER
log.dirs=$1/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
END
  tool kafka kafka.tools.StorageTool format -t Q2hlY2tlZEJ5QXNzYXk1MQ -c "$1/server.properties" > "$1/format.log" 2>&1
  run "$1" "$cache/kafka/lib/*" kafka.Kafka "$1/server.properties"
}
is_ready_kafka() {
  is_open "$2" && tool kafka org.apache.kafka.tools.TopicCommand --bootstrap-server "127.0.0.1:$2" --create \
    --if-not-exists --topic pages --partitions 4 > "$1/topic.log" 2>&1
}
load_kafka() {
  local rate=2000
  tool kafka org.apache.kafka.tools.ProducerPerformance --topic pages --num-records $((rate * $3)) \
    --throughput $rate --record-size 500 --producer-props "bootstrap.servers=127.0.0.1:$2" > "$1/load.log" 2>&1
  tool kafka org.apache.kafka.tools.ConsumerPerformance --bootstrap-server "127.0.0.1:$2" --topic pages \
    --messages $((rate * $3 / 2)) --timeout 20000 >> "$1/load.log" 2>&1
}

start_cassandra() {
  local storage
  storage=$(free_port)
  cat > "$1/cassandra.yaml" << END
cluster_name: assay
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
storage_port: $storage
native_transport_port: $2
commitlog_sync: periodic
commitlog_sync_period: 10s
data_file_directories: [$1/data]
commitlog_directory: $1/commitlog
saved_caches_directory: $1/saved_caches
hints_directory: $1/hints
cdc_raw_directory: $1/cdc_raw
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{ seeds: "127.0.0.1:$storage" }]
END
  run "$1" "$cache/cassandra/lib/*" "@$here/cassandra/jvm.options" "-Dcassandra.config=file://$1/cassandra.yaml" \
    "-Dcassandra.storagedir=$1" org.apache.cassandra.service.CassandraDaemon
}
is_ready_cassandra() { is_open "$2" && tool cassandra CqlLoad "$2" 0 > "$1/ready.log" 2>&1; }
load_cassandra() { tool cassandra CqlLoad "$2" "$3" > "$1/load.log" 2>&1; }

# Open Liberty with the brokerage.
start_brokerage() {
  cp -r "$root/.assay/brokerage/template-h2-small/." "$1"
  (JAVA_HOME=$(home_of_java) exec "$root/workloads/brokerage/launch" "$1" "$2" h2 synchronous small \
    > "$1/server.log" 2>&1 < /dev/null) &
  echo $! > "$1/pid"
}
is_ready_brokerage() { answers "$2" /health; }
load_brokerage() {
  "$assay" load "http://127.0.0.1:$2/" --users 4 --duration "${3}s" \
    --scenario "$root/workloads/brokerage/scenario-small.toml" > /dev/null
}

# Headquarters, supermarkets and suppliers in one process.
start_supermarket() {
  export SUPERMARKET_PORT=$2 SUPERMARKET_DATA=small SUPERMARKET_THREADS=pools
  run "$1" "$root/.assay/supermarket/lib/*" assay.supermarket.Main
}
is_ready_supermarket() { answers "$2" /health; }
load_supermarket() {
  "$assay" load "http://127.0.0.1:$2/" --users 4 --duration "${3}s" \
    --scenario "$root/workloads/supermarket/scenario-small.toml" > /dev/null
}
