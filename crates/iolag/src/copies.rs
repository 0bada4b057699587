//! Whether a launcher (`mpirun`, `srun`) has started this program as one of several copies.
//!
//! Copies know nothing of each other: they would fight for one working directory, and one run would spoil the others. So a
//! command that measures refuses to be one of several, unless the user says with `--alone` that the others do not measure.
//!
//! What is believed: launchers tell each copy in its environment how many there are. The innermost launcher that is
//! known is believed before those around it, since a variable of an outer one is inherited by all that is started inside:
//! Open MPI (`OMPI_COMM_WORLD_*`), then whoever speaks PMI (`PMI_*`: MPICH, Intel MPI, `srun --mpi=pmi2`), then Slurm.
//! So `mpirun -np 1 iolag` in a step of four tasks is one. Of Slurm only a step counts: a batch script has `SLURM_NTASKS`
//! and `SLURM_PROCID` too, and is one. PMIx tells no number of its own (`PMIX_RANK` alone); where it is used, Open MPI or Slurm
//! do. What is no number says nothing.
//!
//! Limits: if one MPI's launcher is started by another's, Open MPI is believed, whichever is inside. A launcher that ends
//! all copies as soon as one has failed may end the one that is to speak before it has; the exit code is the same.

use std::ffi::OsString;

/// The variables of one launcher, innermost launcher first: how many copies there are, and which one this is.
const LAUNCHERS: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

/// One of several copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOfSeveral {
    /// How many there are, more than one.
    pub copies: u64,
    /// The variable that says so.
    pub said_by: &'static str,
    /// Which one this is, from 0, if that is said.
    pub rank: Option<u64>,
}

impl OneOfSeveral {
    /// What is wrong and what to do, in one sentence; `None` if another copy says it.
    pub fn sentence(&self) -> Option<String> {
        // Better said by all than by nobody.
        let speaks = self.rank.is_none_or(|rank| rank == 0);
        speaks.then(|| {
            format!(
                "{} copies of iolag were started at once ({}={}) and would fight for one directory: start one, without mpirun or \
                 srun (for {} clients on one node: iolag bench metadata --clients {}), or add --alone if no other copy measures",
                self.copies, self.said_by, self.copies, self.copies, self.copies
            )
        })
    }
}

/// Whether this is one of several copies, by the environment; `None` if it is the only one.
pub fn one_of_several(variable: impl Fn(&str) -> Option<OsString>) -> Option<OneOfSeveral> {
    let number = |name: &str| variable(name)?.to_str()?.trim().parse::<u64>().ok();
    // A launcher starts at least one.
    let number_of_copies = |name: &str| number(name).filter(|copies| *copies > 0);
    let is_step = || variable("SLURM_STEP_ID").is_some();
    let told = LAUNCHERS
        .iter()
        .find_map(|(size, rank)| Some((*size, *rank, number_of_copies(size)?)))
        .or_else(|| {
            Some(("SLURM_NTASKS", "SLURM_PROCID", number_of_copies("SLURM_NTASKS").filter(|_| is_step())?))
        });
    let (said_by, rank, copies) = told?;
    (copies > 1).then(|| OneOfSeveral { copies, said_by, rank: number(rank) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Option<(u64, &'static str, Option<u64>)> {
        let value =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        one_of_several(value).map(|found| (found.copies, found.said_by, found.rank))
    }

    #[test]
    fn nobody_else_is_there_without_a_launcher() {
        for variables in [
            &[][..],
            &[("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")],
            &[("PMI_SIZE", "1"), ("PMI_RANK", "0")],
            // A rank without a size says nothing.
            &[("PMI_RANK", "3")],
            &[("PMIX_RANK", "3")],
            &[("SLURM_PROCID", "3")],
            // A batch script, and a shell inside an allocation.
            &[("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0"), ("SLURM_JOB_ID", "7")],
            // A step of one task in an allocation of four.
            &[("SLURM_NTASKS", "4"), ("SLURM_STEP_ID", "0"), ("SLURM_STEP_NUM_TASKS", "1")],
            &[("SLURM_NTASKS", "1"), ("SLURM_STEP_ID", "0")],
        ] {
            assert_eq!(found(variables), None, "{variables:?}");
        }
    }

    #[test]
    fn every_launcher_is_understood() {
        for (variables, expected) in [
            (
                &[("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "1"), ("PMIX_RANK", "1")][..],
                (2, "OMPI_COMM_WORLD_SIZE", Some(1)),
            ),
            (&[("PMI_SIZE", "8"), ("PMI_RANK", "0")], (8, "PMI_SIZE", Some(0))),
            (
                &[
                    ("SLURM_STEP_NUM_TASKS", "4"),
                    ("SLURM_STEP_ID", "0"),
                    ("SLURM_NTASKS", "16"),
                    ("SLURM_PROCID", "2"),
                ],
                (4, "SLURM_STEP_NUM_TASKS", Some(2)),
            ),
            (
                &[("SLURM_STEP_ID", "0"), ("SLURM_NTASKS", "4"), ("SLURM_PROCID", "3")],
                (4, "SLURM_NTASKS", Some(3)),
            ),
        ] {
            assert_eq!(found(variables), Some(expected), "{variables:?}");
        }
    }

    #[test]
    fn the_innermost_launcher_is_believed() {
        let step = [("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_STEP_ID", "0"), ("SLURM_PROCID", "3")];
        for inner in [
            [("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")],
            [("PMI_SIZE", "1"), ("PMI_RANK", "0")],
        ] {
            assert_eq!(found(&[&inner[..], &step].concat()), None, "{inner:?}");
        }
        let mpi = [("PMI_SIZE", "2"), ("PMI_RANK", "1")];
        assert_eq!(found(&[&step[..], &mpi].concat()), Some((2, "PMI_SIZE", Some(1))));
        let open_mpi = [("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")];
        assert_eq!(found(&[&step[..], &mpi, &open_mpi].concat()), None);
    }

    #[test]
    fn what_is_no_number_says_nothing() {
        for size in ["", " ", "0", "-2", "two", "2x", "1e3", "99999999999999999999999", "0x4"] {
            assert_eq!(found(&[("OMPI_COMM_WORLD_SIZE", size)]), None, "{size:?}");
            let with_another = [("OMPI_COMM_WORLD_SIZE", size), ("PMI_SIZE", "3"), ("PMI_RANK", "2")];
            assert_eq!(found(&with_another), Some((3, "PMI_SIZE", Some(2))), "{size:?}");
        }
        use std::os::unix::ffi::OsStringExt;
        assert_eq!(one_of_several(|_| Some(OsString::from_vec(vec![0xff]))), None);
        assert_eq!(found(&[("PMI_SIZE", " 2\n"), ("PMI_RANK", "-")]), Some((2, "PMI_SIZE", None)));
    }

    #[test]
    fn only_the_first_copy_speaks_unless_nobody_knows_which_it_is() {
        let copy = |rank| OneOfSeveral { copies: 4, said_by: "PMI_SIZE", rank };
        assert_eq!(copy(Some(1)).sentence(), None);
        for rank in [Some(0), None] {
            let sentence = copy(rank).sentence().expect("it speaks");
            assert!(
                sentence.starts_with("4 copies of iolag were started at once (PMI_SIZE=4)"),
                "{sentence}"
            );
            assert!(sentence.contains("--alone"), "{sentence}");
        }
    }
}
