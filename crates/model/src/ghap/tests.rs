//! Tiers, axes and names of ghaps.

use super::*;

const NOW: i64 = 1_800_000_000_000;

fn ghap() -> Ghap {
    Ghap {
        id: 7,
        name: ghap_name(7, NOW),
        owner: 1,
        session_id: "s".into(),
        project: 1,
        project_name: "shop".into(),
        started_at: NOW,
        at: NOW,
        changed_at: NOW,
        status: GhapStatus::Hypothesis,
        domain: GhapDomain::Debugging,
        strategy: GhapStrategy::RootCauseAnalysis,
        goal: "Find why the login test is flaky".into(),
        hypothesis: "The clock of the test host runs ahead".into(),
        action: "Freeze the clock".into(),
        prediction: "The login tests pass".into(),
        iteration: 1,
        history: Vec::new(),
        notes: Vec::new(),
        evidence: Vec::new(),
        result: None,
        surprise: None,
        root_cause: None,
        lesson: None,
        tier: None,
    }
}

fn run(at: i64, iteration: u64, result: RunResult) -> RunEvidence {
    RunEvidence {
        at,
        iteration,
        command: "pytest".into(),
        program: "pytest".into(),
        subcommand: String::new(),
        result,
        passed: None,
        failed: None,
    }
}

#[test]
fn gold_needs_a_last_run_that_fits_of_this_iteration_within_half_an_hour() {
    use ConfidenceTier::{Gold, Silver};
    use RunResult::{Failed, Passed};
    let later = NOW + 60_000;
    let table = [
        (vec![run(later, 1, Passed)], GhapOutcome::Confirmed, Gold),
        (vec![run(later, 1, Failed)], GhapOutcome::Falsified, Gold),
        (vec![run(later, 1, Failed)], GhapOutcome::Confirmed, Silver),
        (vec![run(later, 1, Passed), run(later, 1, Failed)], GhapOutcome::Confirmed, Silver),
        (vec![run(later, 1, Failed), run(later, 1, Passed)], GhapOutcome::Confirmed, Gold),
        (vec![run(later, 2, Passed)], GhapOutcome::Confirmed, Silver),
        // The clock was ahead, and has been set back.
        (vec![run(later + 1, 1, Passed)], GhapOutcome::Confirmed, Silver),
        (vec![run(later, 1, Failed), run(later + 1, 1, Passed)], GhapOutcome::Falsified, Gold),
        (vec![run(NOW - 1, 1, Passed)], GhapOutcome::Confirmed, Silver),
        (vec![], GhapOutcome::Confirmed, Silver),
    ];
    for (evidence, outcome, tier) in table {
        let ghap = Ghap { evidence: evidence.clone(), ..ghap() };
        assert_eq!(ghap.tier_of(outcome, later), tier, "{evidence:?}");
    }
    let ghap = Ghap { evidence: vec![run(later, 1, Passed)], ..ghap() };
    let end = later + limits::GHAP_EVIDENCE_MS;
    assert_eq!(ghap.tier_of(GhapOutcome::Confirmed, end), Gold);
    assert_eq!(ghap.tier_of(GhapOutcome::Confirmed, end + 1), Silver);
}

#[test]
fn a_poor_hypothesis_is_bronze_even_with_a_run_and_an_abandoned_one_is_abandoned() {
    let proven = Ghap { evidence: vec![run(NOW, 1, RunResult::Passed)], ..ghap() };
    let goal = proven.goal.to_uppercase();
    for poor in [
        Ghap { hypothesis: "no idea".into(), ..proven.clone() },
        Ghap { prediction: "it works".into(), ..proven.clone() },
        Ghap { hypothesis: format!(" {goal} "), ..proven.clone() },
        Ghap { prediction: goal, ..proven.clone() },
    ] {
        assert_eq!(poor.tier_of(GhapOutcome::Confirmed, NOW), ConfidenceTier::Bronze);
        assert_eq!(poor.tier_of(GhapOutcome::Abandoned, NOW), ConfidenceTier::Abandoned);
    }
    for exact in ["cart::tests::total_rounds passes", "tests/test_cart.py", "It doesn't fail"] {
        let exact = Ghap { prediction: exact.into(), ..proven.clone() };
        assert_eq!(exact.tier_of(GhapOutcome::Confirmed, NOW), ConfidenceTier::Gold);
    }
    assert_eq!(poor_text("Mend it", "It isn't", "It works!"), Some("hypothesis"));
    const CLOCK: &str = "系统时钟比服务器快";
    const PASSES: &str = "ログインのテストが通る";
    assert_eq!(poor_text("修复登录", CLOCK, PASSES), None);
    assert_eq!(poor_text("修复登录", "Docker的缓存", PASSES), None);
    assert_eq!(poor_text("修复登录", "不知道", PASSES), Some("hypothesis"));
    assert_eq!(poor_text("修复登录", CLOCK, "好了。"), Some("prediction"));
    assert_eq!(poor_text(CLOCK, CLOCK, PASSES), Some("hypothesis"));
    assert_eq!(proven.tier_of(GhapOutcome::Confirmed, NOW), ConfidenceTier::Gold);
}

#[test]
fn only_a_falsified_experience_has_a_surprise_and_a_root_cause_axis() {
    let open = ghap();
    assert_eq!(open.axis_text(ExperienceAxis::Full), None);
    assert_eq!(open.searched_texts().len(), 1);
    let confirmed = Ghap {
        status: GhapStatus::Confirmed,
        result: Some("It was the clock".into()),
        surprise: Some("NTP was off".into()),
        lesson: Some(Lesson { what_worked: "Freezing it".into(), takeaway: None }),
        ..open
    };
    let full = confirmed.axis_text(ExperienceAxis::Full).unwrap();
    assert!(full.contains("Surprise: NTP was off") && full.ends_with("Lesson: Freezing it"));
    assert_eq!(confirmed.axis_text(ExperienceAxis::Surprise), None);
    assert_eq!(confirmed.searched_texts().len(), 2);
    let cause = RootCause {
        category: RootCauseCategory::TimingIssue,
        description: "a race in the cache".into(),
    };
    let falsified = Ghap { status: GhapStatus::Falsified, root_cause: Some(cause), ..confirmed };
    assert_eq!(falsified.axis_text(ExperienceAxis::Surprise).as_deref(), Some("NTP was off"));
    assert_eq!(
        falsified.axis_text(ExperienceAxis::RootCause).as_deref(),
        Some("timing-issue: a race in the cache")
    );
    let declared = falsified.declared_text();
    let ours = ["Goal", "Action", "Outcome", "falsified", falsified.strategy.word()];
    assert!(
        declared.contains("NTP was off") && !ours.iter().any(|word| declared.contains(word)),
        "{declared}"
    );
    assert_eq!(falsified.searched_texts().len(), 4);
}

#[test]
fn names_have_the_time_and_differ_for_every_record() {
    assert!(ghap_name(7, 0).starts_with("ghap_19700101_000000_"));
    let names: std::collections::BTreeSet<String> =
        (0..5_000).map(|id| ghap_name(id, NOW)).collect();
    assert_eq!(names.len(), 5_000);
    assert!(names.iter().all(|name| name.len() == "ghap_YYYYMMDD_HHMMSS_xxxxxx".len()));
}

#[test]
fn a_text_is_refused_with_its_limit_in_characters() {
    assert!(check_text("goal", "äöü", 3).is_ok());
    let error = check_text("goal", "äöüß", 3).unwrap_err();
    assert!(error.message.contains("4 characters, more than 3"), "{error}");
    assert!(check_text("goal", " \n", 3).is_err());
}
