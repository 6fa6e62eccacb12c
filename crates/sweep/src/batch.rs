//! Scripts with which other programs carry points out.

use std::path::Path;

/// The most tasks of a job array, of which Slurm takes about a thousand if it is not told otherwise.
const MOST_TASKS: usize = 1_000;

/// A program that carries out points, each by one call of `rocelab sweep --point`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// A job array of Slurm.
    Slurm,
    /// GNU parallel.
    Parallel,
    /// Snakemake.
    Snakemake,
}

impl Batch {
    /// The script for so many points, whose results are below `folder`, where the program also notes which points
    /// it is done with. `command` is a shell command that carries out the point whose number is appended, and `collect` one
    /// that puts all results together.
    pub fn script(
        self,
        sweep: (&str, &Path),
        points: usize,
        command: &str,
        collect: &str,
    ) -> String {
        let (name, folder) = (&plain(sweep.0), &sweep.1.display().to_string());
        match self {
            Self::Slurm => slurm(name, points, command, collect),
            Self::Parallel => parallel(folder, points, command, collect),
            Self::Snakemake => snakemake(folder, points, command, collect),
        }
    }
}

fn slurm(name: &str, points: usize, command: &str, collect: &str) -> String {
    let tasks = points.clamp(1, MOST_TASKS);
    format!(
        "#!/bin/bash\n\
         # Submit it with: sbatch THIS_FILE. Points that have results are not run again.\n\
         # When the array is done: {collect}\n\
         #SBATCH --job-name={name}\n\
         #SBATCH --array=0-{}\n\
         #SBATCH --ntasks=1\n\
         #SBATCH --cpus-per-task=1\n\
         #SBATCH --output={name}-%A_%a.log\n\
         failed=0\n\
         for ((point = SLURM_ARRAY_TASK_ID; point < {points}; point += {tasks})); do\n    \
             {command} \"$point\" || failed=1\n\
         done\n\
         exit $failed\n",
        tasks - 1
    )
}

/// Parallel puts its words together and has a shell read them again, so the command is one word.
fn parallel(folder: &str, points: usize, command: &str, collect: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let (folder, joblog) = (quoted(folder), quoted(&format!("{folder}/parallel.joblog")));
    let task = quoted(&format!("{command} @POINT@"));
    format!(
        "#!/bin/sh\n\
         # Points that have results are not run again.\n\
         mkdir -p {folder}\n\
         seq 0 {} | parallel --joblog {joblog} --resume-failed -I @POINT@ {task}\n\
         {collect}\n",
        points.saturating_sub(1)
    )
}

/// A point that fails is told when all are put together, and does not keep the others from it.
fn snakemake(folder: &str, points: usize, command: &str, collect: &str) -> String {
    // What stands in braces is a name of Snakemake's, and the texts are of Python.
    let text = |shell: &str| format!("{:?}", shell.replace('{', "{{").replace('}', "}}"));
    let point = text(&format!("{command} @POINT@ || true")).replace("@POINT@", "{wildcards.point}");
    let all = text(&format!("{folder}/snakemake/@POINT@")).replace("@POINT@", "{point}");
    format!(
        "# Run it with: snakemake --cores all --snakefile THIS_FILE\n\
         rule all:\n    \
             input: expand({all}, point=range({points}))\n    \
             shell: {}\n\n\
         rule point:\n    \
             output: touch({all})\n    \
             shell: {point}\n",
        text(collect)
    )
}

/// A name that every program takes.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_would_read_is_quoted() {
        let command = "rocelab sweep 'my plan.toml' --set 'a={b=[\"x\"]}' --point";
        let script = |batch: Batch, points| {
            batch.script(("my plan", Path::new("/my out")), points, command, "collect")
        };
        let slurm = script(Batch::Slurm, 2500);
        assert!(slurm.contains("--array=0-999\n") && slurm.contains("point < 2500; point += 1000"));
        assert!(slurm.contains("--job-name=my_plan\n"), "{slurm}");
        let parallel = script(Batch::Parallel, 3);
        assert!(parallel.contains("'rocelab sweep '\\''my plan.toml'\\'' "), "{parallel}");
        assert!(parallel.contains("--joblog '/my out/parallel.joblog' "), "{parallel}");
        let snakemake = script(Batch::Snakemake, 3);
        let text = "--set 'a={{b=[\\\"x\\\"]}}' --point {wildcards.point} || true\"";
        assert!(snakemake.contains(text), "{snakemake}");
        assert!(snakemake.contains("touch(\"/my out/snakemake/{point}\")"), "{snakemake}");
    }
}
