//! Conducting a campaign: one run after the other. What goes wrong with one is told and does not end the others.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use iolag_analysis::Standing;
use iolag_backend::{PlaceProof, Target};
use iolag_model::{
    ClientId, ClientRecord, MonotonicClock, Order, ReplayTiming, RunId, RunRecord, RunSpec, TargetIndex,
    TargetRecord, Trust, counted, one_line,
};
use iolag_workload::workload;

use crate::bench::beside::Beside;
use crate::bench::beside::measurer::BystanderAssignment;
use crate::bench::campaign::{Campaign, PlannedRun, Point};
use crate::bench::compared::unit_of_stored;
use crate::bench::conductor::Conductor;
use crate::bench::continuing::{positions, working_place};
use crate::bench::measurer::{self, BenchAssignment};
use crate::bench::options::Crew;
use crate::bench::payload::finding::PayloadCommand;
use crate::bench::room::refuse_too_little_space;
use crate::bench::sides::mounted::SeenMounts;
use crate::bench::sides::one_directory::refuse_one_directory;
use crate::bench::sides::putting_back::note;
use crate::bench::sides::{Afterwards, Side, Undone, When, execute};
use crate::bench::stopping::Precise;
use crate::bench::stream::copying::{COPY_TARGET, on_one_file_system};
use crate::bench::tree::refuse_store_in_tree;
use crate::bench::{Ground, benched};
use crate::contact::greeting::{ServerFacts, greet};
use crate::contact::memory_place::{memory_place, memory_places};
use crate::contact::scout::Answer;
use crate::contact::start::{Found, Keeper, send_scouts};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::messages::{DirectoryFacts, ScoutAnswer, Stored};
use crate::placed::Placed;
use crate::run::beginning::{Beginning, Membership, choose_spool, maker, new_run_id, record};
use crate::run::cleaning::CleanUp;
use crate::run::conduct::{Conducted, GroupPlan, RunPlan, conduct};
use crate::run::interruption::Interruption;
use crate::run::policy::Policy;
use crate::run::telling::Attendant;

/// The control needs less room than this.
const MEMORY_BYTES: u64 = 1 << 20;

/// Who is told how a campaign goes.
pub trait CampaignAttendant {
    /// A sentence about the campaign, or about the store.
    fn say(&mut self, sentence: &str);

    /// A run could not be made, and the next one begins.
    fn failed(&mut self, failure: &Failure);

    /// Who attends this run.
    fn attendant(&mut self, run: &PlannedRun) -> Box<dyn Attendant>;

    /// A run has ended. How the command is to end because of it.
    ///
    /// # Errors
    /// If it measured nothing.
    fn ended(&mut self, run: &PlannedRun, conducted: &Conducted) -> Result<ExitCode, Failure>;
}

/// What came of a campaign.
#[derive(Debug)]
pub struct CampaignEnd {
    /// The runs that were conducted, with their numbers in [`Campaign::runs`].
    pub conducted: Vec<(usize, Conducted)>,
    /// How the command is to end.
    pub code: ExitCode,
    /// Runs that were to be made and are none of a comparison: they failed, were broken off or left out.
    pub lacking: usize,
}

/// Conducts the runs of a campaign that are left, besides those that `earlier` commands have stored, which have their numbers; who goes on
/// with one is its [`Conductor`]. One that cannot be made, or that hangs, is told, and the next one begins; only the user ends the campaign, a
/// side that could not be put back, and what it is to come to.
///
/// # Errors
/// If no run could be made, and none was made earlier, or two sides are one directory.
pub fn conduct_campaign(
    campaign: &Campaign,
    earlier: &[(usize, &Stored)],
    keeper: &Keeper,
    conductor: Option<Conductor>,
    attendant: &mut dyn CampaignAttendant,
) -> Result<CampaignEnd, Failure> {
    refuse_one_directory(campaign.runs.iter().map(|run| &run.point.side))?;
    let mut conducting = Conducting {
        campaign,
        keeper,
        interruption: Interruption::new(&keeper.signals),
        id: campaign.id.clone(),
        conductor,
        mounts: SeenMounts::default(),
    };
    for (index, stored) in earlier {
        // What earlier commands measured elsewhere is told by the table.
        let _ = conducting.mounts.refuse_elsewhere(&campaign.runs[*index].point.side, &stored.record.targets);
    }
    let mut end = CampaignEnd { conducted: Vec::new(), code: ExitCode::Fine, lacking: 0 };
    let mut failed = 0;
    let left = campaign.left().count();
    announce(campaign, attendant);
    let mut precise = Precise::of(campaign, earlier, MonotonicClock);
    for (number, (index, run)) in campaign.left().enumerate() {
        if let Some(told) = precise.as_mut().and_then(|precise| precise.ended_before(run)) {
            attendant.say(&told);
            break;
        }
        let (outcome, put_back) = conducting.on_its_side(run, attendant);
        let is_unknown = |undone: &Undone| undone.afterwards == Afterwards::Unknown;
        let is_lost = outcome.as_ref().is_err_and(is_unknown) || put_back.as_ref().is_err_and(is_unknown);
        let mut outcome = outcome.map_err(|undone| undone.failure);
        if let Ok(conducted) = &mut outcome {
            note(run, conducted, &put_back).iter().for_each(|told| attendant.say(told));
        }
        let outcome = outcome.and_then(|conducted| Ok((attendant.ended(run, &conducted)?, conducted)));
        if let Err(undone) = put_back {
            attendant.failed(&undone.failure);
            end.code = end.code.max(undone.failure.code);
        }
        match outcome {
            Ok((code, conducted)) => {
                precise.iter_mut().for_each(|precise| precise.takes(run, &conducted.stored));
                end.code = end.code.max(code);
                match unit_of_stored(&conducted.stored).standing {
                    // It would be again.
                    Standing::Void => end.code = end.code.max(ExitCode::Incomplete),
                    standing => end.lacking += usize::from(!standing.is_unit()),
                }
                end.conducted.push((index, conducted));
            }
            Err(failure) if left == 1 && earlier.is_empty() => return Err(failure.at_least(end.code)),
            Err(failure) => {
                attendant.failed(&failure);
                end.code = end.code.max(failure.code);
                end.lacking += 1;
                failed += 1;
            }
        }
        let further = left - number - 1;
        // A signal that came while nobody but scouts was at work has not been heard yet.
        conducting.interruption.listen();
        let is_over = conducting.interruption.told().is_some() || is_lost;
        if is_over && further > 0 {
            end.code = end.code.max(ExitCode::Incomplete);
            end.lacking += further;
            let further = counted(further as u64, "further run is", "further runs are");
            let at_most = campaign.options.repeat.at_most();
            attendant.say(&format!("the campaign ends here: {at_most}{further} left out"));
            break;
        }
        if further == 0 {
            precise.iter().for_each(|precise| attendant.say(&precise.told_at_end()));
        }
    }
    if end.conducted.is_empty() && earlier.is_empty() && failed > 0 {
        return Err(Failure { code: end.code, sentence: "no run of the campaign could be made".to_owned() });
    }
    Ok(end)
}

/// Says what will be executed in the runs that are left, and around them once per side.
fn announce(campaign: &Campaign, attendant: &mut dyn CampaignAttendant) {
    let mut told = BTreeSet::new();
    for (_, run) in campaign.left() {
        let side = &run.point.side;
        let payload = run.point.payload.as_ref().map(PayloadCommand::shown);
        if let Some(payload) = payload.filter(|payload| told.insert(payload.clone())) {
            attendant.say(&format!("executed by each copy once it is set up: {}", one_line(&payload)));
        }
        if let Some(commands) = side.announcement().filter(|_| told.insert(side.coordinate())) {
            attendant.say(&commands);
        }
    }
}

struct Conducting<'a> {
    campaign: &'a Campaign,
    keeper: &'a Keeper,
    interruption: Interruption<'a>,
    /// The campaign's id, once it has one.
    id: Option<RunId>,
    /// Of a campaign that has an id.
    conductor: Option<Conductor>,
    mounts: SeenMounts,
}

impl Conducting<'_> {
    /// Makes the side of a run, conducts the run, and puts things back, whatever came of either.
    fn on_its_side(
        &mut self,
        run: &PlannedRun,
        campaign: &mut dyn CampaignAttendant,
    ) -> (Result<Conducted, Undone>, Result<(), Undone>) {
        let side = &run.point.side;
        if let Err(undone) = self.hold() {
            return (Err(undone), Ok(()));
        }
        if let Err(failure) = self.refuse_unkept(side, campaign) {
            return (Err(failure.into()), Ok(()));
        }
        let made = execute(When::Before, side, &mut self.interruption, &mut |told| campaign.say(told));
        let outcome = made.and_then(|()| {
            // It may have been heard while the command ended by itself.
            self.interruption.listen();
            match self.interruption.told() {
                Some(how) => Err(not_begun(how).into()),
                None => self.run(run, campaign),
            }
        });
        // What was heard by now is no wish to break off what puts things back.
        self.interruption.listen();
        (outcome, execute(When::After, side, &mut self.interruption, &mut |told| campaign.say(told)))
    }

    /// Takes the right to conduct again if the child that holds it was killed; somebody else may have it by now.
    fn hold(&mut self) -> Result<(), Undone> {
        let lost = self.conductor.take_if(|conductor| !conductor.has_it());
        let (Some(_), Some(id)) = (lost, &self.id) else { return Ok(()) };
        let taken =
            Conductor::of(id).map_err(|failure| Undone { failure, afterwards: Afterwards::Unknown })?;
        self.conductor = Some(taken);
        Ok(())
    }

    /// Nothing is changed for a run that could not be kept.
    fn refuse_unkept(&self, side: &Side, campaign: &mut dyn CampaignAttendant) -> Result<(), Failure> {
        if side.before.is_none() && side.after.is_none() {
            return Ok(());
        }
        let found = send_scouts(self.keeper, &[], self.campaign.options.deadline)?;
        // Where it is kept instead is told when it begins.
        found.notices.iter().filter(|_| found.rescue.is_none()).for_each(|sentence| campaign.say(sentence));
        Ok(())
    }

    fn run(&mut self, run: &PlannedRun, campaign: &mut dyn CampaignAttendant) -> Result<Conducted, Undone> {
        let (options, point) = (&self.campaign.options, &run.point);
        let targets = std::iter::once(&point.side.target).chain(&point.copy_to);
        let directories: Vec<PathBuf> = targets.filter_map(Target::directory).map(Path::to_owned).collect();
        let memory = point.spec.bystander.as_ref().map(|_| memory_places());
        let asked: Vec<PathBuf> = directories.iter().cloned().chain(memory.into_iter().flatten()).collect();
        let mut found = send_scouts(self.keeper, &asked, options.deadline)?;
        let memory = found.directories.split_off(directories.len());
        found.notices.iter().for_each(|sentence| campaign.say(sentence));
        let mut facts = facts_of(&directories, &found)?.into_iter();
        let (facts, there) = (facts.next(), facts.next());
        let bench = benched(&point.spec.workload)?;
        refuse_too_little_space([facts.as_ref(), there.as_ref()], bench, point.spec.clients)?;
        refuse_store_in_tree(facts.as_ref(), bench, &found.root)?;
        let server = greet(&[&point.side.target], options.deadline)?.pop().flatten();
        if server.is_some() {
            point.doubt.iter().for_each(|told| campaign.say(&format!("{}; {}", told.doubt, told.advice)));
        }
        // Children stand in another directory; who cleans up may have other variables and files.
        let target = match (&facts, &server) {
            (Some(facts), _) => point.side.target.with_directory(&facts.path),
            (None, Some(server)) => server.settled(&point.side.target),
            (None, None) => point.side.target.clone(),
        };
        // By the directory itself, whatever is wrapped around it: what is left of a run is removed by it.
        let path = match (&facts, &server) {
            (Some(facts), _) => Some(facts.path.display().to_string()),
            (None, server) => server.as_ref().map(|_| target.to_string()),
        };
        let positions = positions(bench, &point.spec, (path.as_deref(), &options.working_name), &found.root)?;
        let known = facts.iter().chain(&there).map(|facts| facts.file_system.device.as_str());
        let control = memory_place(&memory, MEMORY_BYTES, &known.collect::<Vec<_>>());
        let beside = Beside::of(&point.spec, bench, control);
        let places = [facts.as_ref(), there.as_ref()];
        let (record, spool_parent) =
            self.record(run, (&target, server.as_ref()), &found, places, beside.as_ref())?;
        self.mounts.refuse_elsewhere(&point.side, &record.targets)?;
        let maker = maker(&record.id)?;
        let token = maker.token;
        let place = |target, path| Placed {
            target,
            path,
            name: options.working_name.clone(),
            identity: None,
            token: Some(token),
            file_system: None,
        };
        let assignment = BenchAssignment {
            place: place(0, path.unwrap_or_else(|| target.to_string())),
            copy_place: there.map(|there| place(COPY_TARGET, there.path.display().to_string())),
            target,
            maker,
            spec: record.spec.clone(),
            stages: record.stages.clone().into(),
            positions,
            drop_command: options.drop_command.clone(),
            repetition: point.repetition.clone(),
            place_of_repetition: run.repetition.saturating_sub(1),
            payload: point.payload.clone(),
        };
        let outlives = bench.ground() == Ground::WorkingPlace
            && assignment.target.semantics().place != PlaceProof::Process;
        let places = std::iter::once(&assignment.place).filter(|_| outlives).chain(&assignment.copy_place);
        let own_places = places.map(|place| {
            let target = if place.path == assignment.target.to_string() {
                assignment.target.clone()
            } else {
                PathBuf::from(&place.path).into()
            };
            (target, place.name.clone())
        });
        let control_place = beside.as_ref().and_then(|beside| beside.control_place(&record.id));
        let planned_places = own_places.chain(control_place).collect();
        let bystanders = beside.map(|beside| beside.assignments(&record, &assignment));
        let removes = bench.removes_working_set() && bench.makes_working_set();
        let mut attendant = campaign.attendant(run);
        let plan = RunPlan {
            root: found.root.clone(),
            spool_parent,
            planned_places,
            groups: groups(point.crew, &record, &assignment, bystanders.as_deref().unwrap_or_default()),
            policy: Policy { give_up_after: options.patience(), ..Policy::of(&record.spec) },
            record,
            token,
            clean_up: if removes { CleanUp::Everything } else { CleanUp::Nothing },
            attendant: attendant.as_mut(),
        };
        Ok(conduct(plan, &mut self.interruption)?)
    }

    /// The record of a run that begins now, and where its samples wait.
    fn record(
        &mut self,
        run: &PlannedRun,
        (target, server): (&Target, Option<&ServerFacts>),
        found: &Found,
        [facts, there]: [Option<&DirectoryFacts>; 2],
        beside: Option<&Beside>,
    ) -> Result<(RunRecord, Option<PathBuf>), Failure> {
        let (options, point) = (&self.campaign.options, &run.point);
        let mut trust = doubts(self.campaign, point);
        trust.extend(on_one_file_system(facts, there));
        trust.extend(server.and_then(|server| server.doubt.clone()));
        let devices: Vec<u64> =
            facts.into_iter().chain(there).filter_map(|facts| facts.file_system.device_number()).collect();
        let spool_parent = choose_spool(found, &devices, &mut trust);
        let id = new_run_id(found)?;
        if self.id.is_none() {
            self.conductor = Some(Conductor::of(&id)?);
        }
        let campaign = self.id.get_or_insert_with(|| id.clone()).clone();
        let ground = benched(&point.spec.workload)?.ground();
        let record_of = |target: &Target, facts: Option<&DirectoryFacts>| TargetRecord {
            working_place: facts
                .map(|facts| facts.path.display().to_string())
                .or_else(|| target.is_server().then(|| target.to_string()))
                .filter(|_| ground == Ground::WorkingPlace)
                .map(|place| working_place(&place, &options.working_name)),
            file_system: facts.map(|facts| facts.file_system.clone()),
            ..TargetRecord::new(target.to_string(), target.kind())
        };
        let copy_to = point.copy_to.iter().zip(there);
        let copy_to = copy_to.map(|(target, there)| (target.with_directory(&there.path), there));
        let greeted = server.map(|server| server.record.clone());
        let mut targets = vec![TargetRecord { server: greeted, ..record_of(target, facts) }];
        targets.extend(copy_to.map(|(target, there)| record_of(&target, Some(there))));
        let beginning = Beginning {
            id,
            membership: Membership {
                campaign,
                plan: Some(self.campaign.plan(point)),
                coordinates: point.coordinates.clone(),
                block: run.block,
                repetition: run.repetition,
            },
            labels: self.campaign.labels(point).into_iter().collect(),
            spec: RunSpec {
                targets: targets.iter().map(|target| target.name.clone()).collect(),
                ..point.spec.clone()
            },
            targets: targets.into_iter().chain(beside.and_then(Beside::target)).collect(),
            clients: (0..point.spec.load_clients())
                .map(|rank| ClientRecord::new(ClientId(rank), TargetIndex(0), rank))
                .chain(beside.into_iter().flat_map(Beside::clients))
                .collect(),
            stages: workload(&point.spec.workload).stages(),
            trust,
        };
        let mut record = record(self.keeper, found, beginning);
        beside.into_iter().for_each(|beside| beside.note_in(&mut record));
        Ok((record, spool_parent))
    }
}

/// The processes of a run: one for all clients, or one for each.
fn groups<'a>(
    crew: Crew,
    record: &RunRecord,
    assignment: &'a BenchAssignment,
    bystanders: &'a [BystanderAssignment],
) -> Vec<GroupPlan<'a>> {
    let all = 0..record.spec.clients;
    let processes: Vec<Range<u32>> = match crew {
        Crew::Clients => vec![all],
        Crew::Copies => all.map(|copy| copy..copy + 1).collect(),
    };
    let group = |clients: Range<u32>| GroupPlan {
        name: record.targets[0].name.clone(),
        clients: clients
            .clone()
            .chain(clients.clone().flat_map(|copy| record.spec.followers_of(copy)))
            .collect(),
        measure: Box::new(move |exchange, outbox| measurer::measure(assignment, &clients, exchange, outbox)),
    };
    processes.into_iter().map(group).chain(bystanders.iter().map(BystanderAssignment::group)).collect()
}

fn not_begun(how: &str) -> Failure {
    Failure { code: ExitCode::Incomplete, sentence: format!("{how}: the run was not begun") }
}

/// What the scouts found out about the directories of the targets, as far as they are some.
fn facts_of(directories: &[PathBuf], found: &Found) -> Result<Vec<DirectoryFacts>, Failure> {
    directories
        .iter()
        .zip(&found.directories)
        .map(|(directory, answer)| facts_in(directory, answer))
        .collect()
}

fn facts_in(directory: &Path, answer: &Answer<ScoutAnswer>) -> Result<DirectoryFacts, Failure> {
    match answer {
        Answer::Given(Ok(facts)) => Ok(facts.clone()),
        Answer::Given(Err(sentence)) => Err(Failure::unusable(sentence)),
        Answer::None { age, .. } => Err(Failure {
            code: ExitCode::Incomplete,
            sentence: format!(
                "{} does not answer: the first contact has been waiting for {age}",
                directory.display()
            ),
        }),
    }
}

fn doubts(campaign: &Campaign, point: &Point) -> Vec<Trust> {
    let (clients, processors) =
        (point.spec.clients, std::thread::available_parallelism().map_or(1, usize::from) as u32);
    let crew = point.crew;
    let is_hurried = point.spec.workload.replay().is_some_and(|replay| replay.timing == ReplayTiming::Asap);
    let crowded = || Trust {
        doubt: format!(
            "{clients} {} share {processors} processors: they may wait for each other, and not only for the storage",
            crew.coordinate()
        ),
        advice: format!(
            "compare with {}; use more nodes for more {}{}",
            match campaign.runs.iter().any(|run| run.point.spec.clients == processors) {
                true => format!("its runs of {processors} {}", crew.coordinate()),
                false => format!("{} {processors}", crew.option()),
            },
            crew.coordinate(),
            if is_hurried { ", or pause as the program did (--timing gaps)" } else { "" }
        ),
    };
    let in_sequence = || {
        Trust {
        doubt: "all runs of one target or setting come before those of the next: what changed in time and what differs between them \
                cannot be told apart"
            .to_owned(),
        advice: format!("let them take turns: --order {} with --repeat", Order::default()),
    }
    };
    let is_in_sequence = campaign.options.order == Order::Sequential && campaign.points() > 1;
    let crowded = (clients > processors).then(crowded);
    crowded.into_iter().chain(point.doubt.clone()).chain(is_in_sequence.then(in_sequence)).collect()
}
