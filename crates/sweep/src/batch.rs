//! Scripts with which other programs carry points out.

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
    /// The script for so many points. `command` is a shell command that carries out the point whose number is
    /// appended, and `collect` one that puts all results together.
    pub fn script(self, name: &str, points: usize, command: &str, collect: &str) -> String {
        let last = points.saturating_sub(1);
        match self {
            Self::Slurm => format!(
                "#!/bin/bash\n\
                 # Submit it with: sbatch THIS_FILE. Points that have results are not run again.\n\
                 # When the array is done: {collect}\n\
                 #SBATCH --job-name={name}\n\
                 #SBATCH --array=0-{last}\n\
                 #SBATCH --ntasks=1\n\
                 #SBATCH --cpus-per-task=1\n\
                 #SBATCH --output={name}-%A_%a.log\n\
                 {command} \"$SLURM_ARRAY_TASK_ID\"\n"
            ),
            Self::Parallel => format!(
                "#!/bin/sh\n\
                 # Points that have results are not run again.\n\
                 seq 0 {last} | parallel --joblog {name}.joblog --resume-failed {command} {{}}\n\
                 {collect}\n"
            ),
            Self::Snakemake => format!(
                "# Run it with: snakemake --cores all --snakefile THIS_FILE\n\
                 rule all:\n    \
                     input: expand(\"{name}.done/{{point}}\", point=range({points}))\n    \
                     shell: \"{collect}\"\n\n\
                 rule point:\n    \
                     output: touch(\"{name}.done/{{point}}\")\n    \
                     shell: \"{command} {{wildcards.point}}\"\n"
            ),
        }
    }
}
