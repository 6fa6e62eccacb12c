#!/usr/bin/env bash
# A sweep by a real Slurm: two nodes on this machine, without systemd. It compares the tables with those of one process.
#
#   crates/sweep/tests/slurm/run.sh ROCELAB [SCENARIO]
#
# It needs slurm-wlm and munge of Debian, and to be root. `./ci.sh slurm` installs them and runs it.
set -euo pipefail
rocelab=$(realpath "$1")
scenario=$(realpath "${2:-$(dirname "${BASH_SOURCE[0]}")/../../../../scenarios/websearch-sweep.toml}")
place=$(mktemp -d)
export SLURM_CONF=$place/slurm.conf

stop() {
    local file
    for file in "$place"/*.pid; do
        [ -e "$file" ] && kill "$(cat "$file")" 2> /dev/null || true
    done
    [ "${KEEP:-}" ] || rm -rf "$place"
}
trap stop EXIT

# The daemons of Slurm, in the foreground of this script, with all that they write in one folder.
chmod 755 "$place"
mkdir -m 700 "$place/munge" "$place/state" "$place/spool0" "$place/spool1"
head -c 1024 /dev/urandom > "$place/munge/munge.key"
chmod 400 "$place/munge/munge.key"
munged --foreground --force --key-file="$place/munge/munge.key" --socket="$place/munge/socket" \
    --pid-file="$place/munged.pid" --log-file="$place/munge/log" --seed-file="$place/munge/seed" \
    2> "$place/munge/out" &
host=$(hostname)
cores=$(nproc)
cat > "$SLURM_CONF" << CONF
ClusterName=rocelab
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$place/munge/socket
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool%n
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd-%n.pid
SlurmctldLogFile=$place/slurmctld.log
SlurmdLogFile=$place/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MpiDefault=none
ReturnToService=2
MaxArraySize=1001
NodeName=0 NodeHostname=$host NodeAddr=127.0.0.1 Port=16818 CPUs=$cores State=UNKNOWN
NodeName=1 NodeHostname=$host NodeAddr=127.0.0.1 Port=16819 CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONF
sleep 0.5
slurmctld -D -i > "$place/slurmctld.out" 2>&1 &
for node in 0 1; do
    slurmd -D -N "$node" > "$place/slurmd-$node.out" 2>&1 &
done
for _ in $(seq 100); do
    [ "$(sinfo -h -o %t%D 2> /dev/null)" = idle2 ] && break
    sleep 0.2
done
sinfo

# The job array, as docs/sweep.md has it.
cd "$place"
"$rocelab" sweep "$scenario" --out "$place/slurm" --emit slurm > job.sh
SECONDS=0
sbatch --wait job.sh
echo "the array took $SECONDS s"
"$rocelab" sweep "$scenario" --out "$place/slurm" --collect
cut -d, -f4 slurm/points.csv | sort | uniq -c

"$rocelab" sweep "$scenario" --out "$place/here" --quiet
for table in runs flows; do
    cmp "slurm/$table.parquet" "here/$table.parquet"
done
echo "the tables are the same"
