//! Plans three weeks of work from the stories and a seed: every story once, with filler work between them.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use super::payload::WeekAgent;
use super::random::Random;
use super::stories::{Stories, Story, StoryStep, WorkProject};

const DAYS: u64 = 21;
const DAY_MS: u64 = 86_400_000;
pub(super) const HOUR_MS: u64 = 3_600_000;
/// Filler sessions are added until the weeks have this many steps.
const STEPS_MIN: usize = 4_200;

/// A session of one agent in one project.
pub(super) struct PlannedSession {
    pub(super) project: String,
    pub(super) agent: WeekAgent,
    pub(super) id: String,
    /// Milliseconds after the beginning of the weeks.
    pub(super) start: u64,
    pub(super) steps: Vec<StoryStep>,
}

/// A question at the end of the weeks, asked in the directory of a project.
pub(super) struct PlannedQuestion {
    pub(super) story: String,
    pub(super) project: String,
    pub(super) text: String,
    pub(super) facts: Vec<String>,
    pub(super) from_answer: bool,
    /// Whether it calls the subject by its name.
    pub(super) everyday: bool,
}

/// Something that was left open when a session of a project ended.
pub(super) struct OpenEnd {
    pub(super) project: String,
    /// When the story's last session began.
    pub(super) since: u64,
    /// A briefing shows the open end if it contains one of these.
    pub(super) shows: Vec<String>,
}

pub(super) struct Weeks {
    pub(super) sessions: Vec<PlannedSession>,
    pub(super) questions: Vec<PlannedQuestion>,
    pub(super) open: Vec<OpenEnd>,
}

impl Weeks {
    pub(super) fn length_ms() -> u64 {
        DAYS * DAY_MS
    }
}

pub(super) fn plan(stories: &Stories, seed: u64) -> Result<Weeks> {
    let mut random = Random::new(seed);
    let mut weeks = Weeks { sessions: Vec::new(), questions: Vec::new(), open: Vec::new() };
    for story in &stories.stories {
        tell(story, &mut random, &mut weeks)
            .with_context(|| format!("in the story '{}'", story.name))?;
    }
    let mut steps: usize = weeks.sessions.iter().map(|session| session.steps.len()).sum();
    let mut threads: Vec<WorkThread<'_>> =
        stories.projects.iter().map(|project| WorkThread::new(project, &mut random)).collect();
    if threads.is_empty() {
        bail!("there is no project");
    }
    let mut starts = Vec::new();
    while steps < STEPS_MIN {
        // Sessions are in order of time, so that a thread continues from one to the next.
        starts.push(start(random.below(DAYS), &mut random));
        steps += 34;
    }
    starts.sort_unstable();
    for start in starts {
        let chosen = random.below(threads.len() as u64);
        let thread = &mut threads[usize::try_from(chosen)?];
        let steps = thread.session(&mut random);
        let project = thread.project.name.clone();
        weeks.sessions.push(session(project, start, steps, &mut random));
    }
    weeks.sessions.sort_by_key(|session| session.start);
    Ok(weeks)
}

fn start(day: u64, random: &mut Random) -> u64 {
    day * DAY_MS + 8 * HOUR_MS + random.below(9 * HOUR_MS)
}

fn session(
    project: String,
    start: u64,
    steps: Vec<StoryStep>,
    random: &mut Random,
) -> PlannedSession {
    let agent = if random.percent(65) { WeekAgent::Claude } else { WeekAgent::Codex };
    let id = format!("{:08x}-0000-4000-8000-{:012x}", random.below(1 << 32), start);
    PlannedSession { project, agent, id, start, steps }
}

/// Adds the sessions, questions and open ends of a story.
fn tell(story: &Story, random: &mut Random, weeks: &mut Weeks) -> Result<()> {
    let values: BTreeMap<&str, &str> =
        story.slots.iter().map(|(name, values)| (name.as_str(), random.pick(values))).collect();
    let last = story.sessions.iter().map(|session| session.day).max().unwrap_or(0);
    let first_day = random.below(DAYS.saturating_sub(last).max(1));
    let mut since = 0;
    let mut told: Vec<StoryStep> = Vec::new();
    for planned in &story.sessions {
        let start = start(first_day + planned.day, random);
        let steps: Vec<StoryStep> =
            planned.steps.iter().map(|step| filled_step(step, &values)).collect();
        told.extend(steps.iter().cloned());
        since = since.max(start);
        weeks.sessions.push(session(story.project.clone(), start, steps, random));
    }
    for question in &story.questions {
        let facts: Vec<String> = question.facts.iter().map(|fact| filled(fact, &values)).collect();
        for (ways, everyday) in [(&question.other_words, false), (&question.everyday, true)] {
            let text = filled(random.pick(ways), &values);
            check(&text, &facts, question.from_answer, &told)?;
            weeks.questions.push(PlannedQuestion {
                story: story.name.clone(),
                project: story.project.clone(),
                text,
                facts: facts.clone(),
                from_answer: question.from_answer,
                everyday,
            });
        }
    }
    for shows in &story.open {
        let shows = shows.iter().map(|text| filled(text, &values)).collect();
        weeks.open.push(OpenEnd { project: story.project.clone(), since, shows });
    }
    Ok(())
}

/// Fails if the question contains its answer, or if no step of the right kind answers it.
fn check(text: &str, facts: &[String], from_answer: bool, told: &[StoryStep]) -> Result<()> {
    if has_all(text, facts) {
        bail!("the question '{text}' contains its own answer");
    }
    let answers = |step: &&StoryStep| has_all(&words_of(step), facts);
    let is_message =
        |step: &StoryStep| matches!(step, StoryStep::Answer(_) | StoryStep::Subagent(_));
    let mut found = told.iter().filter(answers).peekable();
    if found.peek().is_none() {
        bail!("no step answers '{text}' with {facts:?}");
    }
    let messages_alone = found.all(is_message);
    if from_answer != messages_alone {
        let kind = if from_answer { "not only messages answer" } else { "only messages answer" };
        bail!("{kind} '{text}' with {facts:?}");
    }
    Ok(())
}

pub(super) fn has_all(text: &str, facts: &[String]) -> bool {
    let text = text.to_lowercase();
    facts.iter().all(|fact| text.contains(&fact.to_lowercase()))
}

/// The part of a step that could be stored.
fn words_of(step: &StoryStep) -> String {
    match step {
        StoryStep::Prompt(text)
        | StoryStep::Answer(text)
        | StoryStep::Subagent(text)
        | StoryStep::Commit(text) => text.clone(),
        StoryStep::Read(text) | StoryStep::Grep(text) => text.clone(),
        StoryStep::Edit { path, old, new } => format!("{path}\n{old}\n{new}"),
        StoryStep::Write { path, content } => format!("{path}\n{content}"),
        StoryStep::Run { command, output, failed } => {
            if *failed {
                format!("{command}\n{output}")
            } else {
                command.clone()
            }
        }
    }
}

fn filled(text: &str, values: &BTreeMap<&str, &str>) -> String {
    values
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

fn filled_step(step: &StoryStep, values: &BTreeMap<&str, &str>) -> StoryStep {
    let fill = |text: &String| filled(text, values);
    match step {
        StoryStep::Prompt(text) => StoryStep::Prompt(fill(text)),
        StoryStep::Read(path) => StoryStep::Read(fill(path)),
        StoryStep::Grep(pattern) => StoryStep::Grep(fill(pattern)),
        StoryStep::Edit { path, old, new } => {
            StoryStep::Edit { path: fill(path), old: fill(old), new: fill(new) }
        }
        StoryStep::Write { path, content } => {
            StoryStep::Write { path: fill(path), content: fill(content) }
        }
        StoryStep::Run { command, output, failed } => {
            StoryStep::Run { command: fill(command), output: fill(output), failed: *failed }
        }
        StoryStep::Commit(message) => StoryStep::Commit(fill(message)),
        StoryStep::Answer(text) => StoryStep::Answer(fill(text)),
        StoryStep::Subagent(text) => StoryStep::Subagent(fill(text)),
    }
}

/// Filler work in a project. It continues with a few files for several sessions, as real work does.
struct WorkThread<'a> {
    project: &'a WorkProject,
    files: Vec<String>,
    word: String,
}

impl WorkThread<'_> {
    fn new<'a>(project: &'a WorkProject, random: &mut Random) -> WorkThread<'a> {
        let mut thread = WorkThread { project, files: Vec::new(), word: String::new() };
        thread.turn_to_others(random);
        thread
    }

    fn turn_to_others(&mut self, random: &mut Random) {
        self.files = (0..4).map(|_| random.pick(&self.project.files).to_owned()).collect();
        random.pick(&self.project.words).clone_into(&mut self.word);
    }

    fn session(&mut self, random: &mut Random) -> Vec<StoryStep> {
        if random.percent(35) {
            self.turn_to_others(random);
        }
        let mut steps = Vec::new();
        for _ in 0..3 + random.below(3) {
            self.turn(random, &mut steps);
        }
        steps
    }

    /// A prompt, the steps for it, and the answer.
    fn turn(&self, random: &mut Random, steps: &mut Vec<StoryStep>) {
        let file = random.pick(&self.files).to_owned();
        let values = BTreeMap::from([("file", file.as_str()), ("word", self.word.as_str())]);
        steps.push(StoryStep::Prompt(filled(random.pick(&self.project.filler), &values)));
        for _ in 0..4 + random.below(5) {
            steps.push(self.tool(&file, random));
        }
        if random.percent(15) {
            let output = "1 failed, 41 passed\nerror: assertion failed: left == right";
            let command = self.project.tests.clone();
            steps.push(StoryStep::Run { command, output: output.to_owned(), failed: true });
        }
        if random.percent(40) {
            let output = "42 passed, 0 failed".to_owned();
            let command = self.project.tests.clone();
            steps.push(StoryStep::Run { command, output, failed: false });
        }
        if random.percent(20) {
            steps.push(StoryStep::Commit(format!("tidy {file}")));
        }
        let answer = filled(random.pick(&self.project.idle_answers), &values);
        steps.push(StoryStep::Answer(answer));
    }

    fn tool(&self, file: &str, random: &mut Random) -> StoryStep {
        let run = |command: &str, output: &str| StoryStep::Run {
            command: command.to_owned(),
            output: output.to_owned(),
            failed: false,
        };
        let changed = format!(" M {file}");
        match random.below(10) {
            0 | 1 => run("git status --short", &changed),
            2 => run("ls -la", "total 48"),
            3 => run(&format!("git diff {file}"), "@@ -1 +1 @@"),
            4 | 5 => StoryStep::Read(file.to_owned()),
            6 => StoryStep::Grep(self.word.clone()),
            7 => StoryStep::Read(random.pick(&self.project.files).to_owned()),
            _ => StoryStep::Edit {
                path: file.to_owned(),
                old: format!("// {} {}", self.word, random.below(90)),
                new: format!("// {} {}", self.word, random.below(90)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;
    use crate::weeks::stories;

    fn weeks(seed: u64) -> Weeks {
        let path = Project::find().expect("the project").root.join("quality/weeks.toml");
        plan(&stories::read(&path).expect("the stories"), seed).expect("weeks")
    }

    #[test]
    fn every_seed_gives_weeks_whose_questions_can_be_answered() {
        for seed in 0..20 {
            let weeks = weeks(seed);
            let steps: usize = weeks.sessions.iter().map(|session| session.steps.len()).sum();
            assert!(steps >= 4_000, "{steps}");
            for everyday in [false, true] {
                let asked = weeks.questions.iter().filter(|asked| asked.everyday == everyday);
                let (answers, records): (Vec<_>, Vec<_>) = asked.partition(|one| one.from_answer);
                assert!(answers.len() >= 20, "{}", answers.len());
                assert!(records.len() >= 40, "{}", records.len());
            }
        }
    }

    #[test]
    fn a_seed_repeats_its_weeks_and_another_one_does_not() {
        let asked = |seed| {
            let texts = weeks(seed).questions.into_iter().map(|asked| asked.text);
            texts.collect::<Vec<_>>()
        };
        assert_eq!(asked(3), asked(3));
        assert_ne!(asked(3), asked(4));
    }
}
