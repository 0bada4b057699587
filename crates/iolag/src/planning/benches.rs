//! What a plan says of its workload, and of who measures beside it.

use iolag_conduct::{
    BenchOptions, Campaign, CopyTo, Failure, Limits, bystander, plan_metadata, plan_set_up, plan_stream,
    plan_tree,
};
use iolag_model::{
    Access, BystanderSpec, BystanderTask, Durability, SetUpSpec, Verification, WearOut, parse_bytes,
    parse_count,
};
use iolag_workload::MetadataOptions;
use toml::Spanned;

use super::document::{BenchTable, MetadataTable, SetUpTable, StreamTable, TreeTable};
use super::plan::{Ground, Planning};
use super::told::told;
use crate::args::values::stream::{
    parse_copy_to, parse_copy_with, parse_engine, parse_file_size, parse_fsync, parse_io, parse_percent,
    parse_stream_phase,
};
use crate::args::values::tree::parse_tree_phase;
use crate::args::values::{
    parse_bystander_task, parse_granularity, parse_pattern, parse_period, parse_phase, parse_preset,
    parse_rate, parse_session, parse_share, parse_think,
};
use crate::args::{CopiesAsked, PayloadAsked, SetUpCalls, StreamBlocks, TreeReading, parse_payload};
use crate::documents::DocumentError;

impl Planning<'_> {
    /// The campaign of the `[[bench]]` of this place.
    ///
    /// # Errors
    /// One sentence with file and line.
    pub(super) fn of_bench(
        &self,
        place: usize,
        bench: &Spanned<BenchTable>,
        limits: &Limits,
    ) -> Result<Campaign, DocumentError> {
        let workload = &bench.get_ref().workload;
        let told = |failure: Failure| told(&self.source, bench.span(), &failure);
        match workload.get_ref().as_str() {
            "metadata" => {
                let table: MetadataTable = self.source.read_one("bench", place)?;
                let options = self.options(table.clients.as_deref())?;
                plan_metadata(options, &self.metadata(&table)?, limits).map_err(told)
            }
            "setup" => {
                let table: SetUpTable = self.source.read_one("bench", place)?;
                let payload = self.some(table.payload.as_ref(), parse_payload)?;
                let payload = PayloadAsked::command(payload.as_ref()).map_err(told)?;
                let options = BenchOptions { payload, ..self.options(table.copies.as_deref())? };
                plan_set_up(options, &self.set_up(&table)?, limits).map_err(told)
            }
            "stream" => {
                let table: StreamTable = self.source.read_one("bench", place)?;
                let (options, said) = (self.options(table.clients.as_deref())?, self.stream(&table)?);
                let options = BenchOptions { copy_to: self.copy_to(&table)?, ..options };
                let blocks = self.all(table.block.as_deref(), vec![said.spec().block_bytes], parse_bytes)?;
                plan_stream(options, &said.spec(), said.file_size(), &blocks, limits).map_err(told)
            }
            "tree" => {
                let table: TreeTable = self.source.read_one("bench", place)?;
                let options = self.options(table.clients.as_deref())?;
                let options = BenchOptions { sides: self.sides(Ground::Trees)?, ..options };
                let options = if self.document.bench.len() > 1 { only_reading(options) } else { options };
                plan_tree(options, &self.tree(&table)?.spec(), limits).map_err(told)
            }
            other => {
                let known = "\"metadata\", \"setup\", \"stream\" or \"tree\"";
                let message = format!("there is no workload {other:?}: expected {known}");
                Err(self.source.error(workload, message))
            }
        }
    }

    /// # Errors
    /// One sentence with file and line.
    pub(super) fn metadata(&self, bench: &MetadataTable) -> Result<MetadataOptions, DocumentError> {
        let usual = MetadataOptions::default();
        let chosen = |wish: Option<bool>| wish == Some(true);
        Ok(MetadataOptions {
            pattern: self.one(bench.pattern.as_ref(), usual.pattern, parse_pattern)?,
            granularity: self.one(bench.detail.as_ref(), usual.granularity, parse_granularity)?,
            phases: self.all(bench.phases.as_deref(), usual.phases, parse_phase)?,
            datasets: self.one(bench.datasets.as_ref(), usual.datasets, parse_count)?,
            precreated_objects: self.all(
                bench.precreate.as_deref(),
                usual.precreated_objects,
                parse_count,
            )?,
            objects: self.one(bench.objects.as_ref(), usual.objects, parse_count)?,
            iterations: self.one(bench.iterations.as_ref(), usual.iterations, parse_count)?,
            object_bytes: self.one(bench.object_size.as_ref(), usual.object_bytes, parse_bytes)?,
            offset: self.some(bench.offset.as_ref(), parse_count)?,
            think: self.one(bench.think.as_ref(), usual.think, parse_think)?,
            access: if chosen(bench.read_only) { Access::ReadOnly } else { usual.access },
            time_limit: self.some(bench.time_limit.as_ref(), parse_period)?,
            wear_out: if chosen(bench.wear_out) { WearOut::Equalise } else { usual.wear_out },
            durability: if chosen(bench.fsync) { Durability::Fsync } else { usual.durability },
            verification: if chosen(bench.verify) { Verification::Content } else { usual.verification },
            connections: self.all(bench.session.as_deref(), usual.connections, parse_session)?,
        })
    }

    /// # Errors
    /// One sentence with file and line.
    pub(super) fn set_up(&self, bench: &SetUpTable) -> Result<SetUpSpec, DocumentError> {
        let counted = bench.stat.as_ref().or(bench.open.as_ref());
        if let (Some(_), Some(counted)) = (&bench.preset, counted) {
            let message = "stat and open are those of the preset: leave them out, or leave out preset";
            return Err(self.source.error(counted, message));
        }
        let calls = SetUpCalls {
            stat: self.some(bench.stat.as_ref(), parse_count)?,
            open: self.some(bench.open.as_ref(), parse_count)?,
            preset: self.some(bench.preset.as_ref(), parse_preset)?,
            miss: self.some(bench.miss.as_ref(), parse_share)?,
            open_miss: self.some(bench.open_miss.as_ref(), parse_share)?,
            directories: self.some(bench.directories.as_ref(), parse_count)?,
            files: self.some(bench.files.as_ref(), parse_count)?,
            file_size: self.some(bench.file_size.as_ref(), parse_bytes)?,
            shared: self.some(bench.shared.as_ref(), parse_share)?,
            asked: CopiesAsked {
                judge: self.some(bench.judge.as_ref(), parse_period)?,
                payload: self.some(bench.payload.as_ref(), parse_payload)?,
                timeouts_at_most: self.some(bench.timeouts_at_most.as_ref(), parse_share)?,
            },
            kill_after: self.some(bench.kill_after.as_ref(), parse_period)?,
        };
        Ok(calls.spec(SetUpSpec::synthetic()))
    }

    /// # Errors
    /// One sentence with file and line.
    pub(super) fn stream(&self, bench: &StreamTable) -> Result<StreamBlocks, DocumentError> {
        let phases = bench.phases.as_deref();
        Ok(StreamBlocks {
            phases: phases
                .map(|phases| self.all(Some(phases), Vec::new(), parse_stream_phase))
                .transpose()?,
            file_size: self.some(bench.file_size.as_ref(), parse_file_size)?,
            io: self.some(bench.io.as_ref(), parse_io)?,
            engine: self.some(bench.engine.as_ref(), parse_engine)?,
            depth: self.some(bench.depth.as_ref(), parse_count)?,
            fsync: self.some(bench.fsync.as_ref(), parse_fsync)?,
            preallocate: bench.preallocate == Some(true),
            compressible: self.some(bench.compressible.as_ref(), parse_percent)?,
            verify: bench.verify == Some(true),
            time_limit: self.some(bench.time_limit.as_ref(), parse_period)?,
            copy_with: self.some(bench.copy_with.as_ref(), parse_copy_with)?,
        })
    }

    /// # Errors
    /// One sentence with file and line.
    pub(super) fn tree(&self, bench: &TreeTable) -> Result<TreeReading, DocumentError> {
        let phases = bench.phases.as_deref();
        Ok(TreeReading {
            phases: phases.map(|phases| self.all(Some(phases), Vec::new(), parse_tree_phase)).transpose()?,
            time_limit: self.some(bench.time_limit.as_ref(), parse_period)?,
        })
    }

    /// Where copies are made.
    ///
    /// # Errors
    /// One sentence with file and line.
    pub(super) fn copy_to(&self, bench: &StreamTable) -> Result<CopyTo, DocumentError> {
        self.one(bench.copy_to.as_ref(), CopyTo::All, parse_copy_to)
    }

    /// Who measures beside the load.
    pub(super) fn bystander(&self) -> Result<Option<BystanderSpec>, DocumentError> {
        let document = self.document;
        let asked = self.all(document.bystander.as_deref(), Vec::new(), parse_bystander_task)?;
        let asked = document.bystander.is_some().then_some(asked);
        let rate = self.some(document.bystander_rate.as_ref(), parse_rate)?;
        let quiet = self.some(document.bystander_quiet.as_ref(), parse_period)?;
        bystander(asked, rate, quiet).map_err(|failure| told(&self.source, 0..0, &failure))
    }
}

/// What is said of a working place, or made in one, is meant for the other workloads of a plan, and not for its trees.
fn only_reading(options: BenchOptions) -> BenchOptions {
    let onlookers = options.bystander.map(|mut bystander| {
        bystander.asked.retain(|task| *task != BystanderTask::Create);
        bystander
    });
    let bystander = onlookers.filter(|bystander| !bystander.asked.is_empty());
    BenchOptions { bystander, working_name: BenchOptions::default().working_name, ..options }
}
